/* ops/api: every route and every field of its form and query is described. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ops/api.h"
#include "ops/site_routes.h"

#define WHERE "app/ops/api_operations.c"

static void every_route_is_described(void **state)
{
    (void)state;
    for (size_t i = 0; i < site_routes_count(); i++) {
        const struct route *route = site_route(i);
        if (api_operation_of(route) == NULL)
            fail_msg("%s %s has no row in " WHERE ". Add one, the schema of its answer in templates/openapi.json, and "
                     "how to call it in tests/e2e/openapi.test.js",
                     route->method, route->path);
    }
}

static void every_description_is_of_a_route_and_has_an_id_of_its_own(void **state)
{
    (void)state;
    for (size_t i = 0; i < api_operations_count; i++) {
        const struct api_operation *op = &api_operations[i];
        bool found = false;
        for (size_t r = 0; r < site_routes_count(); r++)
            found = found || api_operation_of(site_route(r)) == op;
        if (!found)
            fail_msg("%s %s in " WHERE " is no route", op->method, op->path);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(api_operations[k].id, op->id);
        assert_non_null(op->answers);
        assert_int_not_equal(op->answers[0].status, 0);
    }
}

/* The fields of a table without a description fail the test. Returns how many there are. */
static size_t fields_check(const struct api_operation *op, const struct field *fields)
{
    size_t count = 0;
    for (const struct field *field = fields; field != NULL && field->name != NULL; field++, count++)
        if (api_field_of(op, field->name) == NULL)
            fail_msg("%s %s: the field %s has no row in " WHERE, op->method, op->path, field->name);
    return count;
}

static void every_field_is_described_and_no_other(void **state)
{
    (void)state;
    for (size_t i = 0; i < api_operations_count; i++) {
        const struct api_operation *op = &api_operations[i];
        size_t in_tables = fields_check(op, op->form), described = 0;
        for (int q = 0; q < API_QUERIES_MAX; q++)
            in_tables += fields_check(op, op->query[q]);
        for (const struct api_field *field = op->fields; field != NULL && field->name != NULL; field++)
            described++;
        if (described != in_tables)
            fail_msg("%s %s: " WHERE " describes %zu fields, its tables have %zu", op->method, op->path, described,
                     in_tables);
    }
}

static void an_example_has_the_required_fields(void **state)
{
    (void)state;
    for (size_t i = 0; i < api_operations_count; i++) {
        const struct api_operation *op = &api_operations[i];
        for (const struct field *field = op->form; field != NULL && field->name != NULL; field++)
            if (field->required && field->applies == NULL && api_field_of(op, field->name)->example == NULL)
                fail_msg("%s %s: " WHERE " has no example for %s", op->method, op->path, field->name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_route_is_described),
        cmocka_unit_test(every_description_is_of_a_route_and_has_an_id_of_its_own),
        cmocka_unit_test(every_field_is_described_and_no_other),
        cmocka_unit_test(an_example_has_the_required_fields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

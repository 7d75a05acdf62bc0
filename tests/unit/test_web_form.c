/* web/form: accepted and refused bodies, request keys, and lists of messages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/random.h"
#include "support/test_arena.h"
#include "web/form.h"

static enum status parse(const char *text, struct form *form)
{
    return form_parse(arena, str_from(text), form);
}

static void fields_are_decoded(void **state)
{
    (void)state;
    struct form form;
    bool present;
    assert_int_equal(parse("kind=lucky&greeting=%E6%81%AD%E5%96%9C+%26+ok&empty=&flag", &form), ST_OK);
    assert_int_equal(form.count, 4);
    assert_true(str_equal(form_get(&form, "greeting", NULL), STR("恭喜 & ok")));
    assert_true(str_equal(form_get(&form, "empty", &present), STR("")));
    assert_true(present);
    assert_true(str_equal(form_get(&form, "flag", &present), STR("")));
    assert_true(present);
    (void)form_get(&form, "absent", &present);
    assert_false(present);
}

static void an_empty_body_has_no_fields(void **state)
{
    (void)state;
    struct form form;
    assert_int_equal(parse("", &form), ST_OK);
    assert_int_equal(form.count, 0);
    assert_int_equal(parse("&&", &form), ST_OK);
    assert_int_equal(form.count, 0);
}

static void a_repeated_field_is_refused_however_it_is_written(void **state)
{
    (void)state;
    struct form form;
    assert_int_equal(parse("amount=1&amount=2", &form), ST_INVALID);
    assert_int_equal(parse("amount=1&%61mount=1", &form), ST_INVALID);
    assert_int_equal(parse("amount=1&Amount=1", &form), ST_OK);
}

static void broken_text_is_refused(void **state)
{
    (void)state;
    static const char *const broken[] = {
        "a=%",      "a=%4",        "a=%zz",          "a=%4z", "%=1",        "a=%00",    "a=%FF",
        "a=%C0%80", "a=%ED%A0%80", "a=%F4%90%80%80", "%FF=a", "a=\xE6\x81", "a=%E6%81", "a=%z0%90%80%80",
    };
    struct form form;
    for (size_t i = 0; i < ARRAY_LEN(broken); i++)
        assert_int_equal(parse(broken[i], &form), ST_INVALID);
}

static void too_many_fields_are_refused(void **state)
{
    (void)state;
    struct form form;
    struct buf text = BUF_EMPTY;
    for (int i = 0; i < FORM_FIELDS_MAX; i++)
        buf_printf(&text, "f%d=1&", i);
    assert_int_equal(form_parse(arena, buf_view(&text), &form), ST_OK);
    buf_cstr(&text, "one_more=1");
    assert_int_equal(form_parse(arena, buf_view(&text), &form), ST_INVALID);
    buf_free(&text);
}

static void a_name_in_both_query_and_body_is_found(void **state)
{
    (void)state;
    struct form body;
    assert_int_equal(parse("amount=1&%E7%BA%A2=2", &body), ST_OK);
    assert_true(form_overlaps(&body, STR("year=2026&amount=5")));
    assert_true(form_overlaps(&body, STR("%&&am%6funt")));
    assert_true(form_overlaps(&body, STR("\xE7%BA%A2")));
    assert_false(form_overlaps(&body, STR("")));
    assert_false(form_overlaps(&body, STR("amount%=1&amoun=1&amounts=1&amount%00=1&am%6=1&x=amount")));
}

/* Each field that nobody asks for may be anything, and may be there more than once. */
static void a_field_is_picked_from_any_query(void **state)
{
    (void)state;
    static const struct {
        const char *query;
        enum status status;
        const char *value; /* NULL: absent */
    } cases[] = {
        { "from=a&from=a&after=3&isappinstalled=0&isappinstalled=0", ST_OK, "3" },
        { "%&after=3&%E5&%00=%00&\xB0\xC5=\xFF&=&==&&&a=%zz", ST_OK, "3" },
        { "afte=1&afters=2&after%=4&after%00=5&xafter=6", ST_OK, NULL },
        { "x=after=3&AFTER=3", ST_OK, NULL },
        { "a%66ter=%E7%BA%A2+x", ST_OK, "\xE7\xBA\xA2 x" },
        { "after", ST_OK, "" },
        { "after=3&after=3", ST_INVALID, "3" },
        { "after=3&x=%&%61fter", ST_INVALID, "3" },
        { "x=1&after=%", ST_INVALID, NULL },
        { "after=%00", ST_INVALID, NULL },
        { "after=\xB0\xC5", ST_INVALID, NULL },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct form form = { .count = 0 };
        bool present;
        assert_int_equal(form_pick(arena, str_from(cases[i].query), STR("after"), &form), cases[i].status);
        struct str value = form_get(&form, "after", &present);
        assert_int_equal(present, cases[i].value != NULL);
        assert_int_equal(form.count, present);
        assert_true(str_equal(value, str_from(present ? cases[i].value : "")));
    }
}

static void a_picked_field_is_found_behind_any_number_of_others(void **state)
{
    (void)state;
    struct form form = { .count = 0 };
    struct buf text = BUF_EMPTY;
    for (int i = 0; i < 10 * FORM_FIELDS_MAX; i++)
        buf_printf(&text, "f%d=1&", i);
    buf_cstr(&text, "after=7");
    assert_int_equal(form_pick(arena, buf_view(&text), STR("after"), &form), ST_OK);
    assert_true(str_equal(form_get(&form, "after", NULL), STR("7")));
    buf_free(&text);
}

static void an_address_is_written_in_ascii(void **state)
{
    (void)state;
    struct str plain = STR("/p/x?a=%E7&b=\x7F+");
    assert_ptr_equal(form_ascii(arena, plain).ptr, plain.ptr);
    assert_true(str_equal(form_ascii(arena, STR("/\xE7\xBA?\xFF=%\x80")), STR("/%E7%BA?%FF=%%80")));
}

static void an_encoded_value_is_decoded_to_itself(void **state)
{
    (void)state;
    struct form form;
    struct str value = STR("/records/sent?year=2026&before=1-x y+恭%");
    struct str text = arena_printf(arena, "next=%.*s", STR_ARG(form_encode(arena, value)));
    assert_int_equal(form_parse(arena, text, &form), ST_OK);
    assert_true(str_equal(form_get(&form, "next", NULL), value));
}

static void the_first_message_of_a_field_stays(void **state)
{
    (void)state;
    struct form_errors errors = { 0 };
    form_fail(&errors, "amount", "text/first");
    form_fail_with(&errors, "count", "text/other", STR("100"));
    form_fail(&errors, "amount", "text/second");
    assert_int_equal(errors.count, 2);
    assert_string_equal(errors.items[0].field, "amount");
    assert_string_equal(errors.items[0].text, "text/first");
    assert_string_equal(errors.items[1].text, "text/other");
    assert_true(str_equal(errors.items[1].value, STR("100")));
}

static void a_request_key_is_a_word_of_limited_length(void **state)
{
    (void)state;
    char text[REQUEST_KEY_MAX + 1];
    memset(text, 'k', sizeof text);
    assert_true(request_key_valid(STR("a")));
    assert_true(request_key_valid(STR("f81d4fae-7dec-11d0-A765_00a0c91e6bf6")));
    assert_true(request_key_valid((struct str){ text, REQUEST_KEY_MAX }));
    assert_false(request_key_valid((struct str){ text, REQUEST_KEY_MAX + 1 }));
    assert_false(request_key_valid(STR("")));
    assert_false(request_key_valid(STR("a:b")));
    assert_false(request_key_valid(STR("a b")));
    assert_false(request_key_valid(STR("键")));
}

static void new_request_keys_are_valid_and_unique(void **state)
{
    (void)state;
    struct str first = request_key_new(arena), second = request_key_new(arena);
    assert_true(request_key_valid(first));
    assert_int_equal(first.len, 32);
    assert_false(str_equal(first, second));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_decoded),
        cmocka_unit_test(an_empty_body_has_no_fields),
        cmocka_unit_test(a_repeated_field_is_refused_however_it_is_written),
        cmocka_unit_test(broken_text_is_refused),
        cmocka_unit_test(too_many_fields_are_refused),
        cmocka_unit_test(a_name_in_both_query_and_body_is_found),
        cmocka_unit_test(a_field_is_picked_from_any_query),
        cmocka_unit_test(a_picked_field_is_found_behind_any_number_of_others),
        cmocka_unit_test(an_address_is_written_in_ascii),
        cmocka_unit_test(an_encoded_value_is_decoded_to_itself),
        cmocka_unit_test(the_first_message_of_a_field_stays),
        cmocka_unit_test(a_request_key_is_a_word_of_limited_length),
        cmocka_unit_test(new_request_keys_are_valid_and_unique),
    };
    return random_init() ? cmocka_run_group_tests(tests, arena_setup, arena_teardown) : 1;
}

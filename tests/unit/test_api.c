/* site/api: every route and every field of its form and query is described; a process makes the description once. */
#include <zlib.h>

#include "base/log.h"
#include "packet/receipt_keys.h"
#include "pages/receipt.h"
#include "site/api.h"
#include "site/routes.h"
#include "support/test_site.h"
#include "web/accept.h"
#include "web/respond.h"

#define WHERE "app/site/api_operations.c"

TEST(every_route_is_described_and_nothing_else)
{
    for (size_t i = 0; i < site_routes_count(); i++) {
        const struct route *route = site_route(i);
        if (api_operation_of(route) == NULL)
            fail_msg("%s %s has no row in " WHERE ". Add one, the schema of its answer in templates/openapi.json, and "
                     "how to call it in tests/e2e/openapi.test.js",
                     route->method, route->path);
    }
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

static void fields_check(const struct api_operation *op, const struct field *fields, bool is_form)
{
    for (const struct field *field = fields; field != NULL && field->name != NULL; field++) {
        if (field->says == NULL)
            fail_msg("%s %s: the row of the field %s does not say what it is", op->method, op->path, field->name);
        if (is_form && field->required && field->applies == NULL && field->example == NULL)
            fail_msg("%s %s: the row of the field %s has no example", op->method, op->path, field->name);
    }
}

TEST(every_field_is_described_and_required_ones_have_an_example)
{
    for (size_t i = 0; i < site_routes_count(); i++) {
        const struct api_operation *op = api_operation_of(site_route(i));
        fields_check(op, site_route(i)->form, true);
        for (int q = 0; q < API_QUERIES_MAX; q++)
            fields_check(op, op->query[q], false);
    }
}

/* ---- answers that a process makes once ---- */

enum { PARAM_BYTES = 128 };

static struct receipt_keys keys;
static struct fcgi_request request;
static struct exchange x;

/* Renames the folder of the templates, or names it as before. */
static void templates_are(bool there)
{
    (void)snprintf(config.template_dir, sizeof config.template_dir, "%s",
                   there ? HB_SOURCE_DIR "/templates" : "/nowhere");
}

static int kept_setup(void **state)
{
    char error[512];
    log_init("test", LOG_SILENT);
    int failed = site_setup(state);
    services.receipt_keys = &keys;
    templates_are(true);
    return failed != 0 || receipt_keys_open(&keys, &config, error, sizeof error) != ST_OK;
}

static void answer_free(void)
{
    buf_free(&x.headers);
    buf_free(&x.body);
    arena_reset(arena);
}

static int kept_teardown(void **state)
{
    answer_free();
    kept_json_free(&services.api);
    kept_json_free(&services.keys_shown);
    receipt_keys_close(&keys);
    return site_teardown(state);
}

/* Runs the handler with up to one request header ("HTTP_NAME=value", NULL: none). The answer is in x until the next. */
static void asked(handler_fn *handler, const char *header)
{
    static char param[PARAM_BYTES];
    static char *params[2];
    (void)snprintf(param, sizeof param, "%s", header == NULL ? "" : header);
    params[0] = header == NULL ? NULL : param;
    request = (struct fcgi_request){ .fcgx.envp = params };
    answer_free();
    x = (struct exchange){ .app = &services,
                           .fcgi = &request,
                           .arena = arena,
                           .method = METHOD_GET,
                           .target = STR("/x"),
                           .path = STR("/x"),
                           .request_id = STR("0123"),
                           .wants_json = true };
    assert_int_equal(handler(&x), STEP_DONE);
    respond_finish(&x);
}

/* The value of the answer's header, in the arena; NULL: it has none. */
static const char *header(const char *name)
{
    struct str rest = buf_view(&x.headers);
    while (rest.len > 0) {
        struct str value, line = str_cut(rest, '\r', &rest);
        (void)str_skip_prefix(&rest, STR("\n"));
        if (str_equal(str_cut(line, ':', &value), str_from(name)))
            return arena_cstr(arena, str_trim(value));
    }
    return NULL;
}

static bool is_kept(void)
{
    const char *age = header("Cache-Control");
    assert_non_null(age);
    return x.status == 200 && strstr(age, "public, max-age=") == age && header("ETag") != NULL;
}

/* After the first answer, its inputs are removed. */
static void a_kept_answer_is_made_once_and_has_a_tag(handler_fn *handler)
{
    static char body[1 << 20], not_modified[PARAM_BYTES];
    asked(handler, NULL);
    assert_true(is_kept());
    size_t len = x.body.len;
    assert_true(len > 0 && len < sizeof body);
    memcpy(body, x.body.ptr, len);
    (void)snprintf(not_modified, sizeof not_modified, "HTTP_IF_NONE_MATCH=%s", header("ETag"));

    templates_are(false);
    services.receipt_keys = NULL;
    asked(handler, NULL);
    assert_true(is_kept());
    assert_int_equal(x.body.len, len);
    assert_memory_equal(x.body.ptr, body, len);

    asked(handler, not_modified);
    assert_int_equal(x.status, 304);
    assert_int_equal(x.body.len, 0);
    assert_string_not_equal(header("Cache-Control"), "no-store");

    asked(handler, "HTTP_IF_NONE_MATCH=W/\"other\"");
    assert_int_equal(x.status, 200);
    services.receipt_keys = &keys;
    templates_are(true);
}

TEST(the_description_is_not_kept_without_its_schemas_and_like_the_keys_made_once_with_a_tag)
{
    templates_are(false);
    asked(api_show, NULL);
    assert_int_equal(x.status, 503);
    assert_string_equal(header("Cache-Control"), "no-store");
    assert_null(header("ETag"));
    templates_are(true);
    asked(api_show, NULL);
    assert_true(is_kept());
    a_kept_answer_is_made_once_and_has_a_tag(api_show);
    a_kept_answer_is_made_once_and_has_a_tag(receipt_keys_show);
}

TEST(the_description_is_kept_compressed)
{
    static char body[1 << 20], opened[1 << 20];
    asked(api_show, "HTTP_ACCEPT_ENCODING=br;q=1, gzip;q=0");
    assert_null(header("Content-Encoding"));
    assert_string_equal(header("Vary"), "Accept-Encoding");
    size_t len = x.body.len;
    memcpy(body, x.body.ptr, len);

    asked(api_show, "HTTP_ACCEPT_ENCODING=deflate, gzip;q=0.5, br");
    assert_string_equal(header("Content-Encoding"), "gzip");
    assert_string_equal(header("Vary"), "Accept-Encoding");
    z_stream z = { .next_in = (Bytef *)x.body.ptr,
                   .avail_in = (uInt)x.body.len,
                   .next_out = (Bytef *)opened,
                   .avail_out = sizeof opened };
    assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    assert_int_equal(z.total_out, len);
    assert_memory_equal(opened, body, len);
    (void)inflateEnd(&z);
}

TEST(gzip_is_accepted_when_it_is_named_or_anything_is)
{
    static const char *const accepted[] = { "gzip", "GZIP",       "deflate, gzip;q=1.0, *;q=0.5",
                                            "*",    "br, x-gzip", "gzip;q=0.1" };
    static const char *const refused[] = { "",      "br",       "gzip;q=0", "gzip;q=0, *",
                                           "*;q=0", "identity", "gzipped",  "gzip;q=x" };
    for (size_t i = 0; i < ARRAY_LEN(accepted); i++)
        if (!accept_gzip(str_from(accepted[i])))
            fail_msg("\"%s\" is refused", accepted[i]);
    for (size_t i = 0; i < ARRAY_LEN(refused); i++)
        if (accept_gzip(str_from(refused[i])))
            fail_msg("\"%s\" is accepted", refused[i]);
    assert_false(accept_gzip(STR_NONE));
}

TESTS(kept_setup, kept_teardown)

/* web/router: requests that must not reach a handler. Runs whole requests; fcgi_serve and fcgi_write are wrapped by the
 * linker. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/utf8.h"
#include "web/assets.h"
#include "web/fields.h"
#include "web/respond.h"
#include "web/router.h"

enum { ENV_MAX = 8, ANSWER_MAX = 4096, USER = 10001 };

enum status __wrap_fcgi_serve(const struct fcgi_options *options, const struct fcgi_app *app);
void __wrap_fcgi_write(struct fcgi_request *r, struct str bytes);

static struct served {
    struct fcgi_request request;
    char *env[ENV_MAX + 1]; /* "NAME=value" */
    struct buf answer;
    unsigned handled;
    bool answer_is_utf8;
    bool answer_is_whole; /* one Content-Type and no Location */
    uint64_t visitor;     /* the session's user id; 0: a guest */
} served;

enum status __wrap_fcgi_serve(const struct fcgi_options *options, const struct fcgi_app *app)
{
    (void)options;
    while (app->step(app->ctx, &served.request) == FCGI_WAIT)
        continue;
    app->finish(app->ctx, &served.request);
    return ST_OK;
}

void __wrap_fcgi_write(struct fcgi_request *r, struct str bytes)
{
    (void)r;
    buf_str(&served.answer, bytes);
}

static bool visitor_queue(struct exchange *x)
{
    (void)x;
    return true;
}

static enum status visitor_read(struct exchange *x)
{
    x->visitor.user_id = served.visitor;
    x->visitor.nickname = STR("Ming");
    return ST_OK;
}

static enum step handle(struct exchange *x)
{
    served.handled++;
    respond_empty(x, 204);
    return STEP_DONE;
}

/* Answers first, and then reads a field of its address. */
static enum step handle_query(struct exchange *x)
{
    served.handled++;
    respond_see_other(x, STR("/wallet"));
    (void)query_get(x, "before", NULL);
    return STEP_DONE;
}

/* Runs a request for path: POST with body, or GET when body is NULL, as user USER from a page of this site. more:
 * further "NAME=value" parameters, which come first and so replace the default ones. Returns the status. */
static int ask(const char *path, const char *body, const char *const *more, size_t count)
{
    static const struct route site[] = {
        { "GET", "/wallet", NEED_USER, POOL_PAGE, handle },
        { "POST", "/send", NEED_USER | SAME_ORIGIN, POOL_PAGE, handle },
        { "GET", "/p/:id", WANT_VISITOR, POOL_PAGE, handle },
        { "GET", "/records", WANT_VISITOR, POOL_PAGE, handle_query },
    };
    static struct services app;
    static struct config config;
    char error[512], uri[128] = "REQUEST_URI=";
    const char *defaults[ENV_MAX] = { body == NULL ? "REQUEST_METHOD=GET" : "REQUEST_METHOD=POST", uri,
                                      "HTTP_ACCEPT=application/json", "CONTENT_TYPE=application/x-www-form-urlencoded",
                                      "HTTP_SEC_FETCH_SITE=same-origin" };
    size_t env_count = 0;
    (void)strncat(uri, path, sizeof uri - strlen(uri) - 1);
    assert_true(5 + count <= ENV_MAX);
    for (size_t i = 0; i < count; i++) /* the first one counts */
        served.env[env_count++] = strdup(more[i]);
    for (size_t i = 0; i < 5; i++)
        served.env[env_count++] = strdup(defaults[i]);
    config_defaults(&config);
    app = (struct services){ .stores.config = &config, .visitor_queue = visitor_queue, .visitor_read = visitor_read };
    assert_int_equal(templates_load(HB_SOURCE_DIR "/templates", &app.templates, error, sizeof error), ST_OK);
    assert_int_equal(assets_load(HB_SOURCE_DIR "/static", &app.assets), ST_OK);
    served.request.fcgx.envp = served.env;
    served.request.arena = arena_new(4096, 1 << 20);
    served.request.body = body == NULL ? STR("") : str_from(body);
    served.handled = 0;
    served.answer_is_utf8 = false;
    served.answer = BUF_EMPTY;
    assert_int_equal(router_serve(&(struct router){ site, ARRAY_LEN(site), POOL_PAGE, &app }), ST_OK);
    assert_true(str_starts(buf_view(&served.answer), STR("Status: ")));
    served.answer_is_utf8 = utf8_valid(buf_view(&served.answer));
    size_t type = str_find(buf_view(&served.answer), STR("Content-Type: "));
    served.answer_is_whole =
        str_find(buf_view(&served.answer), STR("Location: ")) == served.answer.len && type < served.answer.len &&
        str_find(str_skip(buf_view(&served.answer), type + 1), STR("Content-Type: ")) == served.answer.len - type - 1;
    int status = atoi(served.answer.ptr + sizeof "Status: " - 1);
    for (size_t i = 0; i < env_count; i++)
        free(served.env[i]);
    buf_free(&served.answer);
    arena_free(served.request.arena);
    templates_free(&app.templates);
    assets_free(app.assets);
    memset(served.env, 0, sizeof served.env);
    memset(&served.request, 0, sizeof served.request);
    return status;
}

#define ASK(path, body, ...)                                                                                           \
    ask(path, body, (const char *const[]){ __VA_ARGS__ }, sizeof(const char *const[]){ __VA_ARGS__ } / sizeof(char *))

static void a_foreign_post_reaches_no_handler(void **state)
{
    (void)state;
    served.visitor = USER;
    assert_int_equal(ASK("/send", "amount=1", "HTTP_SEC_FETCH_SITE=same-origin"), 204);
    assert_int_equal(served.handled, 1);
    assert_int_equal(ASK("/send", "amount=1", "HTTP_SEC_FETCH_SITE=cross-site"), 403);
    assert_int_equal(served.handled, 0);
    assert_int_equal(ASK("/wallet", NULL, "HTTP_SEC_FETCH_SITE=cross-site"), 204); /* a link on another site */
}

static void a_guest_reaches_no_handler_that_needs_a_user(void **state)
{
    (void)state;
    served.visitor = 0;
    assert_int_equal(ASK("/wallet", NULL, "HTTP_ACCEPT=application/json"), 401);
    assert_int_equal(served.handled, 0);
    assert_int_equal(ASK("/wallet", NULL, "HTTP_ACCEPT=text/html"), 303);
    assert_int_equal(served.handled, 0);
    assert_int_equal(ASK("/send", "amount=1", "HTTP_ACCEPT=application/json"), 401);
    assert_int_equal(served.handled, 0);
}

static void a_body_of_another_media_type_reaches_no_handler(void **state)
{
    (void)state;
    served.visitor = USER;
    assert_int_equal(ASK("/send", "amount=1", "CONTENT_TYPE=text/plain"), 415);
    assert_int_equal(served.handled, 0);
    assert_int_equal(ASK("/send", "amount=1", "CONTENT_TYPE=Application/X-WWW-Form-Urlencoded; charset=UTF-8"), 204);
    assert_int_equal(ASK("/send", "", "CONTENT_TYPE="), 204); /* curl -d '' */
    assert_int_equal(ASK("/send", "amount=%", "HTTP_ACCEPT=application/json"), 400);
    assert_int_equal(served.handled, 0);
}

static void a_field_in_query_and_body_reaches_no_handler(void **state)
{
    (void)state;
    served.visitor = USER;
    assert_int_equal(ASK("/send?amount=2", "amount=1", "HTTP_ACCEPT=application/json"), 400);
    assert_int_equal(served.handled, 0);
    assert_int_equal(ASK("/send?count=2", "amount=1", "HTTP_ACCEPT=application/json"), 204);
}

static void of_an_address_only_what_the_handler_reads_is_refused(void **state)
{
    (void)state;
    static const char *const added[] = { "from=a&from=a",
                                         "%",
                                         "x=\xB0\xC5",
                                         "x=%E5",
                                         "%00",
                                         "before%=1",
                                         "a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a" };
    static const char *const broken[] = { "before=%", "before=1&x&before=1", "before=\xB0", "x=%&before=%00" };
    char uri[128];
    served.visitor = USER;
    for (size_t i = 0; i < ARRAY_LEN(added); i++) {
        (void)snprintf(uri, sizeof uri, "/records?before=1&%s", added[i]);
        assert_int_equal(ASK(uri, NULL, "HTTP_ACCEPT=text/html"), 303);
        (void)snprintf(uri, sizeof uri, "/send?%s", added[i]);
        assert_int_equal(ASK(uri, "amount=1", "HTTP_ACCEPT=text/html"), 204);
    }
    for (size_t i = 0; i < ARRAY_LEN(broken); i++) {
        (void)snprintf(uri, sizeof uri, "/records?%s", broken[i]);
        assert_int_equal(ASK(uri, NULL, "HTTP_ACCEPT=application/json"), 400);
        assert_true(served.answer_is_whole);
    }
}

static void a_forged_packet_id_reaches_no_handler(void **state)
{
    (void)state;
    served.visitor = USER;
    assert_int_equal(ASK("/p/00000000000000000000000000", NULL, "HTTP_ACCEPT=application/json"), 404);
    assert_int_equal(served.handled, 0);
}

static void a_page_about_a_malformed_address_is_utf8(void **state)
{
    (void)state;
    static const char *const addresses[] = { "/records?before=\x91", "/p/\xe8", "/nowhere/\xff?\x91",
                                             "/records?before=%" };
    for (size_t i = 0; i < ARRAY_LEN(addresses); i++) {
        assert_in_range(ASK(addresses[i], NULL, "HTTP_ACCEPT=text/html"), 400, 405);
        assert_true(served.answer_is_utf8);
        assert_in_range(ASK(addresses[i], NULL, "HTTP_ACCEPT=application/json"), 400, 405);
        assert_true(served.answer_is_utf8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_foreign_post_reaches_no_handler),
        cmocka_unit_test(a_guest_reaches_no_handler_that_needs_a_user),
        cmocka_unit_test(a_body_of_another_media_type_reaches_no_handler),
        cmocka_unit_test(a_field_in_query_and_body_reaches_no_handler),
        cmocka_unit_test(of_an_address_only_what_the_handler_reads_is_refused),
        cmocka_unit_test(a_forged_packet_id_reaches_no_handler),
        cmocka_unit_test(a_page_about_a_malformed_address_is_utf8),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

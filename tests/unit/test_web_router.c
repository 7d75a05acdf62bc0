/* web/router and web/origin: which handler answers a path, whose posts are let in, and what a handler never sees. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "web/origin.h"
#include "web/respond.h"
#include "web/router.h"

static enum step answer(struct exchange *x)
{
    (void)x;
    return STEP_DONE;
}

static const struct route routes[] = {
    { "GET", "/", WANT_VISITOR, POOL_PAGE, answer },
    { "GET", "/p/:id", WANT_VISITOR, POOL_HOT | POOL_PAGE, answer },
    { "POST", "/p/:id/open", NEED_USER | SAME_ORIGIN, POOL_HOT, answer },
    { "GET", "/p/:id/verify", WANT_VISITOR, POOL_PAGE, answer },
    { "POST", "/logout", SAME_ORIGIN, POOL_AUTH, answer },
};

static const struct route *find(enum pool pool, const char *method, const char *path, struct str *id, bool *known)
{
    const struct router router = { routes, sizeof routes / sizeof routes[0], pool, NULL };
    return route_find(&router, str_from(method), str_from(path), id, known);
}

static void a_path_finds_its_handler_and_id(void **state)
{
    (void)state;
    struct str id;
    bool known;
    assert_ptr_equal(find(POOL_PAGE, "GET", "/", &id, &known), &routes[0]);
    assert_ptr_equal(find(POOL_HOT, "GET", "/p/abc", &id, &known), &routes[1]);
    assert_true(str_equal(id, STR("abc")));
    assert_ptr_equal(find(POOL_HOT, "POST", "/p/abc/open", &id, &known), &routes[2]);
    assert_true(str_equal(id, STR("abc")));
    assert_ptr_equal(find(POOL_HOT, "HEAD", "/p/abc", &id, &known), &routes[1]);
}

static void other_paths_are_unknown(void **state)
{
    (void)state;
    static const char *const strangers[] = { "",        "p/abc",   "/p",           "/p/",         "/p//open",
                                             "/p/abc/", "//p/abc", "/p/abc/open/", "/p/a/b/open", "/P/abc" };
    struct str id;
    bool known;
    for (size_t i = 0; i < sizeof strangers / sizeof strangers[0]; i++) {
        assert_null(find(POOL_HOT, "GET", strangers[i], &id, &known));
        assert_false(known);
    }
}

static void a_wrong_method_is_told_from_a_wrong_path(void **state)
{
    (void)state;
    struct str id;
    bool known;
    assert_null(find(POOL_HOT, "GET", "/p/abc/open", &id, &known));
    assert_true(known);
    assert_null(find(POOL_HOT, "DELETE", "/p/abc", &id, &known));
    assert_true(known);
}

static void a_pool_serves_only_its_own_routes(void **state)
{
    (void)state;
    struct str id;
    bool known;
    assert_null(find(POOL_HOT, "POST", "/logout", &id, &known));
    assert_false(known);
    assert_null(find(POOL_PAGE, "POST", "/p/abc/open", &id, &known));
}

static void browsers_may_post_from_our_own_pages_only(void **state)
{
    (void)state;
    const struct str host = STR("hongbao.example:8080");
    assert_true(origin_allows(STR("same-origin"), STR_NONE, host));
    assert_true(origin_allows(STR("none"), STR("http://evil.example"), host));
    assert_false(origin_allows(STR("cross-site"), STR("http://hongbao.example:8080"), host));
    assert_false(origin_allows(STR("same-site"), STR_NONE, host));
    assert_false(origin_allows(STR("anything"), STR_NONE, host));
    assert_true(origin_allows(STR_NONE, STR("http://hongbao.example:8080"), host));
    assert_true(origin_allows(STR_NONE, STR("https://HONGBAO.example:8080"), host));
    assert_false(origin_allows(STR_NONE, STR("http://hongbao.example"), host));
    assert_false(origin_allows(STR_NONE, STR("http://hongbao.example:8080.evil.example"), host));
    assert_false(origin_allows(STR_NONE, STR("null"), host));
    assert_false(origin_allows(STR_NONE, STR("http:"), host));
    assert_false(origin_allows(STR_NONE, STR("http://"), STR("")));
}

static void curl_sends_neither_header_and_passes(void **state)
{
    (void)state;
    assert_true(origin_allows(STR_NONE, STR_NONE, STR("hongbao.example")));
}

static void next_is_followed_only_on_this_site(void **state)
{
    (void)state;
    static const char *const foreign[] = {
        "",        "//evil.example",      "/\\evil.example", "http://evil.example", "p/abc", "/a b",
        "/\tevil", "/a\r\nSet-Cookie: x", "/p\\abc",         "javascript:x",        " /p",   "\\/p"
    };
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++)
        assert_false(origin_own_path(str_from(foreign[i])));
    assert_true(origin_own_path(STR("/")));
    assert_true(origin_own_path(STR("/p/abc?after=3")));
    assert_true(origin_own_path(STR("/records/received?year=2026")));
}

/* ---- whole requests; the loop and its connection are wrapped by the linker ---- */

enum { ENV_MAX = 8, ANSWER_MAX = 4096, USER = 10001 };

enum status __wrap_fcgi_serve(const struct fcgi_options *options, const struct fcgi_app *app);
void __wrap_fcgi_write(struct fcgi_request *r, struct str bytes);

static struct asked {
    struct fcgi_request request;
    char *env[ENV_MAX + 1]; /* "NAME=value" */
    struct buf answer;
    unsigned handled;
    uint64_t visitor; /* who the session says it is; 0: a guest */
} asked;

enum status __wrap_fcgi_serve(const struct fcgi_options *options, const struct fcgi_app *app)
{
    (void)options;
    while (app->step(app->ctx, &asked.request) == FCGI_WAIT)
        continue;
    app->finish(app->ctx, &asked.request);
    return ST_OK;
}

void __wrap_fcgi_write(struct fcgi_request *r, struct str bytes)
{
    (void)r;
    buf_str(&asked.answer, bytes);
}

static bool visitor_queue(struct exchange *x)
{
    (void)x;
    return true;
}

static enum status visitor_read(struct exchange *x)
{
    x->visitor.user_id = asked.visitor;
    return ST_OK;
}

static enum step handle(struct exchange *x)
{
    asked.handled++;
    respond_empty(x, 204);
    return STEP_DONE;
}

/* Asks for a path with POST, or GET without a body, as user USER from a page of ours; more: further "NAME=value", or
 * those that replace what is said here. Returns the status. */
static int ask(const char *path, const char *body, const char *const *more, size_t count)
{
    static const struct route site[] = {
        { "GET", "/wallet", NEED_USER, POOL_PAGE, handle },
        { "POST", "/send", NEED_USER | SAME_ORIGIN, POOL_PAGE, handle },
        { "GET", "/p/:id", WANT_VISITOR, POOL_PAGE, handle },
    };
    static struct services app;
    static struct config config;
    char error[512], uri[128] = "REQUEST_URI=";
    const char *said[ENV_MAX] = { body == NULL ? "REQUEST_METHOD=GET" : "REQUEST_METHOD=POST", uri,
                                  "HTTP_ACCEPT=application/json", "CONTENT_TYPE=application/x-www-form-urlencoded",
                                  "HTTP_SEC_FETCH_SITE=same-origin" };
    size_t env_count = 0;
    (void)strncat(uri, path, sizeof uri - strlen(uri) - 1);
    assert_true(5 + count <= ENV_MAX);
    for (size_t i = 0; i < count; i++) /* the first one counts */
        asked.env[env_count++] = strdup(more[i]);
    for (size_t i = 0; i < 5; i++)
        asked.env[env_count++] = strdup(said[i]);
    config_defaults(&config);
    app = (struct services){ .config = &config, .visitor_queue = visitor_queue, .visitor_read = visitor_read };
    assert_int_equal(templates_load(HB_SOURCE_DIR "/templates", &app.templates, error, sizeof error), ST_OK);
    asked.request.fcgx.envp = asked.env;
    asked.request.arena = arena_new(4096, 1 << 20);
    asked.request.body = body == NULL ? STR("") : str_from(body);
    asked.handled = 0;
    asked.answer = BUF_EMPTY;
    assert_int_equal(router_serve(&(struct router){ site, sizeof site / sizeof site[0], POOL_PAGE, &app }), ST_OK);
    assert_true(str_starts(buf_view(&asked.answer), STR("Status: ")));
    int status = atoi(asked.answer.ptr + sizeof "Status: " - 1);
    for (size_t i = 0; i < env_count; i++)
        free(asked.env[i]);
    buf_free(&asked.answer);
    arena_free(asked.request.arena);
    templates_free(&app.templates);
    memset(asked.env, 0, sizeof asked.env);
    memset(&asked.request, 0, sizeof asked.request);
    return status;
}

#define ASK(path, body, ...)                                                                                           \
    ask(path, body, (const char *const[]){ __VA_ARGS__ }, sizeof(const char *const[]){ __VA_ARGS__ } / sizeof(char *))

static void a_foreign_post_reaches_no_handler(void **state)
{
    (void)state;
    asked.visitor = USER;
    assert_int_equal(ASK("/send", "amount=1", "HTTP_SEC_FETCH_SITE=same-origin"), 204);
    assert_int_equal(asked.handled, 1);
    assert_int_equal(ASK("/send", "amount=1", "HTTP_SEC_FETCH_SITE=cross-site"), 403);
    assert_int_equal(asked.handled, 0);
    assert_int_equal(ASK("/wallet", NULL, "HTTP_SEC_FETCH_SITE=cross-site"), 204); /* a link from elsewhere */
}

static void a_guest_reaches_nothing_that_needs_a_user(void **state)
{
    (void)state;
    asked.visitor = 0;
    assert_int_equal(ASK("/wallet", NULL, "HTTP_ACCEPT=application/json"), 401);
    assert_int_equal(asked.handled, 0);
    assert_int_equal(ASK("/wallet", NULL, "HTTP_ACCEPT=text/html"), 303);
    assert_int_equal(asked.handled, 0);
    assert_int_equal(ASK("/send", "amount=1", "HTTP_ACCEPT=application/json"), 401);
    assert_int_equal(asked.handled, 0);
}

static void a_body_that_is_no_form_reaches_no_handler(void **state)
{
    (void)state;
    asked.visitor = USER;
    assert_int_equal(ASK("/send", "amount=1", "CONTENT_TYPE=text/plain"), 415);
    assert_int_equal(asked.handled, 0);
    assert_int_equal(ASK("/send", "amount=1", "CONTENT_TYPE=Application/X-WWW-Form-Urlencoded; charset=UTF-8"), 204);
    assert_int_equal(ASK("/send", "", "CONTENT_TYPE="), 204); /* curl -d '' */
    assert_int_equal(ASK("/send", "amount=%", "HTTP_ACCEPT=application/json"), 400);
    assert_int_equal(asked.handled, 0);
}

static void a_field_in_query_and_body_reaches_no_handler(void **state)
{
    (void)state;
    asked.visitor = USER;
    assert_int_equal(ASK("/send?amount=2", "amount=1", "HTTP_ACCEPT=application/json"), 400);
    assert_int_equal(asked.handled, 0);
    assert_int_equal(ASK("/send?count=2", "amount=1", "HTTP_ACCEPT=application/json"), 204);
}

static void a_made_up_packet_id_reaches_no_handler(void **state)
{
    (void)state;
    asked.visitor = USER;
    assert_int_equal(ASK("/p/00000000000000000000000000", NULL, "HTTP_ACCEPT=application/json"), 404);
    assert_int_equal(asked.handled, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_path_finds_its_handler_and_id),
        cmocka_unit_test(other_paths_are_unknown),
        cmocka_unit_test(a_wrong_method_is_told_from_a_wrong_path),
        cmocka_unit_test(a_pool_serves_only_its_own_routes),
        cmocka_unit_test(browsers_may_post_from_our_own_pages_only),
        cmocka_unit_test(curl_sends_neither_header_and_passes),
        cmocka_unit_test(next_is_followed_only_on_this_site),
        cmocka_unit_test(a_foreign_post_reaches_no_handler),
        cmocka_unit_test(a_guest_reaches_nothing_that_needs_a_user),
        cmocka_unit_test(a_body_that_is_no_form_reaches_no_handler),
        cmocka_unit_test(a_field_in_query_and_body_reaches_no_handler),
        cmocka_unit_test(a_made_up_packet_id_reaches_no_handler),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

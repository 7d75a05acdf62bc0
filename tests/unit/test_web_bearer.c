/* web/bearer and web/router: what a request with an access token may do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "web/assets.h"
#include "web/bearer.h"
#include "web/respond.h"
#include "web/router.h"

enum { ENV_MAX = 8, USER = 10001 };

static struct services app;
static struct config config;
static struct exchange x;
static unsigned handled, looked_up;

/* The owner of the token of the request, as a hook finds it. */
static struct visitor owner;
static enum status found;

static bool visitor_queue(struct exchange *asked)
{
    (void)asked;
    looked_up++;
    return true;
}

static enum status visitor_read(struct exchange *asked)
{
    asked->visitor = owner;
    return found;
}

static enum step handle(struct exchange *asked)
{
    handled++;
    respond_empty(asked, 204);
    return STEP_DONE;
}

static const struct route site[] = {
    { "GET", "/list", NEED_USER, POOL_PAGE, handle },
    { "GET", "/both", WANT_VISITOR, POOL_PAGE, handle },
    { "POST", "/send", NEED_USER | SAME_ORIGIN | FOR_SEND, POOL_PAGE, handle },
    { "POST", "/open", NEED_USER | SAME_ORIGIN | FOR_OPEN, POOL_PAGE, handle },
    { "POST", "/other", NEED_USER | SAME_ORIGIN, POOL_PAGE, handle },
    { "GET", "/account", NEED_USER | NO_TOKEN, POOL_PAGE, handle },
    { "POST", "/account", NEED_USER | SAME_ORIGIN | NO_TOKEN, POOL_PAGE, handle },
    { "POST", "/free", SAME_ORIGIN, POOL_PAGE, handle },
    { "GET", "/free", 0, POOL_PAGE, handle },
};

static int setup(void **state)
{
    (void)state;
    char error[512];
    config_defaults(&config);
    app = (struct services){ .stores.config = &config, .visitor_queue = visitor_queue, .visitor_read = visitor_read };
    return templates_load(HB_SOURCE_DIR "/templates", &app.templates, error, sizeof error) != ST_OK ||
           assets_load(HB_SOURCE_DIR "/static", &app.assets) != ST_OK;
}

static int teardown(void **state)
{
    (void)state;
    buf_free(&x.headers);
    buf_free(&x.body);
    templates_free(&app.templates);
    assets_free(app.assets);
    return 0;
}

/* Runs a request with these "NAME=value" parameters; scopes are those of its token (0: no such token). Returns the
 * status. */
static int ask_with(unsigned scopes, const char *method, const char *uri, const char *authorization, const char *more)
{
    static char env[ENV_MAX][256];
    static char *envp[ENV_MAX + 1];
    static struct fcgi_request request;
    size_t count = 0;
    (void)snprintf(env[count++], sizeof env[0], "REQUEST_METHOD=%s", method);
    (void)snprintf(env[count++], sizeof env[0], "REQUEST_URI=%s", uri);
    (void)snprintf(env[count++], sizeof env[0], "HTTP_SEC_FETCH_SITE=cross-site");
    (void)snprintf(env[count++], sizeof env[0], "HTTP_ACCEPT=text/html");
    if (authorization != NULL)
        (void)snprintf(env[count++], sizeof env[0], "HTTP_AUTHORIZATION=%s", authorization);
    if (more != NULL)
        (void)snprintf(env[count++], sizeof env[0], "%s", more);
    for (size_t i = 0; i <= ENV_MAX; i++)
        envp[i] = i < count ? env[i] : NULL;
    buf_free(&x.headers);
    buf_free(&x.body);
    request = (struct fcgi_request){ .fcgx.envp = envp, .arena = arena_new(4096, 1 << 20) };
    x = (struct exchange){ .app = &app, .fcgi = &request, .arena = request.arena };
    owner = scopes == 0 ? (struct visitor){ 0 }
                        : (struct visitor){ .user_id = USER, .scopes = scopes, .nickname = STR("Ming") };
    handled = looked_up = 0;
    const struct router router = { site, ARRAY_LEN(site), POOL_PAGE, &app };
    while (router_answer(&router, &x) == STEP_WAIT)
        continue;
    arena_free(request.arena);
    return x.status;
}

static int ask(unsigned scopes, const char *method, const char *uri)
{
    return ask_with(scopes, method, uri, "Bearer hbt_0", NULL);
}

static bool answer_has(const char *text)
{
    return str_after(buf_view(&x.headers), str_from(text)).ptr != NULL ||
           str_after(buf_view(&x.body), str_from(text)).ptr != NULL;
}

static void a_token_needs_the_scope_of_the_route(void **state)
{
    (void)state;
    assert_int_equal(ask(SCOPE_READ, "GET", "/list"), 204);
    assert_int_equal(ask(SCOPE_READ, "HEAD", "/list"), 204);
    assert_int_equal(ask(SCOPE_READ, "GET", "/both"), 204);
    assert_int_equal(ask(SCOPE_SEND, "POST", "/send"), 204);
    assert_int_equal(ask(SCOPE_OPEN, "POST", "/open"), 204);
    assert_int_equal(handled, 1);
    assert_int_equal(ask(SCOPE_SEND | SCOPE_OPEN, "GET", "/list"), 403);
    assert_int_equal(ask(SCOPE_SEND | SCOPE_OPEN, "GET", "/both"), 403);
    assert_int_equal(ask(SCOPE_READ | SCOPE_OPEN, "POST", "/send"), 403);
    assert_int_equal(ask(SCOPE_READ | SCOPE_SEND, "POST", "/open"), 403);
    assert_int_equal(handled, 0);
    assert_true(answer_has("WWW-Authenticate: Bearer error=\"insufficient_scope\", scope=\"open\""));
    assert_true(answer_has("\"scope\":\"open\""));
    assert_true(answer_has("urn:hongbao:problem:insufficient-scope"));
}

static void a_route_without_a_scope_refuses_tokens_before_any_store(void **state)
{
    (void)state;
    static const char *const routes[][2] = { { "POST", "/other" }, { "GET", "/account" }, { "POST", "/account" } };
    for (size_t i = 0; i < ARRAY_LEN(routes); i++) {
        assert_int_equal(ask(SCOPE_READ | SCOPE_SEND | SCOPE_OPEN, routes[i][0], routes[i][1]), 403);
        assert_true(answer_has("urn:hongbao:problem:token-refused"));
        assert_int_equal(handled + looked_up, 0);
    }
}

static void an_unknown_token_is_401_also_where_guests_are_welcome(void **state)
{
    (void)state;
    assert_int_equal(ask(0, "GET", "/both"), 401);
    assert_int_equal(handled, 0);
    assert_true(answer_has("WWW-Authenticate: Bearer error=\"invalid_token\""));
    assert_true(answer_has("urn:hongbao:problem:unauthorized"));
    assert_int_equal(ask_with(0, "GET", "/both", "Bearer", NULL), 401);
    assert_int_equal(ask_with(0, "GET", "/both", "Bearer ", NULL), 401);
}

/* The guard is for what a browser sends by itself. A route that does not ask for the visitor ignores the header, so
 * there the guard stays. */
static void the_cross_origin_guard_is_for_requests_without_a_token(void **state)
{
    (void)state;
    assert_int_equal(ask(SCOPE_SEND, "POST", "/send"), 204);
    assert_int_equal(ask_with(SCOPE_SEND, "POST", "/send", NULL, NULL), 403);
    assert_int_equal(ask_with(SCOPE_SEND, "POST", "/send", "Basic YTpi", NULL), 403);
    assert_int_equal(ask(SCOPE_SEND, "POST", "/free"), 403);
    assert_true(answer_has("urn:hongbao:problem:cross-origin"));
    assert_int_equal(handled, 0);
    assert_int_equal(ask(0, "GET", "/free"), 204);
}

static void an_answer_to_a_token_is_json(void **state)
{
    (void)state;
    (void)ask(SCOPE_READ, "GET", "/list");
    assert_true(x.wants_json);
    (void)ask_with(0, "GET", "/both", NULL, NULL);
    assert_false(x.wants_json);
    (void)ask_with(0, "GET", "/both", "bEARER  hbt_0 ", NULL);
    assert_true(str_equal(x.bearer, STR("hbt_0")));
}

/* The hot pool has no MySQL: the page pool puts the token into Redis and passes the request back. */
static void a_token_that_only_mysql_knows_is_looked_up_by_the_page_pool(void **state)
{
    (void)state;
    found = ST_NOT_FOUND;
    assert_int_equal(ask(0, "POST", "/open"), 200);
    assert_true(answer_has("X-Accel-Redirect: @token"));
    assert_int_equal(handled, 0);
    found = ST_OK;
    app.stores.db = (struct db *)&found; /* never used: the page pool is the one that has MySQL */
    assert_int_equal(ask_with(SCOPE_OPEN, "POST", "/open", "Bearer hbt_0", "TOKEN_LOAD=1"), 200);
    assert_true(answer_has("X-Accel-Redirect: @hot"));
    assert_int_equal(handled, 0);
    assert_int_equal(ask_with(0, "POST", "/open", "Bearer hbt_0", "TOKEN_LOAD=1"), 401);
    app.stores.db = NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_token_needs_the_scope_of_the_route),
        cmocka_unit_test(a_route_without_a_scope_refuses_tokens_before_any_store),
        cmocka_unit_test(an_unknown_token_is_401_also_where_guests_are_welcome),
        cmocka_unit_test(the_cross_origin_guard_is_for_requests_without_a_token),
        cmocka_unit_test(an_answer_to_a_token_is_json),
        cmocka_unit_test(a_token_that_only_mysql_knows_is_looked_up_by_the_page_pool),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}

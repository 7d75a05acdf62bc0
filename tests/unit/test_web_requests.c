/* web/router, web/bearer, web/stream: whole requests, which must not reach a handler, or are answered in parts. The
 * linker wraps the functions of io/fcgi. */
#include "base/utf8.h"
#include "support/assert_text.h"
#include "support/test_site.h"
#include "web/bearer.h"
#include "web/fields.h"
#include "web/origin.h"
#include "web/respond.h"
#include "web/router.h"

enum { ENV_MAX = 8, USER = 10001, PARTS = 3 };

enum status __wrap_fcgi_serve(const struct fcgi_options *options, const struct fcgi_app *app);
void __wrap_fcgi_write(struct fcgi_request *r, struct str bytes);
bool __wrap_fcgi_flush(struct fcgi_request *r);
void __wrap_fcgi_break_off(struct fcgi_request *r);

/* The user of the request: the owner of the session or of the token, as a hook finds it. */
static struct visitor owner;
static enum status found;

static struct served {
    struct fcgi_request request;
    struct buf answer;
    unsigned handled, looked_up;
    char bearer[16]; /* the token that was looked up */
    bool wants_json; /* the value that the handler sees */
    int parts;       /* number of parts of a stream that were made */
    bool broken_off;
} served;

static int fail_at, close_at; /* the part that fails, and the part that the peer does not accept; 0: none */

enum status __wrap_fcgi_serve(const struct fcgi_options *options, const struct fcgi_app *app)
{
    (void)options;
    while (app->step(app->ctx, &served.request) == FCGI_WAIT)
        if (services.stores.redis != NULL)
            app->round(app->ctx);
    app->finish(app->ctx, &served.request);
    return ST_OK;
}

void __wrap_fcgi_write(struct fcgi_request *r, struct str bytes)
{
    (void)r;
    buf_str(&served.answer, bytes);
}

bool __wrap_fcgi_flush(struct fcgi_request *r)
{
    (void)r;
    return close_at != served.parts;
}

void __wrap_fcgi_break_off(struct fcgi_request *r)
{
    (void)r;
    served.broken_off = true;
}

static bool visitor_queue(struct exchange *x)
{
    (void)x;
    served.looked_up++;
    return true;
}

static enum status visitor_read(struct exchange *x)
{
    x->visitor = owner;
    (void)snprintf(served.bearer, sizeof served.bearer, "%.*s", STR_ARG(x->bearer));
    return found;
}

static enum step handle(struct exchange *x)
{
    served.handled++;
    served.wants_json = x->wants_json;
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

static enum status part_next(struct exchange *x, bool *more)
{
    served.parts++;
    *more = served.parts < PARTS;
    if (served.parts == fail_at)
        return ST_UNAVAILABLE;
    buf_printf(&x->body, "part %d;", served.parts);
    return ST_OK;
}

static enum step handle_stream(struct exchange *x)
{
    respond_header(x, "X-Name", STR("value"));
    respond_stream(x, STR("text/csv"), part_next);
    return STEP_DONE;
}

static const struct route site[] = {
    { "GET", "/", WANT_VISITOR, POOL_PAGE, handle, NULL },
    { "GET", "/p/:id", WANT_VISITOR, POOL_HOT | POOL_PAGE, handle, NULL },
    { "POST", "/p/:id/open", NEED_USER | SAME_ORIGIN, POOL_HOT, handle, NULL },
    { "POST", "/logout", SAME_ORIGIN, POOL_AUTH, handle, NULL },
    { "GET", "/wallet", NEED_USER, POOL_PAGE, handle, NULL },
    { "GET", "/send", NEED_USER, POOL_PAGE, handle, NULL },
    { "POST", "/send", NEED_USER | SAME_ORIGIN | FOR_SEND, POOL_PAGE, handle, NULL },
    { "POST", "/open", NEED_USER | SAME_ORIGIN | FOR_OPEN, POOL_PAGE, handle, NULL },
    { "POST", "/other", NEED_USER | SAME_ORIGIN, POOL_PAGE, handle, NULL },
    { "GET", "/account", NEED_USER | NO_TOKEN, POOL_PAGE, handle, NULL },
    { "POST", "/account", NEED_USER | SAME_ORIGIN | NO_TOKEN, POOL_PAGE, handle, NULL },
    { "POST", "/free", SAME_ORIGIN, POOL_PAGE, handle, NULL },
    { "GET", "/free", 0, POOL_PAGE, handle, NULL },
    { "GET", "/split", 0, POOL_HOT, handle, NULL },
    { "POST", "/split", 0, POOL_PAGE, handle, NULL },
    { "GET", "/records", WANT_VISITOR, POOL_PAGE, handle_query, NULL },
    { "GET", "/stream", 0, POOL_PAGE, handle_stream, NULL },
};

struct asked {
    const char *uri;
    const char *body;   /* NULL: none */
    const char *method; /* NULL: GET, or POST when there is a body */
    const char *accept; /* NULL: JSON */
    enum pool pool;     /* 0: page */
    const char *env[4]; /* further "NAME=value" */
};

/* Runs a request. Returns its status; the answer is in `served` until the next one. The handler answers 204, so any
 * other status means that it was not reached. */
static int ask(const struct asked *a)
{
    const char *method = a->method != NULL ? a->method : a->body != NULL ? "POST" : "GET";
    const struct router router = { site, ARRAY_LEN(site), a->pool != 0 ? a->pool : POOL_PAGE, &services };
    const char *texts[ENV_MAX + 1] = { NULL };
    char *env[ENV_MAX + 1];
    size_t count = 0;
    arena_reset(arena);
    while (count < ARRAY_LEN(a->env) && a->env[count] != NULL) { /* the first one of a name counts */
        texts[count] = a->env[count];
        count++;
    }
    texts[count++] = arena_printf(arena, "REQUEST_METHOD=%s", method).ptr;
    texts[count++] = arena_printf(arena, "REQUEST_URI=%s", a->uri).ptr;
    texts[count++] = arena_printf(arena, "HTTP_ACCEPT=%s", a->accept != NULL ? a->accept : "application/json").ptr;
    texts[count++] = "CONTENT_TYPE=application/x-www-form-urlencoded";
    memcpy(env, texts, sizeof env);
    buf_free(&served.answer);
    served = (struct served){ .request = { .fcgx.envp = env, .arena = arena, .body = str_from(a->body) } };
    services.visitor_queue = visitor_queue;
    services.visitor_read = visitor_read;
    assert_int_equal(router_serve(&router), ST_OK);
    assert_true(str_starts(buf_view(&served.answer), STR("Status: ")));
    const int status = atoi(served.answer.ptr + strlen("Status: "));
    if (strncmp(a->uri, "/records", 8) != 0) /* whose handler answers otherwise */
        assert_int_equal(served.handled, status == 204 && strcmp(method, "OPTIONS") != 0);
    return status;
}

#define ASK(path, ...) ask(&(const struct asked){ .uri = (path), __VA_ARGS__ })

static bool answer_has(const char *text)
{
    return str_after(buf_view(&served.answer), str_from(text)).ptr != NULL;
}

/* Expects these parts of the answer. "!" before a part: it is missing. */
#define assert_answer(...) assert_parts(arena_cstr(arena, buf_view(&served.answer)), __VA_ARGS__)

static int user_asks(void **state)
{
    (void)state;
    owner = (struct visitor){ .user_id = USER, .nickname = STR("Ming") };
    return 0;
}

static int guest_asks(void **state)
{
    (void)state;
    owner = (struct visitor){ 0 };
    return 0;
}

/* ---- what reaches no handler ---- */

TEST_WITH(a_foreign_post_another_media_type_a_field_twice_or_a_forged_id_reaches_no_handler, user_asks, NULL)
{
    assert_int_equal(ASK("/send", .body = "amount=1", .env = { "HTTP_SEC_FETCH_SITE=same-origin" }), 204);
    assert_int_equal(ASK("/send", .body = "amount=1", .env = { "HTTP_SEC_FETCH_SITE=cross-site" }), 403);
    /* A link on another site. */
    assert_int_equal(ASK("/wallet", .env = { "HTTP_SEC_FETCH_SITE=cross-site" }), 204);
    assert_int_equal(ASK("/send", .body = "amount=1", .env = { "CONTENT_TYPE=text/plain" }), 415);
    static const char mixed_case[] = "CONTENT_TYPE=Application/X-WWW-Form-Urlencoded; charset=UTF-8";
    assert_int_equal(ASK("/send", .body = "amount=1", .env = { mixed_case }), 204);
    assert_int_equal(ASK("/send", .body = "", .env = { "CONTENT_TYPE=" }), 204); /* curl -d '' */
    assert_int_equal(ASK("/send", .body = "amount=%"), 400);
    assert_int_equal(ASK("/send?amount=2", .body = "amount=1"), 400);
    assert_int_equal(ASK("/send?count=2", .body = "amount=1"), 204);
    assert_int_equal(ASK("/p/00000000000000000000000000"), 404);
}

TEST_WITH(of_an_address_only_what_the_handler_reads_is_refused_in_utf8, user_asks, NULL)
{
    char uri[128];
    EACH_TEXT (text, "from=a&from=a", "%", "x=\xB0\xC5", "x=%E5", "%00", "before%=1",
               "a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a") {
        (void)snprintf(uri, sizeof uri, "/records?before=1&%s", text);
        assert_int_equal(ASK(uri, .accept = "text/html"), 303);
        (void)snprintf(uri, sizeof uri, "/send?%s", text);
        assert_int_equal(ASK(uri, .body = "amount=1", .accept = "text/html"), 204);
    }
    EACH_TEXT (text, "before=%", "before=1&x&before=1", "before=\xB0", "x=%&before=%00") {
        (void)snprintf(uri, sizeof uri, "/records?%s", text);
        assert_int_equal(ASK(uri), 400);
        assert_false(answer_has("Location: ")); /* the answer is replaced as a whole */
        struct str type = str_after(buf_view(&served.answer), STR("Content-Type: "));
        assert_true(type.ptr != NULL && str_after(type, STR("Content-Type: ")).ptr == NULL);
    }
    static const char *const addresses[] = { "/records?before=\x91", "/p/\xe8", "/nowhere/\xff?\x91",
                                             "/records?before=%" };
    static const char *const accepts[] = { "text/html", "application/json" };
    for (size_t i = 0; i < 2 * ARRAY_LEN(addresses); i++) {
        assert_in_range(ASK(addresses[i / 2], .accept = accepts[i % 2]), 400, 405);
        assert_true(utf8_valid(buf_view(&served.answer)));
    }
}

/* ---- what is answered without a handler ---- */

TEST(allow_names_the_methods_of_the_path)
{
    static const struct {
        enum pool pool;
        const char *method, *path, *allow;
    } cases[] = {
        { POOL_PAGE, "POST", "/", "GET, HEAD" },
        { POOL_HOT, "DELETE", "/p/abc", "GET, HEAD" },
        { POOL_HOT, "PUT", "/p/abc/open", "POST" },
        { POOL_AUTH, "PUT", "/logout", "POST" },
        { POOL_PAGE, "PUT", "/send", "GET, HEAD, POST" },
        { POOL_PAGE, "OPTIONS", "/send", "GET, HEAD, POST" },
        { POOL_HOT, "OPTIONS", "/p/abc/open", "POST" },
        { POOL_HOT, "POST", "/split", "GET, HEAD, POST" }, /* methods in all pools, not only in this one */
    };
    EACH (row, cases) {
        char line[64];
        int status = ASK(row->path, .method = row->method, .pool = row->pool, .accept = "text/html");
        (void)snprintf(line, sizeof line, "\r\nAllow: %s\r\n", row->allow);
        if (status != (strcmp(row->method, "OPTIONS") == 0 ? 204 : 405) || !answer_has(line))
            fail_msg("%s %s: %.*s", row->method, row->path, STR_ARG(buf_view(&served.answer)));
    }
}

/* Expects an answer that no handler gave; location: the whole header, NULL: there is none. */
static void assert_led(const struct asked *a, int status, const char *location)
{
    int got = ask(a);
    if (got != status || (location == NULL ? answer_has("\r\nLocation: ")
                                           : !answer_has(arena_printf(arena, "\r\nLocation: %s\r\n", location).ptr)))
        fail_msg("%s: %.*s", a->uri, STR_ARG(buf_view(&served.answer)));
}

/* A reader reloads the address of a form that was posted. */
TEST(the_address_of_a_form_leads_a_reader_to_its_page)
{
    static const struct {
        struct asked asked;
        const char *location;
    } cases[] = { { { .uri = "/p/abc/open", .pool = POOL_HOT, .accept = "text/html" }, "/p/abc" },
                  { { .uri = "/p/abc/open", .pool = POOL_HOT, .accept = "text/html", .method = "HEAD" }, "/p/abc" },
                  { { .uri = "/logout", .pool = POOL_AUTH, .accept = "text/html" }, "/" } };
    EACH (row, cases) {
        assert_led(&row->asked, 303, row->location);
        assert_false(answer_has("Allow: POST"));
    }
}

/* A chat has added something to the link. */
TEST(a_mended_link_is_a_redirect_that_keeps_the_query)
{
    static const struct {
        const char *method, *path, *location; /* NULL: 404 */
    } cases[] = { { "GET", "/send%E3%80%82", "/send" },
                  { "HEAD", "/send/", "/send" },
                  { "GET", "/send/?to=a", "/send?to=a" },
                  { "GET", "/send)?to=\\a", "/send" },
                  { "GET", "//evil.example", NULL },
                  { "GET", "//evil.example/send/", NULL },
                  { "POST", "/send/", "/send" },
                  { "POST", "//send//?a=\xB0", "/send?a=%B0" },
                  { "PUT", "/send/", "/send" },
                  { "POST", "/send)", NULL },
                  { "POST", "/SEND/", NULL },
                  { "POST", "/sends/", NULL } };
    EACH (row, cases) {
        const struct asked a = { .uri = row->path, .method = row->method, .accept = "text/html" };
        assert_led(&a, row->location != NULL ? 308 : 404, row->location);
    }
}

/* Expects that GET uri redirects a guest to location. */
static void assert_guest_redirected(const char *uri, const char *location)
{
    assert_led(&(struct asked){ .uri = uri, .accept = "text/html" }, 303, location);
}

TEST_WITH(a_guest_reaches_no_handler_that_needs_a_user_but_a_login_that_returns_to_it, guest_asks, NULL)
{
    static char uri[8192] = "/send?x=", location[3 * sizeof uri];
    const size_t head = strlen(uri);
    assert_guest_redirected("/send?to=a&x=%2F", "/login?next=/send%3Fto%3Da%26x%3D%252F");
    memset(uri + head, 'a', NEXT_BYTES_MAX - head);
    (void)snprintf(location, sizeof location, "/login?next=/send%%3Fx%%3D%s", uri + head);
    assert_guest_redirected(uri, location);
    uri[NEXT_BYTES_MAX] = 'a';
    assert_guest_redirected(uri, "/login");
    memset(uri + head, 'a', 6 << 10);
    assert_guest_redirected(uri, "/login");
    assert_int_equal(ASK("/wallet"), 401);
    assert_int_equal(ASK("/wallet", .accept = "text/html"), 303);
    assert_int_equal(ASK("/send", .body = "amount=1"), 401);
}

/* ---- requests with an access token ---- */

/* A browser on another site asks. authorization NULL: it has no token; scopes: the token's, 0: it is unknown. Returns
 * the status. */
static int ask_with(unsigned scopes, const char *method, const char *uri, const char *authorization, const char *more)
{
    char header[64];
    struct asked a = {
        .uri = uri, .method = method, .accept = "text/html", .env = { "HTTP_SEC_FETCH_SITE=cross-site" }
    };
    (void)snprintf(header, sizeof header, "HTTP_AUTHORIZATION=%s", authorization);
    a.env[1] = authorization != NULL ? header : more;
    a.env[2] = authorization != NULL ? more : NULL;
    owner = (struct visitor){ .user_id = scopes == 0 ? 0 : USER, .scopes = scopes, .nickname = STR("Ming") };
    return ask(&a);
}

static int ask_by_token(unsigned scopes, const char *method, const char *uri)
{
    return ask_with(scopes, method, uri, "Bearer hbt_0", NULL);
}

TEST(a_token_needs_the_scope_of_the_route)
{
    static const struct {
        unsigned scopes;
        const char *method, *uri;
        bool handled;
    } cases[] = { { SCOPE_READ, "GET", "/wallet", true },
                  { SCOPE_READ, "HEAD", "/wallet", true },
                  { SCOPE_READ, "GET", "/", true },
                  { SCOPE_SEND, "POST", "/send", true },
                  { SCOPE_OPEN, "POST", "/open", true },
                  { SCOPE_SEND | SCOPE_OPEN, "GET", "/wallet", false },
                  { SCOPE_SEND | SCOPE_OPEN, "GET", "/", false },
                  { SCOPE_READ | SCOPE_OPEN, "POST", "/send", false },
                  { SCOPE_READ | SCOPE_SEND, "POST", "/open", false } };
    EACH (row, cases) {
        int status = ask_by_token(row->scopes, row->method, row->uri);
        if (status != (row->handled ? 204 : 403))
            fail_msg("%s %s with %x: %d", row->method, row->uri, row->scopes, status);
    }
    assert_answer("WWW-Authenticate: Bearer error=\"insufficient_scope\", scope=\"open\"", "\"scope\":\"open\"",
                  "urn:hongbao:problem:insufficient-scope");
}

TEST(an_unknown_token_is_401_a_route_without_a_scope_403_and_an_answer_to_a_token_json)
{
    assert_int_equal(ask_by_token(0, "GET", "/"), 401);
    assert_answer("WWW-Authenticate: Bearer error=\"invalid_token\"", "urn:hongbao:problem:unauthorized");
    assert_int_equal(ask_with(0, "GET", "/", "Bearer", NULL), 401);
    assert_int_equal(ask_with(0, "GET", "/", "Bearer ", NULL), 401);
    static const char *const routes[][2] = { { "POST", "/other" }, { "GET", "/account" }, { "POST", "/account" } };
    for (size_t i = 0; i < ARRAY_LEN(routes); i++) {
        assert_int_equal(ask_by_token(SCOPE_READ | SCOPE_SEND | SCOPE_OPEN, routes[i][0], routes[i][1]), 403);
        assert_true(answer_has("urn:hongbao:problem:token-refused"));
        assert_int_equal(served.looked_up, 0);
    }
    assert_int_equal(ask_by_token(SCOPE_READ, "GET", "/wallet"), 204);
    assert_true(served.wants_json);
    assert_int_equal(ask_with(0, "GET", "/", NULL, NULL), 204);
    assert_false(served.wants_json);
    (void)ask_with(0, "GET", "/", "bEARER  hbt_0 ", NULL);
    assert_string_equal(served.bearer, "hbt_0");
}

/* The guard protects what a browser sends by itself. A route that does not need the visitor ignores the header, so the
 * guard applies there. */
TEST(the_cross_origin_guard_is_for_requests_without_a_token)
{
    assert_int_equal(ask_by_token(SCOPE_SEND, "POST", "/send"), 204);
    assert_int_equal(ask_with(SCOPE_SEND, "POST", "/send", NULL, NULL), 403);
    assert_int_equal(ask_with(SCOPE_SEND, "POST", "/send", "Basic YTpi", NULL), 403);
    assert_int_equal(ask_by_token(SCOPE_SEND, "POST", "/free"), 403);
    assert_true(answer_has("urn:hongbao:problem:cross-origin"));
    assert_int_equal(ask_by_token(0, "GET", "/free"), 204);
}

/* The hot pool has no MySQL: the page pool puts the token into Redis and passes the request back. */
TEST(a_token_that_only_mysql_knows_is_looked_up_by_the_page_pool)
{
    found = ST_NOT_FOUND;
    assert_int_equal(ask_by_token(0, "POST", "/open"), 200);
    assert_true(answer_has("X-Accel-Redirect: @token"));
    found = ST_OK;
    services.stores.db = (struct db *)&found; /* never used: only the page pool has MySQL */
    assert_int_equal(ask_with(SCOPE_OPEN, "POST", "/open", "Bearer hbt_0", "TOKEN_LOAD=1"), 200);
    assert_true(answer_has("X-Accel-Redirect: @hot"));
    assert_int_equal(ask_with(0, "POST", "/open", "Bearer hbt_0", "TOKEN_LOAD=1"), 401);
    services.stores.db = NULL;
}

/* ---- answers in parts ---- */

static void stream(const char *method, int failing, int not_taken)
{
    fail_at = failing;
    close_at = not_taken;
    services.stores.redis = redis_new(&config);
    assert_non_null(services.stores.redis);
    (void)ASK("/stream", .method = method);
    redis_free(services.stores.redis);
    services.stores.redis = NULL;
}

TEST(parts_are_sent_one_by_one_without_a_length_to_a_peer_that_is_there)
{
    stream("GET", 0, 0);
    assert_true(str_starts(buf_view(&served.answer), STR("Status: 200 OK\r\n")));
    assert_true(str_ends(buf_view(&served.answer), STR("\r\n\r\npart 1;part 2;part 3;")));
    assert_answer("X-Name: value\r\n", "Cache-Control: no-store\r\n", "!Content-Length");
    assert_false(served.broken_off);
    stream("HEAD", 0, 0);
    assert_true(str_ends(buf_view(&served.answer), STR("\r\n\r\n")));
    assert_int_equal(served.parts, 0);
    stream("GET", 0, 1);
    assert_int_equal(served.parts, 1);
}

TEST(when_the_first_part_fails_the_answer_says_so_and_with_a_later_one_it_is_broken_off)
{
    stream("GET", 1, 0);
    assert_true(str_starts(buf_view(&served.answer), STR("Status: 503 ")));
    assert_answer("Content-Length", "!X-Name", "!part");
    assert_false(served.broken_off);
    stream("GET", 2, 0);
    assert_true(str_ends(buf_view(&served.answer), STR("\r\n\r\npart 1;")));
    assert_true(served.broken_off);
    assert_int_equal(served.parts, 2);
}

static int teardown(void **state)
{
    buf_free(&served.answer);
    return site_teardown(state);
}

TESTS(site_setup, teardown)

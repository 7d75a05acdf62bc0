/* web/router and web/origin: the handler of a path, answers without a handler, redirects of guests, and the
 * cross-origin guard. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "web/assets.h"
#include "web/origin.h"
#include "web/respond.h"
#include "web/router.h"

enum { URI_MAX = 8192 };

static struct services services;
static struct config config;
static struct arena *arena;
static unsigned answers;

static bool guest_queue(struct exchange *x)
{
    (void)x;
    return false;
}

static int setup(void **state)
{
    (void)state;
    char error[512];
    arena = arena_new(4096, 1 << 20);
    config_defaults(&config);
    services.stores.config = &config;
    services.visitor_queue = guest_queue;
    return arena == NULL ||
           templates_load(HB_SOURCE_DIR "/templates", &services.templates, error, sizeof error) != ST_OK ||
           assets_load(HB_SOURCE_DIR "/static", &services.assets) != ST_OK;
}

static int teardown(void **state)
{
    (void)state;
    templates_free(&services.templates);
    assets_free(services.assets);
    arena_free(arena);
    return 0;
}

static enum step answer(struct exchange *x)
{
    answers++;
    respond_empty(x, 204);
    return STEP_DONE;
}

static const struct route routes[] = {
    { "GET", "/", WANT_VISITOR, POOL_PAGE, answer },
    { "GET", "/p/:id", WANT_VISITOR, POOL_HOT | POOL_PAGE, answer },
    { "POST", "/p/:id/open", NEED_USER | SAME_ORIGIN, POOL_HOT, answer },
    { "GET", "/p/:id/verify", WANT_VISITOR, POOL_PAGE, answer },
    { "POST", "/logout", SAME_ORIGIN, POOL_AUTH, answer },
    { "GET", "/send", NEED_USER, POOL_PAGE, answer },
    { "POST", "/send", NEED_USER, POOL_PAGE, answer },
    { "GET", "/split", 0, POOL_HOT, answer },
    { "POST", "/split", 0, POOL_PAGE, answer },
    { "GET", "/orders/:key", WANT_VISITOR, POOL_PAGE, answer },
};

static struct router router_of(enum pool pool)
{
    return (struct router){ routes, ARRAY_LEN(routes), pool, &services };
}

static const struct route *find(enum pool pool, const char *method, const char *path, struct route_params *params,
                                bool *known)
{
    const struct router router = router_of(pool);
    unsigned methods;
    const struct route *route = route_find(&router, str_from(method), str_from(path), params, &methods);
    *known = methods != 0;
    return route;
}

/* ---- whole requests ---- */

struct served {
    struct exchange x;
    struct fcgi_request request;
    char params[2][URI_MAX + 32];
    char *envp[3];
};

/* Runs a request of a browser. Call served_end afterwards. */
static void serve(struct served *a, enum pool pool, const char *method, const char *uri)
{
    const struct router router = router_of(pool);
    memset(a, 0, sizeof *a);
    snprintf(a->params[0], sizeof a->params[0], "REQUEST_METHOD=%s", method);
    snprintf(a->params[1], sizeof a->params[1], "REQUEST_URI=%s", uri);
    a->envp[0] = a->params[0];
    a->envp[1] = a->params[1];
    a->request.fcgx.envp = a->envp;
    a->request.arena = arena;
    a->x.app = &services;
    a->x.fcgi = &a->request;
    a->x.arena = arena;
    assert_int_equal(router_answer(&router, &a->x), STEP_DONE);
}

static bool has_header(const struct served *a, const char *line)
{
    char wanted[3 * URI_MAX + 64];
    snprintf(wanted, sizeof wanted, "%s\r\n", line);
    return a->x.headers.len > 0 && memmem(a->x.headers.ptr, a->x.headers.len, wanted, strlen(wanted)) != NULL;
}

static void served_end(struct served *a)
{
    buf_free(&a->x.headers);
    buf_free(&a->x.body);
    arena_reset(arena);
}

static void a_path_finds_its_handler_and_id(void **state)
{
    (void)state;
    struct route_params params;
    bool known;
    assert_ptr_equal(find(POOL_PAGE, "GET", "/", &params, &known), &routes[0]);
    assert_ptr_equal(find(POOL_HOT, "GET", "/p/abc", &params, &known), &routes[1]);
    assert_true(str_equal(params.id, STR("abc")));
    assert_ptr_equal(find(POOL_HOT, "POST", "/p/abc/open", &params, &known), &routes[2]);
    assert_true(str_equal(params.id, STR("abc")));
    assert_ptr_equal(find(POOL_HOT, "HEAD", "/p/abc", &params, &known), &routes[1]);
    assert_int_equal(params.key.len, 0);
}

static void a_key_in_a_path_is_not_an_id(void **state)
{
    (void)state;
    struct route_params params;
    bool known;
    assert_ptr_equal(find(POOL_PAGE, "GET", "/orders/my-key_1", &params, &known), &routes[9]);
    assert_true(str_equal(params.key, STR("my-key_1")));
    assert_int_equal(params.id.len, 0);
    assert_null(find(POOL_PAGE, "GET", "/orders/", &params, &known));
    assert_null(find(POOL_PAGE, "GET", "/orders/a/b", &params, &known));
    assert_null(find(POOL_PAGE, "GET", "/p/abc/:key", &params, &known));
}

static void other_paths_are_unknown(void **state)
{
    (void)state;
    static const char *const strangers[] = { "",        "p/abc",   "/p",           "/p/",         "/p//open",
                                             "/p/abc/", "//p/abc", "/p/abc/open/", "/p/a/b/open", "/P/abc" };
    struct route_params params;
    bool known;
    for (size_t i = 0; i < ARRAY_LEN(strangers); i++) {
        assert_null(find(POOL_HOT, "GET", strangers[i], &params, &known));
        assert_false(known);
    }
}

static void a_wrong_method_is_distinguished_from_a_wrong_path(void **state)
{
    (void)state;
    struct route_params params;
    bool known;
    assert_null(find(POOL_HOT, "GET", "/p/abc/open", &params, &known));
    assert_true(known);
    assert_null(find(POOL_HOT, "DELETE", "/p/abc", &params, &known));
    assert_true(known);
}

static void a_pool_serves_only_its_own_routes(void **state)
{
    (void)state;
    struct route_params params;
    bool known;
    assert_null(find(POOL_HOT, "POST", "/logout", &params, &known));
    assert_false(known);
    assert_null(find(POOL_PAGE, "POST", "/p/abc/open", &params, &known));
}

static void assert_allows(enum pool pool, const char *method, const char *path, const char *allow)
{
    struct served a;
    char line[64];
    serve(&a, pool, method, path);
    snprintf(line, sizeof line, "Allow: %s", allow);
    assert_int_equal(a.x.status, strcmp(method, "OPTIONS") == 0 ? 204 : 405);
    if (!has_header(&a, line))
        fail_msg("%s %s: not \"%s\" in\n%.*s", method, path, line, STR_ARG(buf_view(&a.x.headers)));
    served_end(&a);
}

static void allow_names_the_methods_of_the_path(void **state)
{
    (void)state;
    assert_allows(POOL_PAGE, "POST", "/", "GET, HEAD");
    assert_allows(POOL_HOT, "DELETE", "/p/abc", "GET, HEAD");
    assert_allows(POOL_HOT, "PUT", "/p/abc/open", "POST");
    assert_allows(POOL_AUTH, "PUT", "/logout", "POST");
    assert_allows(POOL_PAGE, "PUT", "/send", "GET, HEAD, POST");
    assert_allows(POOL_PAGE, "OPTIONS", "/send", "GET, HEAD, POST");
    assert_allows(POOL_HOT, "OPTIONS", "/p/abc/open", "POST");
    /* The methods of all pools, not only of this one. */
    assert_allows(POOL_HOT, "POST", "/split", "GET, HEAD, POST");
}

/* Who reloads the address of a form that was posted. */
static void the_address_of_a_form_leads_a_reader_to_its_page(void **state)
{
    (void)state;
    static const struct {
        enum pool pool;
        const char *method, *path, *location;
    } cases[] = { { POOL_HOT, "GET", "/p/abc/open", "Location: /p/abc" },
                  { POOL_HOT, "HEAD", "/p/abc/open", "Location: /p/abc" },
                  { POOL_AUTH, "GET", "/logout", "Location: /" } };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct served a;
        answers = 0;
        serve(&a, cases[i].pool, cases[i].method, cases[i].path);
        assert_int_equal(a.x.status, 303);
        assert_true(has_header(&a, cases[i].location));
        assert_false(has_header(&a, "Allow: POST"));
        assert_int_equal(answers, 0);
        served_end(&a);
    }
}

/* A chat has added something to the link. */
static void a_mended_link_is_a_redirect_that_keeps_the_query(void **state)
{
    (void)state;
    static const struct {
        const char *method, *path;
        int status;
        const char *location;
    } cases[] = {
        { "GET", "/send%E3%80%82", 308, "Location: /send" },
        { "HEAD", "/send/", 308, "Location: /send" },
        { "GET", "/send/?to=a", 308, "Location: /send?to=a" },
        { "GET", "/send)?to=\\a", 308, "Location: /send" },
        { "GET", "//evil.example", 404, NULL },
        { "GET", "//evil.example/send/", 404, NULL },
        { "POST", "/send/", 308, "Location: /send" },
        { "POST", "//send//?a=\xB0", 308, "Location: /send?a=%B0" },
        { "PUT", "/send/", 308, "Location: /send" },
        { "POST", "/send)", 404, NULL },
        { "POST", "/SEND/", 404, NULL },
        { "POST", "/sends/", 404, NULL },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct served a;
        answers = 0;
        serve(&a, POOL_PAGE, cases[i].method, cases[i].path);
        assert_int_equal(a.x.status, cases[i].status);
        assert_true(cases[i].location == NULL || has_header(&a, cases[i].location));
        assert_int_equal(answers, 0);
        served_end(&a);
    }
}

/* Expects that GET uri redirects a guest to location. */
static void assert_guest_redirected(const char *uri, const char *location)
{
    struct served a;
    static char line[3 * URI_MAX + 64];
    answers = 0;
    serve(&a, POOL_PAGE, "GET", uri);
    snprintf(line, sizeof line, "Location: %s", location);
    assert_int_equal(a.x.status, 303);
    if (!has_header(&a, line))
        fail_msg("not \"%s\" in\n%.*s", line, STR_ARG(buf_view(&a.x.headers)));
    assert_int_equal(answers, 0);
    served_end(&a);
}

static void the_login_returns_a_guest_to_the_address_unless_it_is_too_long(void **state)
{
    (void)state;
    static const char path[] = "/send?x=";
    const size_t head = sizeof path - 1;
    static char uri[URI_MAX], location[3 * URI_MAX];
    assert_guest_redirected("/send?to=a&x=%2F", "/login?next=/send%3Fto%3Da%26x%3D%252F");
    memcpy(uri, path, head);
    memset(uri + head, 'a', NEXT_BYTES_MAX - head);
    uri[NEXT_BYTES_MAX] = '\0';
    snprintf(location, sizeof location, "/login?next=/send%%3Fx%%3D%s", uri + head);
    assert_guest_redirected(uri, location);
    uri[NEXT_BYTES_MAX] = 'a';
    assert_guest_redirected(uri, "/login");
    memset(uri + head, 'a', 6 << 10);
    assert_guest_redirected(uri, "/login");
}

static bool allows(struct str sec_fetch_site, struct str origin, struct str host)
{
    return origin_allows(sec_fetch_site, origin, host, STR("https://base.example"));
}

static void browsers_may_post_only_from_pages_of_this_site(void **state)
{
    (void)state;
    const struct str host = STR("hongbao.example:8080");
    assert_true(allows(STR("same-origin"), STR_NONE, host));
    assert_true(allows(STR("none"), STR("http://evil.example"), host));
    assert_false(allows(STR("cross-site"), STR("http://hongbao.example:8080"), host));
    assert_false(allows(STR("cross-site"), STR("https://base.example"), host));
    assert_false(allows(STR("same-site"), STR_NONE, host));
    assert_false(allows(STR("anything"), STR_NONE, host));
    assert_true(allows(STR_NONE, STR("http://hongbao.example:8080"), host));
    assert_true(allows(STR_NONE, STR("https://HONGBAO.example:8080"), host));
    assert_false(allows(STR_NONE, STR("http://hongbao.example"), host));
    assert_false(allows(STR_NONE, STR("http://hongbao.example:8080.evil.example"), host));
    assert_false(allows(STR_NONE, STR("null"), host));
    assert_false(allows(STR_NONE, STR("null"), STR("")));
    assert_false(allows(STR_NONE, STR("http:"), host));
    assert_false(allows(STR_NONE, STR("http://"), STR("")));
    assert_false(allows(STR_NONE, STR("http://:80"), STR(":80")));
}

/* Host is what a proxy has made of it. */
static void the_origin_of_base_url_is_the_sites_own(void **state)
{
    (void)state;
    static const struct {
        const char *origin, *base_url;
        bool allowed;
    } cases[] = {
        { "https://base.example", "https://base.example", true },
        { "https://base.example", "https://BASE.example:443", true },
        { "https://base.example/", "https://base.example", true },
        { "http://base.example", "http://base.example:80", true },
        { "http://[::1]:8080", "http://[::1]:8080", true },
        { "http://base.example", "https://base.example", false },
        { "https://base.example:80", "https://base.example", false },
        { "https://base.example:8443", "https://base.example", false },
        { "https://base.example", "https://base.example:8443", false },
        { "https://base.example.evil.example", "https://base.example", false },
        { "https://evil.example", "https://base.example", false },
        { "null", "https://base.example", false },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (origin_allows(STR_NONE, str_from(cases[i].origin), STR("10.0.0.7:8000"), str_from(cases[i].base_url)) !=
            cases[i].allowed)
            fail_msg("%s %s", cases[i].origin, cases[i].base_url);
}

static void a_default_port_is_none(void **state)
{
    (void)state;
    static const struct {
        const char *origin, *host;
        bool allowed;
    } cases[] = {
        { "http://site.example", "site.example:80", true },
        { "https://site.example", "site.example:443", true },
        { "https://site.example", "site.example:80", true }, /* a proxy ends TLS */
        { "https://site.example:443", "site.example", true },
        { "http://[::1]", "[::1]:80", true },
        { "http://[::80]", "[::80]", true },
        { "http://site.example:8080", "site.example:80", false },
        { "http://site.example", "site.example:8080", false },
        { "http://site.example", "site.example:180", false },
        { "http://site.example:443", "site.example", false },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (allows(STR_NONE, str_from(cases[i].origin), str_from(cases[i].host)) != cases[i].allowed)
            fail_msg("%s %s", cases[i].origin, cases[i].host);
}

static void a_request_without_both_headers_is_allowed(void **state)
{
    (void)state;
    assert_true(allows(STR_NONE, STR_NONE, STR("hongbao.example")));
}

static void next_is_followed_only_on_this_site(void **state)
{
    (void)state;
    static const char *const foreign[] = {
        "",        "//evil.example",      "/\\evil.example", "http://evil.example", "p/abc", "/a b",
        "/\tevil", "/a\r\nSet-Cookie: x", "/p\\abc",         "javascript:x",        " /p",   "\\/p"
    };
    for (size_t i = 0; i < ARRAY_LEN(foreign); i++)
        assert_false(origin_path_is_local(str_from(foreign[i])));
    assert_true(origin_path_is_local(STR("/")));
    assert_true(origin_path_is_local(STR("/p/abc?after=3")));
    assert_true(origin_path_is_local(STR("/records/received?year=2026")));
}

static void next_has_at_most_a_kilobyte(void **state)
{
    (void)state;
    char next[NEXT_BYTES_MAX + 1];
    memset(next, 'a', sizeof next);
    next[0] = '/';
    assert_true(origin_path_is_local((struct str){ next, NEXT_BYTES_MAX }));
    assert_false(origin_path_is_local((struct str){ next, NEXT_BYTES_MAX + 1 }));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_path_finds_its_handler_and_id),
        cmocka_unit_test(a_key_in_a_path_is_not_an_id),
        cmocka_unit_test(other_paths_are_unknown),
        cmocka_unit_test(a_wrong_method_is_distinguished_from_a_wrong_path),
        cmocka_unit_test(a_pool_serves_only_its_own_routes),
        cmocka_unit_test(allow_names_the_methods_of_the_path),
        cmocka_unit_test(the_address_of_a_form_leads_a_reader_to_its_page),
        cmocka_unit_test(a_mended_link_is_a_redirect_that_keeps_the_query),
        cmocka_unit_test(the_login_returns_a_guest_to_the_address_unless_it_is_too_long),
        cmocka_unit_test(browsers_may_post_only_from_pages_of_this_site),
        cmocka_unit_test(the_origin_of_base_url_is_the_sites_own),
        cmocka_unit_test(a_default_port_is_none),
        cmocka_unit_test(a_request_without_both_headers_is_allowed),
        cmocka_unit_test(next_is_followed_only_on_this_site),
        cmocka_unit_test(next_has_at_most_a_kilobyte),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}

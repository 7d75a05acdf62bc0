/* web/router and web/origin: which handler answers a path, and whose posts are let in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/array.h"
#include "web/origin.h"
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
    const struct router router = { routes, ARRAY_LEN(routes), pool, NULL };
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
    for (size_t i = 0; i < ARRAY_LEN(strangers); i++) {
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
    for (size_t i = 0; i < ARRAY_LEN(foreign); i++)
        assert_false(origin_own_path(str_from(foreign[i])));
    assert_true(origin_own_path(STR("/")));
    assert_true(origin_own_path(STR("/p/abc?after=3")));
    assert_true(origin_own_path(STR("/records/received?year=2026")));
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* web/router and web/origin: the handler of a path, and the cross-origin guard. Whole requests: test_web_requests. */
#include "support/test.h"
#include "web/origin.h"
#include "web/router.h"

static const struct route routes[] = {
    { "GET", "/", WANT_VISITOR, POOL_PAGE, NULL, NULL },
    { "GET", "/p/:id", WANT_VISITOR, POOL_HOT | POOL_PAGE, NULL, NULL },
    { "POST", "/p/:id/open", NEED_USER | SAME_ORIGIN, POOL_HOT, NULL, NULL },
    { "GET", "/p/:id/verify", WANT_VISITOR, POOL_PAGE, NULL, NULL },
    { "POST", "/logout", SAME_ORIGIN, POOL_AUTH, NULL, NULL },
    { "GET", "/send", NEED_USER, POOL_PAGE, NULL, NULL },
    { "POST", "/send", NEED_USER, POOL_PAGE, NULL, NULL },
    { "GET", "/split", 0, POOL_HOT, NULL, NULL },
    { "POST", "/split", 0, POOL_PAGE, NULL, NULL },
    { "GET", "/orders/:key", WANT_VISITOR, POOL_PAGE, NULL, NULL },
};

/* Further results of the last search. */
static struct route_params params;
static bool known; /* the path exists, perhaps for other methods */

static const struct route *find(enum pool pool, const char *method, const char *path)
{
    const struct router router = { routes, ARRAY_LEN(routes), pool, NULL };
    unsigned methods;
    const struct route *route = route_find(&router, str_from(method), str_from(path), &params, &methods);
    known = methods != 0;
    return route;
}

TEST(a_path_finds_its_handler_and_its_id_or_key)
{
    assert_ptr_equal(find(POOL_PAGE, "GET", "/"), &routes[0]);
    assert_ptr_equal(find(POOL_HOT, "GET", "/p/abc"), &routes[1]);
    assert_true(str_equal(params.id, STR("abc")));
    assert_ptr_equal(find(POOL_HOT, "POST", "/p/abc/open"), &routes[2]);
    assert_true(str_equal(params.id, STR("abc")));
    assert_ptr_equal(find(POOL_HOT, "HEAD", "/p/abc"), &routes[1]);
    assert_int_equal(params.key.len, 0);
    assert_ptr_equal(find(POOL_PAGE, "GET", "/orders/my-key_1"), &routes[9]);
    assert_true(str_equal(params.key, STR("my-key_1")));
    assert_int_equal(params.id.len, 0);
    assert_null(find(POOL_PAGE, "GET", "/orders/"));
    assert_null(find(POOL_PAGE, "GET", "/orders/a/b"));
    assert_null(find(POOL_PAGE, "GET", "/p/abc/:key"));
}

TEST(other_paths_and_those_of_other_pools_are_unknown_and_a_wrong_method_is_not)
{
    EACH_TEXT (stranger, "", "p/abc", "/p", "/p/", "/p//open", "/p/abc/", "//p/abc", "/p/abc/open/", "/p/a/b/open",
               "/P/abc") {
        assert_null(find(POOL_HOT, "GET", stranger));
        assert_false(known);
    }
    assert_null(find(POOL_HOT, "GET", "/p/abc/open"));
    assert_true(known);
    assert_null(find(POOL_HOT, "DELETE", "/p/abc"));
    assert_true(known);
    assert_null(find(POOL_HOT, "POST", "/logout"));
    assert_false(known);
    assert_null(find(POOL_PAGE, "POST", "/p/abc/open"));
}

static bool allows(struct str sec_fetch_site, struct str origin, struct str host)
{
    return origin_allows(sec_fetch_site, origin, host, STR("https://base.example"));
}

TEST(browsers_may_post_only_from_pages_of_this_site)
{
    static const char own[] = "hongbao.example:8080";
    static const struct {
        const char *sec_fetch_site, *origin, *host; /* NULL: the header is missing */
        bool allowed;
    } posts[] = { { "same-origin", NULL, own, true },
                  { "none", "http://evil.example", own, true },
                  { "cross-site", "http://hongbao.example:8080", own, false },
                  { "cross-site", "https://base.example", own, false },
                  { "same-site", NULL, own, false },
                  { "anything", NULL, own, false },
                  { NULL, "http://hongbao.example:8080", own, true },
                  { NULL, "https://HONGBAO.example:8080", own, true },
                  { NULL, "http://hongbao.example", own, false },
                  { NULL, "http://hongbao.example:8080.evil.example", own, false },
                  { NULL, "null", own, false },
                  { NULL, "null", "", false },
                  { NULL, "http:", own, false },
                  { NULL, "http://", "", false },
                  { NULL, "http://:80", ":80", false },
                  { NULL, NULL, "hongbao.example", true } };
    EACH (post, posts)
        if (allows(str_from(post->sec_fetch_site), str_from(post->origin), str_from(post->host)) != post->allowed)
            fail_msg("%s %s %s", post->sec_fetch_site, post->origin, post->host);
}

/* A proxy has replaced Host. */
TEST(the_origin_of_base_url_is_the_sites_own_and_a_default_port_is_none)
{
    static const struct {
        const char *origin, *base_url;
        bool allowed;
    } cases[] = { { "https://base.example", "https://base.example", true },
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
                  { "null", "https://base.example", false } };
    EACH (row, cases)
        if (origin_allows(STR_NONE, str_from(row->origin), STR("10.0.0.7:8000"), str_from(row->base_url)) !=
            row->allowed)
            fail_msg("%s %s", row->origin, row->base_url);
    static const struct {
        const char *origin, *host;
        bool allowed;
    } ports[] = { { "http://site.example", "site.example:80", true },
                  { "https://site.example", "site.example:443", true },
                  { "https://site.example", "site.example:80", true }, /* a proxy ends TLS */
                  { "https://site.example:443", "site.example", true },
                  { "http://[::1]", "[::1]:80", true },
                  { "http://[::80]", "[::80]", true },
                  { "http://site.example:8080", "site.example:80", false },
                  { "http://site.example", "site.example:8080", false },
                  { "http://site.example", "site.example:180", false },
                  { "http://site.example:443", "site.example", false } };
    EACH (row, ports)
        if (allows(STR_NONE, str_from(row->origin), str_from(row->host)) != row->allowed)
            fail_msg("%s %s", row->origin, row->host);
}

TEST(next_is_followed_only_on_this_site_and_up_to_a_kilobyte)
{
    EACH_TEXT (text, "", "//evil.example", "/\\evil.example", "http://evil.example", "p/abc", "/a b", "/\tevil",
               "/a\r\nSet-Cookie: x", "/p\\abc", "javascript:x", " /p", "\\/p")
        assert_of(text, !origin_path_is_local(str_from(text)));
    assert_true(origin_path_is_local(STR("/")));
    assert_true(origin_path_is_local(STR("/p/abc?after=3")));
    assert_true(origin_path_is_local(STR("/records/received?year=2026")));
    char next[NEXT_BYTES_MAX + 1];
    memset(next, 'a', sizeof next);
    next[0] = '/';
    assert_true(origin_path_is_local((struct str){ next, NEXT_BYTES_MAX }));
    assert_false(origin_path_is_local((struct str){ next, NEXT_BYTES_MAX + 1 }));
}

TESTS(NULL, NULL)

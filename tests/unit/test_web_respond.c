/* web/respond: an answer that lacks a part for lack of memory becomes a complete 503. And web/etag. */
#include "base/log.h"
#include "support/test_site.h"
#include "web/etag.h"
#include "web/respond.h"

enum { ARENA_BYTES = 1 << 16 };

static char *no_params[] = { NULL };
static struct fcgi_request request = { .fcgx.envp = no_params };
static struct exchange x;

static int group_setup(void **state)
{
    log_init("test", LOG_ERROR);
    return site_setup(state);
}

static int setup(void **state)
{
    (void)state;
    x = (struct exchange){ .app = &services,
                           .fcgi = &request,
                           .arena = arena_new(ARENA_BYTES, ARENA_BYTES),
                           .method = METHOD_POST,
                           .target = STR("/send"),
                           .path = STR("/send"),
                           .request_id = STR("0123"),
                           .wants_json = true };
    return x.arena == NULL;
}

static int teardown(void **state)
{
    (void)state;
    buf_free(&x.headers);
    buf_free(&x.body);
    arena_free(x.arena);
    return 0;
}

static bool has(const struct buf *b, const char *text)
{
    return b->len > 0 && memmem(b->ptr, b->len, text, strlen(text)) != NULL;
}

/* Expects that the complete answer is a problem of this type. The next answer begins anew. */
static void assert_problem(const char *type)
{
    respond_finish(&x);
    assert_int_equal(x.status, 503);
    assert_true(has(&x.body, type));
    assert_true(has(&x.headers, "Content-Type: application/problem+json"));
    assert_true(has(&x.headers, "Retry-After: 1"));
    assert_false(has(&x.headers, "Location"));
    assert_false(has(&x.headers, "Set-Cookie"));
    assert_false(has(&x.headers, "ETag"));
    (void)teardown(NULL);
    assert_int_equal(setup(NULL), 0);
}

/* A text that did not fit into the arena: STR_NONE. */
static struct str lost_text(void)
{
    return arena_printf(x.arena, "%0*d", ARENA_BYTES, 1);
}

TEST_WITH(a_complete_answer_is_unchanged, setup, teardown)
{
    respond_see_other(&x, STR("/p/abc"));
    respond_cookie(&x, STR("sid"), STR(""), 0);
    respond_finish(&x);
    assert_int_equal(x.status, 303);
    assert_true(has(&x.headers, "Location: /p/abc\r\n"));
    assert_true(has(&x.headers, "Set-Cookie: sid=; Path=/"));
}

TEST_WITH(an_answer_that_lacks_a_part_is_replaced_and_unknown_after_a_change, setup, teardown)
{
    respond_see_other(&x, STR_NONE);
    assert_problem("urn:hongbao:problem:busy");
    x.fallback_problem = &PROBLEM_UNKNOWN;
    respond_see_other(&x, STR_NONE);
    assert_problem("urn:hongbao:problem:unknown");
    (void)lost_text();
    respond_problem(&x, &PROBLEM_UNKNOWN);
    assert_problem("urn:hongbao:problem:unknown");
    respond_empty(&x, 204);
    while (arena_alloc(x.arena, 16) != NULL)
        continue;
    respond_cookie(&x, STR("sid"), STR("token"), 60);
    assert_problem("urn:hongbao:problem:busy");
    respond_header(&x, "ETag", STR("\"kept\""));
    assert_false(respond_not_modified(&x, STR_NONE));
    respond_empty(&x, 204);
    assert_problem("urn:hongbao:problem:busy");
    respond_text(&x, 200, STR("text/plain"), STR("ok"));
    x.body.failed = true;
    assert_problem("urn:hongbao:problem:busy");
    /* This also works when the handler has not checked the allocation: a username that did not fit looks like an empty
     * one. */
    struct form_errors e = { .count = 0 };
    struct model m;
    if (lost_text().len == 0)
        form_fail(&e, "username", "text/username_missing");
    model_init(&m, x.arena);
    respond_form_errors(&x, "pages/login", &m, &e);
    assert_int_equal(x.status, 422);
    assert_problem("urn:hongbao:problem:busy");
}

/* On https, a cookie that another host of the same domain has set is not read: such a host can't use the prefix. */
TEST_WITH(on_https_every_cookie_is_of_this_host_alone_and_around_it_only_blanks_are_skipped, setup, teardown)
{
    static char sent[] = "HTTP_COOKIE=language=zh-CN; __Host-language=en; x__Host-other=1";
    x.fcgi = &(struct fcgi_request){ .fcgx.envp = (char *[]){ sent, NULL } };
    assert_true(str_equal(exchange_cookie(&x, STR("language")), STR("zh-CN")));
    (void)snprintf(config.base_url, sizeof config.base_url, "https://hongbao.example");
    assert_true(str_equal(exchange_cookie(&x, STR("language")), STR("en")));
    assert_null(exchange_cookie(&x, STR("other")).ptr);
    respond_cookie(&x, STR("language"), STR("en"), 60);
    config_defaults(&config);
    assert_true(has(&x.headers, "Set-Cookie: __Host-language=en; Path=/; HttpOnly; SameSite=Lax; Max-Age=60; Secure"));
    /* nginx counts requests by the session, and only accepts these blanks (nginx/limits.conf). */
    static char blanks[] = "HTTP_COOKIE=\vsid=hidden; sid\f=hidden;\t sid=shown \t; sid=second";
    x.fcgi = &(struct fcgi_request){ .fcgx.envp = (char *[]){ blanks, NULL } };
    assert_true(str_equal(exchange_cookie(&x, STR("sid")), STR("shown")));
}

TEST_WITH(a_model_that_lacks_a_text_is_replaced_as_page_and_json, setup, teardown)
{
    for (int i = 0; i < 2; i++) {
        struct model m;
        x.wants_json = i == 1;
        x.incomplete = false;
        model_init(&m, x.arena);
        value_text(&m, &m.root, "type", STR_NONE);
        respond_model(&x, 200, "pages/problem", &m);
        respond_finish(&x);
        assert_int_equal(x.status, 503);
        assert_true(has(&x.body, i == 1 ? "urn:hongbao:problem:busy" : "太火爆啦，稍后再试试吧"));
    }
}

TEST_WITH(a_problem_that_does_not_fit_is_a_bare_503, setup, teardown)
{
    x.body.limit = 8;
    respond_see_other(&x, STR_NONE);
    respond_finish(&x);
    assert_ints({ x.status, 503 }, { x.headers.len, 0 }, { x.body.len, 0 });
    assert_false(x.body.failed);
}

/* ---- tags in If-None-Match ---- */

static bool matches(const char *list)
{
    return etag_matches(str_from(list), STR("W/\"abc\""));
}

TEST(a_tag_matches_at_any_place_of_the_list_another_or_a_malformed_one_does_not)
{
    EACH_TEXT (list, "W/\"abc\"", "\"abc\"", "*", " * ", "\"x\", W/\"abc\"", "W/\"abc\",\"x\"", "\"\",\"a,b\",\"abc\"",
               ", ,\t\"abc\" , ", "\"x\" \"abc\"")
        assert_of(list, matches(list));
    assert_true(etag_matches(STR("W/\"abc\""), STR("\"abc\"")));
    static const char *const lists[] = {
        NULL,  "",        " ",           ",",          "W/",           "\"",       "W/\"",   "\"abc",
        "abc", "\"ABC\"", "\"abc \"",    "w/\"abc\"",  "W/ \"abc\"",   "\"abcd\"", "\"ab\"", "\"a\",\"b\",\"c\"",
        "**",  "*,",      "W/W/\"abc\"", "x, \"abc\"", "\"x, \"abc\"", "'abc'",
    };
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        if (matches(lists[i]))
            fail_msg("%s should not match", lists[i]);
}

TESTS(group_setup, site_teardown)

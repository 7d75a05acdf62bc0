/* The route tables of all floors: the requirements of each path. */
#include "base/array.h"
#include "ops/site_routes.h"
#include "support/test.h"
#include "web/bearer.h"
#include "web/limits.h"

TEST(every_post_requires_the_same_origin)
{
    size_t posts = 0;
    for (size_t i = 0; i < site_routes_count(); i++) {
        const struct route *r = site_route(i);
        if (strcmp(r->method, "POST") != 0)
            continue;
        posts++;
        if (!(r->needs & SAME_ORIGIN))
            fail_msg("POST %s does not require the same origin", r->path);
    }
    assert_true(posts >= 7);
}

TEST(money_and_records_need_a_user)
{
    static const char *const private[] = { "/send",     "/p/:id/open", "/wallet",
                                           "/records/", "/orders/",    "/account/tokens/:id/delete" };
    size_t found = 0;
    for (size_t i = 0; i < site_routes_count(); i++)
        for (size_t k = 0; k < ARRAY_LEN(private); k++) {
            const struct route *r = site_route(i);
            if (strncmp(r->path, private[k], strlen(private[k])) != 0)
                continue;
            found++;
            if ((r->needs & NEED_USER) != NEED_USER)
                fail_msg("%s %s needs no user", r->method, r->path);
        }
    assert_true(found >= 8);
}

/* A new route decides: FOR_SEND, FOR_OPEN, or NO_TOKEN. */
TEST(every_post_of_a_user_says_which_tokens_may_use_it)
{
    for (size_t i = 0; i < site_routes_count(); i++) {
        const struct route *r = site_route(i);
        unsigned tokens = r->needs & (FOR_SEND | FOR_OPEN | NO_TOKEN);
        if (strcmp(r->method, "POST") == 0 && (r->needs & WANT_VISITOR) != 0 && tokens != FOR_SEND &&
            tokens != FOR_OPEN && tokens != NO_TOKEN)
            fail_msg("POST %s needs one of FOR_SEND, FOR_OPEN and NO_TOKEN (web/router.h)", r->path);
        if (strcmp(r->method, "GET") == 0 && (tokens & ~(unsigned)NO_TOKEN) != 0)
            fail_msg("GET %s is for the scope read", r->path);
    }
}

TEST(no_token_reaches_the_account)
{
    static const char *const own[] = { "/account", "/login", "/register", "/logout" };
    for (size_t i = 0; i < site_routes_count(); i++)
        for (size_t k = 0; k < ARRAY_LEN(own); k++) {
            const struct route *r = site_route(i);
            if (strncmp(r->path, own[k], strlen(own[k])) == 0 && (r->needs & WANT_VISITOR) != 0 && bearer_scope(r) != 0)
                fail_msg("%s %s accepts tokens", r->method, r->path);
        }
}

/* Taking a limit is a round of its own, and the hot pool works on many requests at a time: nginx limits its routes. */
TEST(routes_of_the_hot_pool_have_no_limits)
{
    for (size_t i = 0; i < site_routes_count(); i++)
        if ((site_route(i)->pools & POOL_HOT) != 0)
            assert_int_equal(site_route(i)->needs & LIMITED, 0);
}

/* Limits of nginx hold for one address; a user may have many. */
TEST(a_user_has_a_limit_wherever_mysql_may_be_asked)
{
    /* The handler counts the password: user/password_confirm.h. */
    static const char *const confirmed[] = { "/account/password", "/account/recovery", "/account/delete",
                                             "/account/tokens", "/account/passkeys/challenge" };
    const unsigned of_users =
        LIMITED_BY(LIMIT_SEND) | LIMITED_BY(LIMIT_DEPOSIT) | LIMITED_BY(LIMIT_READ) | LIMITED_BY(LIMIT_PICTURE);
    for (size_t i = 0; i < site_routes_count(); i++) {
        const struct route *r = site_route(i);
        bool counted = (r->needs & of_users) != 0 || (r->pools & POOL_HOT) != 0 || (r->needs & NEED_USER) != NEED_USER;
        for (size_t k = 0; k < ARRAY_LEN(confirmed); k++)
            counted = counted || (strcmp(r->method, "POST") == 0 && strcmp(r->path, confirmed[k]) == 0);
        if (!counted)
            fail_msg("%s %s has no limit for a user", r->method, r->path);
    }
}

TEST(what_costs_money_or_time_has_a_limit)
{
    static const struct {
        const char *method, *path;
        unsigned limits;
    } limited[] = { { "POST", "/send", LIMITED_BY(LIMIT_SEND) | LIMITED_BY(LIMIT_SEND_ADDRESS) },
                    { "POST", "/wallet/deposit", LIMITED_BY(LIMIT_DEPOSIT) },
                    { "POST", "/register", LIMITED_BY(LIMIT_REGISTER_ADDRESS) | LIMITED_BY(LIMIT_REGISTER_NETWORK) },
                    { "GET", "/records/received", LIMITED_BY(LIMIT_READ) },
                    { "GET", "/records/sent", LIMITED_BY(LIMIT_READ) },
                    { "GET", "/wallet", LIMITED_BY(LIMIT_READ) },
                    { "GET", "/p/:id/verify", LIMITED_BY(LIMIT_READ) },
                    { "GET", "/account", LIMITED_BY(LIMIT_READ) },
                    { "POST", "/account/picture", LIMITED_BY(LIMIT_PICTURE) },
                    { "POST", "/covers", LIMITED_BY(LIMIT_PICTURE) },
                    { "GET", "/picture/:key", LIMITED_BY(LIMIT_CARD) },
                    { "GET", "/p/:id/card.png", LIMITED_BY(LIMIT_CARD) } };
    for (size_t k = 0; k < ARRAY_LEN(limited); k++) {
        unsigned found = 0;
        for (size_t i = 0; i < site_routes_count(); i++) {
            const struct route *r = site_route(i);
            if (strcmp(r->method, limited[k].method) == 0 && strcmp(r->path, limited[k].path) == 0)
                found = r->needs & LIMITED;
        }
        assert_int_equal(found, limited[k].limits);
    }
}

TESTS(NULL, NULL)

/* The route tables of all floors: the requirements of each path. */
#include "site/routes.h"
#include "support/test.h"
#include "web/bearer.h"
#include "web/limits.h"

static bool is_post(const struct route *r)
{
    return strcmp(r->method, "POST") == 0;
}

static bool begins(const struct route *r, const char *path)
{
    return strncmp(r->path, path, strlen(path)) == 0;
}

static bool is_private(const struct route *r)
{
    EACH_TEXT (path, "/send", "/p/:id/open", "/wallet", "/records/", "/orders/", "/account/tokens/:id/delete")
        if (begins(r, path))
            return true;
    return false;
}

TEST(every_post_requires_the_same_origin_and_money_and_records_a_user)
{
    size_t posts = 0, private = 0;
    for (size_t i = 0; i < site_routes_count(); i++) {
        const struct route *r = site_route(i);
        posts += is_post(r);
        private += is_private(r);
        if (is_post(r) && (r->needs & (SAME_ORIGIN | FOR_SERVICE)) == 0)
            fail_msg("POST %s does not require the same origin", r->path);
        if (is_private(r) && (r->needs & NEED_USER) != NEED_USER)
            fail_msg("%s %s needs no user", r->method, r->path);
        if ((r->needs & KEEP_FORM) != 0 && r->form == NULL)
            fail_msg("%s %s has no fields to keep", r->method, r->path);
    }
    assert_true(posts >= 7 && private >= 8);
}

/* No session reaches the routes of the money pool, and no other pool moves money from outside. */
TEST(what_is_for_programs_of_the_operator_is_in_the_money_pool_alone)
{
    size_t found = 0;
    for (size_t i = 0; i < site_routes_count(); i++) {
        const struct route *r = site_route(i);
        const bool is_money = begins(r, "/money/");
        found += is_money;
        if (is_money != ((r->needs & FOR_SERVICE) != 0) || (is_money && r->pools != POOL_MONEY) ||
            (is_money && (r->needs & (WANT_VISITOR | SAME_ORIGIN)) != 0))
            fail_msg("%s %s", r->method, r->path);
    }
    assert_true(found > 0);
}

/* The author of a new route must choose: FOR_SEND, FOR_OPEN, or NO_TOKEN. */
TEST(every_post_of_a_user_says_which_tokens_may_use_it_and_none_reaches_the_account)
{
    for (size_t i = 0; i < site_routes_count(); i++) {
        const struct route *r = site_route(i);
        unsigned tokens = r->needs & (FOR_SEND | FOR_OPEN | NO_TOKEN);
        if (is_post(r) && (r->needs & WANT_VISITOR) != 0 && tokens != FOR_SEND && tokens != FOR_OPEN &&
            tokens != NO_TOKEN)
            fail_msg("POST %s needs one of FOR_SEND, FOR_OPEN and NO_TOKEN (web/router.h)", r->path);
        if (strcmp(r->method, "GET") == 0 && (tokens & ~(unsigned)NO_TOKEN) != 0)
            fail_msg("GET %s is for the scope read", r->path);
        EACH_TEXT (path, "/account", "/login", "/register", "/logout")
            if (begins(r, path) && (r->needs & WANT_VISITOR) != 0 && bearer_scope(r) != 0)
                fail_msg("%s %s accepts tokens", r->method, r->path);
    }
}

/* The handler counts the proof: account/proof.h. */
static bool is_confirmed(const struct route *r)
{
    EACH_TEXT (path, "/account/password", "/account/recovery", "/account/delete", "/account/tokens",
               "/account/passkeys/challenge", "/account/oidc/link", "/account/oidc/unlink")
        if (is_post(r) && strcmp(r->path, path) == 0)
            return true;
    return false;
}

/* nginx limits addresses, and a user may have many, so the program limits users. But taking a limit costs a round, and
 * the hot pool works on many requests at a time: only nginx limits its routes. */
TEST(a_user_has_a_limit_wherever_mysql_may_be_asked_and_none_in_the_hot_pool)
{
    const unsigned of_users =
        LIMITED_BY(LIMIT_SEND) | LIMITED_BY(LIMIT_DEPOSIT) | LIMITED_BY(LIMIT_READ) | LIMITED_BY(LIMIT_PICTURE);
    for (size_t i = 0; i < site_routes_count(); i++) {
        const struct route *r = site_route(i);
        if ((r->pools & POOL_HOT) != 0)
            assert_int_equal(r->needs & LIMITED, 0);
        else if ((r->needs & of_users) == 0 && (r->needs & NEED_USER) == NEED_USER && !is_confirmed(r))
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
                    { "POST", "/wallet/topup", LIMITED_BY(LIMIT_DEPOSIT) },
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
    EACH (row, limited) {
        unsigned found = 0;
        for (size_t i = 0; i < site_routes_count(); i++)
            if (strcmp(site_route(i)->method, row->method) == 0 && strcmp(site_route(i)->path, row->path) == 0)
                found = site_route(i)->needs & LIMITED;
        if (found != row->limits)
            fail_msg("%s %s has the limits %x", row->method, row->path, found);
    }
}

TESTS(NULL, NULL)

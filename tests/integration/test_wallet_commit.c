/* Registering and depositing when the reply to COMMIT is lost. */
#include <inttypes.h>

#include "base/clock.h"
#include "base/random.h"
#include "test_lost_commit.h"
#include "test_wallet_app.h"
#include "user/store.h"
#include "wallet/deposit.h"

static struct user fresh_user(void)
{
    struct str name = arena_printf(arena, "c%016" PRIx64, random_u64());
    /* A unique text, as a salted hash would be. */
    return (struct user){ .username = name,
                          .nickname = name,
                          .password_hash = arena_printf(arena, "hash-of-%.*s", STR_ARG(name)) };
}

static enum status inserted(struct user *user)
{
    enum status st = user_insert(app->stores.db, arena, &app->stores.config->keys, user, clock_now_ms());
    if (st == ST_OK)
        (void)account_kept(user->id);
    return st;
}

TEST(a_registration_whose_commit_reply_was_lost_is_found_or_unknown)
{
    struct user user = fresh_user(), lost = fresh_user(), found;
    losses_plan(LOST_REPLY, LOST_NOTHING, LOST_NOTHING);
    assert_int_equal(inserted(&user), ST_OK);
    losses_plan(LOST_COMMIT, LOST_NOTHING, LOST_NOTHING);
    assert_int_equal(inserted(&lost), ST_UNKNOWN); /* it may not have happened */
    losses_left = 0;
    assert_int_equal(user_find_by_name(app->stores.db, arena, user.username, &found), ST_OK);
    assert_ints({ found.id, user.id }, { balance_of(user.id), 0 });
    assert_int_equal(user_find_by_name(app->stores.db, arena, lost.username, &found), ST_NOT_FOUND);
}

/* A look-up in the tables decides, at once or when the database answers again. Otherwise the outcome is unknown, and a
 * repeat is safe. A deposit that never began is unavailable, not unknown. */
TEST(a_deposit_is_made_once_after_a_lost_commit_or_reply)
{
    EACH (lost, LOST_COMMITS) {
        struct user user = fresh_user();
        assert_int_equal(inserted(&user), ST_OK);
        struct deposit d = { .user_id = user.id, .amount_fen = 700, .request_key = STR("lost") };
        losses_plan(lost->first, lost->second, lost->third);
        enum status st = deposit_make(app->stores.db, arena, &d, clock_now_ms());
        if (st != lost->status)
            fail_msg("case %zu: status %d", (size_t)(lost - LOST_COMMITS), (int)st);
        if (st == ST_UNKNOWN)
            assert_int_equal(deposit_make(app->stores.db, arena, &d, clock_now_ms()), ST_OK);
        losses_left = 0;
        assert_int_equal(balance_of(user.id), st == ST_UNAVAILABLE ? 0 : 700);
        if (st != ST_UNAVAILABLE)
            assert_int_equal(d.balance_fen, 700);
        assert_int_equal(d.amount_fen, 700);
    }
}

static int teardown(void **state)
{
    losses_left = 0;
    return wallet_teardown(state);
}

TESTS(app_setup, teardown)

/* Tests that have a world of their own each: w. */
#ifndef HB_TEST_WORLD_H
#define HB_TEST_WORLD_H

#include "support/test.h"
#include "test_settle_fixture.h"

static struct world the_world;
static struct world *const w = &the_world;

enum { HOUR_MS = 3600000 };

/* A test in a new world of so many users, which ends with the test. */
#define WORLD_TEST(name, user_count) WORLD_TEST_BY(name, world_begin(w, user_count))

/* The same; begin is a call that begins the world. */
#define WORLD_TEST_BY(name, begin) WORLD_TEST_WITH(name, begin, world_test_end)

/* The same, with a teardown that ends the world. */
#define WORLD_TEST_WITH(name, begin, teardown)                                                                         \
    static int name##_begin(void **state)                                                                              \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        begin;                                                                                                         \
        return 0;                                                                                                      \
    }                                                                                                                  \
    TEST_WITH(name, name##_begin, teardown)

static inline int world_test_end(void **state)
{
    (void)state;
    world_end(w);
    return 0;
}

/* The wallets of users[first] and of those that follow have these balances, in fen. */
#define assert_wallets(first, ...)                                                                                     \
    wallets_are(first, (const int64_t[]){ __VA_ARGS__ }, sizeof((const int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t))

static inline void wallets_are(size_t first, const int64_t *balances_fen, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const long long fen = world_balance(w, w->users[first + i]);
        if (fen != balances_fen[i])
            fail_msg("users[%zu] has %lld fen, not %lld", first + i, fen, (long long)balances_fen[i]);
    }
}

/* users[user] has the share that an earlier grab gave, whatever happened meanwhile. */
static inline void assert_same_share(const struct live_grab *before, uint64_t packet_id, size_t user)
{
    const struct live_grab again = world_grab(w, packet_id, user);
    assert_int_equal(again.code, LIVE_ALREADY);
    assert_int_equal(again.share_no, before->share_no);
    assert_int_equal(again.amount_fen, before->amount_fen);
}

#endif

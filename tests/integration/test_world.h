/* Tests that each have a separate world: w. */
#ifndef HB_TEST_WORLD_H
#define HB_TEST_WORLD_H

#include "base/clock.h"
#include "live/view.h"
#include "settle/tell.h"
#include "support/test.h"
#include "test_settle_fixture.h"

static struct world the_world;
static struct world *const w = &the_world;

enum { HOUR_MS = 3600000, PASSES_MAX = 200, WORLD_USERS = 9, FUNDED_FEN = 100000 };

/* A test in a new world of so many users, which is removed after the test. The audit must then be clean. */
#define WORLD_TEST(name, user_count) WORLD_TEST_BY(name, world_begin(w, user_count))

/* The same; begin is a call that begins the world. */
#define WORLD_TEST_BY(name, begin) WORLD_TEST_WITH(name, begin, world_test_end)

/* The same, for a test that leaves faults: unresolved letters, planted rows. */
#define FAULTY_WORLD_TEST(name, user_count) FAULTY_WORLD_TEST_BY(name, world_begin(w, user_count))
#define FAULTY_WORLD_TEST_BY(name, begin)   WORLD_TEST_WITH(name, begin, faulty_world_test_end)

/* The same, with a teardown that ends the world. */
#define WORLD_TEST_WITH(name, begin, teardown)                                                                         \
    static int name##_begin(void **state)                                                                              \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        begin;                                                                                                         \
        return 0;                                                                                                      \
    }                                                                                                                  \
    TEST_WITH(name, name##_begin, teardown)

/* Loops within a test, as EACH and from 0 to count - 1: each turn has a new world. */
#define EACH_WORLD(row, rows, begin)                                                                                   \
    for (__typeof__(&(rows)[0]) row = (rows); row < (rows) + sizeof(rows) / sizeof *(rows) && (begin, true);           \
         world_end(w), row++)
#define WORLDS(i, count, begin) for (int i = 0; i < (count) && (begin, true); world_end(w), i++)

static inline int faulty_world_test_end(void **state)
{
    (void)state;
    world_end(w);
    return 0;
}

static inline int world_test_end(void **state)
{
    world_audit_clean(w);
    return faulty_world_test_end(state);
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

/* The packet is closed in the tables: its escrow is empty, and this rest went back. Returns its row. */
static inline struct packet assert_closed(uint64_t packet_id, int64_t refund_fen)
{
    const struct packet p = world_packet(w, packet_id);
    assert_ints({ p.state, PACKET_CLOSED }, { p.refund_fen, refund_fen }, { world_balance(w, packet_id), 0 });
    return p;
}

/* users[user] still has the share that an earlier grab gave, whatever happened meanwhile. */
static inline void assert_same_share(const struct live_grab *before, uint64_t packet_id, size_t user)
{
    const struct live_grab again = world_grab(w, packet_id, user);
    assert_ints({ again.code, LIVE_ALREADY }, { again.share_no, before->share_no },
                { again.amount_fen, before->amount_fen });
}

/* Another worker with the rights of this role. The caller frees it. */
static inline struct settle *worker_new(struct services *role)
{
    struct settle *made;
    assert_int_equal(settle_new(&role->stores, &made), ST_OK);
    return made;
}

/* Runs a few passes of another worker; returns the number of settled events. */
static inline uint64_t worker_drain(struct settle *worker)
{
    uint64_t events;
    assert_int_equal(settle_drain(worker, 10, &events), ST_OK);
    return events;
}

/* Recovers one packet, as if it were so much later. */
static inline struct recover_done recover_one(uint64_t packet_id, int64_t later_ms)
{
    struct recover_done done = { 0 };
    assert_int_equal(recover_packet(w->settle, packet_id, clock_now_ms() + later_ms, &done), ST_OK);
    return done;
}

/* One pass of a recovery, the first of a whole walk, as if it were so much later. */
static inline struct recover_done recover_once(int64_t later_ms)
{
    struct recover r = { .full_walk = true };
    struct recover_done done = { 0 };
    assert_int_equal(recover_pass(&r, w->settle, clock_now_ms() + later_ms, &done), ST_OK);
    return done;
}

/* users[first] … users[first + count - 1] open it, and get their money. */
static inline void grab_settled(uint64_t packet_id, size_t first, size_t count)
{
    world_grab_all(w, packet_id, first, count);
    (void)world_drain(w);
}

/* The packet as users[user] sees it from Redis, in the world's arena. */
static inline struct packet_view view_of(uint64_t packet_id, size_t user)
{
    struct redis_call call;
    struct packet_view view;
    live_view_queue(&w->live, &call, packet_id, w->users[user], PACKET_NO_SHARE, LIVE_ROWS_MAX);
    redis_round(w->live.redis);
    assert_int_equal(live_view_read(&call, w->arena, packet_id, &view), ST_OK);
    for (size_t i = 0; i < view.row_count; i++) /* outlive the reply */
        view.rows[i].thanks = arena_str(w->arena, str_or_empty(view.rows[i].thanks));
    view.mine.thanks = arena_str(w->arena, str_or_empty(view.mine.thanks));
    view.packet.returned_shares = arena_str(w->arena, view.packet.returned_shares);
    redis_call_free(&call);
    return view;
}

/* Makes the settle worker write once everything that Redis lacks. Returns the number of passes. */
static inline int tell_all(void)
{
    struct tell t = { 0 };
    int passes = 0;
    do
        assert_int_equal(tell_pass(&t, w->settle, clock_now_ms()), ST_OK);
    while (++passes < PASSES_MAX && t.returns.packet_id + t.thanks.packet_id != 0);
    return passes;
}

#endif

/* A world of each test anew, for TEST_WITH(name, world_setup, world_teardown); what its packets show; and what the
 * worker writes to Redis later. */
#ifndef HB_TEST_WORLD_APP_H
#define HB_TEST_WORLD_APP_H

#include "base/clock.h"
#include "live/view.h"
#include "settle/tell.h"
#include "support/test.h"
#include "test_settle_fixture.h"

enum { HOUR_MS = 3600000, PASSES_MAX = 200, WORLD_USERS = 9, FUNDED_FEN = 100000 };

static struct world w;

static inline int world_setup(void **state)
{
    (void)state;
    world_begin(&w, WORLD_USERS);
    return 0;
}

static inline int world_teardown(void **state)
{
    (void)state;
    world_end(&w);
    return 0;
}

/* users[first] … users[first + count - 1] open it, and get their money. */
static inline void grab_settled(uint64_t packet_id, size_t first, size_t count)
{
    world_grab_all(&w, packet_id, first, count);
    (void)world_drain(&w);
}

/* The packet as users[user] sees it from Redis, in the world's arena. */
static inline struct packet_view view_of(uint64_t packet_id, size_t user)
{
    struct redis_call call;
    struct packet_view view;
    live_view_queue(&w.live, &call, packet_id, w.users[user], PACKET_NO_SHARE, LIVE_ROWS_MAX);
    redis_round(w.live.redis);
    assert_int_equal(live_view_read(&call, w.arena, packet_id, &view), ST_OK);
    for (size_t i = 0; i < view.row_count; i++) /* outlive the reply */
        view.rows[i].thanks = arena_str(w.arena, str_or_empty(view.rows[i].thanks));
    view.mine.thanks = arena_str(w.arena, str_or_empty(view.mine.thanks));
    view.packet.returned_shares = arena_str(w.arena, view.packet.returned_shares);
    redis_call_free(&call);
    return view;
}

/* The settle worker goes once through everything that Redis lacks. Returns its passes. */
static inline int tell_all(void)
{
    struct tell t = { 0 };
    int passes = 0;
    do
        assert_int_equal(tell_pass(&t, w.settle, clock_now_ms()), ST_OK);
    while (++passes < PASSES_MAX && t.returns.packet_id + t.thanks.packet_id != 0);
    return passes;
}

#endif

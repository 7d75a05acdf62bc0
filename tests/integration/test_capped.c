/* The cap of what a user receives in a day: the settle worker marks who has reached it, for the hot pool. */
#include <inttypes.h>

#include "base/clock.h"
#include "live/capped.h"
#include "support/test.h"
#include "test_world.h"

enum { CAP_FEN = 100, DAY_MS = 24 * HOUR_MS };

/* Sets a zone in which it is about noon, so no test sees two days. */
static void capped_begin(size_t user_count)
{
    char zone[16];
    world_begin(w, user_count);
    const int east = 12 - (int)(clock_now_ms() / HOUR_MS % 24);
    (void)snprintf(zone, sizeof zone, "Etc/GMT%c%d", east >= 0 ? '-' : '+', abs(east)); /* its sign is inverted */
    assert_true(clock_zone_set(zone));
    w->config->user_receive_day_fen = CAP_FEN;
}

#define CAPPED_TEST(name, user_count) WORLD_TEST_BY(name, capped_begin(user_count))

/* The flag of users[user], as the hot pool reads it. */
static struct live_capped flag_of(size_t user)
{
    struct redis_call call;
    struct live_capped flag;
    live_capped_queue(&w->live, &call, w->users[user]);
    redis_round(w->live.redis);
    assert_int_equal(live_capped_read(&call, &flag), ST_OK);
    redis_call_free(&call);
    return flag;
}

/* users[1] … users[count] get so much each, and the worker settles it. */
static void received(size_t count, int64_t fen)
{
    const uint64_t id = world_even(w, fen * (int64_t)count, (uint32_t)count);
    grab_settled(id, 1, count);
}

CAPPED_TEST(who_has_received_the_cap_is_marked_until_the_day_ends, 4)
{
    int64_t from_ms, to_ms;
    clock_zone_day(clock_now_ms(), &from_ms, &to_ms);
    received(2, CAP_FEN - 1);
    assert_ints({ flag_of(1).until_ms, 0 }, { flag_of(2).until_ms, 0 });
    received(1, 1); /* exactly */
    assert_ints({ flag_of(1).until_ms, to_ms }, { flag_of(1).fen, CAP_FEN }, { flag_of(2).until_ms, 0 });
    received(3, 50); /* several of one batch */
    assert_ints({ flag_of(1).fen, CAP_FEN + 50 }, { flag_of(2).fen, CAP_FEN + 49 }, { flag_of(3).until_ms, 0 });
    const int64_t ttl_ms = world_redisf(w, 0, "PTTL hb:capped:%" PRIu64, w->users[1]);
    assert_true(ttl_ms > 0 && ttl_ms <= to_ms - from_ms);
}

CAPPED_TEST(a_flag_that_redis_has_lost_is_written_with_the_next_share, 2)
{
    received(1, CAP_FEN);
    assert_int_equal(world_redisf(w, 0, "DEL hb:capped:%" PRIu64, w->users[1]), 1);
    received(1, 1);
    assert_int_equal(flag_of(1).fen, CAP_FEN + 1);
}

CAPPED_TEST(a_flag_that_is_no_flag_marks_nobody, 2)
{
    EACH_TEXT (text, "x", "1", "99999999999999999999", "-5", "1,2") {
        assert_int_equal(world_redisf(w, 0, "SET hb:capped:%" PRIu64 " %s PX 60000", w->users[1], text), -1);
        assert_int_equal(flag_of(1).until_ms, 0);
    }
}

CAPPED_TEST(without_a_cap_nobody_is_marked, 2)
{
    w->config->user_receive_day_fen = 0;
    received(1, CAP_FEN);
    assert_int_equal(flag_of(1).until_ms, 0);
}

static int two_users_begin(void **state)
{
    (void)state;
    capped_begin(2);
    return 0;
}

TEST_WITH(shares_of_the_day_before_do_not_count, two_users_begin, faulty_world_test_end)
{
    received(1, CAP_FEN - 1);
    world_sqlf(w, "UPDATE grab SET grabbed_ms = grabbed_ms - %d", DAY_MS);
    received(1, CAP_FEN - 1);
    assert_int_equal(flag_of(1).until_ms, 0);
    received(1, 1);
    assert_int_equal(flag_of(1).fen, CAP_FEN);
}

TESTS(NULL, NULL)

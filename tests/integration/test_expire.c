/* Expired packets are refunded: exactly once, after all grabs. */
#include <time.h>

#include "base/clock.h"
#include "live/event.h"
#include "live/live.h"
#include "settle/expire.h"
#include "support/test.h"
#include "support/test_services.h"
#include "test_world.h"

enum { RETRY_MS = 150 };

/* Makes the packet expire now, in both stores, so that earlier grabs are in time on a slow machine. */
static void time_runs_out(uint64_t packet_id)
{
    const long long over_ms = clock_now_ms() - 1;
    world_sqlf(w, "UPDATE packet SET expires_ms = %lld WHERE id = %llu", over_ms, (unsigned long long)packet_id);
    assert_int_equal(world_redisf(w, packet_id, "HSET {pk} expires_ms %lld", over_ms), 0); /* the field existed */
}

WORLD_TEST(the_rest_is_refunded_to_the_sender_to_the_fen, 4)
{
    uint64_t id = world_send(w, 0, PACKET_LUCKY, 1001, 5, HOUR_MS, -1);
    int64_t grabbed = world_grab(w, id, 1).amount_fen + world_grab(w, id, 2).amount_fen;
    time_runs_out(id);
    assert_int_equal(world_expire(w, NULL), 1);
    assert_int_equal(world_packet(w, id).state, PACKET_OPEN); /* the refund follows through the stream */
    assert_int_equal(world_drain(w), 3);
    struct packet p = world_packet(w, id);
    assert_int_equal(p.state, PACKET_CLOSED);
    assert_int_equal(p.refund_fen, 1001 - grabbed);
    assert_int_equal(p.finished_ms, 0);
    assert_true(p.closed_ms > 0);
    assert_int_equal(world_balance(w, w->users[0]), 100000 - grabbed);
    assert_int_equal(world_balance(w, id), 0);
    assert_true(world_redis(w, id, "PTTL {pk}") > 0);
    world_audit_clean(w);
}

WORLD_TEST(a_packet_without_grabs_is_refunded_in_full, 2)
{
    uint64_t id = world_send(w, 0, PACKET_EXCLUSIVE, 100, 1, 0, 1);
    assert_int_equal(world_expire(w, NULL), 1);
    world_drain(w);
    assert_int_equal(world_balance(w, w->users[0]), 100000);
    assert_int_equal(world_packet(w, id).refund_fen, 100);
    world_audit_clean(w);
}

WORLD_TEST(a_repeated_expiry_before_and_after_settling_changes_nothing, 2)
{
    uint64_t id = world_send(w, 0, PACKET_EVEN, 500, 5, 0, -1);
    assert_int_equal(world_expire(w, NULL), 1);
    assert_int_equal(world_expire(w, NULL), 0);
    assert_int_equal(world_redis(w, id, "XLEN {ev}"), 1);
    world_drain(w);
    assert_int_equal(world_expire(w, NULL), 0);
    assert_int_equal(world_drain(w), 0);
    assert_int_equal(world_number(w, "SELECT COUNT(*) FROM transfer WHERE kind = 'refund'", 0), 1);
    assert_int_equal(world_balance(w, w->users[0]), 100000);
    world_audit_clean(w);
}

WORLD_TEST(a_packet_before_its_expiry_is_not_closed, 2)
{
    uint64_t id = world_even(w, 500, 5);
    assert_int_equal(world_expire(w, NULL), 0);
    assert_int_equal(world_grab(w, id, 1).code, LIVE_GRABBED);
}

WORLD_TEST(more_due_packets_than_a_pass_takes_are_all_closed, 3)
{
    for (int i = 0; i < 1100; i++)
        (void)world_send(w, (size_t)i % 3, PACKET_EVEN, 5, 5, 0, -1);
    assert_int_equal(world_expire(w, NULL), 1100);
    assert_int_equal(world_drain(w), 1100);
    assert_int_equal(world_number(w, "SELECT COUNT(*) FROM packet WHERE state = 'closed'", 0), 1100);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(world_balance(w, w->users[i]), 100000);
    world_audit_clean(w);
}

WORLD_TEST(with_a_full_redis_packets_are_settled_and_refunded, 3)
{
    enum { PACKETS = 6 };
    uint64_t ids[PACKETS];
    for (size_t i = 0; i < PACKETS; i++) {
        ids[i] = world_even(w, 500, 5);
        world_grab_all(w, ids[i], 1, 2);
        time_runs_out(ids[i]);
    }
    (void)world_redis(w, 0, "CONFIG SET maxmemory 1");
    uint64_t closed = world_expire(w, NULL);
    uint64_t settled = world_drain(w);
    int64_t dying = 0;
    for (size_t i = 0; i < PACKETS; i++)
        dying += world_redis(w, ids[i], "PTTL {pk}") > 0; /* the memory is freed in the end */
    (void)world_redis(w, 0, "CONFIG SET maxmemory 2gb");
    assert_int_equal(closed, PACKETS);
    assert_int_equal(settled, 3 * PACKETS);
    assert_int_equal(dying, PACKETS);
    world_drain(w);
    for (size_t i = 0; i < PACKETS; i++) {
        struct live_event_id end, told; /* the position is published in the end */
        assert_true(live_event_id_parse(world_redis_text(w, ids[i], "HGET {pk} close_event"), &end));
        assert_true(live_event_id_parse(world_redis_text(w, ids[i], "GET {se}"), &told));
        assert_true(live_event_id_compare(told, end) >= 0);
    }
    world_audit_clean(w);
}

WORLD_TEST(a_due_packet_that_redis_lost_is_refunded_directly_and_once, 3)
{
    struct recover_done done = { 0 };
    uint64_t id = world_even_settled(w, 500, 5, 1);
    time_runs_out(id);
    (void)world_redis(w, id, "DEL {pk} {sh} {gr} {or}");
    assert_int_equal(world_expire(w, &done), 0);
    assert_int_equal(done.refunded, 1);
    assert_int_equal(world_expire(w, &done), 0);
    assert_int_equal(done.refunded, 1);
    assert_int_equal(world_packet(w, id).refund_fen, 400);
    assert_int_equal(world_balance(w, w->users[0]), 99900);
    world_audit_clean(w);
}

WORLD_TEST(a_lost_packet_waits_for_its_unsettled_grabs_before_the_refund, 3)
{
    struct recover_done done = { 0 };
    uint64_t id = world_even(w, 500, 5);
    world_drain(w); /* creates the cursors */
    world_grab(w, id, 1);
    time_runs_out(id);
    (void)world_redis(w, id, "DEL {pk} {sh} {gr} {or}");
    (void)world_expire(w, &done);
    assert_int_equal(done.refunded, 0);
    assert_int_equal(world_drain(w), 1);
    (void)world_expire(w, &done);
    assert_int_equal(done.refunded, 1);
    assert_int_equal(world_packet(w, id).refund_fen, 400);
    assert_int_equal(world_balance(w, w->users[1]), 100100);
    world_audit_clean(w);
}

WORLD_TEST(a_close_event_with_other_numbers_becomes_a_dead_letter, 3)
{
    uint64_t id = world_even(w, 500, 5);
    (void)world_redisf(w, id, "XADD {ev} * c %llu,1,100,400", (unsigned long long)id);
    assert_int_equal(world_drain(w), 0);
    assert_int_equal(world_number(w, "SELECT COUNT(*) FROM dead_letter WHERE packet_id = ?", id), 1);
    assert_int_equal(world_balance(w, w->users[0]), 99500);
}

/* Redis restarts with an older copy between two passes of the worker. */
WORLD_TEST(an_older_copy_closes_no_packet_by_its_own_count, 4)
{
    struct recover_done done = { 0 };
    struct expire e = { 0 };
    uint64_t closed = 0;
    uint64_t id = world_even(w, 500, 5);
    world_grab_all(w, id, 1, 2); /* a crowd: both have the id of the cursor */
    assert_int_equal(world_drain(w), 2);
    world_lose_tail(w, id);
    (void)world_redis(w, id, "HSET {pk} grabbed_fen 100");
    time_runs_out(id);
    test_services_fences_write(w->app, "the-process-it-was-taken-from");
    assert_true(world_redis(w, id, "CLIENT KILL TYPE normal SKIPME yes") > 0);
    const struct timespec pause = { .tv_nsec = RETRY_MS * 1000000L }; /* the back-off of the worker's reconnect */
    nanosleep(&pause, NULL);
    assert_int_equal(expire_pass(&e, w->settle, clock_now_ms(), &closed, &done), ST_UNAVAILABLE);
    assert_int_equal(closed, 0);
    world_check_redis(w);
    (void)world_expire(w, &done);
    assert_int_equal(world_drain(w), 0);
    assert_int_equal(world_number(w, "SELECT COUNT(*) FROM dead_letter WHERE packet_id = ?", id), 0);
    assert_int_equal(done.refunded, 1);
    assert_int_equal(world_packet(w, id).refund_fen, 300);
    world_audit_clean(w);
}

TESTS(NULL, NULL)

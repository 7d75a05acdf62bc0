/* Expired packets are refunded: exactly once, after all grabs. */
#include "live/event.h"
#include "settle/expire.h"
#include "support/test_services.h"
#include "support/wait_until.h"
#include "test_world.h"

enum { RETRY_MS = 150 }; /* the back-off of the worker's reconnect */

WORLD_TEST(the_rest_is_refunded_to_the_sender_to_the_fen, 4)
{
    uint64_t id = world_send(w, 0, PACKET_LUCKY, 1001, 5, HOUR_MS, -1);
    int64_t grabbed = world_grab(w, id, 1).amount_fen + world_grab(w, id, 2).amount_fen;
    assert_int_equal(world_expire(w, NULL), 0); /* not before its expiry */
    world_time_runs_out(w, id);
    assert_int_equal(world_expire(w, NULL), 1);
    assert_int_equal(world_packet(w, id).state, PACKET_OPEN); /* the refund follows through the stream */
    assert_int_equal(world_drain(w), 3);
    struct packet p = assert_closed(id, 1001 - grabbed);
    assert_true(p.finished_ms == 0 && p.closed_ms > 0);
    assert_int_equal(world_balance(w, w->users[0]), 100000 - grabbed);
    assert_true(world_redis(w, id, "PTTL {pk}") > 0);
}

WORLD_TEST(a_worker_whose_clock_is_behind_closes_a_due_packet_too, 3)
{
    struct expire e = { 0 };
    struct recover_done done = { 0 };
    uint64_t closed = 0, id = world_even(w, 500, 5);
    world_time_runs_out(w, id);
    assert_int_equal(expire_pass(&e, w->settle, clock_now_ms() - HOUR_MS / 2, &closed, &done), ST_OK);
    assert_ints({ closed, 1 }, { world_drain(w), 1 }, { world_packet(w, id).refund_fen, 500 });
}

WORLD_TEST(a_packet_without_grabs_is_refunded_in_full_and_a_repeated_expiry_changes_nothing, 2)
{
    uint64_t id = world_send(w, 0, PACKET_EXCLUSIVE, 100, 1, 0, 1);
    assert_int_equal(world_expire(w, NULL), 1);
    assert_int_equal(world_expire(w, NULL), 0);
    assert_int_equal(world_redis(w, id, "XLEN {ev}"), 1);
    world_drain(w);
    assert_int_equal(world_expire(w, NULL), 0);
    assert_int_equal(world_drain_clean(w), 0);
    assert_ints({ world_number(w, "SELECT COUNT(*) FROM transfer WHERE kind = 'refund'", 0), 1 },
                { world_balance(w, w->users[0]), 100000 }, { world_packet(w, id).refund_fen, 100 });
}

WORLD_TEST(more_due_packets_than_a_pass_takes_are_all_closed, 3)
{
    for (int i = 0; i < 510; i++)
        (void)world_send(w, (size_t)i % 3, PACKET_EVEN, 5, 5, 0, -1);
    assert_int_equal(world_expire(w, NULL), 510);
    assert_int_equal(world_drain(w), 510);
    assert_int_equal(world_number(w, "SELECT COUNT(*) FROM packet WHERE state = 'closed'", 0), 510);
    assert_wallets(0, 100000, 100000, 100000);
}

WORLD_TEST(with_a_full_redis_packets_are_settled_and_refunded, 3)
{
    enum { PACKETS = 6 };
    uint64_t ids[PACKETS];
    for (size_t i = 0; i < PACKETS; i++) {
        ids[i] = world_even(w, 500, 5);
        world_grab_all(w, ids[i], 1, 2);
        world_time_runs_out(w, ids[i]);
    }
    (void)world_redis(w, 0, "CONFIG SET maxmemory 1");
    uint64_t closed = world_expire(w, NULL);
    uint64_t settled = world_drain(w);
    int64_t dying = 0;
    for (size_t i = 0; i < PACKETS; i++)
        dying += world_redis(w, ids[i], "PTTL {pk}") > 0; /* its memory will be freed */
    (void)world_redis(w, 0, "CONFIG SET maxmemory 2gb");
    assert_ints({ closed, PACKETS }, { settled, 3 * PACKETS }, { dying, PACKETS });
    world_drain(w);
    for (size_t i = 0; i < PACKETS; i++) {
        struct live_event_id end, told; /* the position is published in the end */
        assert_true(live_event_id_parse(world_redis_text(w, ids[i], "HGET {pk} close_event"), &end));
        assert_true(live_event_id_parse(world_redis_text(w, ids[i], "GET {se}"), &told));
        assert_true(live_event_id_compare(told, end) >= 0);
    }
}

WORLD_TEST(a_lost_packet_waits_for_its_unsettled_grabs_before_the_refund_which_is_made_once, 3)
{
    struct recover_done done = { 0 };
    uint64_t id = world_even(w, 500, 5);
    world_drain(w); /* creates the cursors */
    world_grab(w, id, 1);
    world_time_runs_out(w, id);
    (void)world_redis(w, id, "DEL {pk} {sh} {gr} {or}");
    assert_int_equal(world_expire(w, &done), 0);
    assert_int_equal(done.refunded, 0);
    assert_int_equal(world_drain(w), 1);
    for (int i = 0; i < 2; i++)
        assert_int_equal(world_expire(w, &done), 0);
    assert_ints({ done.refunded, 1 }, { world_packet(w, id).refund_fen, 400 });
    assert_wallets(0, 99900, 100100);
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
    world_time_runs_out(w, id);
    test_services_fences_write(w->app, "the-process-it-was-taken-from");
    assert_true(world_redis(w, id, "CLIENT KILL TYPE normal SKIPME yes") > 0);
    wait_ms(RETRY_MS);
    assert_int_equal(expire_pass(&e, w->settle, clock_now_ms(), &closed, &done), ST_UNAVAILABLE);
    assert_int_equal(closed, 0);
    world_check_redis(w);
    (void)world_expire(w, &done);
    assert_int_equal(world_drain(w), 0);
    assert_ints({ world_number(w, "SELECT COUNT(*) FROM dead_letter WHERE packet_id = ?", id), 0 },
                { done.refunded, 1 }, { world_packet(w, id).refund_fen, 300 });
}

TESTS(NULL, NULL)

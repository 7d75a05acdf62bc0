/* Expired packets are refunded: exactly once, after all grabs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <time.h>

#include "base/clock.h"
#include "live/event.h"
#include "live/live.h"
#include "settle/expire.h"
#include "support/test_services.h"
#include "test_settle_fixture.h"

enum { HOUR_MS = 3600000, RETRY_MS = 150 };

/* Makes the packet expire now, in both stores, so that earlier grabs are in time on a slow machine. */
static void time_runs_out(struct world *w, uint64_t packet_id)
{
    const long long over_ms = clock_now_ms() - 1;
    struct str sql = arena_printf(w->arena, "UPDATE packet SET expires_ms = %lld WHERE id = %llu", over_ms,
                                  (unsigned long long)packet_id);
    struct str words = arena_printf(w->arena, "HSET {pk} expires_ms %lld", over_ms);
    world_sql(w, sql.ptr);
    assert_int_equal(world_redis(w, packet_id, words.ptr), 0); /* the field existed */
}

static void the_rest_is_refunded_to_the_sender_to_the_fen(void **state)
{
    struct world w;
    struct recover_done done = { 0 };
    (void)state;
    world_begin(&w, 4);
    uint64_t id = world_send(&w, 0, PACKET_LUCKY, 1001, 5, HOUR_MS, -1);
    int64_t grabbed = world_grab(&w, id, 1).amount_fen + world_grab(&w, id, 2).amount_fen;
    time_runs_out(&w, id);
    assert_int_equal(world_expire(&w, &done), 1);
    assert_int_equal(world_packet(&w, id).state, PACKET_OPEN); /* the refund follows through the stream */
    assert_int_equal(world_drain(&w), 3);
    struct packet p = world_packet(&w, id);
    assert_int_equal(p.state, PACKET_CLOSED);
    assert_int_equal(p.refund_fen, 1001 - grabbed);
    assert_int_equal(p.finished_ms, 0);
    assert_true(p.closed_ms > 0);
    assert_int_equal(world_balance(&w, w.users[0]), 100000 - grabbed);
    assert_int_equal(world_balance(&w, id), 0);
    assert_true(world_redis(&w, id, "PTTL {pk}") > 0);
    world_audit_clean(&w);
    world_end(&w);
}

static void a_packet_without_grabs_is_refunded_in_full(void **state)
{
    struct world w;
    struct recover_done done = { 0 };
    (void)state;
    world_begin(&w, 2);
    uint64_t id = world_send(&w, 0, PACKET_EXCLUSIVE, 100, 1, 0, 1);
    assert_int_equal(world_expire(&w, &done), 1);
    world_drain(&w);
    assert_int_equal(world_balance(&w, w.users[0]), 100000);
    assert_int_equal(world_packet(&w, id).refund_fen, 100);
    world_audit_clean(&w);
    world_end(&w);
}

static void a_repeated_expiry_before_and_after_settling_changes_nothing(void **state)
{
    struct world w;
    struct recover_done done = { 0 };
    (void)state;
    world_begin(&w, 2);
    uint64_t id = world_send(&w, 0, PACKET_EVEN, 500, 5, 0, -1);
    assert_int_equal(world_expire(&w, &done), 1);
    assert_int_equal(world_expire(&w, &done), 0);
    assert_int_equal(world_redis(&w, id, "XLEN {ev}"), 1);
    world_drain(&w);
    assert_int_equal(world_expire(&w, &done), 0);
    assert_int_equal(world_drain(&w), 0);
    assert_int_equal(world_number(&w, "SELECT COUNT(*) FROM transfer WHERE kind = 'refund'", 0), 1);
    assert_int_equal(world_balance(&w, w.users[0]), 100000);
    world_audit_clean(&w);
    world_end(&w);
}

static void a_packet_before_its_expiry_is_not_closed(void **state)
{
    struct world w;
    struct recover_done done = { 0 };
    (void)state;
    world_begin(&w, 2);
    uint64_t id = world_send(&w, 0, PACKET_EVEN, 500, 5, HOUR_MS, -1);
    assert_int_equal(world_expire(&w, &done), 0);
    assert_int_equal(world_grab(&w, id, 1).code, LIVE_GRABBED);
    world_end(&w);
}

static void more_due_packets_than_a_pass_takes_are_all_closed(void **state)
{
    struct world w;
    struct recover_done done = { 0 };
    (void)state;
    world_begin(&w, 3);
    for (int i = 0; i < 1100; i++)
        (void)world_send(&w, (size_t)i % 3, PACKET_EVEN, 5, 5, 0, -1);
    assert_int_equal(world_expire(&w, &done), 1100);
    assert_int_equal(world_drain(&w), 1100);
    assert_int_equal(world_number(&w, "SELECT COUNT(*) FROM packet WHERE state = 'closed'", 0), 1100);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(world_balance(&w, w.users[i]), 100000);
    world_audit_clean(&w);
    world_end(&w);
}

static void with_a_full_redis_packets_are_settled_and_refunded(void **state)
{
    enum { PACKETS = 6 };
    struct world w;
    struct recover_done done = { 0 };
    uint64_t ids[PACKETS];
    (void)state;
    world_begin(&w, 3);
    for (size_t i = 0; i < PACKETS; i++) {
        ids[i] = world_send(&w, 0, PACKET_EVEN, 500, 5, HOUR_MS, -1);
        world_grab_all(&w, ids[i], 1, 2);
        time_runs_out(&w, ids[i]);
    }
    (void)world_redis(&w, 0, "CONFIG SET maxmemory 1");
    uint64_t closed = world_expire(&w, &done);
    uint64_t settled = world_drain(&w);
    int64_t dying = 0;
    for (size_t i = 0; i < PACKETS; i++)
        dying += world_redis(&w, ids[i], "PTTL {pk}") > 0; /* the memory is freed in the end */
    (void)world_redis(&w, 0, "CONFIG SET maxmemory 2gb");
    assert_int_equal(closed, PACKETS);
    assert_int_equal(settled, 3 * PACKETS);
    assert_int_equal(dying, PACKETS);
    world_drain(&w);
    for (size_t i = 0; i < PACKETS; i++) {
        struct live_event_id end, told; /* the position is published in the end */
        assert_true(live_event_id_parse(world_redis_text(&w, ids[i], "HGET {pk} close_event"), &end));
        assert_true(live_event_id_parse(world_redis_text(&w, ids[i], "GET {se}"), &told));
        assert_true(live_event_id_compare(told, end) >= 0);
    }
    world_audit_clean(&w);
    world_end(&w);
}

static void a_due_packet_that_redis_lost_is_refunded_directly_and_once(void **state)
{
    struct world w;
    struct recover_done done = { 0 };
    (void)state;
    world_begin(&w, 3);
    uint64_t id = world_send(&w, 0, PACKET_EVEN, 500, 5, HOUR_MS, -1);
    world_grab(&w, id, 1);
    world_drain(&w);
    time_runs_out(&w, id);
    (void)world_redis(&w, id, "DEL {pk} {sh} {gr} {or}");
    assert_int_equal(world_expire(&w, &done), 0);
    assert_int_equal(done.refunded, 1);
    assert_int_equal(world_expire(&w, &done), 0);
    assert_int_equal(done.refunded, 1);
    assert_int_equal(world_packet(&w, id).refund_fen, 400);
    assert_int_equal(world_balance(&w, w.users[0]), 99900);
    world_audit_clean(&w);
    world_end(&w);
}

static void a_lost_packet_waits_for_its_unsettled_grabs_before_the_refund(void **state)
{
    struct world w;
    struct recover_done done = { 0 };
    (void)state;
    world_begin(&w, 3);
    uint64_t id = world_send(&w, 0, PACKET_EVEN, 500, 5, HOUR_MS, -1);
    world_drain(&w); /* creates the cursors */
    world_grab(&w, id, 1);
    time_runs_out(&w, id);
    (void)world_redis(&w, id, "DEL {pk} {sh} {gr} {or}");
    (void)world_expire(&w, &done);
    assert_int_equal(done.refunded, 0);
    assert_int_equal(world_drain(&w), 1);
    (void)world_expire(&w, &done);
    assert_int_equal(done.refunded, 1);
    assert_int_equal(world_packet(&w, id).refund_fen, 400);
    assert_int_equal(world_balance(&w, w.users[1]), 100100);
    world_audit_clean(&w);
    world_end(&w);
}

static void a_close_event_with_other_numbers_becomes_a_dead_letter(void **state)
{
    struct world w;
    (void)state;
    world_begin(&w, 3);
    uint64_t id = world_send(&w, 0, PACKET_EVEN, 500, 5, HOUR_MS, -1);
    struct str words = arena_printf(w.arena, "XADD {ev} * c %llu,1,100,400", (unsigned long long)id);
    (void)world_redis_text(&w, id, words.ptr);
    assert_int_equal(world_drain(&w), 0);
    assert_int_equal(world_number(&w, "SELECT COUNT(*) FROM dead_letter WHERE packet_id = ?", id), 1);
    assert_int_equal(world_balance(&w, w.users[0]), 99500);
    world_end(&w);
}

/* Redis restarts with an older copy between two passes of the worker. */
static void an_older_copy_closes_no_packet_by_its_own_count(void **state)
{
    struct world w;
    struct recover_done done = { 0 };
    struct expire e = { 0 };
    uint64_t closed = 0;
    (void)state;
    world_begin(&w, 4);
    uint64_t id = world_send(&w, 0, PACKET_EVEN, 500, 5, HOUR_MS, -1);
    world_grab_all(&w, id, 1, 2);
    world_drain(&w);
    world_lose_tail(&w, id);
    (void)world_redis(&w, id, "HSET {pk} grabbed_fen 100");
    time_runs_out(&w, id);
    test_services_fences_write(w.app, "the-process-it-was-taken-from");
    assert_true(world_redis(&w, id, "CLIENT KILL TYPE normal SKIPME yes") > 0);
    const struct timespec pause = { .tv_nsec = RETRY_MS * 1000000L }; /* the back-off of the worker's reconnect */
    nanosleep(&pause, NULL);
    assert_int_equal(expire_pass(&e, w.settle, clock_now_ms(), &closed, &done), ST_UNAVAILABLE);
    assert_int_equal(closed, 0);
    world_check_redis(&w);
    (void)world_expire(&w, &done);
    assert_int_equal(world_drain(&w), 0);
    assert_int_equal(world_number(&w, "SELECT COUNT(*) FROM dead_letter WHERE packet_id = ?", id), 0);
    assert_int_equal(done.refunded, 1);
    assert_int_equal(world_packet(&w, id).refund_fen, 300);
    world_audit_clean(&w);
    world_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rest_is_refunded_to_the_sender_to_the_fen),
        cmocka_unit_test(a_packet_without_grabs_is_refunded_in_full),
        cmocka_unit_test(a_repeated_expiry_before_and_after_settling_changes_nothing),
        cmocka_unit_test(a_packet_before_its_expiry_is_not_closed),
        cmocka_unit_test(more_due_packets_than_a_pass_takes_are_all_closed),
        cmocka_unit_test(with_a_full_redis_packets_are_settled_and_refunded),
        cmocka_unit_test(a_due_packet_that_redis_lost_is_refunded_directly_and_once),
        cmocka_unit_test(a_lost_packet_waits_for_its_unsettled_grabs_before_the_refund),
        cmocka_unit_test(a_close_event_with_other_numbers_becomes_a_dead_letter),
        cmocka_unit_test(an_older_copy_closes_no_packet_by_its_own_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

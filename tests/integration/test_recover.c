/* Recovery after one store has lost data. */
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "io/db.h"
#include "io/metrics.h"
#include "live/close.h"
#include "live/event.h"
#include "live/fence.h"
#include "live/grab.h"
#include "live/live.h"
#include "live/load.h"
#include "live/stream.h"
#include "packet/split.h"
#include "settle/commit.h"
#include "settle/cursor.h"
#include "settle/publish.h"
#include "settle/read.h"
#include "settle/recover.h"
#include "settle/recover_stream.h"
#include "settle/settle.h"
#include "support/close_one.h"
#include "support/stores_do.h"
#include "support/test.h"
#include "support/test_services.h"
#include "test_world.h"

enum { LATER_MS = 10000 };

/* One full recovery pass, some seconds later, so that the grace time of sends is over. */
static struct recover_done recover_all(void)
{
    struct recover r = { .full_walk = true };
    struct recover_done done = { 0 };
    assert_int_equal(recover_pass(&r, w->settle, clock_now_ms() + LATER_MS, &done), ST_OK);
    return done;
}

static void world_begin_drained(size_t users)
{
    world_begin(w, users);
    world_drain(w); /* creates the rows of the cursors */
}

#define DRAINED_TEST(name, user_count) WORLD_TEST_BY(name, world_begin_drained(user_count))

DRAINED_TEST(a_funded_packet_that_was_not_loaded_is_loaded, 3)
{
    uint64_t id = world_send(w, 0, PACKET_LUCKY, 1000, 3, HOUR_MS, -1);
    (void)world_redis(w, id, "DEL {pk} {sh}"); /* as if the sender's process had died before the load */
    world_sql(w, "UPDATE packet SET state = 'funding'");
    assert_int_equal(recover_all().loaded, 1);
    assert_int_equal(world_packet(w, id).state, PACKET_OPEN);
    assert_int_equal(world_grab(w, id, 1).code, LIVE_GRABBED);
    assert_int_equal(world_drain(w), 1);
    world_audit_clean(w);
}

/* The page pool can insert rows with any numbers. The draw of such a packet would need more memory than there is. */
TEST(a_row_with_impossible_numbers_keeps_no_other_packet_from_its_rebuild)
{
    /* amount_fen, count, returned_count, returned_fen, receiver_count */
    static const char *const numbers[] = {
        "1000, 4000000000, 0, 0, 0",
        "4000000000, 4000000000, 0, 0, 0",
        "1000, 100001, 0, 0, 0",
        "1000, 0, 0, 0, 0",
        "0, 3, 0, 0, 0",
        "4294967296, 3, 0, 0, 0",
        "1000, 3, 4294967294, 0, 0",
        "1000, 3, 4000000000, 0, 0",
        "9223372036854775807, 3, 0, 0, 0",
        "1000, 3, 1, 9223372036854770000, 0",
        "1000, 3, 0, 0, 4000000000",
        "9223372036854775807, 3, 0, 5, 0",
        "-5, 3, 0, -5, 0",
    };
    static const char *const states[] = { "funding", "open" };
    for (size_t i = 0; i < ARRAY_LEN(states); i++) {
        world_begin_drained(3);
        uint64_t id = world_send(w, 0, PACKET_LUCKY, 1000, 3, HOUR_MS, -1);
        sql_do(w->page->stores.db, "SET check_constraint_checks = 0");
        for (size_t j = 0; j < ARRAY_LEN(numbers); j++) {
            struct str sql = arena_printf(
                w->arena,
                "INSERT INTO packet (id, sender_id, sender_name, kind, split, amount_fen, count, returned_count,"
                " returned_fen, receiver_count, greeting, seed, commitment, state, created_ms, expires_ms, request_key)"
                " SELECT id + %zu, sender_id, '', kind, split, %s, '', seed, commitment, '%s', created_ms,"
                " expires_ms - 1, 'x%zu' FROM packet WHERE id = %llu",
                j + 1, numbers[j], states[i], j, (unsigned long long)id);
            sql_do(w->page->stores.db, sql.ptr);
        }
        sql_do(w->page->stores.db, "SET check_constraint_checks = 1");
        (void)world_redis(w, id, "DEL {pk} {sh}");
        struct recover_done done = recover_all();
        assert_int_equal(done.loaded, 1);
        assert_int_equal(done.faults, ARRAY_LEN(numbers));
        assert_int_equal(world_grab(w, id, 1).code, LIVE_GRABBED);
        assert_int_equal(world_drain(w), 1);
        assert_true(world_audit_violations(w, "I7") >= ARRAY_LEN(numbers)); /* each is reported */
        world_end(w);
    }
}

DRAINED_TEST(a_thousand_rows_that_can_t_be_recovered_keep_no_other_packet_from_its_rebuild, 3)
{
    struct recover r = { .full_walk = true };
    struct recover_done done = { 0 };
    uint64_t id = world_send(w, 0, PACKET_LUCKY, 1000, 3, HOUR_MS, -1);
    world_sql(w, "UPDATE packet SET state = 'funding'");
    sql_do(w->page->stores.db,
           "INSERT INTO packet (id, sender_id, sender_name, kind, split, amount_fen, count, greeting,"
           " seed, commitment, state, created_ms, expires_ms, request_key)"
           " WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers"
           " WHERE n < 1000) SELECT id + n, sender_id, '', kind, split, 0, 3, '', seed, commitment,"
           " 'funding', created_ms, expires_ms - 1, CONCAT('x', n) FROM packet JOIN numbers");
    (void)world_redis(w, id, "DEL {pk} {sh}");
    for (int pass = 0; pass < 2; pass++)
        assert_int_equal(recover_pass(&r, w->settle, clock_now_ms() + LATER_MS, &done), ST_OK);
    assert_int_equal(done.faults, 1000);
    assert_int_equal(done.loaded, 1);
    assert_int_equal(world_packet(w, id).state, PACKET_OPEN);
}

DRAINED_TEST(a_packet_that_was_loaded_but_not_marked_open_is_marked_open, 2)
{
    uint64_t id = world_even(w, 300, 3);
    world_sql(w, "UPDATE packet SET state = 'funding'");
    struct recover_done done = recover_all();
    assert_int_equal(done.opened, 1);
    assert_int_equal(done.loaded, 0);
    assert_int_equal(world_packet(w, id).state, PACKET_OPEN);
}

DRAINED_TEST(recovery_leaves_a_newly_funded_packet_to_its_sender, 2)
{
    struct recover r = { .full_walk = true };
    struct recover_done done = { 0 };
    uint64_t id = world_even(w, 300, 3);
    (void)world_redis(w, id, "DEL {pk} {sh}");
    world_sql(w, "UPDATE packet SET state = 'funding'");
    assert_int_equal(recover_pass(&r, w->settle, clock_now_ms() - LATER_MS, &done), ST_OK);
    assert_int_equal(done.loaded, 0);
}

DRAINED_TEST(lost_live_keys_come_back_with_every_settled_grab, 6)
{
    uint64_t id = world_send(w, 0, PACKET_LUCKY, 5000, 5, HOUR_MS, -1);
    struct live_grab before = world_grab(w, id, 1);
    world_grab(w, id, 2);
    world_drain(w);
    (void)world_redis(w, id, "DEL {pk} {sh} {gr} {or}");
    assert_int_equal(world_grab(w, id, 3).code, LIVE_MISSING);
    assert_int_equal(recover_all().loaded, 1);
    assert_same_share(&before, id, 1);
    world_grab_all(w, id, 3, 3);
    world_drain(w);
    assert_int_equal(world_packet(w, id).state, PACKET_CLOSED);
    world_audit_clean(w);
}

DRAINED_TEST(a_rebuilt_packet_is_for_its_receivers_only, 5)
{
    static const size_t to[] = { 3, 1, 2 };
    uint64_t id = world_send_to(w, 0, PACKET_EVEN, 300, 3, HOUR_MS, to, 3);
    assert_int_equal(world_grab(w, id, 1).code, LIVE_GRABBED);
    world_drain(w);
    (void)world_redis(w, id, "DEL {pk} {sh} {gr} {or}");
    assert_int_equal(recover_all().loaded, 1);
    assert_int_equal(world_grab(w, id, 4).code, LIVE_NOT_FOR_YOU);
    assert_int_equal(world_grab(w, id, 2).code, LIVE_GRABBED);
    assert_int_equal(world_grab(w, id, 3).code, LIVE_GRABBED);
    world_drain(w);
    world_audit_clean(w);
}

/* A delayed load by the sender's process, as Redis may still have it in its queue. */
static enum live_code load_late(uint64_t id)
{
    struct packet p = world_packet(w, id);
    enum live_code code;
    int64_t *shares = arena_array(w->arena, p.count, sizeof *shares);
    assert_int_equal(split_packet(&p, shares), ST_OK);
    assert_int_equal(live_load(&w->page->stores.live, &p, shares, NULL, 0, LIVE_STATE_OPEN, &code), ST_OK);
    return code;
}

DRAINED_TEST(a_load_after_the_refund_opens_nothing, 3)
{
    struct recover_done done = { 0 };
    uint64_t id = world_even(w, 300, 3);
    (void)world_redis(w, id, "DEL {pk} {sh}"); /* not loaded yet */
    world_sql(w, "UPDATE packet SET state = 'funding'");
    /* The worker's clock is far ahead: for Redis the packet expires only in an hour. */
    assert_int_equal(recover_packet(w->settle, id, clock_now_ms() + 2 * HOUR_MS, &done), ST_OK);
    assert_int_equal(done.refunded, 1);
    assert_int_equal(load_late(id), LIVE_EXISTS);
    assert_int_equal(world_grab(w, id, 1).code, LIVE_MISSING); /* its page comes from MySQL */
    assert_int_equal(world_drain(w), 0);
    assert_int_equal(world_balance(w, w->users[0]), 100000);
    assert_int_equal(world_audit_violations(w, "times"), 1); /* the worker's clock has left its trace */
    world_sql(w, "UPDATE packet SET closed_ms = created_ms");
    world_audit_clean(w);
}

/* A sender's process resumes after a long stop, in the middle of a recovery. */
TEST(a_load_while_packets_are_shut_gives_no_share_out_twice)
{
    for (int lost = 0; lost < 2; lost++) {
        world_begin_drained(4);
        uint64_t id = world_even(w, 300, 3);
        struct live_grab first = world_grab(w, id, 1);
        world_drain(w);
        if (lost)
            (void)world_redis(w, id, "FLUSHALL");
        else
            (void)world_redis(w, id, "DEL {ev}");
        world_check_redis(w);
        assert_int_equal(load_late(id), LIVE_EXISTS);
        assert_int_equal(world_grab(w, id, 2).code, lost ? LIVE_MISSING : LIVE_BUSY);
        assert_int_equal(recover_all().loaded, 1);
        assert_int_equal(world_grab(w, id, 1).share_no, first.share_no);
        assert_int_equal(world_grab(w, id, 2).share_no, 1);
        world_drain(w);
        world_audit_clean(w);
        world_end(w);
    }
}

DRAINED_TEST(a_lost_packet_waits_until_its_grabs_are_settled, 4)
{
    uint64_t id = world_even(w, 300, 3);
    world_grab(w, id, 1);
    (void)world_redis(w, id, "DEL {pk} {sh} {gr} {or}");
    assert_int_equal(recover_all().loaded, 0); /* its share would be given out twice */
    assert_int_equal(world_drain(w), 1);
    assert_int_equal(recover_all().loaded, 1);
    assert_int_equal(world_grab(w, id, 1).code, LIVE_ALREADY);
    assert_int_equal(world_grab(w, id, 2).share_no, 1);
    world_drain(w);
    world_audit_clean(w);
}

TEST(a_packet_that_lost_one_key_gives_no_share_out_twice)
{
    static const char *const lost[] = { "DEL {or}", "DEL {gr}", "DEL {sh}", "DEL {or} {gr}" };
    for (size_t i = 0; i < ARRAY_LEN(lost); i++) {
        world_begin_drained(6);
        uint64_t id = world_send(w, 0, PACKET_LUCKY, 5000, 5, HOUR_MS, -1);
        struct live_grab first = world_grab(w, id, 1);
        world_drain(w);
        world_grab(w, id, 2); /* not settled yet */
        (void)world_redis(w, id, lost[i]);
        assert_int_equal(world_grab(w, id, 3).code, LIVE_BUSY);
        assert_int_equal(recover_all().loaded, 0);
        assert_int_equal(world_drain(w), 1);
        assert_int_equal(recover_all().loaded, 1);
        assert_same_share(&first, id, 1);
        world_grab_all(w, id, 3, 3);
        world_drain(w);
        assert_int_equal(world_packet(w, id).state, PACKET_CLOSED);
        world_audit_clean(w);
        world_end(w);
    }
}

DRAINED_TEST(a_due_packet_that_lost_its_list_is_not_closed_by_a_wrong_count, 4)
{
    struct live_close answer;
    uint64_t id = world_even_settled(w, 300, 3, 2);
    (void)world_redis(w, id, "DEL {or}");
    (void)world_redis(w, id, "HSET {pk} expires_ms 1000");
    assert_int_equal(close_one(&w->page->stores.live, id, &answer), ST_OK);
    assert_int_equal(answer.code, LIVE_BUSY);
    assert_int_equal(recover_all().loaded, 1);
    assert_int_equal(world_grab(w, id, 3).share_no, 2);
    world_drain(w);
    world_audit_clean(w);
}

DRAINED_TEST(an_interrupted_rebuild_is_finished, 4)
{
    uint64_t id = world_even_settled(w, 300, 3, 1);
    (void)world_redis(w, id, "HSET {pk} state busy");
    assert_int_equal(world_grab(w, id, 2).code, LIVE_BUSY);
    assert_int_equal(recover_all().loaded, 1);
    assert_int_equal(world_grab(w, id, 2).code, LIVE_GRABBED);
    world_drain(w);
    world_audit_clean(w);
}

DRAINED_TEST(a_large_packet_comes_back_whole, 400)
{
    uint64_t id = world_send(w, 0, PACKET_LUCKY, 50000, 5000, HOUR_MS, -1);
    world_grab_all(w, id, 1, 399);
    world_drain(w);
    (void)world_redis(w, id, "DEL {pk} {sh} {gr} {or}");
    assert_int_equal(recover_all().loaded, 1);
    assert_int_equal(world_redis(w, id, "LLEN {or}"), 399);
    world_audit_clean(w);
}

DRAINED_TEST(a_flushed_redis_gets_its_packets_back_and_takes_grabs, 4)
{
    struct live_event_id before, after;
    uint64_t id = world_send(w, 0, PACKET_LUCKY, 1000, 3, HOUR_MS, -1);
    struct live_grab first = world_grab(w, id, 1);
    world_drain(w);
    before = world_partition(w, id)->last;
    struct str sender = world_redis_text(w, id, "HGET {pk} nickname"), badge = world_badge(w, "小,强");
    assert_true(str_equal(sender, world_badge(w, "小明")));
    assert_true(str_ends(world_redis_text(w, id, "LINDEX {or} 0"), badge));
    (void)world_redis(w, id, "FLUSHALL");
    assert_int_equal(world_drain(w), 0); /* finds the gap and repairs the stream */
    assert_true(live_event_id_parse(world_redis_text(w, id, "GET {se}"), &after) ||
                world_redis(w, id, "XLEN {ev}") == 1);
    assert_int_equal(recover_all().loaded, 1);
    assert_true(str_equal(world_redis_text(w, id, "HGET {pk} nickname"), sender));
    assert_true(str_ends(world_redis_text(w, id, "LINDEX {or} 0"), badge));
    world_check_redis(w); /* opens the fences, whose keys went, too */
    assert_int_equal(world_grab(w, id, 1).amount_fen, first.amount_fen);
    world_grab(w, id, 2);
    assert_int_equal(world_drain(w), 1);
    assert_true(live_event_id_compare(world_partition(w, id)->last, before) > 0);
    world_audit_clean(w);
}

DRAINED_TEST(a_stream_that_lost_its_tail_shuts_packets_and_never_reuses_ids, 5)
{
    uint64_t id = world_even(w, 400, 4);
    world_grab(w, id, 1);
    struct live_grab second = world_grab(w, id, 2);
    world_drain(w);
    struct live_event_id cursor = world_partition(w, id)->last;
    world_lose_tail(w, id);
    assert_int_equal(world_drain(w), 0);
    assert_int_equal(world_grab(w, id, 3).code, LIVE_BUSY); /* the lost share is not given out again */
    assert_int_equal(recover_all().loaded, 1);
    struct live_grab again = world_grab(w, id, 2);
    assert_int_equal(again.code, LIVE_ALREADY);
    assert_int_equal(again.share_no, second.share_no);
    assert_int_equal(world_grab(w, id, 3).share_no, 2);
    assert_int_equal(world_drain(w), 1);
    assert_true(live_event_id_compare(world_partition(w, id)->last, cursor) > 0);
    assert_false(settle_is_stopped(w->settle));
    world_audit_clean(w);
}

DRAINED_TEST(the_fence_opens_only_after_packets_are_shut, 5)
{
    uint64_t id = world_even(w, 400, 4);
    world_grab(w, id, 1);
    struct live_grab second = world_grab(w, id, 2);
    world_drain(w);
    world_lose_tail(w, id);
    test_services_fences_write(w->app, "the-process-it-was-taken-from");
    world_check_redis(w);
    char text[REDIS_FENCE_TEXT_MAX];
    assert_int_equal(redis_fence_text(w->page->stores.redis, 0, text), ST_OK);
    assert_true(str_equal(world_redis_text(w, id, "GET {fe}"), str_from(text)));
    assert_true(str_equal(world_redis_text(w, id, "GET hb:fence"), str_from(text))); /* for pools of version 1.0 */
    assert_int_equal(world_grab(w, id, 3).code, LIVE_BUSY);
    assert_int_equal(recover_all().loaded, 1);
    assert_int_equal(world_grab(w, id, 2).amount_fen, second.amount_fen);
    assert_int_equal(world_grab(w, id, 3).share_no, 2);
    world_drain(w);
    world_audit_clean(w);
}

/* With another number packets would be searched in the wrong partition and rebuilt without their unsettled grabs. */
DRAINED_TEST(another_number_of_partitions_is_refused_by_the_worker, 3)
{
    static const int64_t others[] = { 8, 32 };
    uint64_t events;
    uint64_t id = world_even(w, 200, 2);
    world_grab(w, id, 1);
    assert_int_equal(settle_partitions_check(&w->settler->stores), ST_OK);
    test_services_fences_write(w->app, "nobody");
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        struct recover r = { .full_walk = true };
        bool checked = true;
        world_partitions_set(w, others[i]);
        world_restart_worker(w);
        assert_int_equal(recover_fences(&r, w->settle, &checked), ST_INVALID);
        assert_false(checked);
        assert_int_equal(settle_pass(w->settle, &events), ST_INVALID);
        assert_int_equal(settle_partitions_check(&w->settler->stores), ST_INVALID);
        assert_true(str_equal(world_redis_text(w, id, "GET hb:{p00}:fence"), STR("nobody")));
        assert_int_equal(world_number(w, "SELECT COUNT(*) FROM stream_cursor", 0), 16);
    }
    world_partitions_set(w, 16);
    world_restart_worker(w);
    world_check_redis(w);
    assert_int_equal(world_drain(w), 1);
    world_sql(w, "DELETE FROM stream_cursor");
    assert_int_equal(settle_partitions_check(&w->settler->stores),
                     ST_OK); /* there are no cursors, and the check creates none */
    assert_int_equal(world_number(w, "SELECT COUNT(*) FROM stream_cursor", 0), 0);
}

/* The tables of a restore that was killed lack rows: a packet would be rebuilt without its grabs. */
DRAINED_TEST(the_fence_stays_shut_after_an_interrupted_restore, 3)
{
    struct recover r = { .full_walk = true };
    bool open = true;
    uint64_t id = world_even(w, 200, 2);
    world_sql(w, "INSERT INTO schema_migration SELECT 0, 'restore', sha256, 0, FALSE FROM schema_migration LIMIT 1");
    test_services_fences_write(w->app, "nobody");
    world_restart_worker(w);
    enum status st = recover_fences(&r, w->settle, &open);
    world_sql(w, "DELETE FROM schema_migration WHERE version = 0");
    assert_int_equal(st, ST_INVALID);
    assert_false(open);
    assert_true(str_equal(world_redis_text(w, id, "GET hb:{p00}:fence"), STR("nobody")));
    world_check_redis(w);
    assert_int_equal(world_grab(w, id, 1).share_no, 0);
    world_drain(w);
    world_audit_clean(w);
}

DRAINED_TEST(a_pool_with_another_number_of_partitions_grabs_and_loads_nothing, 4)
{
    struct redis_call call = { 0 };
    struct live_grab grab;
    uint64_t id = world_even(w, 200, 2);
    struct live_grab first = world_grab(w, id, 1);
    world_partitions_set(w, 8);
    world_fence_set(w);
    live_grab_queue(&w->live, &call, id, w->users[2], STR("小强"), NULL);
    redis_round(w->hot->stores.redis);
    assert_int_equal(live_grab_read(&call, &grab), ST_UNAVAILABLE);
    redis_call_free(&call);
    uint64_t sent = world_even(w, 300, 3);
    assert_int_equal(world_packet(w, sent).state, PACKET_FUNDING); /* funded: the worker loads it */
    assert_int_equal(world_redis(w, sent, "EXISTS {pk}"), 0);

    world_partitions_set(w, 16);
    world_fence_set(w);
    assert_int_equal(world_redis(w, sent, "EXISTS {pk}"), 0);
    assert_int_equal(recover_all().loaded, 1);
    assert_int_equal(world_redis(w, sent, "EXISTS {pk}"), 1);
    (void)redis_ping(w->hot->stores.redis); /* the first round reads the fence key */
    assert_int_equal(world_grab(w, sent, 3).code, LIVE_GRABBED);
    assert_int_equal(world_grab(w, id, 1).share_no, first.share_no);
    world_drain(w);
    world_audit_clean(w);
}

/* Settling and expiry free memory, and they wait until the fence is open. */
DRAINED_TEST(a_full_redis_is_compared_and_repaired_too, 5)
{
    struct recover r = { .full_walk = true };
    bool checked = false;
    uint64_t id = world_even(w, 400, 4);
    world_grab_all(w, id, 1, 2); /* a crowd: both have the id of the cursor */
    assert_int_equal(world_drain(w), 2);
    world_lose_tail(w, id);
    test_services_fences_write(w->app, "the-process-it-was-taken-from");
    (void)world_redis(w, id, "CONFIG SET maxmemory 1");
    enum status st = recover_fences(&r, w->settle, &checked);
    int64_t marked = world_redis(w, id, "XLEN {ev}");
    (void)world_redis(w, id, "CONFIG SET maxmemory 2gb");
    assert_int_equal(st, ST_OK);
    assert_true(checked);
    assert_int_equal(marked, 2);
    assert_int_equal(world_grab(w, id, 3).code, LIVE_BUSY);
    assert_int_equal(recover_all().loaded, 1);
    assert_int_equal(world_grab(w, id, 3).share_no, 2);
    world_drain(w);
    world_audit_clean(w);
}

DRAINED_TEST(a_closed_packet_that_comes_back_open_gives_nothing_out, 5)
{
    uint64_t id = world_even_settled(w, 200, 2, 2);
    assert_int_equal(world_packet(w, id).state, PACKET_CLOSED);
    world_lose_tail(w, id);
    (void)world_redis(w, id, "HSET {pk} grabbed_fen 100");
    world_check_redis(w);
    assert_int_equal(load_late(id), LIVE_EXISTS);              /* a delayed load by its sender */
    assert_int_equal(world_grab(w, id, 3).code, LIVE_MISSING); /* its page comes from MySQL */
    assert_int_equal(world_drain(w), 0);
    world_audit_clean(w);
}

/* Retries until the settle worker is connected again; reconnects have a back-off. */
static void settler_reconnect(void)
{
    enum status st = ST_UNAVAILABLE;
    for (int i = 0; i < 1000 * HB_TEST_PATIENCE && st != ST_OK; i++) {
        st = redis_ping(w->settler->stores.redis);
        if (st != ST_OK)
            usleep(10000);
    }
    assert_int_equal(st, ST_OK);
}

/* The clock of the machine of Redis may differ, so it may still be open there. */
DRAINED_TEST(a_closed_packet_that_expired_hours_ago_is_deleted_too, 5)
{
    uint64_t id = world_even_settled(w, 200, 2, 2);
    world_sql(w, "UPDATE packet SET expires_ms = expires_ms - 72000000"); /* 19 hours ago */
    world_lose_tail(w, id);
    (void)world_redis(w, id, "HSET {pk} grabbed_fen 100");
    test_services_fences_write(w->app, "the-process-it-was-taken-from");
    world_check_redis(w);
    assert_int_equal(world_grab(w, id, 3).code, LIVE_MISSING);
    assert_int_equal(world_drain(w), 0);
}

/* A copy of Redis that is days older than the tables. The packet was ended early: there it is open until its first
 * expiry. */
TEST(a_packet_that_was_ended_days_ago_is_deleted_from_an_older_copy)
{
    static const char *const copies[] = { "TIME", "DEL {ev}" }; /* the stream ends early, or had no event yet */
    for (size_t i = 0; i < ARRAY_LEN(copies); i++) {
        world_begin_drained(5);
        uint64_t id = world_even_settled(w, 200, 2, 2);
        world_sql(w, "UPDATE packet SET expires_ms = expires_ms - 604800000, ended_ms = expires_ms");
        world_lose_tail(w, id);
        (void)world_redis(w, id, copies[i]);
        (void)world_redis(w, id, "HSET {pk} grabbed_fen 100");
        test_services_fences_write(w->app, "the-process-it-was-taken-from");
        world_check_redis(w);
        assert_int_equal(world_grab(w, id, 3).code, LIVE_MISSING);
        assert_int_equal(world_redis(w, id, "EXISTS {pk} {sh} {gr} {or}"), 0);
        assert_int_equal(world_drain(w), 0);
        world_end(w);
    }
}

/* What closed long ago is not looked for in a Redis that has nothing: it would take as long as the site is old. */
DRAINED_TEST(an_emptied_redis_is_repaired_without_the_packets_of_days_ago, 3)
{
    uint64_t id = world_even_settled(w, 200, 2, 2);
    world_sql(w, "UPDATE packet SET expires_ms = expires_ms - 604800000");
    (void)world_redis(w, id, "FLUSHALL");
    (void)world_redis(w, id, "SET {pk} kept"); /* not looked for, so not deleted */
    world_check_redis(w);
    assert_int_equal(world_redis(w, id, "EXISTS {pk}"), 1);
}

/* Another worker may have opened the fence of the next process, which never had these events. */
DRAINED_TEST(events_read_from_an_ended_redis_process_are_not_settled, 3)
{
    uint64_t settled;
    uint64_t id = world_even(w, 200, 2);
    world_grab(w, id, 1);
    struct settle_partition *p = world_partition(w, id);
    assert_int_equal(settle_read(w->settle, p->no, 1), ST_OK);
    assert_int_equal(p->event_count, 1);
    assert_true(world_redis(w, id, "CLIENT KILL TYPE normal SKIPME yes") > 0);
    settler_reconnect();
    assert_int_equal(settle_commit(w->settle, p, &settled), ST_UNAVAILABLE);
    assert_int_equal(settled, 0);
    assert_int_equal(world_number(w, "SELECT COUNT(*) FROM `grab` WHERE packet_id = ?", id), 0);
    assert_int_equal(world_drain(w), 1); /* the new process has them */
    world_audit_clean(w);
}

DRAINED_TEST(a_second_grab_of_a_lost_share_becomes_a_dead_letter_and_its_packet_stays_shut, 5)
{
    uint64_t id = world_even_settled(w, 400, 4, 2);
    world_lose_tail(w, id);
    assert_int_equal(world_grab(w, id, 3).share_no,
                     1); /* before the worker repairs the stream: the share of users[2] */
    assert_int_equal(world_drain(w), 0);
    assert_int_equal(world_letters(w, id), 1);
    assert_int_equal(recover_all().loaded, 0);
    assert_int_equal(world_grab(w, id, 4).code, LIVE_BUSY);
    assert_int_equal(world_balance(w, w->users[3]), 100000);
    /* When the operator drops the letter, the packet is rebuilt as it was settled. */
    world_sql(w, "UPDATE dead_letter SET resolved_ms = 1, resolution = 'dropped'");
    assert_int_equal(recover_all().loaded, 1);
    assert_int_equal(world_grab(w, id, 2).share_no, 1);
    assert_int_equal(world_grab(w, id, 3).share_no, 2);
    assert_int_equal(world_drain(w), 1);
    world_audit_clean(w);
}

/* By its published position Redis had settled the events that the tables lack. */
DRAINED_TEST(older_tables_beside_an_empty_stream_stop_the_partition, 4)
{
    uint64_t id = world_even_settled(w, 300, 3, 1);
    world_grab(w, id, 2);
    (void)world_redis(w, id, "XTRIM {ev} MAXLEN 0");
    (void)world_redis_text(w, id, "SET {se} 9000000000000-1");
    assert_int_equal(world_drain(w), 0);
    assert_true(world_partition(w, id)->stopped);
    for (int look = 0; look < 2; look++) { /* what has stopped it stays */
        assert_int_equal(settle_positions_look(w->settle), ST_OK);
        world_partition(w, id)->retry_ms = 0;
        assert_int_equal(world_drain(w), 0);
        assert_true(str_equal(world_redis_text(w, id, "GET {se}"), STR("9000000000000-1")));
        assert_true(world_partition(w, id)->stopped);
    }
}

DRAINED_TEST(a_stream_whose_settled_entries_were_trimmed_is_settled, 4)
{
    uint64_t id = world_even_settled(w, 300, 3, 1);
    (void)world_redis(w, id, "XTRIM {ev} MAXLEN 0");
    assert_int_equal(world_drain(w), 0);
    assert_int_equal(world_grab(w, id, 2).code, LIVE_GRABBED);
    assert_int_equal(world_drain(w), 1);
    world_audit_clean(w);
}

/* While the worker of this world compares a stream with its cursor, it loses its connection, and another worker moves
 * the cursor by move_on_sql; once. NULL: nothing happens. */
static struct world *moved_on;
static char move_on_sql[256];
static void cursor_sql(char out[static sizeof move_on_sql], const char *last_id, uint32_t partition)
{
    snprintf(out, sizeof move_on_sql, "UPDATE stream_cursor SET last_id = '%s' WHERE partition_no = %u", last_id,
             (unsigned)partition);
}

enum status __real_live_stream_last_id(const struct redis_call *info, struct live_event_id *out);
enum status __wrap_live_stream_last_id(const struct redis_call *info, struct live_event_id *out);
enum status __wrap_live_stream_last_id(const struct redis_call *info, struct live_event_id *out)
{
    if (moved_on != NULL) {
        (void)db_exec(moved_on->settle->stores->db, NULL, "KILL CONNECTION_ID()", NULL, 0);
        world_sql(moved_on, move_on_sql);
        moved_on = NULL;
    }
    return __real_live_stream_last_id(info, out);
}

/* The lock is lost: here with its connection, in a Galera cluster by a COMMIT at another node. */
DRAINED_TEST(a_gap_that_another_worker_has_made_meanwhile_shuts_nothing, 4)
{
    char first[LIVE_EVENT_ID_MAX], second[LIVE_EVENT_ID_MAX], text[256];
    uint64_t id = world_even_settled(w, 300, 3, 1);
    struct settle_partition *p = world_partition(w, id);
    (void)live_event_id_text(first, p->last);
    world_grab(w, id, 2);
    world_drain(w);
    (void)live_event_id_text(second, p->last);
    snprintf(text, sizeof text, "XTRIM {ev} MINID %s", second);
    (void)world_redis(w, id, text);
    cursor_sql(text, first, p->no);
    world_sql(w, text);
    cursor_sql(move_on_sql, second, p->no);
    world_restart_worker(w);
    p = world_partition(w, id);
    uint64_t events, repaired = metrics_get(METRIC_RECOVERED_STREAM);
    moved_on = w;
    (void)settle_drain(w->settle, 100, &events);
    assert_null(moved_on);
    world_drain(w);
    assert_int_equal(metrics_get(METRIC_RECOVERED_STREAM), repaired);
    assert_int_equal(world_grab(w, id, 3).code, LIVE_GRABBED);
    assert_int_equal(world_drain(w), 1);
    world_audit_clean(w);
}

DRAINED_TEST(a_closed_packet_never_comes_back, 3)
{
    uint64_t id = world_even_settled(w, 200, 2, 2);
    (void)world_redis(w, id, "DEL {pk} {sh} {gr} {or}");
    assert_int_equal(recover_all().loaded, 0);
    struct recover_done done = { 0 };
    assert_int_equal(recover_packet(w->settle, id, clock_now_ms(), &done), ST_OK);
    assert_int_equal(done.loaded + done.refunded + done.faults, 0);
}

DRAINED_TEST(a_packet_closed_in_redis_whose_event_is_lost_is_refunded_directly, 3)
{
    struct recover_done done = { 0 };
    uint64_t id = world_even_settled(w, 200, 2, 1);
    world_sqlf(w, "UPDATE packet SET expires_ms = created_ms + 1 WHERE id = %llu", (unsigned long long)id);
    (void)world_redis(w, id, "HSET {pk} state closed");
    assert_int_equal(recover_packet(w->settle, id, clock_now_ms(), &done), ST_OK);
    assert_int_equal(done.refunded, 1);
    assert_int_equal(world_balance(w, w->users[0]), 99900);
    world_audit_clean(w);
}

DRAINED_TEST(a_packet_closed_in_redis_with_another_sum_is_not_refunded, 3)
{
    struct recover_done done = { 0 };
    uint64_t id = world_even_settled(w, 200, 2, 1);
    world_sqlf(w, "UPDATE packet SET expires_ms = created_ms + 1 WHERE id = %llu", (unsigned long long)id);
    (void)world_redis(w, id, "HSET {pk} state closed grabbed_fen 150"); /* MySQL lacks 50 of them */
    assert_int_equal(recover_packet(w->settle, id, clock_now_ms(), &done), ST_OK);
    assert_int_equal(done.refunded, 0);
    assert_int_equal(done.faults, 1);
    assert_int_equal(world_balance(w, id), 100);
}

DRAINED_TEST(more_packets_than_one_pass_checks_are_rebuilt, 3)
{
    struct recover r = { .full_walk = true };
    struct recover_done done = { 0 };
    for (size_t i = 0; i < 1100; i++)
        (void)world_send(w, i % 3, PACKET_EVEN, 2, 2, HOUR_MS, -1);
    (void)world_redis(w, 0, "FLUSHALL");
    for (int look = 0; r.full_walk && look < 10; look++)
        assert_int_equal(recover_pass(&r, w->settle, clock_now_ms() + LATER_MS, &done), ST_OK);
    assert_false(r.full_walk);
    assert_int_equal(done.loaded, 1100);
    world_audit_clean(w);
}

DRAINED_TEST(a_repaired_stream_makes_recovery_check_every_packet, 4)
{
    struct recover r = { .full_walk = true };
    struct recover_done done = { 0 };
    uint64_t id = world_even_settled(w, 300, 3, 1);
    assert_int_equal(recover_pass(&r, w->settle, clock_now_ms(), &done), ST_OK);
    assert_false(w->settle->stream_repaired);
    world_lose_tail(w, id);
    world_drain(w);
    assert_true(w->settle->stream_repaired);
    r.open = (struct recover_walk){ .expires_ms = INT64_MAX, .packet_id = id }; /* the walk has passed it already */
    assert_int_equal(recover_pass(&r, w->settle, clock_now_ms(), &done), ST_OK);
    assert_int_equal(done.loaded, 1);
}

static bool remove_fails;
enum status __real_live_tombstone(const struct live *live, uint64_t packet_id);
enum status __wrap_live_tombstone(const struct live *live, uint64_t packet_id);
enum status __wrap_live_tombstone(const struct live *live, uint64_t packet_id)
{
    return remove_fails ? ST_UNAVAILABLE : __real_live_tombstone(live, packet_id);
}

DRAINED_TEST(a_refund_deletes_the_live_keys_before_its_commit, 3)
{
    struct recover_done done = { 0 };
    uint64_t id = world_send(w, 0, PACKET_EVEN, 300, 3, 0, -1);
    (void)world_redis(w, id, "HSET {pk} state busy");
    remove_fails = true;
    enum status st = recover_packet(w->settle, id, clock_now_ms(), &done);
    remove_fails = false;
    assert_int_equal(st, ST_UNAVAILABLE);
    assert_int_equal(done.refunded, 0);
    assert_int_equal(world_packet(w, id).state, PACKET_OPEN);
    assert_int_equal(recover_packet(w->settle, id, clock_now_ms(), &done), ST_OK);
    assert_int_equal(done.refunded, 1);
    assert_int_equal(world_redis(w, id, "EXISTS {sh} {gr} {or}"), 0);
    assert_true(world_redis(w, id, "PTTL {pk}") > 0);
    assert_int_equal(world_balance(w, w->users[0]), 100000);
    world_audit_clean(w);
}

DRAINED_TEST(recovering_twice_does_it_once, 3)
{
    for (int i = 0; i < 10; i++)
        (void)world_send(w, 0, PACKET_LUCKY, 1000, 5, HOUR_MS, -1);
    (void)world_redis(w, 0, "FLUSHALL");
    assert_int_equal(recover_all().loaded, 10);
    assert_int_equal(recover_all().loaded, 0);
    world_audit_clean(w);
}

TESTS(NULL, NULL)

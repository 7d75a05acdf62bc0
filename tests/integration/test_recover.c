/* Recovery after one store has lost data. */
#include "io/metrics.h"
#include "live/event.h"
#include "live/load.h"
#include "packet/split.h"
#include "settle/apply.h"
#include "settle/cursor.h"
#include "settle/publish.h"
#include "settle/read.h"
#include "settle/recover.h"
#include "settle/recover_stream.h"
#include "settle/run.h"
#include "support/assert_text.h"
#include "support/close_one.h"
#include "support/stores_do.h"
#include "support/test_services.h"
#include "support/wait_until.h"
#include "test_world.h"

enum { LATER_MS = 10000 };

/* The state after the senders have paid and their time to load the packets (LIVE_LOAD_WITHIN_MS) is over. */
#define FUNDED_BEFORE "UPDATE packet SET state = 'funding', created_ms = created_ms - 10000"

static void world_begin_drained(size_t users)
{
    world_begin(w, users);
    world_drain(w); /* creates the rows of the cursors */
}

#define DRAINED_TEST(name, user_count)        WORLD_TEST_BY(name, world_begin_drained(user_count))
#define FAULTY_DRAINED_TEST(name, user_count) FAULTY_WORLD_TEST_BY(name, world_begin_drained(user_count))

DRAINED_TEST(a_funded_packet_that_was_not_loaded_is_loaded, 3)
{
    uint64_t id = world_send(w, 0, PACKET_LUCKY, 1000, 3, HOUR_MS, -1);
    (void)world_redis(w, id, "DEL {pk} {sh}"); /* as if the sender's process had died before the load */
    world_sql(w, FUNDED_BEFORE);
    assert_int_equal(world_recover(w).loaded, 1);
    assert_int_equal(world_packet(w, id).state, PACKET_OPEN);
    assert_int_equal(world_grab(w, id, 1).code, LIVE_GRABBED);
    assert_int_equal(world_drain(w), 1);
}

/* The page pool can insert rows with any numbers. The draw of such a packet would need more memory than there is. */
FAULTY_DRAINED_TEST(a_row_with_impossible_numbers_keeps_no_other_packet_from_its_rebuild, 3)
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
    enum { STATES = 2, ROWS = STATES * ARRAY_LEN(numbers) };
    static const char *const states[STATES] = { "funding", "open" };
    uint64_t id = world_send(w, 0, PACKET_LUCKY, 1000, 3, HOUR_MS, -1);
    sql_do(w->page->stores.db, "SET check_constraint_checks = 0");
    for (size_t i = 0; i < ROWS; i++)
        sql_do(w->page->stores.db,
               arena_printf(w->arena,
                            "INSERT INTO packet (id, sender_id, sender_name, kind, split, amount_fen, count,"
                            " returned_count, returned_fen, receiver_count, greeting, seed, commitment, state,"
                            " created_ms, expires_ms, request_key) SELECT id + %zu, sender_id, '', kind, split, %s, '',"
                            " seed, commitment, '%s', created_ms, expires_ms - 1, 'x%zu' FROM packet WHERE id = %llu",
                            i + 1, numbers[i / STATES], states[i % STATES], i, (unsigned long long)id)
                   .ptr);
    sql_do(w->page->stores.db, "SET check_constraint_checks = 1");
    (void)world_redis(w, id, "DEL {pk} {sh}");
    struct recover_done done = world_recover(w);
    assert_ints({ done.loaded, 1 }, { done.faults, ROWS });
    assert_int_equal(world_grab(w, id, 1).code, LIVE_GRABBED);
    assert_int_equal(world_drain(w), 1);
    assert_true(world_audit_violations(w, "I7") >= ROWS); /* each is reported */
}

/* Adds rows without money that are copies of the only packet, with this amount, and expire before it. */
static void packets_copy(unsigned count, int64_t amount_fen)
{
    world_sqlf(w,
               "INSERT INTO packet (id, sender_id, sender_name, kind, split, amount_fen, count, greeting, seed,"
               " commitment, state, created_ms, expires_ms, request_key) SELECT id + seq, sender_id, '', kind, split,"
               " %lld, count, '', seed, commitment, state, created_ms, expires_ms - 1, CONCAT('x', seq)"
               " FROM packet JOIN seq_1_to_%u",
               (long long)amount_fen, count);
}

FAULTY_DRAINED_TEST(a_thousand_rows_that_can_t_be_recovered_keep_no_other_packet_from_its_rebuild, 1)
{
    struct recover r = { .full_walk = true };
    struct recover_done done = { 0 };
    uint64_t id = world_even(w, 1000, 3);
    world_sql(w, FUNDED_BEFORE);
    packets_copy(1000, 0);
    (void)world_redis(w, id, "DEL {pk} {sh}");
    for (int pass = 0; pass < 2; pass++)
        assert_int_equal(recover_pass(&r, w->settle, clock_now_ms() + LATER_MS, &done), ST_OK);
    assert_ints({ done.faults, 1000 }, { done.loaded, 1 }, { r.funding_more, false },
                { world_packet(w, id).state, PACKET_OPEN });
}

/* Writes a key that is no packet where the packet will be, as an intruder in a hot pool could. */
static void plant_over(uint64_t packet_id)
{
    (void)world_redis(w, packet_id, "DEL {pk} {sh}");
    (void)world_redis(w, packet_id, "RPUSH {pk} x");
}

DRAINED_TEST(a_key_that_is_no_packet_is_removed_and_keeps_no_packet_from_being_opened, 1)
{
    for (int lost = 0; lost < 2; lost++) { /* an open packet that Redis has lost, and one that was never there */
        uint64_t planted = world_even(w, 300, 3), other = world_even(w, 300, 3);
        plant_over(planted);
        world_sqlf(w, lost ? FUNDED_BEFORE " WHERE id = %llu" : FUNDED_BEFORE, (unsigned long long)other);
        struct recover_done done = world_recover(w);
        assert_ints({ done.faults, 0 }, { done.opened, 1 }, { done.loaded, 1 },
                    { world_packet(w, other).state, PACKET_OPEN }, { world_packet(w, planted).state, PACKET_OPEN });
        assert_int_equal(world_grab(w, planted, 0).code, LIVE_GRABBED);
    }
}

DRAINED_TEST(a_packet_that_was_loaded_but_not_marked_open_is_marked_open, 2)
{
    uint64_t id = world_even(w, 300, 3);
    world_sql(w, FUNDED_BEFORE);
    struct recover_done done = world_recover(w);
    assert_ints({ done.opened, 1 }, { done.loaded, 0 }, { world_packet(w, id).state, PACKET_OPEN });
}

DRAINED_TEST(recovery_leaves_a_newly_funded_packet_to_its_sender, 2)
{
    struct recover r = { .full_walk = true };
    struct recover_done done = { 0 };
    (void)world_redis(w, world_even(w, 300, 3), "DEL {pk} {sh}");
    world_sql(w, FUNDED_BEFORE);
    assert_int_equal(recover_pass(&r, w->settle, clock_now_ms() - LATER_MS, &done), ST_OK);
    assert_ints({ done.loaded, 0 }, { done.left, 1 }, { world_recover(w).loaded, 1 });
}

DRAINED_TEST(a_worker_that_ends_once_it_is_idle_waits_for_a_packet_that_its_sender_may_load, 2)
{
    uint64_t id = world_even(w, 300, 3);
    (void)world_redis(w, id, "DEL {pk} {sh}");
    world_sql(w, "UPDATE packet SET state = 'funding', created_ms = created_ms - 1000");
    assert_int_equal(settle_run(&w->settler->stores, SETTLE_UNTIL_IDLE, NULL, NULL), ST_OK);
    assert_int_equal(world_packet(w, id).state, PACKET_OPEN);
    world_fence_set(w);
    assert_int_equal(world_grab(w, id, 1).code, LIVE_GRABBED);
}

/* More than a thousand packets are sent in a second. */
FAULTY_DRAINED_TEST(packets_that_are_sent_faster_than_one_pass_opens_them_are_opened_without_a_pause, 1)
{
    enum { COPIES = 1100 };
    struct recover r = { .full_walk = true };
    struct recover_done done = { 0 };
    uint64_t id = world_even(w, 3, 3);
    packets_copy(COPIES, 3);
    world_sql(w, FUNDED_BEFORE);
    for (uint64_t copy = id; copy <= id + COPIES; copy++)
        (void)world_redis(w, copy, "HSET {pk} state open");
    for (int pass = 0; pass < 2; pass++) {
        assert_int_equal(recover_pass(&r, w->settle, clock_now_ms(), &done), ST_OK);
        assert_ints({ done.opened, pass == 0 ? 1000 : COPIES + 1 }, { r.funding_more, pass == 0 });
    }
    world_sql(w, FUNDED_BEFORE);
    (void)world_redis(w, 0, "FLUSHALL");
    assert_int_equal(recover_pass(&r, w->settle, clock_now_ms(), &done), ST_OK);
    assert_ints({ done.loaded, 1000 }, { r.funding_more, true });
}

DRAINED_TEST(a_rebuilt_packet_is_for_its_receivers_only, 5)
{
    static const size_t to[] = { 3, 1, 2 };
    uint64_t id = world_send_to(w, 0, PACKET_EVEN, 300, 3, HOUR_MS, to, 3);
    (void)world_redis(w, id, "DEL {pk} {sh} {gr} {or}");
    assert_int_equal(world_recover(w).loaded, 1);
    assert_int_equal(world_grab(w, id, 4).code, LIVE_NOT_FOR_YOU);
    world_grab_all(w, id, 1, 3);
    assert_int_equal(world_drain(w), 3);
}

/* Loads the packet late, with a call of the sender's process that Redis may still have in its queue. This process knows
 * of no end. */
static enum live_code load_late(uint64_t id)
{
    struct packet p = world_packet(w, id);
    enum live_code code;
    if (p.ended_ms != 0) {
        p.expires_ms = p.ended_ms + HOUR_MS;
        p.ended_ms = 0;
    }
    int64_t *shares = arena_array(w->arena, p.count, sizeof *shares);
    assert_int_equal(split_packet(&p, shares), ST_OK);
    assert_int_equal(live_load(&w->page->stores.live, &p, shares, NULL, 0, LIVE_STATE_OPEN, &code), ST_OK);
    return code;
}

DRAINED_TEST(a_load_after_the_refund_opens_nothing, 3)
{
    uint64_t id = world_even(w, 300, 3);
    (void)world_redis(w, id, "DEL {pk} {sh}"); /* not loaded yet */
    world_sql(w, FUNDED_BEFORE);
    /* The worker's clock is far ahead: for Redis the packet expires only in an hour. */
    assert_int_equal(recover_one(id, 2 * HOUR_MS).refunded, 1);
    assert_int_equal(load_late(id), LIVE_EXISTS);
    assert_int_equal(world_grab(w, id, 1).code, LIVE_MISSING); /* its page comes from MySQL */
    assert_int_equal(world_drain(w), 0);
    assert_int_equal(world_balance(w, w->users[0]), 100000);
    /* the end that the worker's clock has set is in the future */
    assert_int_equal(world_audit_violations(w, "times"), 1);
    world_sql(w, "UPDATE packet SET closed_ms = created_ms");
}

enum end { NOT_OVER, ENDED, EXPIRED };

/* A packet of users[0] in state funding that its sender's process has not loaded: it was sent so much later than now,
 * by a clock that is ahead, and may be over. */
static uint64_t funded_at(int64_t ahead_ms, enum end end)
{
    const uint64_t id = world_even(w, 300, 3);
    const long long now_ms = (long long)clock_now_ms();
    (void)world_redis(w, id, "DEL {pk} {sh}");
    world_sqlf(w, "UPDATE packet SET state = 'funding', created_ms = created_ms + %lld WHERE id = %llu",
               (long long)ahead_ms, (unsigned long long)id);
    if (end != NOT_OVER)
        world_sqlf(w, "UPDATE packet SET ended_ms = IF(%d, %lld, NULL), expires_ms = %lld WHERE id = %llu",
                   end == ENDED, now_ms, now_ms, (unsigned long long)id);
    return id;
}

/* Gives the packet its time back, which is in the totals of a month. */
static void sent_now(int64_t ahead_ms)
{
    world_sqlf(w, "UPDATE packet SET created_ms = created_ms - %lld", (long long)ahead_ms);
}

static const struct funded {
    int64_t ahead_ms, later_ms; /* its sender's clock and the worker's */
    enum end end;
} taken_at_once[] = {
    { 0, 0, ENDED },           { 540000, 0, ENDED },     { 0, 0, EXPIRED },
    { 540000, 0, EXPIRED },    { 540000, 0, NOT_OVER },  /* a clock that was ahead */
    { 0, -540000, ENDED },     { 0, -540000, NOT_OVER }, /* the worker's clock is behind */
    { 0, LATER_MS, NOT_OVER },                           /* Redis's clock is behind: it would let the sender load */
};

TEST(a_funded_packet_that_is_over_or_whose_time_is_of_another_clock_does_not_wait)
{
    EACH_WORLD (row, taken_at_once, world_begin_drained(4)) {
        const uint64_t id = funded_at(row->ahead_ms, row->end);
        w->config->packet_grace_ms = 0;
        const struct recover_done done = recover_once(row->later_ms);
        assert_ints({ done.loaded, row->end != EXPIRED }, { done.refunded, row->end == EXPIRED }, { done.left, 0 },
                    { load_late(id), LIVE_EXISTS });
        if (row->end == NOT_OVER)
            world_grab_all(w, id, 1, 3);
        else
            assert_int_equal(world_grab(w, id, 1).code, row->end == ENDED ? LIVE_EXPIRED : LIVE_MISSING);
        assert_int_equal(world_expire(w, NULL), row->end == ENDED);
        world_drain(w);
        /* its sender's process is stopped until now */
        assert_ints({ world_packet(w, id).state, PACKET_CLOSED }, { load_late(id), LIVE_EXISTS },
                    { world_balance(w, w->users[0]), row->end == NOT_OVER ? 99700 : 100000 });
        sent_now(row->ahead_ms);
        world_audit_clean(w);
    }
}

/* A sender's process resumes after a long stop, in the middle of a recovery. */
TEST(a_load_while_packets_are_shut_gives_no_share_out_twice)
{
    WORLDS (lost, 2, world_begin_drained(4)) {
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
        assert_int_equal(world_recover(w).loaded, 1);
        assert_int_equal(world_grab(w, id, 1).share_no, first.share_no);
        assert_int_equal(world_grab(w, id, 2).share_no, 1);
        (void)world_drain_clean(w);
    }
}

/* The packet waits until its grabs are settled: otherwise one of their shares would be given out twice. */
TEST(a_packet_that_lost_keys_or_whose_rebuild_was_interrupted_comes_back_with_every_grab)
{
    static const char *const lost[] = {
        "DEL {or}", "DEL {gr}", "DEL {sh}", "DEL {or} {gr}", "HSET {pk} state busy", "DEL {pk} {sh} {gr} {or}"
    };
    EACH_WORLD (loss, lost, world_begin_drained(6)) {
        uint64_t id = world_send(w, 0, PACKET_LUCKY, 5000, 5, HOUR_MS, -1);
        struct live_grab first = world_grab(w, id, 1);
        world_drain(w);
        struct live_grab second = world_grab(w, id, 2); /* not settled yet */
        (void)world_redis(w, id, *loss);
        assert_int_equal(world_grab(w, id, 3).code, strstr(*loss, "{pk} {sh}") != NULL ? LIVE_MISSING : LIVE_BUSY);
        assert_int_equal(world_recover(w).loaded, 0);
        assert_int_equal(world_drain(w), 1);
        assert_int_equal(world_recover(w).loaded, 1);
        assert_same_share(&first, id, 1);
        assert_same_share(&second, id, 2);
        world_grab_all(w, id, 3, 3);
        world_drain_clean(w);
        assert_int_equal(world_packet(w, id).state, PACKET_CLOSED);
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
    assert_int_equal(world_recover(w).loaded, 1);
    assert_int_equal(world_grab(w, id, 3).share_no, 2);
    world_drain(w);
}

DRAINED_TEST(a_large_packet_comes_back_whole, 100)
{
    uint64_t id = world_send(w, 0, PACKET_LUCKY, 50000, 5000, HOUR_MS, -1);
    world_grab_all(w, id, 1, 99);
    world_drain(w);
    (void)world_redis(w, id, "DEL {pk} {sh} {gr} {or}");
    assert_int_equal(world_recover(w).loaded, 1);
    assert_int_equal(world_redis(w, id, "LLEN {or}"), 99);
}

DRAINED_TEST(a_flushed_redis_gets_its_packets_back_and_takes_grabs, 4)
{
    struct live_event_id after;
    uint64_t id = world_send(w, 0, PACKET_LUCKY, 1000, 3, HOUR_MS, -1);
    struct live_grab first = world_grab(w, id, 1);
    world_drain(w);
    const struct live_event_id before = world_partition(w, id)->last;
    struct str sender = world_redis_text(w, id, "HGET {pk} nickname"), badge = world_badge(w, "小,强");
    assert_true(str_equal(sender, world_badge(w, "小明")));
    assert_true(str_ends(world_redis_text(w, id, "LINDEX {or} 0"), badge));
    (void)world_redis(w, id, "FLUSHALL");
    assert_int_equal(world_drain(w), 0); /* finds the gap and repairs the stream */
    assert_true(live_event_id_parse(world_redis_text(w, id, "GET {se}"), &after) ||
                world_redis(w, id, "XLEN {ev}") == 1);
    assert_int_equal(world_recover(w).loaded, 1);
    assert_true(str_equal(world_redis_text(w, id, "HGET {pk} nickname"), sender));
    assert_true(str_ends(world_redis_text(w, id, "LINDEX {or} 0"), badge));
    world_check_redis(w); /* opens the fences, whose keys were lost, too */
    assert_same_share(&first, id, 1);
    world_grab(w, id, 2);
    assert_int_equal(world_drain(w), 1);
    assert_true(live_event_id_compare(world_partition(w, id)->last, before) > 0);
}

/* The worker notices it when it reads on, or when it compares a new Redis process, whose fence it then opens. */
TEST(a_stream_that_lost_its_tail_shuts_packets_and_never_reuses_ids)
{
    WORLDS (process, 2, world_begin_drained(5)) {
        uint64_t id = world_even(w, 400, 4);
        world_grab(w, id, 1);
        struct live_grab second = world_grab(w, id, 2);
        world_drain(w);
        struct live_event_id cursor = world_partition(w, id)->last;
        world_lose_tail(w, id);
        if (process == 0) {
            assert_int_equal(world_drain(w), 0);
        } else {
            char text[REDIS_FENCE_TEXT_MAX];
            test_services_fences_write(w->app, "the-process-it-was-taken-from");
            world_check_redis(w);
            assert_int_equal(redis_fence_text(w->page->stores.redis, 0, text), ST_OK);
            assert_true(str_equal(world_redis_text(w, id, "GET {fe}"), str_from(text)));
            assert_true(str_equal(world_redis_text(w, id, "GET hb:fence"), str_from(text))); /* for version 1.0 */
        }
        assert_int_equal(world_grab(w, id, 3).code, LIVE_BUSY); /* the lost share is not given out again */
        assert_int_equal(world_recover(w).loaded, 1);
        assert_same_share(&second, id, 2);
        assert_int_equal(world_grab(w, id, 3).share_no, 2);
        assert_int_equal(world_drain_clean(w), 1);
        assert_true(live_event_id_compare(world_partition(w, id)->last, cursor) > 0);
        assert_false(settle_is_stopped(w->settle));
    }
}

/* The worker refuses to open the fence. */
static void assert_fence_stays_shut(void)
{
    struct recover r = { .full_walk = true };
    bool open = true;
    assert_int_equal(recover_fences(&r, w->settle, &open), ST_INVALID);
    assert_false(open);
}

/* With another number packets would be searched in the wrong partition and rebuilt without their unsettled grabs. */
FAULTY_DRAINED_TEST(another_number_of_partitions_is_refused_by_the_worker, 3)
{
    static const char *const cursors = "SELECT COUNT(*) FROM stream_cursor";
    static const int64_t others[] = { 8, 32 };
    uint64_t events;
    uint64_t id = world_even(w, 200, 2);
    world_grab(w, id, 1);
    assert_int_equal(settle_partitions_check(&w->settler->stores), ST_OK);
    test_services_fences_write(w->app, "nobody");
    EACH (other, others) {
        world_partitions_set(w, *other);
        world_restart_worker(w);
        assert_fence_stays_shut();
        assert_int_equal(settle_pass(w->settle, &events), ST_INVALID);
        assert_int_equal(settle_partitions_check(&w->settler->stores), ST_INVALID);
        assert_text(world_redis_text(w, id, "GET hb:{p00}:fence"), "nobody");
        assert_int_equal(world_number(w, cursors, 0), 16);
    }
    world_partitions_set(w, 16);
    world_restart_worker(w);
    world_check_redis(w);
    assert_int_equal(world_drain(w), 1);
    world_sql(w, "DELETE FROM stream_cursor");
    assert_int_equal(settle_partitions_check(&w->settler->stores), ST_OK); /* there are no cursors, */
    assert_int_equal(world_number(w, cursors, 0), 0);                      /* and the check creates none */
}

/* The tables of a restore that was killed lack rows: a packet would be rebuilt without its grabs. */
DRAINED_TEST(the_fence_stays_shut_after_an_interrupted_restore, 3)
{
    uint64_t id = world_even(w, 200, 2);
    world_sql(w, "INSERT INTO schema_migration SELECT 0, 'restore', sha256, 0, FALSE FROM schema_migration LIMIT 1");
    test_services_fences_write(w->app, "nobody");
    world_restart_worker(w);
    assert_fence_stays_shut();
    world_sql(w, "DELETE FROM schema_migration WHERE version = 0");
    assert_text(world_redis_text(w, id, "GET hb:{p00}:fence"), "nobody");
    world_check_redis(w);
    assert_int_equal(world_grab(w, id, 1).share_no, 0);
    world_drain(w);
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
    assert_int_equal(recover_once(0).left, 1); /* to its sender */
    assert_int_equal(world_recover(w).loaded, 1);
    assert_int_equal(world_redis(w, sent, "EXISTS {pk}"), 1);
    (void)redis_ping(w->hot->stores.redis); /* the first round reads the fence key */
    assert_int_equal(world_grab(w, sent, 3).code, LIVE_GRABBED);
    assert_int_equal(world_grab(w, id, 1).share_no, first.share_no);
    world_drain(w);
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
    assert_int_equal(world_recover(w).loaded, 1);
    assert_int_equal(world_grab(w, id, 3).share_no, 2);
    world_drain(w);
}

/* A packet in an older copy of Redis. The clock of its machine may differ, so a packet that expired hours ago may still
 * be open there. A packet that was ended early may be open there for days, until its original expiry. */
TEST(a_closed_packet_that_comes_back_open_gives_nothing_out)
{
    static const struct {
        const char *times, *stream; /* which packet ends early, or had no event yet */
        bool keeps;                 /* the part of the packet that refuses a delayed load by its sender is kept */
    } copies[] = {
        { "expires_ms = expires_ms", "TIME", true },
        { "expires_ms = expires_ms - 72000000", "TIME", true },
        { "expires_ms = expires_ms - 604800000, ended_ms = expires_ms", "TIME", false },
        { "expires_ms = expires_ms - 604800000, ended_ms = expires_ms", "DEL {ev}", false },
    };
    for (size_t i = 0; i < ARRAY_LEN(copies); i++) {
        world_begin_drained(5);
        uint64_t id = world_even_settled(w, 200, 2, 2);
        assert_int_equal(world_packet(w, id).state, PACKET_CLOSED);
        world_sqlf(w, "UPDATE packet SET %s", copies[i].times);
        world_lose_tail(w, id);
        (void)world_redis(w, id, copies[i].stream);
        (void)world_redis(w, id, "HSET {pk} grabbed_fen 100");
        test_services_fences_write(w->app, "the-process-it-was-taken-from");
        world_check_redis(w);
        if (copies[i].keeps)
            assert_int_equal(load_late(id), LIVE_EXISTS);
        else
            assert_int_equal(world_redis(w, id, "EXISTS {pk} {sh} {gr} {or}"), 0);
        assert_int_equal(world_grab(w, id, 3).code, LIVE_MISSING); /* its page comes from MySQL */
        assert_int_equal(world_drain(w), 0);
        if (i == 0)
            world_audit_clean(w);
        world_end(w);
    }
}

/* In an empty Redis, packets that were closed long ago are not looked up: this would take longer the older the site
 * is. */
DRAINED_TEST(an_emptied_redis_is_repaired_without_the_packets_of_days_ago, 3)
{
    uint64_t id = world_even_settled(w, 200, 2, 2);
    world_sql(w, "UPDATE packet SET expires_ms = expires_ms - 604800000");
    (void)world_redis(w, id, "FLUSHALL");
    (void)world_redis(w, id, "SET {pk} kept"); /* not looked up, so not deleted */
    world_check_redis(w);
    assert_int_equal(world_redis(w, id, "EXISTS {pk}"), 1);
}

/* Another worker may have opened the fence of the next Redis process, which never had these events. */
DRAINED_TEST(events_read_from_an_ended_redis_process_are_not_settled, 3)
{
    uint64_t settled;
    uint64_t id = world_even(w, 200, 2);
    world_grab(w, id, 1);
    struct settle_partition *p = world_partition(w, id);
    assert_int_equal(settle_read(w->settle, p->no, 1), ST_OK);
    assert_int_equal(p->event_count, 1);
    assert_true(world_redis(w, id, "CLIENT KILL TYPE normal SKIPME yes") > 0);
    WAIT_UNTIL(redis_ping(w->settler->stores.redis) == ST_OK); /* connected again; reconnects have a back-off */
    assert_int_equal(settle_apply(w->settle, p, &settled), ST_UNAVAILABLE);
    assert_ints({ settled, 0 }, { world_number(w, "SELECT COUNT(*) FROM `grab` WHERE packet_id = ?", id), 0 });
    assert_int_equal(world_drain(w), 1); /* the new process has them */
}

DRAINED_TEST(a_second_grab_of_a_lost_share_becomes_a_dead_letter_and_its_packet_stays_shut, 5)
{
    uint64_t id = world_even_settled(w, 400, 4, 2);
    world_lose_tail(w, id);
    assert_int_equal(world_grab(w, id, 3).share_no,
                     1); /* before the worker repairs the stream: the share of users[2] */
    assert_int_equal(world_drain(w), 0);
    assert_int_equal(world_letters(w, id), 1);
    assert_int_equal(world_recover(w).loaded, 0);
    assert_int_equal(world_grab(w, id, 4).code, LIVE_BUSY);
    assert_int_equal(world_balance(w, w->users[3]), 100000);
    /* When the operator drops the letter, the packet is rebuilt as it was settled. */
    world_sql(w, "UPDATE dead_letter SET resolved_ms = 1, resolution = 'dropped'");
    assert_int_equal(world_recover(w).loaded, 1);
    assert_int_equal(world_grab(w, id, 2).share_no, 1);
    assert_int_equal(world_grab(w, id, 3).share_no, 2);
    assert_int_equal(world_drain(w), 1);
}

/* By its published position, Redis had settled events that the tables lack. */
FAULTY_DRAINED_TEST(older_tables_beside_an_empty_stream_stop_the_partition, 4)
{
    uint64_t id = world_even_settled(w, 300, 3, 1);
    world_grab(w, id, 2);
    (void)world_redis(w, id, "XTRIM {ev} MAXLEN 0");
    (void)world_redis_text(w, id, "SET {se} 9000000000000-1");
    for (int look = 0; look < 3; look++) { /* what has stopped it stays */
        if (look > 0)
            assert_int_equal(settle_positions_look(w->settle), ST_OK);
        world_partition(w, id)->retry_ms = 0;
        assert_int_equal(world_drain(w), 0);
        assert_text(world_redis_text(w, id, "GET {se}"), "9000000000000-1");
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
}

DRAINED_TEST(a_key_that_is_no_packet_keeps_no_partition_from_being_repaired, 4)
{
    uint64_t id = world_even_settled(w, 300, 3, 1), planted = world_send_beside(w, id, 3, 3);
    plant_over(planted);
    (void)world_redis(w, id, "DEL {ev}");
    assert_int_equal(world_drain(w), 0);
    assert_int_equal(world_grab(w, id, 2).code, LIVE_BUSY);
    (void)world_recover(w);
    world_grab_all(w, id, 2, 1);
    world_grab_all(w, planted, 2, 1);
    assert_int_equal(world_drain(w), 2);
}

/* While the worker of this world compares a stream with its cursor, its connection is lost and another worker moves the
 * cursor by move_on_sql, once. NULL: nothing happens. */
static struct world *moved_on;
static char move_on_sql[256];
static uint64_t loaded_now; /* a packet that its sender loads at this moment */

enum status __real_live_stream_last_id(const struct redis_call *info, struct live_event_id *out);
enum status __wrap_live_stream_last_id(const struct redis_call *info, struct live_event_id *out);
enum status __wrap_live_stream_last_id(const struct redis_call *info, struct live_event_id *out)
{
    if (moved_on != NULL) {
        (void)db_exec(moved_on->settle->stores->db, NULL, "KILL CONNECTION_ID()", NULL, 0);
        world_sql(moved_on, move_on_sql);
        moved_on = NULL;
    }
    if (loaded_now != 0) {
        const uint64_t id = loaded_now;
        loaded_now = 0;
        assert_int_equal(load_late(id), LIVE_LOADED);
        assert_int_equal(world_grab(w, id, 1).code, LIVE_GRABBED);
    }
    return __real_live_stream_last_id(info, out);
}

/* The worker's clock is ahead. It finds nothing of the packet in Redis; then the sender loads the packet, and a share
 * is opened. */
DRAINED_TEST(a_packet_is_not_refunded_while_its_sender_loads_it, 3)
{
    uint64_t id = world_even(w, 300, 3);
    (void)world_redis(w, id, "DEL {pk} {sh}");
    world_sql(w,
              "UPDATE packet SET state = 'funding', created_ms = created_ms + 60000"); /* long enough for this test */
    loaded_now = id;
    assert_int_equal(recover_one(id, 2 * HOUR_MS).refunded, 0);
    assert_int_equal(loaded_now, 0);
    assert_int_equal(world_grab(w, id, 2).code, LIVE_BUSY); /* shut, for a rebuild */
    assert_int_equal(world_drain(w), 1);
    assert_int_equal(world_recover(w).loaded, 1);
    assert_int_equal(world_grab(w, id, 2).share_no, 1);
    assert_int_equal(world_drain(w), 1);
}

TEST(a_funded_packet_that_does_not_wait_and_that_its_sender_loads_at_this_moment_gives_each_share_out_once)
{
    EACH_WORLD (row, taken_at_once, world_begin_drained(4)) {
        if (row->end == EXPIRED) /* for Redis, too */
            continue;
        const uint64_t id = funded_at(row->ahead_ms, row->end);
        loaded_now = id;
        assert_ints({ recover_once(row->later_ms).loaded, 0 }, { loaded_now, 0 });
        assert_int_equal(world_grab(w, id, 2).code, LIVE_BUSY);
        assert_int_equal(world_drain(w), 1);
        assert_int_equal(recover_once(row->later_ms).loaded, 1);
        assert_int_equal(load_late(id), LIVE_EXISTS);
        const struct live_grab second = world_grab(w, id, 2);
        assert_ints({ second.code, row->end == ENDED ? LIVE_EXPIRED : LIVE_GRABBED },
                    { world_grab(w, id, 1).share_no, 0 }, { world_expire(w, NULL), row->end == ENDED });
        world_drain(w);
        sent_now(row->ahead_ms);
        assert_ints({ world_number(w, "SELECT SUM(amount_fen) FROM `grab`", 0), row->end == ENDED ? 100 : 200 },
                    { world_balance(w, w->users[0]), row->end == ENDED ? 99900 : 99700 });
        world_audit_clean(w);
    }
}

/* The lock is lost: here with its connection, in a Galera cluster by a COMMIT at another node. */
DRAINED_TEST(a_gap_that_another_worker_has_made_meanwhile_shuts_nothing, 4)
{
    char first[LIVE_EVENT_ID_MAX], second[LIVE_EVENT_ID_MAX];
    uint64_t events, repaired = metrics_get(METRIC_RECOVERED_STREAM), id = world_even_settled(w, 300, 3, 1);
    (void)live_event_id_text(first, world_partition(w, id)->last);
    world_grab(w, id, 2);
    world_drain(w);
    (void)live_event_id_text(second, world_partition(w, id)->last);
    (void)world_redisf(w, id, "XTRIM {ev} MINID %s", second);
    static const char move[] = "UPDATE stream_cursor SET last_id = '%s' WHERE last_id = '%s'";
    world_sqlf(w, move, first, second);
    snprintf(move_on_sql, sizeof move_on_sql, move, second, first);
    world_restart_worker(w);
    moved_on = w;
    (void)settle_drain(w->settle, 100, &events);
    assert_null(moved_on);
    world_drain(w);
    assert_int_equal(metrics_get(METRIC_RECOVERED_STREAM), repaired);
    assert_int_equal(world_grab(w, id, 3).code, LIVE_GRABBED);
    assert_int_equal(world_drain(w), 1);
}

DRAINED_TEST(a_closed_packet_never_comes_back, 3)
{
    uint64_t id = world_even_settled(w, 200, 2, 2);
    (void)world_redis(w, id, "DEL {pk} {sh} {gr} {or}");
    assert_int_equal(world_recover(w).loaded, 0);
    struct recover_done done = recover_one(id, 0);
    assert_int_equal(done.loaded + done.refunded + done.faults, 0);
}

TEST(a_packet_closed_in_redis_whose_event_is_lost_is_refunded_unless_its_sum_differs)
{
    WORLDS (differs, 2, world_begin_drained(3)) {
        uint64_t id = world_even_settled(w, 200, 2, 1);
        world_sql(w, "UPDATE packet SET expires_ms = created_ms + 1");
        (void)world_redis(w, id, "HSET {pk} state closed");
        if (differs)
            (void)world_redis(w, id, "HSET {pk} grabbed_fen 150"); /* MySQL lacks 50 of them */
        struct recover_done done = recover_one(id, 0);
        assert_ints({ done.refunded, !differs }, { done.faults, differs }, { world_balance(w, id), differs ? 100 : 0 },
                    { world_balance(w, w->users[0]), differs ? 99800 : 99900 });
        if (!differs)
            world_audit_clean(w);
    }
}

FAULTY_DRAINED_TEST(more_packets_than_one_pass_checks_are_rebuilt_once, 3)
{
    enum { COPIES = 1100 };
    (void)world_even(w, 3, 3);
    packets_copy(COPIES, 3);
    (void)world_redis(w, 0, "FLUSHALL");
    assert_int_equal(world_recover(w).loaded, COPIES + 1);
    assert_int_equal(world_recover(w).loaded, 0);
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
    uint64_t id = world_send(w, 0, PACKET_EVEN, 300, 3, 0, -1);
    (void)world_redis(w, id, "HSET {pk} state busy");
    for (int fails = 1; fails >= 0; fails--) {
        struct recover_done done = { 0 };
        remove_fails = fails;
        enum status st = recover_packet(w->settle, id, clock_now_ms(), &done);
        remove_fails = false;
        assert_ints({ st, fails ? ST_UNAVAILABLE : ST_OK }, { done.refunded, !fails },
                    { world_packet(w, id).state, fails ? PACKET_OPEN : PACKET_CLOSED });
    }
    assert_int_equal(world_redis(w, id, "EXISTS {sh} {gr} {or}"), 0);
    assert_true(world_redis(w, id, "PTTL {pk}") > 0);
    assert_int_equal(world_balance(w, w->users[0]), 100000);
}

TESTS(NULL, NULL)

/* Tables that are older than Redis: a dump taken before the last grabs is restored, or a lagging replica is promoted.
 * Contradicting events become dead letters, all others are settled. */
#include "settle/read.h"
#include "test_world.h"

enum { TRIES_MORE = 16 /* rolled back batches beyond one for each letter */ };

/* All packets share one partition, as on a busy site. */
static void world_begin_one_partition(size_t users)
{
    world_begin(w, users);
    world_sql(w, "DELETE FROM stream_cursor");
    world_partitions_set(w, 1);
    world_restart_worker(w);
    world_fence_set(w);
    world_check_redis(w);
}

#define ONE_PARTITION_TEST(name, user_count)        WORLD_TEST_BY(name, world_begin_one_partition(user_count))
#define FAULTY_ONE_PARTITION_TEST(name, user_count) FAULTY_WORLD_TEST_BY(name, world_begin_one_partition(user_count))

/* Whether the page says that users[user] has the money of a grab. */
static bool seen_settled(uint64_t id, size_t user)
{
    const struct packet_view view = view_of(id, user);
    assert_true(view.has_mine);
    return view.mine.settled;
}

/* Restores the saved tables and restarts the worker. */
static void restore(void)
{
    world_tables_restore(w);
    world_restart_worker(w);
    world_check_redis(w);
}

static uint64_t recovered(void)
{
    const struct recover_done done = world_recover(w);
    assert_int_equal(done.faults, 0);
    return done.loaded;
}

static void drop_letters(void)
{
    world_sql(w, "UPDATE dead_letter SET resolved_ms = 1, resolution = 'dropped'");
}

ONE_PARTITION_TEST(contradicting_events_become_letters_and_other_packets_are_settled, 5)
{
    uint64_t contradicts = world_even(w, 400, 4), follows = world_even(w, 400, 4), forgotten = world_even(w, 400, 4),
             untouched = world_even(w, 400, 4);
    world_grab(w, contradicts, 1);
    world_grab(w, follows, 1);
    world_grab(w, forgotten, 1);
    world_drain(w);
    world_tables_keep(w);
    world_grab(w, contradicts, 2);
    world_grab(w, forgotten, 2);
    uint64_t unknown = world_even(w, 400, 4);
    world_grab(w, unknown, 1);
    world_drain(w);
    world_grab(w, contradicts, 3);
    world_grab(w, follows, 2);
    world_grab(w, unknown, 2);
    restore();

    assert_int_equal(world_grab(w, follows, 3).code, LIVE_BUSY);
    assert_int_equal(world_drain(w), 1); /* the grab of `follows` */
    assert_false(settle_is_stopped(w->settle));
    assert_ints({ world_redis(w, follows, "XLEN {ev}"), 1 }, { world_letters(w, contradicts), 1 });
    assert_int_equal(world_letters(w, unknown), 2); /* its first grab is the newest entry that was settled */
    assert_int_equal(world_letters(w, 0), 3);
    assert_int_equal(recovered(), 3);
    assert_int_equal(world_grab(w, contradicts, 4).code, LIVE_BUSY);
    assert_int_equal(world_grab(w, unknown, 4).code, LIVE_BUSY);
    assert_false(seen_settled(unknown, 1));                  /* no money came */
    assert_int_equal(world_grab(w, follows, 2).share_no, 1); /* as in Redis */
    assert_int_equal(world_grab(w, follows, 3).share_no, 2);
    assert_int_equal(world_grab(w, forgotten, 3).share_no, 1); /* the share of users[2] before the restore */
    assert_int_equal(world_grab(w, untouched, 1).code, LIVE_GRABBED);
    assert_int_equal(world_drain(w), 3);
    assert_ints({ world_balance(w, w->users[2]), 100100 }, { world_letters(w, 0), 3 });

    drop_letters();
    assert_int_equal(recovered(), 1);
    assert_int_equal(world_grab(w, contradicts, 4).share_no, 1);
    world_drain_clean(w);
}

/* The stream has only two events, both of one packet. The search must be able to read the first one alone. */
FAULTY_ONE_PARTITION_TEST(events_of_one_packet_at_the_head_become_letters_one_by_one, 5)
{
    uint64_t id = world_even(w, 400, 4);
    world_grab(w, id, 1);
    world_drain(w);
    world_tables_keep(w);
    world_grab(w, id, 2);
    world_grab(w, id, 3);
    world_drain(w);
    world_grab(w, id, 4);
    restore();
    struct settle_partition *p = world_partition(w, id);
    p->batch_max = 1;
    assert_int_equal(settle_read(w->settle, p->no, 1), ST_OK);
    assert_int_equal(p->event_count, 1);
    assert_int_equal(world_drain(w), 0);
    assert_int_equal(world_letters(w, id), 2);
}

/* Nothing of the partition was settled when the dump was taken, so its cursor is 0-0. */
ONE_PARTITION_TEST(tables_without_a_position_are_older_too, 5)
{
    uint64_t contradicts = world_even(w, 400, 4), forgotten = world_even(w, 400, 4), last = world_even(w, 400, 4);
    world_tables_keep(w);
    world_grab(w, contradicts, 1);
    world_grab(w, forgotten, 1);
    world_grab(w, last, 1);
    world_drain(w);
    world_grab(w, contradicts, 2);
    world_grab(w, contradicts, 3);
    restore();
    assert_int_equal(world_drain(w), 1); /* the entry of `last` was at the newer cursor */
    assert_ints({ world_letters(w, contradicts), 2 }, { world_letters(w, 0), 2 });
    assert_int_equal(recovered(), 2);
    assert_int_equal(world_grab(w, contradicts, 4).code, LIVE_BUSY);
    assert_int_equal(world_grab(w, forgotten, 2).share_no, 0);
    assert_int_equal(world_grab(w, last, 2).share_no, 1);
    world_drain(w);
    drop_letters();
    assert_int_equal(recovered(), 1);
    world_audit_clean(w);
}

/* Rolled back transactions of all connections. */
static int64_t rolled_back(void)
{
    return world_number(
        w, "SELECT variable_value FROM information_schema.global_status WHERE variable_name = 'COM_ROLLBACK'", 0);
}

/* Registered after the dump: the tables have neither the user nor the account. */
static void user_forget(uint64_t user_id)
{
    EACH_TEXT (row, "transfer WHERE credit_id", "account WHERE id", "user WHERE id")
        world_sqlf(w, "DELETE FROM %s = %llu", row, (unsigned long long)user_id);
    world_sql(w, "UPDATE account SET balance_fen = balance_fen + 100000 WHERE id = 1");
}

FAULTY_ONE_PARTITION_TEST(a_grab_of_an_unknown_user_is_found_without_searching, 32)
{
    enum { PACKETS = 100, STRANGERS = 30 };
    uint64_t ids[PACKETS];
    for (size_t i = 0; i < PACKETS; i++)
        ids[i] = world_even(w, 2, 2);
    for (size_t i = 0; i < PACKETS; i++)
        world_grab(w, ids[i], i % 3 == 1 && i / 3 < STRANGERS ? 2 + i / 3 : 1);
    for (size_t i = 0; i < STRANGERS; i++)
        user_forget(w->users[2 + i]);
    int64_t before = rolled_back();
    assert_int_equal(world_drain(w), PACKETS - STRANGERS);
    /* Two rollbacks for each: the routine rolls back when it refuses, and then the program does, too. */
    assert_in_range(rolled_back() - before, 0, 2 * STRANGERS + TRIES_MORE);
    assert_ints({ world_letters(w, 0), STRANGERS }, { world_letters(w, ids[1]), 1 });
}

ONE_PARTITION_TEST(recovery_looks_again_when_a_search_ends_by_good_batches, 2)
{
    uint64_t events;
    struct settle_partition *p = &w->settle->partitions[0];
    for (size_t i = 0; i < 16; i++)
        world_grab(w, world_even(w, 2, 2), 1);
    p->batch_max = (uint32_t)w->config->settle_batch / 2 + 1; /* the next good batch ends the search */
    assert_true(settle_is_searching(w->settle, p));
    w->settle->stream_repaired = false;
    assert_int_equal(settle_pass(w->settle, &events), ST_OK);
    assert_int_equal(events, 16);
    assert_false(settle_is_searching(w->settle, p));
    assert_true(w->settle->stream_repaired);
}

FAULTY_ONE_PARTITION_TEST(each_of_many_letters_costs_a_few_small_transactions, 5)
{
    enum { PACKETS = 120, CONTRADICTING = 36 };
    uint64_t ids[PACKETS];
    for (size_t i = 0; i < PACKETS; i++)
        ids[i] = world_even(w, 4, 4);
    world_grab(w, ids[PACKETS - 1], 1); /* the cursor is not 0-0 */
    world_drain(w);
    world_tables_keep(w);
    for (size_t i = 0; i < CONTRADICTING; i++)
        world_grab(w, ids[i * 3], 1);
    world_grab(w, ids[PACKETS - 1], 2);
    world_drain(w);
    for (size_t i = 0; i < PACKETS; i++) {
        world_grab(w, ids[i], 3);
        if (i % 6 == 0)
            world_grab(w, ids[i], 4); /* a second event of every other contradicting packet */
    }
    restore();
    int64_t before = rolled_back();
    assert_int_equal(world_drain(w), PACKETS + 1 - CONTRADICTING + (PACKETS / 6 - CONTRADICTING / 2));
    assert_in_range(rolled_back() - before, 0, CONTRADICTING + CONTRADICTING / 2 + TRIES_MORE);
    assert_int_equal(world_letters(w, 0), CONTRADICTING + CONTRADICTING / 2);
    assert_int_equal(recovered(), PACKETS - CONTRADICTING);
    for (size_t i = 0; i < PACKETS - 1; i++)
        assert_int_equal(world_grab(w, ids[i], 2).code, i % 3 == 0 && i / 3 < CONTRADICTING ? LIVE_BUSY : LIVE_GRABBED);
}

ONE_PARTITION_TEST(recovery_skips_the_packets_of_a_partition_during_a_search, 2)
{
    uint64_t id = world_even(w, 400, 4);
    (void)world_redis(w, id, "HSET {pk} state busy");
    world_partition(w, id)->batch_max = 1;
    assert_int_equal(recovered(), 0);
    world_drain(w);
    assert_true(w->settle->stream_repaired); /* recovery must check again */
    assert_int_equal(recovered(), 1);
}

TESTS(NULL, NULL)

/* The settle worker: every event is settled exactly once, also across crashes. */
#include <mysql.h>

#include "io/metrics.h"
#include "live/event.h"
#include "live/load.h"
#include "packet/grab.h"
#include "packet/store.h"
#include "settle/apply.h"
#include "settle/publish.h"
#include "settle/read.h"
#include "settle/recover_stream.h"
#include "settle/settle.h"
#include "support/assert_text.h"
#include "support/test_services.h"
#include "support/wait_until.h"
#include "test_world.h"

/* Reads the packet's partition and commits once without publishing, like a worker that dies after the commit. */
static uint64_t commit_only(uint64_t packet_id)
{
    struct settle_partition *p = world_partition(w, packet_id);
    uint64_t settled;
    assert_int_equal(settle_read(w->settle, p->no, 1), ST_OK);
    assert_false(p->gap);
    assert_int_equal(settle_apply(w->settle, p, &settled), ST_OK);
    return settled;
}

/* The published position, in Redis, of the packet's partition. */
static struct live_event_id published(uint64_t packet_id)
{
    struct live_event_id at;
    assert_true(live_event_id_parse(world_redis_text(w, packet_id, "GET {se}"), &at));
    return at;
}

WORLD_TEST(grabs_become_rows_money_and_totals, 3)
{
    struct grab row;
    uint64_t id = world_send(w, 0, PACKET_LUCKY, 1000, 3, HOUR_MS, -1);
    const int64_t a_fen = world_grab(w, id, 1).amount_fen, b_fen = world_grab(w, id, 2).amount_fen;
    assert_int_equal(world_drain(w), 2);
    assert_wallets(1, 100000 + a_fen, 100000 + b_fen);
    struct packet p = world_packet(w, id);
    assert_ints({ p.grabbed_count, 2 }, { p.grabbed_fen, a_fen + b_fen }, { p.state, PACKET_OPEN },
                { world_balance(w, id), 1000 - a_fen - b_fen },
                { world_number(w, "SELECT received_fen FROM user_month WHERE user_id = ?", w->users[1]), a_fen },
                { world_number(w, "SELECT received_count FROM user_month WHERE user_id = ?", w->users[1]), 1 });
    assert_int_equal(packet_grab_of(w->app->stores.db, w->arena, id, w->users[1], &row), ST_OK);
    assert_text(row.nickname, "小,强");
}

WORLD_TEST(the_position_is_published_and_the_stream_is_trimmed, 3)
{
    uint64_t id = world_even_settled(w, 300, 3, 2);
    assert_true(live_event_id_equal(published(id), world_partition(w, id)->last));
    assert_int_equal(world_redis(w, id, "XLEN {ev}"), 1); /* the cursor's own entry stays */
}

/* Sets redis_replicas of the worker, which reads it at each connection. */
static void replicas_set(const char *replicas)
{
    struct config *settler = test_services_config(w->settler);
    (void)snprintf(settler->redis_replicas, sizeof settler->redis_replicas, "%s", replicas);
    (void)world_redis(w, 0, "CLIENT KILL TYPE normal SKIPME yes");
    WAIT_UNTIL(redis_ping(w->settler->stores.redis) == ST_OK);
}

/* The worker's Redis may be a primary that was cut off: with a published position, its lost grabs would be shown as
 * settled. */
WORLD_TEST(no_position_is_published_where_no_replica_confirms, 3)
{
    uint64_t events;
    uint64_t id = world_even_settled(w, 1000, 2, 1);
    assert_int_equal(world_redis(w, id, "DEL {se}"), 1);
    replicas_set("1");
    world_restart_worker(w);

    assert_int_equal(settle_pass(w->settle, &events), ST_UNAVAILABLE);
    assert_true(world_partition(w, id)->cursor_loaded);
    assert_int_equal(world_redis(w, id, "EXISTS {se}"), 0);

    replicas_set("0");
    assert_int_equal(world_drain(w), 0);
    assert_int_equal(world_redis(w, id, "EXISTS {se}"), 1);
}

WORLD_TEST(a_batch_replayed_after_a_crash_is_settled_once, 3)
{
    uint64_t id = world_even(w, 300, 3);
    world_grab(w, id, 1);
    assert_int_equal(commit_only(id), 1);
    assert_int_equal(world_redis(w, id, "EXISTS {se}"), 0); /* not published */
    world_restart_worker(w);
    assert_int_equal(world_drain(w), 0);
    assert_int_equal(world_redis(w, id, "EXISTS {se}"), 1); /* published by the next worker */
    assert_int_equal(world_balance(w, w->users[1]), 100100);
}

WORLD_TEST(a_worker_that_read_before_another_settled_writes_nothing, 4)
{
    uint64_t settled;
    uint64_t id = world_even(w, 400, 4);
    world_grab_all(w, id, 1, 2);
    struct settle_partition *p = world_partition(w, id);
    assert_int_equal(settle_read(w->settle, p->no, 1), ST_OK);
    struct settle *other = worker_new(w->app);
    assert_int_equal(worker_drain(other), 2);
    assert_int_equal(settle_apply(w->settle, p, &settled), ST_OK);
    assert_int_equal(settled, 0);
    world_grab(w, id, 3);
    assert_int_equal(world_drain(w), 1); /* from the other worker's cursor on */
    /* Now the other worker is late: its copy of the cursor is before the trimmed entries, which does not count as a
     * gap. */
    assert_int_equal(worker_drain(other), 0);
    assert_false(settle_is_stopped(other));
    settle_free(other);
    assert_int_equal(world_balance(w, w->users[3]), 100100);
}

WORLD_TEST(two_workers_share_the_partitions, 6)
{
    enum { PACKETS = 20, ROUNDS = 5 };
    struct settle *other = worker_new(w->app);
    uint64_t ids[PACKETS], settled = 0, n;
    for (size_t i = 0; i < PACKETS; i++)
        ids[i] = world_send(w, 0, PACKET_LUCKY, 500, ROUNDS, HOUR_MS, -1);
    for (size_t round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < PACKETS; i++)
            world_grab(w, ids[i], round + 1);
        assert_int_equal(settle_pass(round % 2 == 0 ? w->settle : other, &n), ST_OK);
        settled += n;
    }
    settled += world_drain(w);
    assert_int_equal(settled + worker_drain(other), PACKETS * ROUNDS);
    assert_int_equal(world_number(w, "SELECT COUNT(*) FROM packet WHERE state = 'closed'", 0), PACKETS);
    settle_free(other);
}

/* A batch settles whole entries, also when one entry has more events than a batch. */
WORLD_TEST(crowds_are_settled_in_batches_of_whole_entries, 71)
{
    enum { PACKETS = 3, SHARES = 70 };
    w->config->settle_batch = 10;
    world_restart_worker(w);
    for (size_t i = 0; i < PACKETS; i++)
        world_grab_all(w, world_even(w, SHARES, SHARES), 1, SHARES);
    assert_int_equal(world_drain(w), PACKETS * SHARES);
    assert_int_equal(world_number(w, "SELECT COUNT(*) FROM packet WHERE state = 'closed'", 0), PACKETS);
    assert_int_equal(world_balance(w, w->users[SHARES]), 100000 + PACKETS);
}

WORLD_TEST(a_partition_that_is_behind_is_settled_in_larger_batches_and_read_with_fewer_others, 501)
{
    enum { SHARES = 500, PACKETS = 5, EVENTS = SHARES * PACKETS };
    uint64_t id = 0;
    assert_int_equal(settle_read_group(w->settle, 0, 16), SETTLE_READ_PARTITIONS_MAX);
    for (size_t i = 0; i < PACKETS; i++) {
        id = i == 0 ? world_even(w, SHARES, SHARES) : world_send_beside(w, id, SHARES, SHARES);
        world_grab_all(w, id, 1, SHARES);
    }
    const uint64_t prompt = commit_only(id);
    assert_in_range(prompt, SETTLE_PROMPT_EVENTS, SETTLE_PROMPT_EVENTS + SHARES - 1);
    assert_int_equal(settle_read_group(w->settle, world_partition(w, id)->no, 1), 1);
    assert_true(world_partition(w, id)->behind);
    assert_true(EVENTS - prompt > SETTLE_PROMPT_EVENTS);
    assert_int_equal(commit_only(id), EVENTS - prompt);
    assert_int_equal(commit_only(id), 0);
    assert_false(world_partition(w, id)->behind);
    for (size_t i = 0; i < 16; i++)
        w->settle->partitions[i].behind = true;
    assert_int_equal(settle_read_group(w->settle, 0, 16), SETTLE_READ_EVENTS_MAX / w->config->settle_batch);
    world_restart_worker(w);
    world_drain_clean(w);
    assert_int_equal(world_balance(w, w->users[SHARES]), 100000 + PACKETS);
}

FAULTY_WORLD_TEST(a_crowd_with_one_contradiction_becomes_one_letter_and_others_are_settled, 5)
{
    uint64_t bad = world_even(w, 400, 4), good = world_send_beside(w, bad, 300, 3);
    world_grab_all(w, good, 1, 2);
    (void)world_redisf(w, bad, "XADD {ev} * g %llu,0,%llu,100,a g %llu,1,424242,100,b g %llu,2,%llu,100,c",
                       (unsigned long long)bad, (unsigned long long)w->users[1], (unsigned long long)bad,
                       (unsigned long long)bad, (unsigned long long)w->users[3]);
    world_grab(w, good, 3);
    assert_int_equal(world_drain(w), 3);
    assert_ints({ world_letters(w, bad), 1 }, { world_letters(w, 0), 1 },
                { world_packet(w, good).state, PACKET_CLOSED }, { world_balance(w, bad), 400 });
}

FAULTY_WORLD_TEST(an_entry_of_two_packets_is_unreadable, 3)
{
    uint64_t id = world_even(w, 400, 4), other = world_send_beside(w, id, 400, 4);
    (void)world_redisf(w, id, "XADD {ev} * g %llu,0,%llu,100,a g %llu,0,%llu,100,b", (unsigned long long)id,
                       (unsigned long long)w->users[1], (unsigned long long)other, (unsigned long long)w->users[2]);
    assert_int_equal(world_drain(w), 0);
    assert_ints({ world_letters(w, id), 1 }, { world_balance(w, id), 400 }, { world_balance(w, other), 400 });
}

WORLD_TEST(a_late_worker_does_not_publish_an_older_position, 4)
{
    uint64_t id = world_even(w, 400, 4);
    world_grab(w, id, 1);
    assert_int_equal(commit_only(id), 1);
    world_grab(w, id, 2);
    struct settle *other = worker_new(w->app);
    (void)worker_drain(other);
    const struct live_event_id newest = other->partitions[world_partition(w, id)->no].last;
    assert_int_equal(settle_publish(w->settle, world_partition(w, id)), ST_OK);
    assert_true(live_event_id_equal(published(id), newest));
    settle_free(other);
}

/* Appends a grab event as the script would. */
static void event_add(uint64_t packet_id, const char *id, uint32_t share, uint64_t user, int64_t fen)
{
    (void)world_redisf(w, packet_id, "XADD {ev} %s g %llu,%u,%llu,%lld,名", id, (unsigned long long)packet_id, share,
                       (unsigned long long)user, (long long)fen);
}

/* A repeat has the same packet, share, user and amount. */
WORLD_TEST(a_repeated_event_changes_nothing_and_drops_no_similar_grab_of_another_packet, 4)
{
    uint64_t first = world_even(w, 300, 3), second = world_send_beside(w, first, 300, 3);
    world_grab_all(w, second, 1, 2);
    world_drain(w);
    world_grab(w, first, 1); /* share 0 by users[1], like the repeat that follows */
    event_add(second, "*", 0, w->users[1], 100);
    event_add(second, "*", 1, w->users[2], 100);
    world_grab(w, second, 3); /* a new grab in the same batch */
    assert_int_equal(world_drain(w), 4);
    assert_ints({ world_letters(w, 0), 0 }, { settle_is_stopped(w->settle), false });
    assert_wallets(1, 100200, 100100, 100100);
}

FAULTY_WORLD_TEST(a_contradicting_event_becomes_a_dead_letter_and_other_packets_are_settled, 6)
{
    uint64_t id = world_even(w, 400, 4);
    uint64_t near = world_send_beside(w, id, 400, 4), far = world_send_apart(w, id, 400, 4);
    world_grab(w, id, 1);
    world_drain(w);
    uint64_t letters = metrics_get(METRIC_DEAD_LETTERS);
    world_grab(w, id, 2);
    event_add(id, "*", 0, w->users[3], 100); /* share 0 is users[1]'s */
    world_grab(w, near, 1);
    world_grab(w, id, 4); /* a later event of the packet */
    world_grab(w, near, 2);
    world_grab(w, far, 1);
    assert_int_equal(world_drain(w), 4);
    assert_false(settle_is_stopped(w->settle));
    assert_ints({ metrics_get(METRIC_DEAD_LETTERS), letters + 2 }, { world_letters(w, id), 2 });
    assert_wallets(1, 100300, 100200, 100000, 100000);
    assert_int_equal(world_redis(w, id, "XLEN {ev}"), 1); /* the stream is trimmed up to the end */
    world_grab(w, near, 3);
    assert_int_equal(world_drain(w), 1);
}

/* Share 0 of each packet is settled: users[1] has its 100 fen. Only a repeat of the same event does not contradict. */
FAULTY_WORLD_TEST(an_event_that_contradicts_the_tables_becomes_a_dead_letter, 3)
{
    static const struct {
        uint32_t share;
        size_t user;
        int64_t fen;
        uint64_t settled;
    } events[] = {
        { 0, 1, 100, 1 },                                    /* a repeat, alone in its batch */
        { 0, 1, 101, 0 }, { 0, 1, 99, 0 }, { 0, 2, 100, 0 }, /* with another amount or user */
        { 1, 1, 100, 0 },                                    /* a second share of one user */
        { 2, 2, 100, 0 },                                    /* share 1 got lost */
        { 1, 2, 201, 0 },                                    /* more than the escrow has */
    };
    EACH (event, events) {
        const int64_t before = world_balance(w, w->users[1]);
        const uint64_t id = world_even_settled(w, 300, 3, 1);
        event_add(id, "*", event->share, w->users[event->user], event->fen);
        const uint64_t settled = world_drain(w);
        if (settled != event->settled || world_letters(w, id) != 1 - (int64_t)event->settled)
            fail_msg("event %zu: %d are settled", (size_t)(event - events), (int)settled);
        assert_int_equal(world_drain(w), 0);
        assert_wallets(1, before + 100, 100000);
        assert_int_equal(world_balance(w, id), 200);
        if (event == events)
            world_audit_clean(w);
    }
}

FAULTY_WORLD_TEST(an_event_of_an_unknown_packet_becomes_a_dead_letter, 2)
{
    event_add(77, "*", 0, w->users[0], 100);
    (void)world_redis(w, 78, "SET {pk} nonsense"); /* not a packet, so it can't be shut */
    event_add(78, "*", 0, w->users[0], 100);
    assert_int_equal(world_drain(w), 0);
    assert_false(settle_is_stopped(w->settle));
    assert_ints({ world_letters(w, 77), 1 }, { world_letters(w, 78), 1 });
}

WORLD_TEST(a_dead_letter_that_the_tables_refuse_stops_the_partition, 3)
{
    uint64_t id = world_even(w, 300, 3);
    event_add(id, "5-1", 1, w->users[1], 100); /* share 0 got lost */
    world_sqlf(w,
               "INSERT INTO dead_letter (partition_no, event_id, content, reason, created_ms,"
               " resolved_ms) VALUES (%u, '5-1', '', '', 1, 1)",
               world_partition(w, id)->no);
    assert_int_equal(world_drain(w), 0);
    assert_true(world_partition(w, id)->stopped);
    assert_int_equal(world_letters(w, id), 0);
}

FAULTY_WORLD_TEST(a_damaged_event_becomes_a_dead_letter_and_the_events_around_it_are_settled, 3)
{
    uint64_t id = world_even(w, 300, 3);
    world_grab(w, id, 1);
    (void)world_redis_text(w, id, "XADD {ev} * g nonsense");
    world_grab(w, id, 2); /* no share is skipped */
    assert_int_equal(world_drain(w), 2);
    assert_false(settle_is_stopped(w->settle));
    assert_int_equal(world_number(w, "SELECT COUNT(*) FROM dead_letter WHERE packet_id IS NULL", 0), 1);
    assert_int_equal(world_number(w, "SELECT content = 'g nonsense' FROM dead_letter", 0), 1);
    assert_wallets(1, 100100, 100100);
}

WORLD_TEST(a_stopped_partition_resumes_when_the_cause_is_removed, 3)
{
    uint64_t id = world_even(w, 300, 3);
    (void)world_redis_text(w, id, "SET {ev} nonsense"); /* not a stream */
    uint64_t stops = metrics_get(METRIC_SETTLE_STOPPED);
    assert_int_equal(world_drain(w), 0);
    assert_true(world_partition(w, id)->stopped);
    assert_int_equal(metrics_get(METRIC_SETTLE_STOPPED), stops + 1);
    assert_int_equal(world_redis(w, id, "DEL {ev}"), 1);
    world_grab(w, id, 1);
    assert_int_equal(world_drain(w), 0); /* not before retry_ms */
    world_partition(w, id)->retry_ms = 0;
    assert_int_equal(world_drain(w), 1);
    assert_false(settle_is_stopped(w->settle));
}

/* The packet's row has enough money, but its account does not. */
FAULTY_WORLD_TEST(money_that_the_escrow_lacks_is_never_paid, 3)
{
    uint64_t id = world_even(w, 300, 3);
    world_sqlf(w, "UPDATE account SET balance_fen = 99 WHERE id = %llu", (unsigned long long)id);
    world_grab(w, id, 1);
    assert_int_equal(world_drain(w), 0);
    assert_ints({ world_letters(w, id), 1 }, { world_balance(w, id), 99 });
    assert_wallets(1, 100000);
}

/* The constraints protect against a program that forgets its own checks. */
WORLD_TEST(the_tables_refuse_impossible_sums, 2)
{
    uint64_t id = world_even_settled(w, 300, 3, 1);
    EACH_TEXT (sql, "UPDATE packet SET grabbed_fen = 301 WHERE id = ?",
               "UPDATE packet SET grabbed_fen = 200, refund_fen = 101 WHERE id = ?",
               "UPDATE packet SET grabbed_count = 4 WHERE id = ?", "UPDATE grab SET amount_fen = 0 WHERE packet_id = ?",
               "UPDATE transfer SET amount_fen = -1 WHERE packet_id = ?",
               "UPDATE transfer SET debit_id = credit_id WHERE packet_id = ?",
               "UPDATE account SET balance_fen = -1 WHERE id = ?")
        assert_of(sql, db_exec(w->app->stores.db, NULL, sql, DB_PARAMS(DB_U64(id))) == ST_INVALID);
}

WORLD_TEST(inconsistent_tables_stop_the_partition_and_make_no_dead_letter, 3)
{
    uint64_t id = world_even(w, 300, 3);
    world_grab(w, id, 1);
    world_sql(w, "RENAME TABLE user_month TO user_month_away");
    assert_int_equal(world_drain(w), 0);
    world_sql(w, "RENAME TABLE user_month_away TO user_month");
    assert_true(world_partition(w, id)->stopped);
    assert_int_equal(world_letters(w, 0), 0);
    world_partition(w, id)->retry_ms = 0;
    assert_int_equal(world_drain(w), 1);
}

WORLD_TEST(the_last_share_closes_the_packet_and_its_live_keys_get_a_time_to_live, 4)
{
    w->config->packet_grace_ms = HOUR_MS;
    uint64_t id = world_send(w, 0, PACKET_LUCKY, 1000, 3, HOUR_MS, -1);
    world_grab_all(w, id, 1, 3);
    world_drain(w);
    struct packet p = assert_closed(id, 0);
    assert_int_equal(p.grabbed_fen, 1000);
    assert_true(p.finished_ms > 0 && p.closed_ms >= p.finished_ms);
    EACH_TEXT (asked, "PTTL {pk}", "PTTL {sh}", "PTTL {gr}", "PTTL {or}")
        assert_in_range(world_redis(w, id, asked), 1, HOUR_MS);
}

/* Otherwise a late load of its sender's process, which may run by another clock, would open it again. */
WORLD_TEST(redis_keeps_a_closed_packet_as_long_as_its_sender_may_load_it, 2)
{
    w->config->packet_grace_ms = 0;
    uint64_t id = world_even(w, 100, 1);
    world_grab_all(w, id, 1, 1);
    world_drain(w);
    EACH_TEXT (asked, "PTTL {pk}", "PTTL {sh}", "PTTL {gr}", "PTTL {or}")
        assert_in_range(world_redis(w, id, asked), CLOCKS_DIFFER_MS / 2, CLOCKS_DIFFER_MS + LIVE_LOAD_WITHIN_MS);
}

/* There are more events than in a batch, and more than the worker checks at once. */
FAULTY_WORLD_TEST(the_next_worker_publishes_every_closed_packet_however_many_were_missed, 501)
{
    enum { SHARES = 500, BIG = 3 };
    uint64_t ids[BIG], settled = 0, now;
    unsigned batches = 0;
    world_sql(w, "DELETE FROM stream_cursor");
    world_partitions_set(w, 1);
    world_restart_worker(w);
    world_fence_set(w);
    world_check_redis(w);
    for (size_t i = 0; i < BIG; i++) {
        ids[i] = world_even(w, SHARES, SHARES);
        world_grab_all(w, ids[i], 1, SHARES);
    }
    uint64_t open = world_even(w, 2, 2);
    world_grab(w, open, 1);
    while ((now = commit_only(open)) > 0) {
        settled += now;
        batches++;
    }
    assert_ints({ settled, BIG * SHARES + 1 }, { batches, 2 }, { world_redis(w, ids[0], "PTTL {pk}"), -1 });
    world_restart_worker(w);
    world_drain_clean(w);
    for (size_t i = 0; i < BIG; i++)
        assert_true(world_redis(w, ids[i], "PTTL {pk}") > 0);
    assert_int_equal(world_redis(w, open, "PTTL {pk}"), -1);
    world_partitions_set(w, 16);
}

/* The share of a packet with one share is grabbed, and two workers read the event. The world's worker closes the packet
 * and dies before it publishes. The late worker still has the older cursor, or has read a stream that was trimmed
 * meanwhile. */
TEST(a_late_worker_publishes_the_packets_that_a_dead_one_closed)
{
    WORLDS (gap, 2, world_begin(w, 2)) {
        uint64_t settled;
        uint64_t id = world_even(w, 100, 1);
        world_grab(w, id, 1);
        struct settle *late = worker_new(w->settler);
        struct settle_partition *p = &late->partitions[world_partition(w, id)->no];
        assert_int_equal(settle_read(late, p->no, 1), ST_OK);
        assert_int_equal(commit_only(id), 1);
        p->gap = gap;
        if (gap)
            assert_int_equal(recover_gaps(late), ST_OK);
        assert_int_equal(gap ? settle_pass(late, &settled) : settle_apply(late, p, &settled), ST_OK);
        assert_int_equal(settled, 0);
        if (!gap)
            assert_int_equal(settle_publish(late, p), ST_OK);
        assert_true(world_redis(w, id, "PTTL {pk}") > 0);
        settle_free(late);
    }
}

/* InnoDB shows a commit to others before its log is on the disk. When MariaDB dies in between, the cursor is as it was
 * before, and a stream that was trimmed beyond it would be lost. Here no change can be committed by which the worker
 * would know that the log is on the disk. */
WORLD_TEST(a_cursor_that_another_worker_has_moved_is_published_only_once_mariadb_can_t_lose_it, 3)
{
    uint64_t settled, id = world_even(w, 200, 2);
    char last[LIVE_EVENT_ID_MAX];
    world_grab(w, id, 1);
    world_drain(w);
    struct settle *other = worker_new(w->settler);
    world_grab(w, id, 2);
    assert_int_equal(commit_only(id), 1);
    const struct str before = world_redis_text(w, id, "GET {se}");
    world_sql(w, "RENAME TABLE durable TO durable_away");
    assert_int_equal(settle_pass(other, &settled), ST_OK);
    world_sql(w, "RENAME TABLE durable_away TO durable");
    assert_ints({ settled, 0 }, { world_redis(w, id, "XLEN {ev}"), 2 });
    assert_true(str_equal(world_redis_text(w, id, "GET {se}"), before));
    assert_int_equal(settle_pass(other, &settled), ST_OK);
    const struct str after = world_redis_text(w, id, "GET {se}");
    assert_true(str_equal(after, live_event_id_text(last, world_partition(w, id)->last)));
    assert_int_equal(world_redis(w, id, "XLEN {ev}"), 1);
    settle_free(other);
}

WORLD_TEST(a_stream_of_another_type_stops_its_partition_and_no_other, 2)
{
    uint64_t events;
    uint64_t bad = world_even(w, 100, 1);
    uint64_t good = world_send_apart(w, bad, 100, 1);
    world_grab(w, bad, 1); /* its partition has a cursor, which the next worker publishes */
    world_grab(w, good, 1);
    world_drain(w);
    (void)world_redis(w, bad, "SET {ev} nonsense");
    world_restart_worker(w);
    good = world_send_apart(w, bad, 100, 1);
    world_grab(w, good, 1);
    assert_int_equal(settle_pass(w->settle, &events), ST_OK);
    assert_int_equal(events, 1);
    assert_true(world_partition(w, bad)->stopped);
}

WORLD_TEST(the_best_share_counts_for_its_owner_even_across_batches, 12)
{
    uint64_t owner = 0;
    w->config->settle_batch = 2;
    world_restart_worker(w);
    uint64_t id = world_send(w, 0, PACKET_LUCKY, 5000, 10, HOUR_MS, -1);
    uint32_t best = world_packet(w, id).best_share_no;
    for (size_t i = 0; i < 10; i++)
        if (world_grab(w, id, i + 1).share_no == best)
            owner = w->users[i + 1];
    assert_int_equal(world_drain(w), 10);
    assert_ints({ world_number(w, "SELECT SUM(best_count) FROM user_month WHERE user_id = ?", owner), 1 },
                { world_number(w, "SELECT SUM(best_count) FROM user_month", 0), 1 });
}

FAULTY_WORLD_TEST(a_month_and_a_year_end_at_midnight_in_shanghai_even_within_a_batch, 3)
{
    static const struct {
        const char *event;
        size_t user;
        int64_t month, fen;
    } grabs[] = {
        { "1767196799999-0", 1, 202512, 100 }, /* 2025-12-31T15:59:59.999Z */
        { "1767196800000-0", 2, 202601, 200 },
        { "1772294399999-0", 2, 202602, 300 }, /* 2026-02-28T15:59:59.999Z */
        { "1772294400000-0", 2, 202603, 400 },
    };
    uint64_t first = 0;
    EACH (grab, grabs) {
        uint64_t id = grab == grabs ? world_even(w, 300, 3) : world_send_beside(w, first, 3 * grab->fen, 3);
        first = grab == grabs ? id : first;
        event_add(id, grab->event, 0, w->users[grab->user], grab->fen);
    }
    assert_int_equal(world_drain(w), ARRAY_LEN(grabs));
    EACH (grab, grabs) {
        const uint64_t fen = (uint64_t)grab->fen;
        assert_ints(
            { world_number(w, "SELECT year * 100 + month FROM user_month WHERE received_fen = ?", fen), grab->month },
            { world_number(w, "SELECT user_id FROM user_month WHERE received_fen = ?", fen), w->users[grab->user] });
    }
}

WORLD_TEST(a_packet_in_state_funding_is_settled_and_becomes_open, 3)
{
    uint64_t id = world_even(w, 200, 2);
    world_sql(w, "UPDATE packet SET state = 'funding'");
    world_grab(w, id, 1);
    assert_int_equal(world_drain(w), 1);
    assert_int_equal(world_packet(w, id).state, PACKET_OPEN);
}

/* A user may be changing the name, or an operator may have locked the user's row. */
WORLD_TEST(a_grab_is_settled_while_its_user_is_locked, 2)
{
    uint64_t id = world_even(w, 300, 3), settled = 0;
    char lock[96];
    world_grab(w, id, 1);
    MYSQL *other = test_services_mysql(w->app);
    (void)snprintf(lock, sizeof lock, "SELECT id FROM user WHERE id = %llu FOR UPDATE",
                   (unsigned long long)w->users[1]);
    assert_int_equal(mysql_query(other, "START TRANSACTION"), 0);
    assert_int_equal(mysql_query(other, lock), 0);
    mysql_free_result(mysql_store_result(other));
    assert_int_equal(settle_drain(w->settle, 3, &settled), ST_OK);
    assert_int_equal(settled, 1);
    mysql_close(other);
}

WORLD_TEST(a_slow_transaction_is_neither_aborted_nor_repeated, 2)
{
    world_grab(w, world_even(w, 300, 3), 1);
    world_sql(w, "CREATE OR REPLACE TRIGGER test_slow BEFORE UPDATE ON stream_cursor FOR EACH ROW"
                 " SET NEW.updated_ms = NEW.updated_ms + SLEEP(3)"); /* a page's timeout is two seconds */
    uint64_t lost = metrics_get(METRIC_MYSQL_LOST), settled = 0;
    enum status st = settle_drain(w->settle, 3, &settled);
    world_sql(w, "DROP TRIGGER test_slow");
    assert_ints({ st, ST_OK }, { settled, 1 }, { metrics_get(METRIC_MYSQL_LOST), lost });
}

TESTS(NULL, NULL)

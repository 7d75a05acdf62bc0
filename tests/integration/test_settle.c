/* The settle worker: every event is settled exactly once, also across crashes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include <time.h>

#include "base/array.h"
#include "base/clock.h"
#include "io/metrics.h"
#include "live/event.h"
#include "live/fence.h"
#include "live/grab.h"
#include "packet/grab.h"
#include "packet/store.h"
#include "pages/grab.h"
#include "settle/commit.h"
#include "settle/publish.h"
#include "settle/read.h"
#include "settle/recover_stream.h"
#include "settle/settle.h"
#include "support/test_services.h"
#include "test_settle_fixture.h"

enum { HOUR_MS = 3600000, RECONNECT_MS = 60000 };

/* Reads and commits the packet's partition once without publishing, as a worker that dies after the commit. */
static uint64_t commit_only(struct world *w, uint64_t packet_id)
{
    struct settle_partition *p = world_partition(w, packet_id);
    uint64_t settled;
    assert_int_equal(settle_read(w->settle, p->no, 1), ST_OK);
    assert_false(p->gap);
    assert_int_equal(settle_commit(w->settle, p, &settled), ST_OK);
    return settled;
}

static void grabs_become_rows_money_and_totals(void **state)
{
    struct world w;
    (void)state;
    world_begin(&w, 3);
    uint64_t id = world_send(&w, 0, PACKET_LUCKY, 1000, 3, HOUR_MS, -1);
    struct live_grab a = world_grab(&w, id, 1), b = world_grab(&w, id, 2);
    assert_int_equal(world_drain(&w), 2);
    assert_int_equal(world_balance(&w, w.users[1]), 100000 + a.amount_fen);
    assert_int_equal(world_balance(&w, w.users[2]), 100000 + b.amount_fen);
    assert_int_equal(world_balance(&w, id), 1000 - a.amount_fen - b.amount_fen);
    struct packet p = world_packet(&w, id);
    assert_int_equal(p.grabbed_count, 2);
    assert_int_equal(p.grabbed_fen, a.amount_fen + b.amount_fen);
    assert_int_equal(p.state, PACKET_OPEN);
    assert_int_equal(world_number(&w, "SELECT received_fen FROM user_month WHERE user_id = ?", w.users[1]),
                     a.amount_fen);
    assert_int_equal(world_number(&w, "SELECT received_count FROM user_month WHERE user_id = ?", w.users[1]), 1);
    struct grab row;
    assert_int_equal(packet_grab_of(w.app->stores.db, w.arena, id, w.users[1], &row), ST_OK);
    assert_true(str_equal(row.nickname, STR("小,强")));
    world_audit_clean(&w);
    world_end(&w);
}

static void the_position_is_published_and_the_stream_is_trimmed(void **state)
{
    struct world w;
    struct live_event_id settled;
    (void)state;
    world_begin(&w, 3);
    uint64_t id = world_send(&w, 0, PACKET_EVEN, 300, 3, HOUR_MS, -1);
    world_grab(&w, id, 1);
    world_grab(&w, id, 2);
    world_drain(&w);
    assert_true(live_event_id_parse(world_redis_text(&w, id, "GET {se}"), &settled));
    assert_int_equal(live_event_id_compare(settled, world_partition(&w, id)->last), 0);
    assert_int_equal(world_redis(&w, id, "XLEN {ev}"), 1); /* the cursor's own entry stays */
    world_end(&w);
}

/* Sets redis_replicas of the worker, which reads it at each connection. */
static void replicas_set(struct world *w, const char *replicas)
{
    const struct timespec pause = { .tv_nsec = 10000000 };
    const int64_t until_ms = clock_monotonic_ms() + RECONNECT_MS;
    struct config *settler = test_services_config(w->settler);
    (void)snprintf(settler->redis_replicas, sizeof settler->redis_replicas, "%s", replicas);
    (void)world_redis(w, 0, "CLIENT KILL TYPE normal SKIPME yes");
    while (redis_ping(w->settler->stores.redis) != ST_OK && clock_monotonic_ms() < until_ms)
        nanosleep(&pause, NULL);
}

/* The worker's Redis may be a primary that was cut off: by the position its lost grabs would be shown as settled. */
static void no_position_is_published_where_no_replica_confirms(void **state)
{
    struct world w;
    uint64_t events;
    (void)state;
    world_begin(&w, 3);
    uint64_t id = world_send(&w, 0, PACKET_LUCKY, 1000, 2, HOUR_MS, -1);
    (void)world_grab(&w, id, 1);
    assert_int_equal(world_drain(&w), 1);
    assert_int_equal(world_redis(&w, id, "DEL {se}"), 1);
    replicas_set(&w, "1");
    world_restart_worker(&w);

    assert_int_equal(settle_pass(w.settle, &events), ST_UNAVAILABLE);
    assert_true(world_partition(&w, id)->cursor_loaded);
    assert_int_equal(world_redis(&w, id, "EXISTS {se}"), 0);

    replicas_set(&w, "0");
    assert_int_equal(world_drain(&w), 0);
    assert_int_equal(world_redis(&w, id, "EXISTS {se}"), 1);
    world_audit_clean(&w);
    world_end(&w);
}

static void a_batch_replayed_after_a_crash_is_settled_once(void **state)
{
    struct world w;
    (void)state;
    world_begin(&w, 3);
    uint64_t id = world_send(&w, 0, PACKET_EVEN, 300, 3, HOUR_MS, -1);
    world_grab(&w, id, 1);
    assert_int_equal(commit_only(&w, id), 1);
    assert_int_equal(world_redis(&w, id, "EXISTS {se}"), 0); /* not published */
    world_restart_worker(&w);
    assert_int_equal(world_drain(&w), 0);
    assert_int_equal(world_redis(&w, id, "EXISTS {se}"), 1); /* published by the next worker */
    assert_int_equal(world_balance(&w, w.users[1]), 100100);
    world_audit_clean(&w);
    world_end(&w);
}

static void a_worker_that_read_before_another_settled_writes_nothing(void **state)
{
    struct world w;
    struct settle *other;
    uint64_t settled;
    (void)state;
    world_begin(&w, 4);
    uint64_t id = world_send(&w, 0, PACKET_EVEN, 400, 4, HOUR_MS, -1);
    world_grab(&w, id, 1);
    world_grab(&w, id, 2);
    struct settle_partition *p = world_partition(&w, id);
    assert_int_equal(settle_read(w.settle, p->no, 1), ST_OK);
    assert_int_equal(settle_new(&w.app->stores, &other), ST_OK);
    uint64_t events;
    assert_int_equal(settle_drain(other, 10, &events), ST_OK);
    assert_int_equal(events, 2);
    assert_int_equal(settle_commit(w.settle, p, &settled), ST_OK);
    assert_int_equal(settled, 0);
    world_grab(&w, id, 3);
    assert_int_equal(world_drain(&w), 1); /* from the other worker's cursor on */
    /* The other worker is late now: its copy of the cursor is before the trimmed entries, which is no gap. */
    assert_int_equal(settle_drain(other, 10, &events), ST_OK);
    assert_int_equal(events, 0);
    assert_false(settle_is_stopped(other));
    settle_free(other);
    assert_int_equal(world_balance(&w, w.users[3]), 100100);
    world_audit_clean(&w);
    world_end(&w);
}

static void two_workers_share_the_partitions(void **state)
{
    struct world w;
    struct settle *other;
    uint64_t ids[20], mine = 0, theirs = 0, n;
    (void)state;
    world_begin(&w, 11);
    assert_int_equal(settle_new(&w.app->stores, &other), ST_OK);
    for (size_t i = 0; i < 20; i++)
        ids[i] = world_send(&w, 0, PACKET_LUCKY, 1000, 10, HOUR_MS, -1);
    for (size_t round = 0; round < 10; round++) {
        for (size_t i = 0; i < 20; i++)
            world_grab(&w, ids[i], round + 1);
        assert_int_equal(settle_pass(round % 2 == 0 ? w.settle : other, &n), ST_OK);
        *(round % 2 == 0 ? &mine : &theirs) += n;
    }
    mine += world_drain(&w);
    assert_int_equal(settle_drain(other, 10, &n), ST_OK);
    assert_int_equal(mine + theirs + n, 200);
    assert_int_equal(world_number(&w, "SELECT COUNT(*) FROM packet WHERE state = 'closed'", 0), 20);
    settle_free(other);
    world_audit_clean(&w);
    world_end(&w);
}

static int64_t letters_of(struct world *w, uint64_t packet_id)
{
    return world_number(w, "SELECT COUNT(*) FROM dead_letter WHERE packet_id = ? AND resolved_ms IS NULL", packet_id);
}

/* The entries of a batch are settled whole, also when one holds more events than a batch. */
static void crowds_are_settled_in_batches_of_whole_entries(void **state)
{
    enum { PACKETS = 3, SHARES = 150 };
    struct world w;
    uint64_t ids[PACKETS];
    (void)state;
    world_begin(&w, 1 + SHARES);
    w.config->settle_batch = 10;
    world_restart_worker(&w);
    for (size_t i = 0; i < PACKETS; i++) {
        ids[i] = world_send(&w, 0, PACKET_EVEN, SHARES, SHARES, HOUR_MS, -1);
        world_grab_all(&w, ids[i], 1, SHARES);
    }
    assert_int_equal(world_drain(&w), PACKETS * SHARES);
    for (size_t i = 0; i < PACKETS; i++)
        assert_int_equal(world_packet(&w, ids[i]).state, PACKET_CLOSED);
    assert_int_equal(world_balance(&w, w.users[SHARES]), 100000 + PACKETS);
    world_audit_clean(&w);
    world_end(&w);
}

static void a_crowd_with_one_contradiction_becomes_one_letter_and_others_are_settled(void **state)
{
    struct world w;
    (void)state;
    world_begin(&w, 5);
    uint64_t bad = world_send(&w, 0, PACKET_EVEN, 400, 4, HOUR_MS, -1), good = world_send_beside(&w, bad, 300, 3);
    world_grab_all(&w, good, 1, 2);
    struct str words =
        arena_printf(w.arena, "XADD {ev} * g %llu,0,%llu,100,a g %llu,1,424242,100,b g %llu,2,%llu,100,c",
                     (unsigned long long)bad, (unsigned long long)w.users[1], (unsigned long long)bad,
                     (unsigned long long)bad, (unsigned long long)w.users[3]);
    (void)world_redis_text(&w, bad, words.ptr);
    world_grab(&w, good, 3);
    assert_int_equal(world_drain(&w), 3);
    assert_int_equal(letters_of(&w, bad), 1);
    assert_int_equal(world_number(&w, "SELECT COUNT(*) FROM dead_letter", 0), 1);
    assert_int_equal(world_packet(&w, good).state, PACKET_CLOSED);
    assert_int_equal(world_balance(&w, bad), 400);
    world_end(&w);
}

static void an_entry_of_two_packets_is_unreadable(void **state)
{
    struct world w;
    (void)state;
    world_begin(&w, 3);
    uint64_t id = world_send(&w, 0, PACKET_EVEN, 400, 4, HOUR_MS, -1), other = world_send_beside(&w, id, 400, 4);
    struct str words =
        arena_printf(w.arena, "XADD {ev} * g %llu,0,%llu,100,a g %llu,0,%llu,100,b", (unsigned long long)id,
                     (unsigned long long)w.users[1], (unsigned long long)other, (unsigned long long)w.users[2]);
    (void)world_redis_text(&w, id, words.ptr);
    assert_int_equal(world_drain(&w), 0);
    assert_int_equal(letters_of(&w, id), 1);
    assert_int_equal(world_balance(&w, id), 400);
    assert_int_equal(world_balance(&w, other), 400);
    world_end(&w);
}

static void a_late_worker_does_not_publish_an_older_position(void **state)
{
    struct world w;
    struct settle *other;
    struct live_event_id settled;
    uint64_t n;
    (void)state;
    world_begin(&w, 4);
    uint64_t id = world_send(&w, 0, PACKET_EVEN, 400, 4, HOUR_MS, -1);
    world_grab(&w, id, 1);
    assert_int_equal(commit_only(&w, id), 1);
    world_grab(&w, id, 2);
    assert_int_equal(settle_new(&w.app->stores, &other), ST_OK);
    assert_int_equal(settle_drain(other, 10, &n), ST_OK);
    struct live_event_id newest = other->partitions[world_partition(&w, id)->no].last;
    assert_int_equal(settle_publish(w.settle, world_partition(&w, id)), ST_OK);
    assert_true(live_event_id_parse(world_redis_text(&w, id, "GET {se}"), &settled));
    assert_int_equal(live_event_id_compare(settled, newest), 0);
    settle_free(other);
    world_end(&w);
}

/* Appends a grab event as the script would. */
static void event_add(struct world *w, uint64_t packet_id, const char *id, uint32_t share, uint64_t user, int64_t fen)
{
    struct str words = arena_printf(w->arena, "XADD {ev} %s g %llu,%u,%llu,%lld,名", id, (unsigned long long)packet_id,
                                    share, (unsigned long long)user, (long long)fen);
    (void)world_redis_text(w, packet_id, words.ptr);
}

static void a_repeated_event_changes_nothing(void **state)
{
    struct world w;
    (void)state;
    world_begin(&w, 4);
    uint64_t id = world_send(&w, 0, PACKET_EVEN, 300, 3, HOUR_MS, -1);
    world_grab(&w, id, 1);
    world_drain(&w);
    event_add(&w, id, "*", 0, w.users[1], 100);
    world_grab(&w, id, 2); /* a new grab in the same batch */
    assert_int_equal(world_drain(&w), 2);
    assert_false(settle_is_stopped(w.settle));
    assert_int_equal(world_balance(&w, w.users[1]), 100100);
    assert_int_equal(world_balance(&w, w.users[2]), 100100);
    world_audit_clean(&w);
    world_end(&w);
}

static void a_repeated_event_alone_in_its_batch_becomes_no_letter(void **state)
{
    struct world w;
    (void)state;
    world_begin(&w, 2);
    uint64_t id = world_send(&w, 0, PACKET_EVEN, 300, 3, HOUR_MS, -1);
    world_grab(&w, id, 1);
    world_drain(&w);
    event_add(&w, id, "*", 0, w.users[1], 100);
    assert_int_equal(world_drain(&w), 1);
    assert_int_equal(world_number(&w, "SELECT COUNT(*) FROM dead_letter", 0), 0);
    assert_int_equal(world_balance(&w, w.users[1]), 100100);
    world_audit_clean(&w);
    world_end(&w);
}

/* A repeat has the same packet, share, user and amount. */
static void a_repeat_does_not_drop_a_similar_grab_of_another_packet(void **state)
{
    struct world w;
    (void)state;
    world_begin(&w, 4);
    uint64_t first = world_send(&w, 0, PACKET_EVEN, 300, 3, HOUR_MS, -1), second = world_send_beside(&w, first, 300, 3);
    world_grab(&w, second, 1);
    world_grab(&w, second, 2);
    world_drain(&w);
    world_grab(&w, first, 1); /* share 0 by users[1], like the repeat that follows */
    event_add(&w, second, "*", 0, w.users[1], 100);
    event_add(&w, second, "*", 1, w.users[2], 100);
    world_grab(&w, second, 3);
    assert_int_equal(world_drain(&w), 4);
    assert_int_equal(world_number(&w, "SELECT COUNT(*) FROM dead_letter", 0), 0);
    assert_int_equal(world_balance(&w, w.users[1]), 100200);
    assert_int_equal(world_balance(&w, w.users[2]), 100100);
    assert_int_equal(world_balance(&w, w.users[3]), 100100);
    world_audit_clean(&w);
    world_end(&w);
}

static void a_settled_share_repeated_with_another_amount_becomes_a_dead_letter(void **state)
{
    struct world w;
    (void)state;
    world_begin(&w, 2);
    uint64_t id = world_send(&w, 0, PACKET_EVEN, 300, 3, HOUR_MS, -1);
    world_grab(&w, id, 1);
    world_drain(&w);
    event_add(&w, id, "*", 0, w.users[1], 99);
    assert_int_equal(world_drain(&w), 0);
    assert_int_equal(letters_of(&w, id), 1);
    assert_int_equal(world_balance(&w, w.users[1]), 100100);
    assert_int_equal(world_balance(&w, id), 200);
    world_end(&w);
}

static void a_second_share_of_one_user_becomes_a_dead_letter(void **state)
{
    struct world w;
    (void)state;
    world_begin(&w, 2);
    uint64_t id = world_send(&w, 0, PACKET_EVEN, 300, 3, HOUR_MS, -1);
    world_grab(&w, id, 1);
    world_drain(&w);
    event_add(&w, id, "*", 1, w.users[1], 100);
    assert_int_equal(world_drain(&w), 0);
    assert_int_equal(letters_of(&w, id), 1);
    assert_int_equal(world_balance(&w, w.users[1]), 100100);
    world_end(&w);
}

static void a_contradicting_event_becomes_a_dead_letter_and_other_packets_are_settled(void **state)
{
    struct world w;
    (void)state;
    world_begin(&w, 6);
    uint64_t id = world_send(&w, 0, PACKET_EVEN, 400, 4, HOUR_MS, -1);
    uint64_t near = world_send_beside(&w, id, 400, 4), far = world_send_apart(&w, id, 400, 4);
    world_grab(&w, id, 1);
    world_drain(&w);
    uint64_t letters = metrics_get(METRIC_DEAD_LETTERS);
    world_grab(&w, id, 2);
    event_add(&w, id, "*", 0, w.users[3], 100); /* share 0 is users[1]'s */
    world_grab(&w, near, 1);
    world_grab(&w, id, 4); /* a later event of the packet */
    world_grab(&w, near, 2);
    world_grab(&w, far, 1);
    assert_int_equal(world_drain(&w), 4);
    assert_false(settle_is_stopped(w.settle));
    assert_int_equal(metrics_get(METRIC_DEAD_LETTERS), letters + 2);
    assert_int_equal(letters_of(&w, id), 2);
    assert_int_equal(world_balance(&w, w.users[1]), 100300);
    assert_int_equal(world_balance(&w, w.users[2]), 100200);
    assert_int_equal(world_balance(&w, w.users[3]), 100000);
    assert_int_equal(world_balance(&w, w.users[4]), 100000);
    assert_int_equal(world_redis(&w, id, "XLEN {ev}"), 1); /* the stream is trimmed up to the end */
    world_grab(&w, near, 3);
    assert_int_equal(world_drain(&w), 1);
    world_end(&w);
}

static void a_settled_share_repeated_with_other_content_becomes_a_dead_letter(void **state)
{
    struct world w;
    (void)state;
    world_begin(&w, 4);
    const struct {
        size_t user;
        int64_t fen;
    } others[] = { { 1, 101 }, { 1, 99 }, { 2, 100 } };
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        uint64_t id = world_send(&w, 0, PACKET_EVEN, 300, 3, HOUR_MS, -1);
        int64_t before = world_balance(&w, w.users[1]);
        world_grab(&w, id, 1);
        assert_int_equal(world_drain(&w), 1);
        event_add(&w, id, "*", 0, w.users[others[i].user], others[i].fen);
        assert_int_equal(world_drain(&w), 0);
        assert_int_equal(letters_of(&w, id), 1);
        assert_int_equal(world_balance(&w, w.users[1]), before + 100);
        assert_int_equal(world_balance(&w, w.users[2]), 100000);
    }
    world_end(&w);
}

static void an_event_of_an_unknown_packet_becomes_a_dead_letter(void **state)
{
    struct world w;
    (void)state;
    world_begin(&w, 2);
    event_add(&w, 77, "*", 0, w.users[0], 100);
    (void)world_redis(&w, 78, "SET {pk} nonsense"); /* not a packet, so it can't be shut */
    event_add(&w, 78, "*", 0, w.users[0], 100);
    assert_int_equal(world_drain(&w), 0);
    assert_false(settle_is_stopped(w.settle));
    assert_int_equal(letters_of(&w, 77), 1);
    assert_int_equal(letters_of(&w, 78), 1);
    world_end(&w);
}

static void a_dead_letter_that_the_tables_refuse_stops_the_partition(void **state)
{
    struct world w;
    (void)state;
    world_begin(&w, 3);
    uint64_t id = world_send(&w, 0, PACKET_EVEN, 300, 3, HOUR_MS, -1);
    event_add(&w, id, "5-1", 1, w.users[1], 100); /* share 0 got lost */
    struct str sql = arena_printf(w.arena,
                                  "INSERT INTO dead_letter (partition_no, event_id, content, reason, created_ms,"
                                  " resolved_ms) VALUES (%u, '5-1', '', '', 1, 1)",
                                  world_partition(&w, id)->no);
    world_sql(&w, sql.ptr);
    assert_int_equal(world_drain(&w), 0);
    assert_true(world_partition(&w, id)->stopped);
    assert_int_equal(letters_of(&w, id), 0);
    world_end(&w);
}

static void a_damaged_event_becomes_a_dead_letter_and_the_events_around_it_are_settled(void **state)
{
    struct world w;
    (void)state;
    world_begin(&w, 3);
    uint64_t id = world_send(&w, 0, PACKET_EVEN, 300, 3, HOUR_MS, -1);
    world_grab(&w, id, 1);
    (void)world_redis_text(&w, id, "XADD {ev} * g nonsense");
    world_grab(&w, id, 2); /* no share is skipped */
    assert_int_equal(world_drain(&w), 2);
    assert_false(settle_is_stopped(w.settle));
    assert_int_equal(world_number(&w, "SELECT COUNT(*) FROM dead_letter WHERE packet_id IS NULL", 0), 1);
    assert_int_equal(world_number(&w, "SELECT content = 'g nonsense' FROM dead_letter", 0), 1);
    assert_int_equal(world_balance(&w, w.users[1]), 100100);
    assert_int_equal(world_balance(&w, w.users[2]), 100100);
    world_end(&w);
}

static void a_stopped_partition_resumes_when_the_cause_is_removed(void **state)
{
    struct world w;
    (void)state;
    world_begin(&w, 3);
    uint64_t id = world_send(&w, 0, PACKET_EVEN, 300, 3, HOUR_MS, -1);
    (void)world_redis_text(&w, id, "SET {ev} nonsense"); /* not a stream */
    uint64_t stops = metrics_get(METRIC_SETTLE_STOPPED);
    assert_int_equal(world_drain(&w), 0);
    assert_true(world_partition(&w, id)->stopped);
    assert_int_equal(metrics_get(METRIC_SETTLE_STOPPED), stops + 1);
    assert_int_equal(world_redis(&w, id, "DEL {ev}"), 1);
    world_grab(&w, id, 1);
    assert_int_equal(world_drain(&w), 0); /* not before retry_ms */
    world_partition(&w, id)->retry_ms = 0;
    assert_int_equal(world_drain(&w), 1);
    assert_false(settle_is_stopped(w.settle));
    world_audit_clean(&w);
    world_end(&w);
}

static void a_grab_that_skips_a_share_becomes_a_dead_letter(void **state)
{
    struct world w;
    (void)state;
    world_begin(&w, 3);
    uint64_t id = world_send(&w, 0, PACKET_EVEN, 300, 3, HOUR_MS, -1);
    event_add(&w, id, "*", 1, w.users[1], 100); /* share 0 got lost */
    assert_int_equal(world_drain(&w), 0);
    assert_int_equal(letters_of(&w, id), 1);
    assert_int_equal(world_balance(&w, w.users[1]), 100000);
    world_end(&w);
}

static void money_that_the_escrow_lacks_is_never_paid(void **state)
{
    struct world w;
    (void)state;
    world_begin(&w, 3);
    uint64_t id = world_send(&w, 0, PACKET_EVEN, 300, 3, HOUR_MS, -1);
    event_add(&w, id, "*", 0, w.users[1], 301);
    assert_int_equal(world_drain(&w), 0);
    assert_int_equal(letters_of(&w, id), 1);
    assert_int_equal(world_balance(&w, w.users[1]), 100000);

    /* The packet's row has enough money, its account has not. */
    id = world_send(&w, 0, PACKET_EVEN, 300, 3, HOUR_MS, -1);
    struct str sql =
        arena_printf(w.arena, "UPDATE account SET balance_fen = 99 WHERE id = %llu", (unsigned long long)id);
    world_sql(&w, sql.ptr);
    world_grab(&w, id, 1);
    assert_int_equal(world_drain(&w), 0);
    assert_int_equal(letters_of(&w, id), 1);
    assert_int_equal(world_balance(&w, id), 99);
    assert_int_equal(world_balance(&w, w.users[1]), 100000);
    world_end(&w);
}

/* The constraints protect against a program that forgets its own checks. */
static void the_tables_refuse_impossible_sums(void **state)
{
    static const char *const refused[] = { "UPDATE packet SET grabbed_fen = 301 WHERE id = ?",
                                           "UPDATE packet SET grabbed_fen = 200, refund_fen = 101 WHERE id = ?",
                                           "UPDATE packet SET grabbed_count = 4 WHERE id = ?",
                                           "UPDATE grab SET amount_fen = 0 WHERE packet_id = ?",
                                           "UPDATE transfer SET amount_fen = -1 WHERE packet_id = ?",
                                           "UPDATE transfer SET debit_id = credit_id WHERE packet_id = ?",
                                           "UPDATE account SET balance_fen = -1 WHERE id = ?" };
    struct world w;
    (void)state;
    world_begin(&w, 2);
    uint64_t id = world_send(&w, 0, PACKET_EVEN, 300, 3, HOUR_MS, -1);
    world_grab(&w, id, 1);
    world_drain(&w);
    for (size_t i = 0; i < ARRAY_LEN(refused); i++)
        if (db_exec(w.app->stores.db, NULL, refused[i], DB_PARAMS(DB_U64(id))) != ST_INVALID)
            fail_msg("not refused: %s", refused[i]);
    world_audit_clean(&w);
    world_end(&w);
}

static void inconsistent_tables_stop_the_partition_and_make_no_dead_letter(void **state)
{
    struct world w;
    (void)state;
    world_begin(&w, 3);
    uint64_t id = world_send(&w, 0, PACKET_EVEN, 300, 3, HOUR_MS, -1);
    world_grab(&w, id, 1);
    world_sql(&w, "RENAME TABLE user_month TO user_month_away");
    assert_int_equal(world_drain(&w), 0);
    world_sql(&w, "RENAME TABLE user_month_away TO user_month");
    assert_true(world_partition(&w, id)->stopped);
    assert_int_equal(world_number(&w, "SELECT COUNT(*) FROM dead_letter", 0), 0);
    world_partition(&w, id)->retry_ms = 0;
    assert_int_equal(world_drain(&w), 1);
    world_audit_clean(&w);
    world_end(&w);
}

static void the_last_share_closes_the_packet_and_its_live_keys_get_a_time_to_live(void **state)
{
    struct world w;
    (void)state;
    world_begin(&w, 4);
    w.config->packet_grace_ms = 60000;
    uint64_t id = world_send(&w, 0, PACKET_LUCKY, 1000, 3, HOUR_MS, -1);
    world_grab_all(&w, id, 1, 3);
    world_drain(&w);
    struct packet p = world_packet(&w, id);
    assert_int_equal(p.state, PACKET_CLOSED);
    assert_int_equal(p.grabbed_fen, 1000);
    assert_int_equal(p.refund_fen, 0);
    assert_true(p.finished_ms > 0 && p.closed_ms >= p.finished_ms);
    assert_int_equal(world_balance(&w, id), 0);
    static const char *const asked[] = { "PTTL {pk}", "PTTL {sh}", "PTTL {gr}", "PTTL {or}" };
    for (size_t i = 0; i < 4; i++) {
        int64_t ttl_ms = world_redis(&w, id, asked[i]);
        assert_true(ttl_ms > 0 && ttl_ms <= 60000);
    }
    world_audit_clean(&w);
    world_end(&w);
}

static void the_next_worker_publishes_every_closed_packet_however_many_were_missed(void **state)
{
    enum { SHARES = 500, BIG = 3 };
    struct world w;
    uint64_t ids[BIG];
    (void)state;
    world_begin(&w, SHARES + 1);
    world_sql(&w, "DELETE FROM stream_cursor");
    world_partitions_set(&w, 1);
    world_restart_worker(&w);
    world_fence_set(&w);
    world_check_redis(&w);
    for (size_t i = 0; i < BIG; i++) {
        ids[i] = world_send(&w, 0, PACKET_EVEN, SHARES, SHARES, HOUR_MS, -1);
        world_grab_all(&w, ids[i], 1, SHARES);
        assert_int_equal(commit_only(&w, ids[i]), SHARES);
    }
    uint64_t open = world_send(&w, 0, PACKET_EVEN, 2, 2, HOUR_MS, -1);
    world_grab(&w, open, 1);
    assert_int_equal(commit_only(&w, open), 1);
    world_restart_worker(&w);
    world_drain(&w);
    for (size_t i = 0; i < BIG; i++)
        assert_true(world_redis(&w, ids[i], "PTTL {pk}") > 0);
    assert_int_equal(world_redis(&w, open, "PTTL {pk}"), -1);
    world_partitions_set(&w, 16);
    world_end(&w);
}

/* A packet of one share is grabbed, and two workers read the event. The world's worker closes the packet and dies
 * before it publishes; the late one still has the older cursor. */
static struct settle *late_worker(struct world *w, uint64_t *id)
{
    struct settle *late;
    *id = world_send(w, 0, PACKET_EVEN, 100, 1, HOUR_MS, -1);
    world_grab(w, *id, 1);
    assert_int_equal(settle_new(&w->settler->stores, &late), ST_OK);
    assert_int_equal(settle_read(late, world_partition(w, *id)->no, 1), ST_OK);
    assert_int_equal(commit_only(w, *id), 1);
    return late;
}

static void a_late_worker_publishes_the_packets_that_a_dead_one_closed(void **state)
{
    struct world w;
    uint64_t id, settled;
    (void)state;
    world_begin(&w, 2);
    struct settle *late = late_worker(&w, &id);
    struct settle_partition *p = &late->partitions[world_partition(&w, id)->no];
    assert_int_equal(settle_commit(late, p, &settled), ST_OK);
    assert_int_equal(settled, 0);
    assert_int_equal(settle_publish(late, p), ST_OK);
    assert_true(world_redis(&w, id, "PTTL {pk}") > 0);
    settle_free(late);
    world_end(&w);
}

static void a_worker_with_a_gap_publishes_the_packets_that_a_dead_one_closed(void **state)
{
    struct world w;
    uint64_t id, settled;
    (void)state;
    world_begin(&w, 2);
    struct settle *late = late_worker(&w, &id);
    /* as after a read of a stream that was trimmed meanwhile */
    late->partitions[world_partition(&w, id)->no].gap = true;
    assert_int_equal(recover_gaps(late), ST_OK);
    assert_int_equal(settle_pass(late, &settled), ST_OK);
    assert_int_equal(settled, 0);
    assert_true(world_redis(&w, id, "PTTL {pk}") > 0);
    settle_free(late);
    world_end(&w);
}

static void a_stream_of_another_type_stops_its_partition_and_no_other(void **state)
{
    struct world w;
    uint64_t events;
    (void)state;
    world_begin(&w, 2);
    uint64_t bad = world_send(&w, 0, PACKET_EVEN, 100, 1, HOUR_MS, -1);
    uint64_t good = world_send_apart(&w, bad, 100, 1);
    world_grab(&w, bad, 1); /* its partition has a cursor, which the next worker publishes */
    world_grab(&w, good, 1);
    world_drain(&w);
    (void)world_redis(&w, bad, "SET {ev} nonsense");
    world_restart_worker(&w);
    good = world_send_apart(&w, bad, 100, 1);
    world_grab(&w, good, 1);
    assert_int_equal(settle_pass(w.settle, &events), ST_OK);
    assert_int_equal(events, 1);
    assert_true(world_partition(&w, bad)->stopped);
    world_end(&w);
}

static void a_worker_that_died_before_publishing_leaves_the_time_to_live_to_the_next(void **state)
{
    struct world w;
    (void)state;
    world_begin(&w, 2);
    uint64_t id = world_send(&w, 0, PACKET_EVEN, 100, 1, HOUR_MS, -1);
    world_grab(&w, id, 1);
    assert_int_equal(commit_only(&w, id), 1);
    assert_int_equal(world_redis(&w, id, "PTTL {pk}"), -1);
    world_restart_worker(&w);
    world_drain(&w);
    assert_true(world_redis(&w, id, "PTTL {pk}") > 0);
    world_end(&w);
}

static void the_best_share_counts_for_its_owner_even_across_batches(void **state)
{
    struct world w;
    (void)state;
    world_begin(&w, 12);
    w.config->settle_batch = 2;
    world_restart_worker(&w);
    uint64_t id = world_send(&w, 0, PACKET_LUCKY, 5000, 10, HOUR_MS, -1);
    uint32_t best = world_packet(&w, id).best_share_no;
    assert_true(best < 10);
    uint64_t owner = 0;
    for (size_t i = 0; i < 10; i++)
        if (world_grab(&w, id, i + 1).share_no == best)
            owner = w.users[i + 1];
    assert_int_equal(world_drain(&w), 10);
    assert_int_equal(world_number(&w, "SELECT SUM(best_count) FROM user_month WHERE user_id = ?", owner), 1);
    assert_int_equal(world_number(&w, "SELECT SUM(best_count) FROM user_month", 0), 1);
    world_audit_clean(&w);
    world_end(&w);
}

static void an_even_packet_has_no_best_share(void **state)
{
    struct world w;
    (void)state;
    world_begin(&w, 3);
    uint64_t id = world_send(&w, 0, PACKET_EVEN, 200, 2, HOUR_MS, -1);
    world_grab_all(&w, id, 1, 2);
    world_drain(&w);
    assert_int_equal(world_number(&w, "SELECT SUM(best_count) FROM user_month", 0), 0);
    world_end(&w);
}

static void a_year_ends_at_midnight_in_shanghai(void **state)
{
    struct world w;
    (void)state;
    world_begin(&w, 3);
    uint64_t id = world_send(&w, 0, PACKET_EVEN, 300, 3, HOUR_MS, -1);
    event_add(&w, id, "1767196799999-0", 0, w.users[1], 100); /* 2025-12-31T15:59:59.999Z */
    event_add(&w, id, "1767196800000-0", 1, w.users[2], 100); /* 2025-12-31T16:00:00.000Z: the new year in Shanghai */
    assert_int_equal(world_drain(&w), 2);
    assert_int_equal(world_number(&w, "SELECT year * 100 + month FROM user_month WHERE user_id = ?", w.users[1]),
                     202512);
    assert_int_equal(world_number(&w, "SELECT year * 100 + month FROM user_month WHERE user_id = ?", w.users[2]),
                     202601);
    world_end(&w);
}

static void a_month_ends_at_midnight_in_shanghai_even_within_a_batch(void **state)
{
    struct world w;
    (void)state;
    world_begin(&w, 3);
    uint64_t first = world_send(&w, 0, PACKET_EVEN, 300, 3, HOUR_MS, -1);
    uint64_t second = world_send(&w, 0, PACKET_EVEN, 600, 3, HOUR_MS, -1);
    event_add(&w, first, "1772294399999-0", 0, w.users[1], 100);  /* 2026-02-28T15:59:59.999Z */
    event_add(&w, second, "1772294400000-0", 0, w.users[1], 200); /* 2026-02-28T16:00:00.000Z: March in Shanghai */
    assert_int_equal(world_drain(&w), 2);
    assert_int_equal(
        world_number(&w, "SELECT received_fen FROM user_month WHERE month = 2 AND user_id = ?", w.users[1]), 100);
    assert_int_equal(
        world_number(&w, "SELECT received_fen FROM user_month WHERE month = 3 AND user_id = ?", w.users[1]), 200);
    assert_int_equal(world_number(&w, "SELECT SUM(received_fen) FROM user_month WHERE user_id = ?", w.users[1]), 300);
    world_end(&w);
}

static void a_packet_in_state_funding_is_settled_and_becomes_open(void **state)
{
    struct world w;
    (void)state;
    world_begin(&w, 3);
    uint64_t id = world_send(&w, 0, PACKET_EVEN, 200, 2, HOUR_MS, -1);
    world_sql(&w, "UPDATE packet SET state = 'funding'");
    world_grab(&w, id, 1);
    assert_int_equal(world_drain(&w), 1);
    assert_int_equal(world_packet(&w, id).state, PACKET_OPEN);
    world_end(&w);
}

static void a_slow_transaction_is_neither_aborted_nor_repeated(void **state)
{
    struct world w;
    (void)state;
    world_begin(&w, 2);
    uint64_t id = world_send(&w, 0, PACKET_EVEN, 300, 3, HOUR_MS, -1);
    world_grab(&w, id, 1);
    world_sql(&w, "CREATE OR REPLACE TRIGGER test_slow BEFORE UPDATE ON stream_cursor FOR EACH ROW"
                  " SET NEW.updated_ms = NEW.updated_ms + SLEEP(3)"); /* a page's timeout is two seconds */
    uint64_t lost = metrics_get(METRIC_MYSQL_LOST), settled = 0;
    enum status st = settle_drain(w.settle, 3, &settled);
    world_sql(&w, "DROP TRIGGER test_slow");
    assert_int_equal(st, ST_OK);
    assert_int_equal(settled, 1);
    assert_int_equal(metrics_get(METRIC_MYSQL_LOST), lost);
    world_audit_clean(&w);
    world_end(&w);
}

static void ten_thousand_grabs_drain_and_the_audit_is_clean(void **state)
{
    struct world w;
    (void)state;
    world_begin(&w, 301);
    for (size_t i = 0; i < 50; i++) {
        uint64_t id = world_send(&w, 0, PACKET_LUCKY, 2000, 200, HOUR_MS, -1);
        world_grab_all(&w, id, 1 + i % 100, 200);
    }
    assert_int_equal(world_drain(&w), 10000);
    assert_int_equal(world_number(&w, "SELECT COUNT(*) FROM grab", 0), 10000);
    assert_int_equal(world_number(&w, "SELECT COUNT(*) FROM packet WHERE state = 'closed'", 0), 50);
    assert_int_equal(world_number(&w, "SELECT SUM(balance_fen) FROM account", 0), 0);
    world_audit_clean(&w);
    world_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grabs_become_rows_money_and_totals),
        cmocka_unit_test(the_position_is_published_and_the_stream_is_trimmed),
        cmocka_unit_test(no_position_is_published_where_no_replica_confirms),
        cmocka_unit_test(a_batch_replayed_after_a_crash_is_settled_once),
        cmocka_unit_test(a_worker_that_read_before_another_settled_writes_nothing),
        cmocka_unit_test(two_workers_share_the_partitions),
        cmocka_unit_test(crowds_are_settled_in_batches_of_whole_entries),
        cmocka_unit_test(a_crowd_with_one_contradiction_becomes_one_letter_and_others_are_settled),
        cmocka_unit_test(an_entry_of_two_packets_is_unreadable),
        cmocka_unit_test(a_late_worker_does_not_publish_an_older_position),
        cmocka_unit_test(a_repeated_event_changes_nothing),
        cmocka_unit_test(a_repeated_event_alone_in_its_batch_becomes_no_letter),
        cmocka_unit_test(a_settled_share_repeated_with_another_amount_becomes_a_dead_letter),
        cmocka_unit_test(a_second_share_of_one_user_becomes_a_dead_letter),
        cmocka_unit_test(a_repeat_does_not_drop_a_similar_grab_of_another_packet),
        cmocka_unit_test(a_contradicting_event_becomes_a_dead_letter_and_other_packets_are_settled),
        cmocka_unit_test(a_settled_share_repeated_with_other_content_becomes_a_dead_letter),
        cmocka_unit_test(an_event_of_an_unknown_packet_becomes_a_dead_letter),
        cmocka_unit_test(a_dead_letter_that_the_tables_refuse_stops_the_partition),
        cmocka_unit_test(a_damaged_event_becomes_a_dead_letter_and_the_events_around_it_are_settled),
        cmocka_unit_test(a_stopped_partition_resumes_when_the_cause_is_removed),
        cmocka_unit_test(a_grab_that_skips_a_share_becomes_a_dead_letter),
        cmocka_unit_test(inconsistent_tables_stop_the_partition_and_make_no_dead_letter),
        cmocka_unit_test(money_that_the_escrow_lacks_is_never_paid),
        cmocka_unit_test(the_tables_refuse_impossible_sums),
        cmocka_unit_test(the_last_share_closes_the_packet_and_its_live_keys_get_a_time_to_live),
        cmocka_unit_test(the_next_worker_publishes_every_closed_packet_however_many_were_missed),
        cmocka_unit_test(a_late_worker_publishes_the_packets_that_a_dead_one_closed),
        cmocka_unit_test(a_worker_with_a_gap_publishes_the_packets_that_a_dead_one_closed),
        cmocka_unit_test(a_stream_of_another_type_stops_its_partition_and_no_other),
        cmocka_unit_test(a_worker_that_died_before_publishing_leaves_the_time_to_live_to_the_next),
        cmocka_unit_test(the_best_share_counts_for_its_owner_even_across_batches),
        cmocka_unit_test(an_even_packet_has_no_best_share),
        cmocka_unit_test(a_year_ends_at_midnight_in_shanghai),
        cmocka_unit_test(a_month_ends_at_midnight_in_shanghai_even_within_a_batch),
        cmocka_unit_test(a_packet_in_state_funding_is_settled_and_becomes_open),
        cmocka_unit_test(a_slow_transaction_is_neither_aborted_nor_repeated),
        cmocka_unit_test(ten_thousand_grabs_drain_and_the_audit_is_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

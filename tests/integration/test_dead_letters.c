/* Dead letters: an unsettled event becomes one letter, later events of its packet follow, and a replay settles them. */
#include <inttypes.h>
#include <pthread.h>
#include <unistd.h>

#include "commands/replay.h"
#include "live/event.h"
#include "live/keys.h"
#include "pages/page_cache.h"
#include "redis/reply.h"
#include "settle/apply.h"
#include "settle/expire.h"
#include "settle/fault.h"
#include "settle/publish.h"
#include "settle/read.h"
#include "settle/write.h"
#include "support/test_services.h"
#include "test_world.h"

enum { LATER_MS = 10000, WORD_MAX = 200 };

/* A packet of 4 × 100 fen. The event of its second grab (users[2], share 1) is damaged in the stream; the third grab
 * follows it. */
static uint64_t packet;

/* Replaces the newest event of the packet's stream by "g" and this value, as by printf without blanks. */
static __attribute__((format(printf, 2, 3))) void damage_last_event(uint64_t id, const char *format, ...)
{
    struct redis_call call = { 0 };
    struct live_keys keys;
    char event[WORD_MAX], value[WORD_MAX], cursor[LIVE_EVENT_ID_MAX];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(value, sizeof value, format, args);
    va_end(args);
    live_keys(&keys, id, w->config->partitions);
    const struct str last[] = {
        STR("XREVRANGE"), keys.key[LIVE_KEY_EVENTS], STR("+"), STR("-"), STR("COUNT"), STR("1")
    };
    assert_int_equal(redis_do(w->app->stores.redis, &call, last, 6), ST_OK);
    struct str at = redis_reply_str(redis_reply_at(redis_reply_at(call.reply, 0), 0));
    assert_in_range(at.len, 1, sizeof event - 1);
    (void)snprintf(event, sizeof event, "%.*s", STR_ARG(at));
    redis_call_free(&call);
    /* An id can't be added twice: create the stream again up to this event. */
    assert_int_equal(world_redis(w, id, "DEL {ev}"), 1);
    if (live_event_id_compare(world_partition(w, id)->last, LIVE_EVENT_NONE) != 0) {
        (void)live_event_id_text(cursor, world_partition(w, id)->last);
        (void)world_redisf(w, id, "XADD {ev} %s r 1", cursor);
    }
    assert_non_null(world_redis_text(w, id, arena_printf(w->arena, "XADD {ev} %s g %s", event, value).ptr).ptr);
}

static void scene_begin(bool readable_packet)
{
    world_begin(w, 6);
    packet = world_even(w, 400, 4);
    world_grab(w, packet, 1);
    assert_int_equal(world_drain(w), 1);
    world_grab(w, packet, 2);
    if (readable_packet)
        damage_last_event(packet, "%" PRIu64 ",one,?", packet);
    else
        damage_last_event(packet, "nonsense");
    world_grab(w, packet, 3);
    assert_int_equal(world_drain(w), 0);
}

#define SCENE_TEST(name)        WORLD_TEST_BY(name, scene_begin(true))
#define FAULTY_SCENE_TEST(name) FAULTY_WORLD_TEST_BY(name, scene_begin(true))

static bool seen_settled(uint64_t id, size_t user)
{
    const struct packet_view view = view_of(id, user);
    assert_true(view.has_mine);
    for (size_t i = 0; i < view.row_count; i++) /* the list has the same state */
        if (view.rows[i].share_no == view.mine.share_no)
            assert_int_equal(view.rows[i].settled, view.mine.settled);
    return view.mine.settled;
}

/* Whether users[user] sees the share of the scene's packet as settled. */
static void assert_seen_settled(size_t user, bool settled)
{
    assert_int_equal(seen_settled(packet, user), settled);
}

/* The id of an unresolved letter: MIN or MAX. */
static uint64_t letter_id(const char *which)
{
    struct str sql = arena_printf(w->arena, "SELECT %s(id) FROM dead_letter WHERE resolved_ms IS NULL", which);
    return (uint64_t)world_number(w, sql.ptr, 0);
}

/* Runs a replay command, which prints to stdout. */
static enum status replay_by_hand(uint64_t letter, struct str content)
{
    return replay_letter(&w->settler->stores, letter, content, stdout);
}

static enum status command(enum status (*run)(struct stores *, uint64_t, FILE *), uint64_t id)
{
    return run(&w->settler->stores, id, stdout);
}

static struct settle_replay replay(uint64_t letter, struct str content)
{
    struct settle_replay r = { .letter_id = letter, .content = content, .now_ms = clock_now_ms() };
    assert_int_equal(settle_replay(w->settler->stores.db, w->arena, &r), ST_OK);
    return r;
}

/* The corrected content of the damaged event. */
static struct str repaired(void)
{
    return arena_printf(w->arena, "g %" PRIu64 ",1,%" PRIu64 ",100,小,强", packet, w->users[2]);
}

/* The event of a grab: a share of 100 fen for users[user]. */
static struct str grab_line(uint64_t packet_id, size_t share_no, size_t user)
{
    return arena_printf(w->arena, "g %" PRIu64 ",%zu,%" PRIu64 ",100,%.*s", packet_id, share_no, w->users[user],
                        STR_ARG(world_badge(w, "小强")));
}

/* Settles both letters of the scene; nothing is published. */
static void replay_both(void)
{
    assert_int_equal(replay(letter_id("MIN"), repaired()).outcome, REPLAY_DONE);
    assert_int_equal(replay(letter_id("MIN"), STR_NONE).outcome, REPLAY_DONE);
}

FAULTY_SCENE_TEST(later_events_of_the_packet_follow_and_the_audit_names_them)
{
    assert_ints({ world_letters(w, 0), 2 }, { world_letters(w, packet), 2 },
                { world_audit_violations(w, "letters"), 2 }, { world_audit_violations(w, "I5"), 0 },
                { world_balance(w, w->users[3]), 100000 } /* not settled past the skipped share */);
}

FAULTY_WORLD_TEST_BY(later_grabs_follow_a_letter_without_a_packet_id_because_a_share_is_skipped, scene_begin(false))
{
    assert_ints({ world_letters(w, 0), 2 }, { world_balance(w, w->users[3]), 100000 },
                { world_number(w, "SELECT COUNT(*) FROM dead_letter WHERE packet_id IS NULL", 0), 1 });
    assert_seen_settled(2, false); /* its letter names no packet, but shares are settled in order */
    assert_seen_settled(3, false);
}

SCENE_TEST(a_repaired_letter_and_those_behind_it_are_settled_in_order)
{
    uint64_t first = letter_id("MIN"), last = letter_id("MAX");
    assert_int_equal(replay(last, STR_NONE).outcome, REPLAY_EARLIER);
    assert_int_equal(replay(first, STR_NONE).outcome, REPLAY_UNREADABLE);
    assert_int_equal(world_letters(w, 0), 2);
    /* The replay leaves the cursor, but writes its row, so that it conflicts with a worker at another Galera node. */
    const char *const written = "SELECT SUM(updated_ms) FROM stream_cursor";
    const int64_t before = world_number(w, written, 0);
    assert_int_equal(replay(first, repaired()).outcome, REPLAY_DONE);
    assert_ints({ world_number(w, written, 0), before + 1 }, { world_balance(w, w->users[2]), 100100 });
    assert_int_equal(replay(first, repaired()).outcome, REPLAY_MISSING); /* once */
    assert_int_equal(replay(last, STR_NONE).outcome, REPLAY_DONE);
    assert_wallets(2, 100100, 100100);
    world_grab(w, packet, 4); /* the packet is an ordinary one again */
    assert_int_equal(world_drain(w), 1);
    assert_int_equal(world_packet(w, packet).state, PACKET_CLOSED);
}

SCENE_TEST(a_share_is_held_behind_a_letter_until_the_replay)
{
    assert_seen_settled(1, true); /* before the letter */
    assert_seen_settled(2, false);
    assert_seen_settled(3, false);
    assert_int_equal(replay_by_hand(letter_id("MIN"), repaired()), ST_OK);
    assert_seen_settled(2, true);
    assert_seen_settled(3, false);
    assert_int_equal(replay_by_hand(letter_id("MIN"), STR_NONE), ST_OK);
    assert_seen_settled(3, true);
    world_grab(w, packet, 4);
    assert_seen_settled(4, false);
    assert_int_equal(world_drain(w), 1);
    assert_seen_settled(4, true);
}

FAULTY_WORLD_TEST(a_letter_of_another_partition_holds_no_grab, 2)
{
    uint64_t id = world_even(w, 300, 3);
    uint32_t partition = (world_partition(w, id)->no + 1) % (uint32_t)w->config->partitions;
    world_sqlf(w,
               "INSERT INTO dead_letter (partition_no, event_id, packet_id, content, reason,"
               " created_ms) VALUES (%u, '1-1', %llu, 'g', 'x', 0)",
               partition, (unsigned long long)id);
    world_restart_worker(w);
    world_grab(w, id, 1);
    assert_int_equal(world_drain(w), 1);
    assert_true(seen_settled(id, 1));
}

FAULTY_SCENE_TEST(a_damaged_key_of_a_packet_with_a_letter_does_not_stop_settlement)
{
    uint64_t other = world_send_apart(w, packet, 200, 2);
    (void)world_redis(w, packet, "DEL {pk}");
    (void)world_redis(w, packet, "SET {pk} nonsense");
    world_grab(w, other, 1);
    world_restart_worker(w);
    assert_int_equal(world_drain(w), 1);
    assert_true(seen_settled(other, 1));
}

/* The letter is committed, but its worker dies before it publishes. */
TEST(held_shares_are_published_before_the_position)
{
    uint64_t events;
    WORLDS (late, 2, world_begin(w, 3)) {
        packet = world_even_settled(w, 400, 4, 1);
        world_grab(w, packet, 2);
        damage_last_event(packet, "%" PRIu64 ",one,?", packet);
        struct settle_partition *p = world_partition(w, packet);
        struct settle *other = worker_new(w->settler);
        struct settle_partition *others = &other->partitions[p->no];
        if (late) /* has read the event, too, and finds the cursor moved */
            assert_int_equal(settle_read(other, p->no, 1), ST_OK);
        assert_int_equal(settle_read(w->settle, p->no, 1), ST_OK);
        assert_int_equal(settle_apply(w->settle, p, &events), ST_OK);
        assert_int_equal(world_letters(w, 0), 1);
        if (late)
            assert_int_equal(settle_apply(other, others, &events), ST_OK);
        else
            assert_int_equal(settle_read(other, p->no, 1), ST_OK);
        assert_int_equal(settle_publish(other, others), ST_OK);
        assert_true(live_event_id_equal(others->published, p->last));
        assert_seen_settled(1, true);
        assert_seen_settled(2, false);
        settle_free(other);
    }
}

/* The letters are settled, but the command dies before it publishes. */
TEST(the_next_worker_or_replay_publishes_that_a_share_is_no_longer_held)
{
    WORLDS (by_worker, 2, scene_begin(true)) {
        replay_both();
        assert_seen_settled(2, false); /* not yet */
        if (by_worker) {
            world_restart_worker(w);
            assert_int_equal(world_drain(w), 0);
        } else {
            assert_int_equal(command(replay_packet, packet), ST_OK);
        }
        assert_seen_settled(2, true);
        assert_seen_settled(3, true);
    }
}

FAULTY_SCENE_TEST(a_repair_that_contradicts_is_refused_and_the_letter_stays)
{
    unsigned long long id = packet, user = w->users[2], other = w->users[1];
    const struct str bad[] = { arena_printf(w->arena, "g %llu,0,%llu,100,x", id, user), /* the share of another user */
                               arena_printf(w->arena, "g %llu,0,%llu,99,x", id, other), /* settled with 100 fen */
                               arena_printf(w->arena, "g %llu,0,%llu,101,x", id, other),
                               arena_printf(w->arena, "g %llu,1,%llu,100,x", id, other), /* has one already */
                               arena_printf(w->arena, "g %llu,1,%llu,500,x", id, user), /* more than the packet holds */
                               arena_printf(w->arena, "g %llu,2,%llu,100,x", id, user), /* skips a share */
                               arena_printf(w->arena, "g %llu,1,424242,100,x", id),     /* no such user */
                               arena_printf(w->arena, "c %llu,2,200,200", id),          /* wrong numbers */
                               arena_printf(w->arena, "c %llu,2,100,300", id),          /* one wrong number */
                               arena_printf(w->arena, "c %llu,1,200,300", id),
                               arena_printf(w->arena, "c %llu,1,100,200", id) };
    EACH (content, bad) {
        struct settle_replay r = replay(letter_id("MIN"), *content);
        assert_int_equal(r.outcome, REPLAY_FAULT);
        assert_int_not_equal(r.fault.kind, FAULT_NONE);
    }
    assert_ints({ world_letters(w, 0), 2 }, { world_balance(w, w->users[2]), 100000 },
                { world_audit_violations(w, "I5"), 0 });
}

SCENE_TEST(a_whole_packet_is_replayed_by_one_command_and_leaves_redis_when_it_closes)
{
    world_grab(w, packet, 4);
    assert_int_equal(world_drain(w), 0);
    assert_int_equal(world_letters(w, 0), 3);
    assert_int_equal(command(replay_packet, packet), ST_INVALID); /* stops at the damaged one */
    assert_int_equal(world_letters(w, 0), 3);
    assert_int_equal(replay_by_hand(letter_id("MIN"), repaired()), ST_OK);
    assert_int_equal(command(replay_packet, packet), ST_OK);
    assert_ints({ world_letters(w, 0), 0 }, { world_packet(w, packet).state, PACKET_CLOSED },
                { world_redis(w, packet, "EXISTS {pk} {sh} {gr} {or}"), 0 });
}

SCENE_TEST(recovery_and_expiry_skip_a_packet_in_quarantine)
{
    (void)world_redis(w, packet, "DEL {pk} {sh} {gr} {or}");
    assert_int_equal(recover_once(LATER_MS).loaded, 0); /* share 1 would be given out twice */
    /* the share of users[2] would be refunded */
    assert_int_equal(recover_one(packet, 2 * (int64_t)HOUR_MS).refunded, 0);
    world_restart_worker(w);
    assert_int_equal(world_drain(w), 0);
    assert_int_equal(world_redis(w, packet, "EXISTS {pk}"), 0); /* publishing held shares creates no packet */
    replay_both();
    assert_int_equal(recover_one(packet, 0).loaded, 1);
    const struct live_grab again = world_grab(w, packet, 2);
    assert_ints({ again.code, LIVE_ALREADY }, { again.share_no, 1 });
    assert_seen_settled(2, true);
    assert_seen_settled(3, true);
}

/* Commits the administrator's transaction as soon as another connection waits for the packet it has locked. */
static void *commit_when_waited_for(void *arg)
{
    (void)arg;
    while (world_number(w,
                        "SELECT COUNT(*) FROM information_schema.processlist WHERE id <> CONNECTION_ID()"
                        " AND info LIKE '%WHERE packet.id = % FOR UPDATE'",
                        0) == 0)
        usleep(1000);
    world_sql(w, "COMMIT");
    return NULL;
}

FAULTY_SCENE_TEST(a_letter_is_seen_that_is_written_while_recovery_waits_for_the_packet)
{
    struct recover_done done = { 0 };
    pthread_t thread;
    struct services *administrator = test_services_open(); /* sees the process list, whose rights the worker lacks */
    struct settle *worker = worker_new(administrator);
    (void)world_redis(w, packet, "DEL {pk} {sh} {gr} {or}");
    world_sql(w, "UPDATE dead_letter SET resolved_ms = 1");
    world_sql(w, "START TRANSACTION");
    assert_int_equal(world_number(w, "SELECT COUNT(*) FROM packet WHERE id = ? FOR UPDATE", packet), 1);
    world_sql(w, "UPDATE dead_letter SET resolved_ms = NULL"); /* as if they were made only now */
    assert_int_equal(pthread_create(&thread, NULL, commit_when_waited_for, NULL), 0);
    assert_int_equal(recover_packet(worker, packet, clock_now_ms() + 2 * (int64_t)HOUR_MS, &done), ST_OK);
    pthread_join(thread, NULL);
    assert_int_equal(done.refunded + done.loaded + done.faults, 0);
    settle_free(worker);
    test_services_close(administrator);
}

FAULTY_SCENE_TEST(a_dropped_letter_ends_the_quarantine_without_money)
{
    assert_int_equal(command(replay_drop, letter_id("MAX")), ST_OK);
    assert_seen_settled(2, false);
    assert_int_equal(command(replay_drop, letter_id("MAX")), ST_OK);
    assert_int_equal(command(replay_drop, 1000000), ST_INVALID);
    assert_ints({ world_letters(w, 0), 0 }, { world_audit_violations(w, "letters"), 0 },
                { world_number(w, "SELECT COUNT(*) FROM dead_letter WHERE resolution = 'dropped'", 0), 2 },
                { world_balance(w, w->users[2]), 100000 });
    assert_seen_settled(2, true); /* no share is held */
}

/* Whether a hot process would cache the packet now. */
static bool kept(uint64_t id)
{
    struct packet_view view = view_of(id, 0);
    return page_cacheable(&view);
}

/* The list of letters begins with this text. */
static void assert_listed(const char *start)
{
    char *text;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    assert_non_null(out);
    assert_int_equal(replay_list(&w->settler->stores, out), ST_OK);
    (void)fclose(out);
    assert_true(str_starts(str_from(text), str_from(start)));
    free(text);
}

FAULTY_SCENE_TEST(the_list_has_each_letter_or_says_that_there_is_none)
{
    assert_listed(
        arena_printf(w->arena, "letter %" PRIu64 "  packet %" PRIu64 "  event ", letter_id("MIN"), packet).ptr);
    world_sql(w, "DELETE FROM dead_letter");
    assert_listed("no dead letters\n");
}

FAULTY_SCENE_TEST(a_finished_packet_with_a_letter_is_not_cacheable)
{
    world_grab(w, packet, 4);
    assert_int_equal(world_drain(w), 0);
    assert_int_equal(world_letters(w, 0), 3);
    assert_false(kept(packet)); /* the letter may be dropped, and its share given to another user */
    uint64_t other = world_even_settled(w, 200, 2, 2);
    assert_true(kept(other)); /* before its expiry */
}

FAULTY_WORLD_TEST(a_late_worker_writes_no_second_letter, 3)
{
    uint64_t events;
    uint64_t id = world_even(w, 300, 3);
    (void)world_redis_text(w, id, "XADD {ev} * g nonsense");
    struct settle_partition *p = world_partition(w, id);
    assert_int_equal(settle_read(w->settle, p->no, 1), ST_OK);
    struct settle *other = worker_new(w->settler);
    (void)worker_drain(other);
    assert_int_equal(world_letters(w, 0), 1);
    assert_int_equal(settle_apply(w->settle, p, &events), ST_OK);
    assert_int_equal(world_letters(w, 0), 1);
    world_grab(w, id, 1);
    assert_int_equal(world_drain(w), 1);
    settle_free(other);
}

WORLD_TEST(a_crowd_becomes_one_letter_and_its_repair_settles_all_of_it, 5)
{
    uint64_t id = world_even(w, 400, 4);
    world_grab_all(w, id, 1, 3); /* one event */
    damage_last_event(id, "%" PRIu64 ",0,%" PRIu64 ",?,x", id, w->users[1]);
    world_grab(w, id, 4);
    assert_int_equal(world_drain(w), 0);
    assert_int_equal(world_letters(w, 0), 2);
    const struct str a = grab_line(id, 0, 1), b = grab_line(id, 1, 2), c = grab_line(id, 2, 3);
    struct str other = arena_printf(w->arena, "%.*s\ng 16,1,%" PRIu64 ",100,x", STR_ARG(a), w->users[2]);
    struct str all = arena_printf(w->arena, "%.*s\n%.*s\n%.*s", STR_ARG(a), STR_ARG(b), STR_ARG(c));
    assert_int_equal(replay(letter_id("MIN"), other).outcome, REPLAY_UNREADABLE); /* of two packets */
    assert_int_equal(replay(letter_id("MIN"), all).outcome, REPLAY_DONE);
    assert_int_equal(replay(letter_id("MIN"), STR_NONE).outcome, REPLAY_DONE);
    assert_wallets(1, 100100, 100100, 100100, 100100);
    (void)world_drain(w);
}

WORLD_TEST(the_letter_of_a_crowd_is_replayed_as_it_was, 4)
{
    uint64_t id = world_even(w, 400, 4);
    world_grab_all(w, id, 1, 3);
    world_sql(w, "UPDATE packet SET grabbed_count = 1"); /* the tables contradict the event */
    assert_int_equal(world_drain(w), 0);
    assert_ints(
        { world_letters(w, 0), 1 },
        { world_number(w, "SELECT LENGTH(content) - LENGTH(REPLACE(content, 'g ', '')) FROM dead_letter", 0), 3 * 2 });
    world_sql(w, "UPDATE packet SET grabbed_count = 0");
    assert_int_equal(replay(letter_id("MIN"), grab_line(id, 0, 1)).outcome, REPLAY_INCOMPLETE);
    /* An older program, which did not know crowds, would have written them as one line. */
    world_sql(w, "UPDATE dead_letter SET content = REPLACE(content, CHAR(10), ' ')");
    assert_int_equal(replay(letter_id("MIN"), STR_NONE).outcome, REPLAY_UNREADABLE);
    world_sql(w, "UPDATE dead_letter SET content = REPLACE(content, ' g ', CONCAT(CHAR(10), 'g '))");
    assert_int_equal(world_letters(w, 0), 1);
    assert_int_equal(replay(letter_id("MIN"), STR_NONE).outcome, REPLAY_DONE);
    (void)world_drain(w);
}

WORLD_TEST(a_damaged_close_event_is_repaired_into_a_refund, 3)
{
    struct expire expire = { 0 };
    struct recover_done done = { 0 };
    uint64_t closed;
    uint64_t id = world_send(w, 0, PACKET_EVEN, 300, 3, 0, -1);
    world_drain(w);
    assert_int_equal(expire_pass(&expire, w->settle, clock_now_ms() + LATER_MS, &closed, &done), ST_OK);
    assert_int_equal(closed, 1);
    damage_last_event(id, "%" PRIu64 ",?", id);
    assert_int_equal(world_drain(w), 0);
    assert_int_equal(world_letters(w, 0), 1);
    assert_int_equal(view_of(id, 0).packet.refund_fen, 0); /* its page shows no refund */
    assert_int_equal(recover_one(id, 0).refunded, 0);
    struct settle_replay r = replay(letter_id("MIN"), arena_printf(w->arena, "c %" PRIu64 ",0,0,300", id));
    assert_ints({ r.outcome, REPLAY_DONE }, { r.closed, true }, { world_balance(w, w->users[0]), 100000 });
}

TESTS(NULL, NULL)

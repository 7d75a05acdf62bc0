/* Dead letters: an unsettled event becomes one letter, later events of its packet follow, and a replay settles them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "io/redis_reply.h"
#include "live/event.h"
#include "live/grab.h"
#include "live/keys.h"
#include "live/live.h"
#include "live/view.h"
#include "ops/audit.h"
#include "ops/replay.h"
#include "packet/view.h"
#include "pages/page_cache.h"
#include "settle/commit.h"
#include "settle/dead_letter.h"
#include "settle/expire.h"
#include "settle/fault.h"
#include "settle/publish.h"
#include "settle/read.h"
#include "settle/recover.h"
#include "settle/settle.h"
#include "settle/write.h"
#include "support/test_services.h"
#include "test_settle_fixture.h"

enum { HOUR_MS = 3600000, LATER_MS = 10000, WORD_MAX = 200 };

/* A packet of 4 × 100 fen whose second grab (users[2], share 1) is damaged in the stream; the third follows it. */
struct scene {
    struct world w;
    uint64_t id;
};

static void damage_last_event(struct world *w, uint64_t id, const char *value)
{
    struct redis_call call = { 0 };
    struct live_keys keys;
    char event[WORD_MAX];
    live_keys(&keys, id, w->config->partitions);
    const struct str last[] = {
        STR("XREVRANGE"), keys.key[LIVE_KEY_EVENTS], STR("+"), STR("-"), STR("COUNT"), STR("1")
    };
    assert_int_equal(redis_do(w->app->stores.redis, &call, last, 6), ST_OK);
    struct str at = redis_reply_str(redis_reply_at(redis_reply_at(call.reply, 0), 0));
    assert_true(at.len > 0 && at.len < sizeof event);
    memcpy(event, at.ptr, at.len);
    event[at.len] = '\0';
    redis_call_free(&call);
    /* An id can't be added twice: create the stream again up to this event. */
    struct str words = arena_printf(w->arena, "XADD {ev} %s g %s", event, value);
    assert_int_equal(world_redis(w, id, "DEL {ev}"), 1);
    if (live_event_id_compare(world_partition(w, id)->last, LIVE_EVENT_NONE) != 0) {
        char cursor[LIVE_EVENT_ID_MAX];
        (void)live_event_id_text(cursor, world_partition(w, id)->last);
        (void)world_redis_text(w, id, arena_printf(w->arena, "XADD {ev} %s r 1", cursor).ptr);
    }
    assert_non_null(world_redis_text(w, id, words.ptr).ptr);
}

static void scene_begin(struct scene *s, bool readable_packet)
{
    world_begin(&s->w, 6);
    s->id = world_send(&s->w, 0, PACKET_EVEN, 400, 4, HOUR_MS, -1);
    world_grab(&s->w, s->id, 1);
    assert_int_equal(world_drain(&s->w), 1);
    world_grab(&s->w, s->id, 2);
    struct str damaged = arena_printf(s->w.arena, "%llu,one,?", (unsigned long long)s->id);
    damage_last_event(&s->w, s->id, readable_packet ? damaged.ptr : "nonsense");
    world_grab(&s->w, s->id, 3);
    assert_int_equal(world_drain(&s->w), 0);
}

/* The packet as users[user] sees it, without texts: they are freed with the reply. */
static struct packet_view seen(struct world *w, uint64_t id, size_t user)
{
    struct redis_call call = { 0 };
    struct packet_view view;
    live_view_queue(&w->live, &call, id, w->users[user], PACKET_NO_SHARE, LIVE_ROWS_MAX);
    redis_round(w->hot->stores.redis);
    assert_int_equal(live_view_read(&call, w->arena, id, &view), ST_OK);
    redis_call_free(&call);
    return view;
}

static bool seen_settled(struct world *w, uint64_t id, size_t user)
{
    struct packet_view view = seen(w, id, user);
    assert_true(view.has_mine);
    for (size_t i = 0; i < view.row_count; i++) /* the list has the same state */
        if (view.rows[i].share_no == view.mine.share_no)
            assert_int_equal(view.rows[i].settled, view.mine.settled);
    return view.mine.settled;
}

static uint64_t letter_id(struct world *w, const char *order)
{
    struct str sql =
        arena_printf(w->arena, "SELECT id FROM dead_letter WHERE resolved_ms IS NULL ORDER BY id %s LIMIT 1", order);
    return (uint64_t)world_number(w, sql.ptr, 0);
}

static int64_t waiting(struct world *w)
{
    return world_number(w, "SELECT COUNT(*) FROM dead_letter WHERE resolved_ms IS NULL", 0);
}

/* Runs the replay command: the tables, then Redis. */
static enum status replay_by_hand(struct world *w, uint64_t letter, struct str content)
{
    FILE *out = tmpfile();
    assert_non_null(out);
    enum status st = replay_letter(&w->settler->stores, letter, content, out);
    (void)fclose(out);
    return st;
}

static struct settle_replay replay(struct world *w, uint64_t letter, struct str content)
{
    struct settle_replay r = { .letter_id = letter, .content = content, .now_ms = clock_now_ms() };
    assert_int_equal(settle_replay(w->settler->stores.db, w->arena, &r), ST_OK);
    return r;
}

/* The corrected content of the damaged event. */
static struct str repaired(struct scene *s)
{
    return arena_printf(s->w.arena, "g %llu,1,%llu,100,小,强", (unsigned long long)s->id,
                        (unsigned long long)s->w.users[2]);
}

/* The event of a grab: a share of 100 fen for users[user]. */
static struct str grab_line(struct world *w, uint64_t packet_id, size_t share_no, size_t user)
{
    return arena_printf(w->arena, "g %llu,%zu,%llu,100,%.*s", (unsigned long long)packet_id, share_no,
                        (unsigned long long)w->users[user], STR_ARG(world_badge(w, "小强")));
}

static uint64_t violations(struct world *w, enum audit_check check)
{
    static struct audit audit;
    audit.packet_id = 0;
    assert_int_equal(audit_run(&w->auditor->stores, &audit), ST_OK);
    return audit.checks[check].violations;
}

static void later_events_of_the_packet_follow_and_the_audit_names_them(void **state)
{
    struct scene s;
    (void)state;
    scene_begin(&s, true);
    assert_int_equal(waiting(&s.w), 2);
    assert_int_equal(world_number(&s.w, "SELECT COUNT(*) FROM dead_letter WHERE packet_id = ?", s.id), 2);
    assert_int_equal(violations(&s.w, AUDIT_LETTERS), 2);
    assert_int_equal(world_balance(&s.w, s.w.users[3]), 100000); /* not settled past the skipped share */
    assert_int_equal(violations(&s.w, AUDIT_I5), 0);
    world_end(&s.w);
}

static void later_grabs_follow_a_letter_without_a_packet_id_because_a_share_is_skipped(void **state)
{
    struct scene s;
    (void)state;
    scene_begin(&s, false);
    assert_int_equal(waiting(&s.w), 2);
    assert_int_equal(world_number(&s.w, "SELECT COUNT(*) FROM dead_letter WHERE packet_id IS NULL", 0), 1);
    assert_int_equal(world_balance(&s.w, s.w.users[3]), 100000);
    assert_false(seen_settled(&s.w, s.id, 2)); /* its letter names no packet, but shares are settled in order */
    assert_false(seen_settled(&s.w, s.id, 3));
    world_end(&s.w);
}

static void a_repaired_letter_and_those_behind_it_are_settled_in_order(void **state)
{
    struct scene s;
    (void)state;
    scene_begin(&s, true);
    struct world *w = &s.w;
    uint64_t first = letter_id(w, "ASC"), last = letter_id(w, "DESC");
    assert_int_equal(replay(w, last, STR_NONE).outcome, REPLAY_EARLIER);
    assert_int_equal(replay(w, first, STR_NONE).outcome, REPLAY_UNREADABLE);
    assert_int_equal(waiting(w), 2);
    /* The cursor stays; its row is written, so that a worker at another Galera node conflicts with the replay. */
    const char *const written = "SELECT SUM(updated_ms) FROM stream_cursor";
    const int64_t before = world_number(w, written, 0);
    assert_int_equal(replay(w, first, repaired(&s)).outcome, REPLAY_DONE);
    assert_int_equal(world_number(w, written, 0), before + 1);
    assert_int_equal(world_balance(w, w->users[2]), 100100);
    assert_int_equal(replay(w, first, repaired(&s)).outcome, REPLAY_MISSING); /* once */
    assert_int_equal(replay(w, last, STR_NONE).outcome, REPLAY_DONE);
    assert_int_equal(world_balance(w, w->users[2]), 100100);
    assert_int_equal(world_balance(w, w->users[3]), 100100);
    world_grab(w, s.id, 4); /* the packet is an ordinary one again */
    assert_int_equal(world_drain(w), 1);
    assert_int_equal(world_packet(w, s.id).state, PACKET_CLOSED);
    world_audit_clean(w);
    world_end(w);
}

static void a_share_is_held_behind_a_letter_until_the_replay(void **state)
{
    struct scene s;
    (void)state;
    scene_begin(&s, true);
    struct world *w = &s.w;
    assert_true(seen_settled(w, s.id, 1)); /* before the letter */
    assert_false(seen_settled(w, s.id, 2));
    assert_false(seen_settled(w, s.id, 3));
    assert_int_equal(replay_by_hand(w, letter_id(w, "ASC"), repaired(&s)), ST_OK);
    assert_true(seen_settled(w, s.id, 2));
    assert_false(seen_settled(w, s.id, 3));
    assert_int_equal(replay_by_hand(w, letter_id(w, "ASC"), STR_NONE), ST_OK);
    assert_true(seen_settled(w, s.id, 3));
    world_grab(w, s.id, 4);
    assert_false(seen_settled(w, s.id, 4));
    assert_int_equal(world_drain(w), 1);
    assert_true(seen_settled(w, s.id, 4));
    world_end(w);
}

static void a_letter_of_another_partition_holds_no_grab(void **state)
{
    struct world w;
    (void)state;
    world_begin(&w, 2);
    uint64_t id = world_send(&w, 0, PACKET_EVEN, 300, 3, HOUR_MS, -1);
    uint32_t partition = (world_partition(&w, id)->no + 1) % (uint32_t)w.config->partitions;
    world_sql(&w, arena_printf(w.arena,
                               "INSERT INTO dead_letter (partition_no, event_id, packet_id, content, reason,"
                               " created_ms) VALUES (%u, '1-1', %llu, 'g', 'x', 0)",
                               partition, (unsigned long long)id)
                      .ptr);
    world_restart_worker(&w);
    world_grab(&w, id, 1);
    assert_int_equal(world_drain(&w), 1);
    assert_true(seen_settled(&w, id, 1));
    world_end(&w);
}

static void a_damaged_key_of_a_packet_with_a_letter_does_not_stop_settlement(void **state)
{
    struct scene s;
    (void)state;
    scene_begin(&s, true);
    struct world *w = &s.w;
    uint64_t other = world_send_apart(w, s.id, 200, 2);
    (void)world_redis(w, s.id, "DEL {pk}");
    (void)world_redis(w, s.id, "SET {pk} nonsense");
    world_grab(w, other, 1);
    world_restart_worker(w);
    assert_int_equal(world_drain(w), 1);
    assert_true(seen_settled(w, other, 1));
    world_end(w);
}

/* The letter is committed, and its worker dies before it publishes. */
static void held_shares_are_published_before_the_position(void **state)
{
    struct scene s;
    struct settle *other;
    uint64_t events;
    (void)state;
    for (int late = 0; late < 2; late++) {
        world_begin(&s.w, 3);
        struct world *w = &s.w;
        s.id = world_send(w, 0, PACKET_EVEN, 400, 4, HOUR_MS, -1);
        world_grab(w, s.id, 1);
        assert_int_equal(world_drain(w), 1);
        world_grab(w, s.id, 2);
        damage_last_event(w, s.id, arena_printf(w->arena, "%llu,one,?", (unsigned long long)s.id).ptr);
        struct settle_partition *p = world_partition(w, s.id);
        assert_int_equal(settle_new(&w->settler->stores, &other), ST_OK);
        if (late) /* has read the event, too, and finds the cursor moved */
            assert_int_equal(settle_read(other, p->no, 1), ST_OK);
        assert_int_equal(settle_read(w->settle, p->no, 1), ST_OK);
        assert_int_equal(settle_commit(w->settle, p, &events), ST_OK);
        assert_int_equal(waiting(w), 1);
        if (late)
            assert_int_equal(settle_commit(other, &other->partitions[p->no], &events), ST_OK);
        else
            assert_int_equal(settle_read(other, p->no, 1), ST_OK);
        assert_int_equal(settle_publish(other, &other->partitions[p->no]), ST_OK);
        assert_int_equal(live_event_id_compare(other->partitions[p->no].published, p->last), 0);
        assert_true(seen_settled(w, s.id, 1));
        assert_false(seen_settled(w, s.id, 2));
        settle_free(other);
        world_end(w);
    }
}

/* The letters are settled, and the command dies before it publishes. */
static void the_next_worker_or_replay_publishes_that_a_share_is_no_longer_held(void **state)
{
    struct scene s;
    (void)state;
    for (int by_worker = 0; by_worker < 2; by_worker++) {
        scene_begin(&s, true);
        struct world *w = &s.w;
        assert_int_equal(replay(w, letter_id(w, "ASC"), repaired(&s)).outcome, REPLAY_DONE);
        assert_int_equal(replay(w, letter_id(w, "ASC"), STR_NONE).outcome, REPLAY_DONE);
        assert_false(seen_settled(w, s.id, 2)); /* not yet */
        if (by_worker) {
            world_restart_worker(w);
            assert_int_equal(world_drain(w), 0);
        } else {
            FILE *out = tmpfile();
            assert_non_null(out);
            assert_int_equal(replay_packet(&w->settler->stores, s.id, out), ST_OK);
            (void)fclose(out);
        }
        assert_true(seen_settled(w, s.id, 2));
        assert_true(seen_settled(w, s.id, 3));
        world_end(w);
    }
}

static void a_repair_that_contradicts_is_refused_and_the_letter_stays(void **state)
{
    struct scene s;
    (void)state;
    scene_begin(&s, true);
    struct world *w = &s.w;
    unsigned long long id = s.id, user = w->users[2], other = w->users[1];
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
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct settle_replay r = replay(w, letter_id(w, "ASC"), bad[i]);
        assert_int_equal(r.outcome, REPLAY_FAULT);
        assert_int_not_equal(r.fault.kind, FAULT_NONE);
    }
    assert_int_equal(waiting(w), 2);
    assert_int_equal(world_balance(w, w->users[2]), 100000);
    assert_int_equal(violations(w, AUDIT_I5), 0);
    world_end(w);
}

static void a_whole_packet_is_replayed_by_one_command_and_leaves_redis_when_it_closes(void **state)
{
    struct scene s;
    (void)state;
    scene_begin(&s, true);
    struct world *w = &s.w;
    world_grab(w, s.id, 4);
    assert_int_equal(world_drain(w), 0);
    assert_int_equal(waiting(w), 3);
    FILE *out = tmpfile();
    assert_non_null(out);
    assert_int_equal(replay_packet(&w->settler->stores, s.id, out), ST_INVALID); /* stops at the damaged one */
    assert_int_equal(waiting(w), 3);
    assert_int_equal(replay_letter(&w->settler->stores, letter_id(w, "ASC"), repaired(&s), out), ST_OK);
    assert_int_equal(replay_packet(&w->settler->stores, s.id, out), ST_OK);
    (void)fclose(out);
    assert_int_equal(waiting(w), 0);
    assert_int_equal(world_packet(w, s.id).state, PACKET_CLOSED);
    assert_int_equal(world_redis(w, s.id, "EXISTS {pk} {sh} {gr} {or}"), 0);
    world_audit_clean(w);
    world_end(w);
}

static void recovery_and_expiry_skip_a_packet_in_quarantine(void **state)
{
    struct scene s;
    struct recover r = { .full_walk = true };
    struct recover_done done = { 0 };
    (void)state;
    scene_begin(&s, true);
    struct world *w = &s.w;
    (void)world_redis(w, s.id, "DEL {pk} {sh} {gr} {or}");
    assert_int_equal(recover_pass(&r, w->settle, clock_now_ms() + LATER_MS, &done), ST_OK);
    assert_int_equal(done.loaded, 0); /* share 1 would be given out twice */
    assert_int_equal(recover_packet(w->settle, s.id, clock_now_ms() + 2 * (int64_t)HOUR_MS, &done), ST_OK);
    assert_int_equal(done.refunded, 0); /* the share of users[2] would be refunded */
    world_restart_worker(w);
    assert_int_equal(world_drain(w), 0);
    assert_int_equal(world_redis(w, s.id, "EXISTS {pk}"), 0); /* publishing held shares creates no packet */
    assert_int_equal(replay(w, letter_id(w, "ASC"), repaired(&s)).outcome, REPLAY_DONE);
    assert_int_equal(replay(w, letter_id(w, "ASC"), STR_NONE).outcome, REPLAY_DONE);
    assert_int_equal(recover_packet(w->settle, s.id, clock_now_ms(), &done), ST_OK);
    assert_int_equal(done.loaded, 1);
    struct live_grab again = world_grab(w, s.id, 2);
    assert_int_equal(again.code, LIVE_ALREADY);
    assert_int_equal(again.share_no, 1);
    assert_true(seen_settled(w, s.id, 2));
    assert_true(seen_settled(w, s.id, 3));
    world_audit_clean(w);
    world_end(w);
}

/* Commits the administrator's transaction as soon as another connection waits for the packet it has locked. */
static void *commit_when_waited_for(void *arg)
{
    struct world *w = arg;
    while (world_number(w,
                        "SELECT COUNT(*) FROM information_schema.processlist WHERE id <> CONNECTION_ID()"
                        " AND info LIKE '%WHERE packet.id = % FOR UPDATE'",
                        0) == 0)
        usleep(1000);
    world_sql(w, "COMMIT");
    return NULL;
}

static void a_letter_is_seen_that_is_written_while_recovery_waits_for_the_packet(void **state)
{
    struct scene s;
    struct recover_done done = { 0 };
    struct settle *worker;
    pthread_t thread;
    (void)state;
    scene_begin(&s, true);
    struct world *w = &s.w;
    struct services *administrator = test_services_open(); /* sees the process list, whose rights the worker lacks */
    assert_int_equal(settle_new(&administrator->stores, &worker), ST_OK);
    (void)world_redis(w, s.id, "DEL {pk} {sh} {gr} {or}");
    world_sql(w, "UPDATE dead_letter SET resolved_ms = 1");
    world_sql(w, "START TRANSACTION");
    assert_int_equal(world_number(w, "SELECT COUNT(*) FROM packet WHERE id = ? FOR UPDATE", s.id), 1);
    world_sql(w, "UPDATE dead_letter SET resolved_ms = NULL"); /* as if they were written only now */
    assert_int_equal(pthread_create(&thread, NULL, commit_when_waited_for, w), 0);
    assert_int_equal(recover_packet(worker, s.id, clock_now_ms() + 2 * (int64_t)HOUR_MS, &done), ST_OK);
    pthread_join(thread, NULL);
    assert_int_equal(done.refunded + done.loaded + done.faults, 0);
    settle_free(worker);
    test_services_close(administrator);
    world_end(w);
}

static void a_dropped_letter_ends_the_quarantine_without_money(void **state)
{
    struct scene s;
    (void)state;
    scene_begin(&s, true);
    struct world *w = &s.w;
    FILE *out = tmpfile();
    assert_non_null(out);
    assert_int_equal(replay_drop(&w->settler->stores, letter_id(w, "DESC"), out), ST_OK);
    assert_false(seen_settled(w, s.id, 2));
    assert_int_equal(replay_drop(&w->settler->stores, letter_id(w, "DESC"), out), ST_OK);
    assert_int_equal(replay_drop(&w->settler->stores, 1000000, out), ST_INVALID);
    (void)fclose(out);
    assert_int_equal(waiting(w), 0);
    assert_int_equal(violations(w, AUDIT_LETTERS), 0);
    assert_int_equal(world_number(w, "SELECT COUNT(*) FROM dead_letter WHERE resolution = 'dropped'", 0), 2);
    assert_true(seen_settled(w, s.id, 2)); /* no share is held */
    assert_int_equal(world_balance(w, w->users[2]), 100000);
    world_end(w);
}

/* Whether a hot process would cache the packet now. */
static bool kept(struct world *w, uint64_t id)
{
    struct packet_view view = seen(w, id, 0);
    return page_cacheable(&view);
}

/* The text that the list of letters begins with. */
static void assert_listed(struct world *w, const char *start)
{
    char text[WORD_MAX] = "";
    FILE *out = tmpfile();
    assert_non_null(out);
    assert_int_equal(replay_list(&w->settler->stores, out), ST_OK);
    rewind(out);
    (void)fread(text, 1, sizeof text - 1, out);
    (void)fclose(out);
    assert_true(str_starts(str_from(text), str_from(start)));
}

static void the_list_has_each_letter_or_says_that_there_is_none(void **state)
{
    struct scene s;
    char start[WORD_MAX];
    (void)state;
    scene_begin(&s, true);
    struct world *w = &s.w;
    (void)snprintf(start, sizeof start, "letter %llu  packet %llu  event ", (unsigned long long)letter_id(w, "ASC"),
                   (unsigned long long)s.id);
    assert_listed(w, start);
    world_sql(w, "DELETE FROM dead_letter");
    assert_listed(w, "no dead letters\n");
    world_end(w);
}

static void a_finished_packet_with_a_letter_is_not_cacheable(void **state)
{
    struct scene s;
    (void)state;
    scene_begin(&s, true);
    struct world *w = &s.w;
    world_grab(w, s.id, 4);
    assert_int_equal(world_drain(w), 0);
    assert_int_equal(waiting(w), 3);
    assert_false(kept(w, s.id)); /* the letter may be dropped, and its share given to another user */
    uint64_t other = world_send(w, 0, PACKET_EVEN, 200, 2, HOUR_MS, -1);
    world_grab_all(w, other, 1, 2);
    assert_int_equal(world_drain(w), 2);
    assert_true(kept(w, other)); /* before its expiry */
    world_end(w);
}

static void a_late_worker_writes_no_second_letter(void **state)
{
    struct world w;
    struct settle *other;
    uint64_t events;
    (void)state;
    world_begin(&w, 3);
    uint64_t id = world_send(&w, 0, PACKET_EVEN, 300, 3, HOUR_MS, -1);
    (void)world_redis_text(&w, id, "XADD {ev} * g nonsense");
    struct settle_partition *p = world_partition(&w, id);
    assert_int_equal(settle_read(w.settle, p->no, 1), ST_OK);
    assert_int_equal(settle_new(&w.settler->stores, &other), ST_OK);
    assert_int_equal(settle_drain(other, 10, &events), ST_OK);
    assert_int_equal(waiting(&w), 1);
    assert_int_equal(settle_commit(w.settle, p, &events), ST_OK);
    assert_int_equal(waiting(&w), 1);
    world_grab(&w, id, 1);
    assert_int_equal(world_drain(&w), 1);
    settle_free(other);
    world_end(&w);
}

static void a_crowd_becomes_one_letter_and_its_repair_settles_all_of_it(void **state)
{
    struct world w;
    (void)state;
    world_begin(&w, 5);
    uint64_t id = world_send(&w, 0, PACKET_EVEN, 400, 4, HOUR_MS, -1);
    world_grab_all(&w, id, 1, 3); /* one event */
    struct str damaged =
        arena_printf(w.arena, "%llu,0,%llu,?,x", (unsigned long long)id, (unsigned long long)w.users[1]);
    damage_last_event(&w, id, damaged.ptr);
    world_grab(&w, id, 4);
    assert_int_equal(world_drain(&w), 0);
    assert_int_equal(waiting(&w), 2);
    struct str lines[3];
    for (size_t i = 0; i < 3; i++)
        lines[i] = grab_line(&w, id, i, 1 + i);
    struct str two = arena_printf(w.arena, "%.*s\n%.*s", STR_ARG(lines[0]), STR_ARG(lines[1]));
    struct str other =
        arena_printf(w.arena, "%.*s\ng 16,1,%llu,100,x", STR_ARG(lines[0]), (unsigned long long)w.users[2]);
    struct str all = arena_printf(w.arena, "%.*s\n%.*s", STR_ARG(two), STR_ARG(lines[2]));
    assert_int_equal(replay(&w, letter_id(&w, "ASC"), other).outcome, REPLAY_UNREADABLE); /* of two packets */
    assert_int_equal(replay(&w, letter_id(&w, "ASC"), all).outcome, REPLAY_DONE);
    assert_int_equal(replay(&w, letter_id(&w, "ASC"), STR_NONE).outcome, REPLAY_DONE);
    for (size_t i = 1; i <= 4; i++)
        assert_int_equal(world_balance(&w, w.users[i]), 100100);
    world_drain(&w);
    world_audit_clean(&w);
    world_end(&w);
}

static void the_letter_of_a_crowd_is_replayed_as_it_was(void **state)
{
    struct world w;
    (void)state;
    world_begin(&w, 4);
    uint64_t id = world_send(&w, 0, PACKET_EVEN, 400, 4, HOUR_MS, -1);
    world_grab_all(&w, id, 1, 3);
    world_sql(&w, "UPDATE packet SET grabbed_count = 1"); /* the tables contradict the event */
    assert_int_equal(world_drain(&w), 0);
    assert_int_equal(waiting(&w), 1);
    assert_int_equal(
        world_number(&w, "SELECT LENGTH(content) - LENGTH(REPLACE(content, 'g ', '')) FROM dead_letter", 0), 3 * 2);
    world_sql(&w, "UPDATE packet SET grabbed_count = 0");
    struct str one = grab_line(&w, id, 0, 1);
    assert_int_equal(replay(&w, letter_id(&w, "ASC"), one).outcome, REPLAY_INCOMPLETE);
    /* A program that did not know crowds would have written them as one line. */
    world_sql(&w, "UPDATE dead_letter SET content = REPLACE(content, CHAR(10), ' ')");
    assert_int_equal(replay(&w, letter_id(&w, "ASC"), STR_NONE).outcome, REPLAY_UNREADABLE);
    world_sql(&w, "UPDATE dead_letter SET content = REPLACE(content, ' g ', CONCAT(CHAR(10), 'g '))");
    assert_int_equal(waiting(&w), 1);
    assert_int_equal(replay(&w, letter_id(&w, "ASC"), STR_NONE).outcome, REPLAY_DONE);
    world_drain(&w);
    world_audit_clean(&w);
    world_end(&w);
}

static void a_damaged_close_event_is_repaired_into_a_refund(void **state)
{
    struct world w;
    struct expire expire = { 0 };
    struct recover_done done = { 0 };
    uint64_t closed;
    (void)state;
    world_begin(&w, 3);
    uint64_t id = world_send(&w, 0, PACKET_EVEN, 300, 3, 0, -1);
    world_drain(&w);
    assert_int_equal(expire_pass(&expire, w.settle, clock_now_ms() + LATER_MS, &closed, &done), ST_OK);
    assert_int_equal(closed, 1);
    damage_last_event(&w, id, arena_printf(w.arena, "%llu,?", (unsigned long long)id).ptr);
    assert_int_equal(world_drain(&w), 0);
    assert_int_equal(waiting(&w), 1);
    assert_int_equal(seen(&w, id, 0).packet.refund_fen, 0); /* its page shows no refund */
    assert_int_equal(recover_packet(w.settle, id, clock_now_ms(), &done), ST_OK);
    assert_int_equal(done.refunded, 0);
    struct settle_replay r =
        replay(&w, letter_id(&w, "ASC"), arena_printf(w.arena, "c %llu,0,0,300", (unsigned long long)id));
    assert_int_equal(r.outcome, REPLAY_DONE);
    assert_true(r.closed);
    assert_int_equal(world_balance(&w, w.users[0]), 100000);
    world_audit_clean(&w);
    world_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_damaged_key_of_a_packet_with_a_letter_does_not_stop_settlement),
        cmocka_unit_test(later_events_of_the_packet_follow_and_the_audit_names_them),
        cmocka_unit_test(later_grabs_follow_a_letter_without_a_packet_id_because_a_share_is_skipped),
        cmocka_unit_test(a_repaired_letter_and_those_behind_it_are_settled_in_order),
        cmocka_unit_test(a_share_is_held_behind_a_letter_until_the_replay),
        cmocka_unit_test(a_letter_of_another_partition_holds_no_grab),
        cmocka_unit_test(held_shares_are_published_before_the_position),
        cmocka_unit_test(the_next_worker_or_replay_publishes_that_a_share_is_no_longer_held),
        cmocka_unit_test(a_repair_that_contradicts_is_refused_and_the_letter_stays),
        cmocka_unit_test(a_whole_packet_is_replayed_by_one_command_and_leaves_redis_when_it_closes),
        cmocka_unit_test(recovery_and_expiry_skip_a_packet_in_quarantine),
        cmocka_unit_test(a_letter_is_seen_that_is_written_while_recovery_waits_for_the_packet),
        cmocka_unit_test(a_dropped_letter_ends_the_quarantine_without_money),
        cmocka_unit_test(the_list_has_each_letter_or_says_that_there_is_none),
        cmocka_unit_test(a_finished_packet_with_a_letter_is_not_cacheable),
        cmocka_unit_test(a_late_worker_writes_no_second_letter),
        cmocka_unit_test(a_crowd_becomes_one_letter_and_its_repair_settles_all_of_it),
        cmocka_unit_test(the_letter_of_a_crowd_is_replayed_as_it_was),
        cmocka_unit_test(a_damaged_close_event_is_repaired_into_a_refund),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

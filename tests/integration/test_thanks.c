/* A receiver thanks the sender: once for each share, shown from Redis and from the tables, whatever failed between. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/clock.h"
#include "live/view.h"
#include "packet/thanks.h"
#include "pages/show.h"
#include "settle/give_back.h"
#include "settle/recover.h"
#include "settle/tell.h"
#include "settle/thanks.h"
#include "test_settle_fixture.h"

enum { HOUR_MS = 3600000, PASSES_MAX = 200 };

/* users[user] thanks, with the rights of a pool. */
static enum thanks_result said(struct world *w, uint64_t packet_id, size_t user, const char *text)
{
    enum thanks_result result;
    assert_int_equal(
        thanks_say(&w->page->stores, w->arena, packet_id, w->users[user], str_from(text), clock_now_ms(), &result),
        ST_OK);
    return result;
}

static struct packet_view view_of(struct world *w, uint64_t packet_id, size_t user)
{
    struct redis_call call;
    struct packet_view view;
    live_view_queue(&w->live, &call, packet_id, w->users[user], PACKET_NO_SHARE, LIVE_ROWS_MAX);
    redis_round(w->live.redis);
    assert_int_equal(live_view_read(&call, w->arena, packet_id, &view), ST_OK);
    for (size_t i = 0; i < view.row_count; i++) /* outlive the reply */
        view.rows[i].thanks = arena_str(w->arena, str_or_empty(view.rows[i].thanks));
    view.mine.thanks = arena_str(w->arena, str_or_empty(view.mine.thanks));
    redis_call_free(&call);
    return view;
}

/* The thanks for share share_no on the packet's page from Redis, empty if there are none. */
static struct str shown(struct world *w, uint64_t packet_id, uint32_t share_no)
{
    struct packet_view view = view_of(w, packet_id, 0);
    for (size_t i = 0; i < view.row_count; i++)
        if (view.rows[i].share_no == share_no)
            return view.rows[i].thanks;
    fail_msg("share %u is not shown", share_no);
    return STR_NONE;
}

/* The same from the tables. */
static struct str stored(struct world *w, uint64_t packet_id, uint32_t share_no)
{
    struct grab grabs[] = { { .share_no = share_no + 1 }, { .share_no = share_no } };
    assert_int_equal(thanks_find_all(w->page->stores.db, w->arena, packet_id, grabs, ARRAY_LEN(grabs)), ST_OK);
    return str_or_empty(grabs[1].thanks);
}

/* The settle worker goes once through everything that Redis was not told. Returns its passes. */
static int tell_all(struct world *w)
{
    struct tell t = { 0 };
    int passes = 0;
    do
        assert_int_equal(tell_pass(&t, w->settle, clock_now_ms()), ST_OK);
    while (++passes < PASSES_MAX && t.thanks.packet_id != 0);
    return passes;
}

static int64_t pending(struct world *w)
{
    return world_number(w, "SELECT COUNT(*) FROM thanks WHERE applied_ms IS NULL AND packet_id > ?", 0);
}

/* users[0] has sent an even packet of four shares, and the next users have settled ones of it. Returns its id. */
static uint64_t scene_begin(struct world *w, size_t user_count, size_t grab_count)
{
    world_begin(w, user_count);
    uint64_t id = world_send(w, 0, PACKET_EVEN, 400, 4, HOUR_MS, -1);
    world_grab_all(w, id, 1, grab_count);
    assert_int_equal(world_drain(w), grab_count);
    return id;
}

static void thanks_are_shown_beside_their_share(void **state)
{
    struct world w;
    (void)state;
    uint64_t id = scene_begin(&w, 5, 3);
    assert_int_equal(said(&w, id, 3, "谢谢老板 🙏"), THANKS_SAID);
    assert_int_equal(said(&w, id, 1, "b, c\"'\\"), THANKS_SAID);
    assert_true(str_equal(shown(&w, id, 0), STR("b, c\"'\\")));
    assert_true(str_equal(shown(&w, id, 1), STR("")));
    assert_true(str_equal(shown(&w, id, 2), STR("谢谢老板 🙏")));
    assert_true(str_equal(stored(&w, id, 2), STR("谢谢老板 🙏")));
    assert_true(str_equal(stored(&w, id, 1), STR("")));
    assert_true(str_equal(view_of(&w, id, 3).mine.thanks, STR("谢谢老板 🙏")));
    assert_int_equal(view_of(&w, id, 2).mine.thanks.len, 0);
    assert_int_equal(view_of(&w, id, 0).packet.thanks_count, 2);
    assert_int_equal(world_packet(&w, id).thanks_count, 2);
    assert_int_equal(pending(&w), 0);
    assert_int_equal(world_grab(&w, id, 4).code, LIVE_GRABBED); /* the packet goes on */
    assert_int_equal(world_drain(&w), 1);
    assert_int_equal(said(&w, id, 4, "after the end"), THANKS_SAID);
    assert_true(str_equal(shown(&w, id, 3), STR("after the end")));
    world_audit_clean(&w);
    world_end(&w);
}

static void a_share_is_thanked_for_once(void **state)
{
    struct world w;
    (void)state;
    uint64_t id = scene_begin(&w, 2, 1);
    assert_int_equal(said(&w, id, 1, "thanks"), THANKS_SAID);
    assert_int_equal(said(&w, id, 1, "thanks"), THANKS_SAID);
    assert_int_equal(said(&w, id, 1, "Thanks"), THANKS_OTHER);
    assert_true(str_equal(shown(&w, id, 0), STR("thanks")));
    assert_true(str_equal(stored(&w, id, 0), STR("thanks")));
    assert_int_equal(world_packet(&w, id).thanks_count, 1);
    world_end(&w);
}

static void only_a_settled_share_can_be_thanked_for(void **state)
{
    struct world w;
    enum thanks_result result;
    (void)state;
    world_begin(&w, 3);
    uint64_t id = world_send(&w, 0, PACKET_EVEN, 400, 4, HOUR_MS, -1);
    world_grab_all(&w, id, 1, 1);
    assert_int_equal(said(&w, id, 1, "thanks"), THANKS_UNSETTLED);
    assert_int_equal(said(&w, id, 2, "thanks"), THANKS_NO_SHARE);
    assert_int_equal(said(&w, id, 0, "thanks"), THANKS_NO_SHARE);
    assert_int_equal(thanks_say(&w.page->stores, w.arena, id + 1, w.users[1], STR("thanks"), clock_now_ms(), &result),
                     ST_NOT_FOUND);
    world_redis(&w, id, "HSET {pk} state busy"); /* a rebuild may bring shares that are not there now */
    assert_int_equal(said(&w, id, 2, "thanks"), THANKS_UNSETTLED);
    world_redis(&w, id, "HSET {pk} state open");
    assert_int_equal(world_drain(&w), 1);
    assert_int_equal(said(&w, id, 1, "thanks"), THANKS_SAID);
    assert_int_equal(world_packet(&w, id).thanks_count, 1);
    world_end(&w);
}

static void gave_back(struct world *w, uint64_t packet_id, size_t user)
{
    struct give_back back;
    assert_int_equal(give_back(&w->page->stores, w->arena, packet_id, w->users[user], clock_now_ms(), &back), ST_OK);
    assert_int_equal(back.result, GIVE_BACK_DONE);
}

static void a_share_that_was_given_back_is_not_thanked_for(void **state)
{
    struct world w;
    (void)state;
    uint64_t id = scene_begin(&w, 3, 2);
    assert_int_equal(said(&w, id, 2, "before"), THANKS_SAID);
    gave_back(&w, id, 1);
    gave_back(&w, id, 2);
    assert_int_equal(said(&w, id, 1, "thanks"), THANKS_NO_SHARE);
    assert_int_equal(said(&w, id, 2, "before"), THANKS_SAID); /* a repeat */
    assert_int_equal(said(&w, id, 2, "after"), THANKS_OTHER);
    assert_int_equal(world_packet(&w, id).thanks_count, 1);
    assert_int_equal(stored(&w, id, 0).len, 0);
    assert_true(str_equal(stored(&w, id, 1), STR("before")));
    world_audit_clean(&w);
    world_end(&w);
}

static void the_worker_tells_a_redis_that_was_not_told(void **state)
{
    struct world w;
    (void)state;
    uint64_t id = scene_begin(&w, 3, 2);
    /* As after a crash between the commit and the script. */
    world_redis(&w, id, "HSET {pk} state busy");
    assert_int_equal(said(&w, id, 1, "thanks"), THANKS_SAID);
    (void)tell_all(&w);
    assert_int_equal(pending(&w), 1);
    world_redis(&w, id, "HSET {pk} state open");
    (void)tell_all(&w);
    assert_int_equal(pending(&w), 0);
    assert_true(str_equal(shown(&w, id, 0), STR("thanks")));
    (void)tell_all(&w);
    assert_int_equal(view_of(&w, id, 0).packet.thanks_count, 1);
    world_end(&w);
}

/* The clock of the pool is an hour ahead. */
static void the_worker_tells_redis_at_once_whatever_the_time_of_a_pool_was(void **state)
{
    struct world w;
    (void)state;
    uint64_t id = scene_begin(&w, 2, 1);
    assert_int_equal(said(&w, id, 1, "thanks"), THANKS_SAID);
    world_redis(&w, id, "HDEL {pk} thanks:0");
    world_sql(&w, "UPDATE thanks SET applied_ms = NULL, created_ms = created_ms + 3600000");
    (void)tell_all(&w);
    assert_true(str_equal(shown(&w, id, 0), STR("thanks")));
    world_end(&w);
}

/* A packet with a dead letter may be missing in Redis for days: its thanks, more than the worker reads at once and all
 * older, stay pending. */
static void thanks_that_must_wait_do_not_keep_redis_from_later_ones(void **state)
{
    struct world w;
    (void)state;
    world_begin(&w, 2);
    uint64_t missing = world_send(&w, 0, PACKET_EVEN, 400, 4, HOUR_MS, -1);
    uint64_t id = world_send(&w, 0, PACKET_EVEN, 400, 4, HOUR_MS, -1);
    world_grab_all(&w, id, 1, 1);
    assert_int_equal(world_drain(&w), 1);
    (void)world_redis(&w, missing, "DEL {pk}");
    world_sql(&w, "SET FOREIGN_KEY_CHECKS = 0");
    world_sql(&w, arena_printf(w.arena,
                               "INSERT INTO thanks (packet_id, share_no, user_id, text, created_ms)"
                               " WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
                               " SELECT %llu, i, %llu, 'x', i DIV 3 FROM n",
                               TELL_ROWS_MAX + 3, (unsigned long long)missing, (unsigned long long)w.users[1])
                      .ptr);
    world_sql(&w, "SET FOREIGN_KEY_CHECKS = 1");
    assert_int_equal(said(&w, id, 1, "thanks"), THANKS_SAID);
    world_sql(&w, "UPDATE thanks SET applied_ms = NULL");
    assert_int_equal(tell_all(&w), 2);
    assert_int_equal(pending(&w), TELL_ROWS_MAX + 3);
    world_end(&w);
}

static void a_rebuilt_packet_gets_its_thanks_back(void **state)
{
    struct world w;
    (void)state;
    uint64_t id = scene_begin(&w, 4, 3);
    assert_int_equal(said(&w, id, 1, "one"), THANKS_SAID);
    assert_int_equal(said(&w, id, 3, "three"), THANKS_SAID);
    world_redis(&w, id, "UNLINK {pk} {sh} {gr} {or}");
    struct recover_done done = { 0 };
    assert_int_equal(recover_packet(w.settle, id, clock_now_ms(), &done), ST_OK);
    assert_int_equal(done.loaded, 1);
    assert_int_equal(pending(&w), 2);
    (void)tell_all(&w);
    assert_true(str_equal(shown(&w, id, 0), STR("one")));
    assert_true(str_equal(shown(&w, id, 2), STR("three")));
    assert_int_equal(view_of(&w, id, 0).packet.thanks_count, 2);
    world_end(&w);
}

static void a_packet_that_redis_has_no_longer_is_thanked_for_in_the_tables(void **state)
{
    struct world w;
    (void)state;
    world_begin(&w, 3);
    uint64_t id = world_send(&w, 0, PACKET_EVEN, 400, 2, HOUR_MS, -1);
    world_grab_all(&w, id, 1, 2);
    assert_int_equal(world_drain(&w), 2);
    assert_int_equal(world_packet(&w, id).state, PACKET_CLOSED);
    world_redis(&w, id, "UNLINK {pk} {sh} {gr} {or}");
    assert_int_equal(said(&w, id, 1, "late"), THANKS_SAID);
    assert_true(str_equal(stored(&w, id, 0), STR("late")));
    (void)tell_all(&w);
    assert_int_equal(pending(&w), 0);
    assert_int_equal(world_redis(&w, id, "EXISTS {pk}"), 0);
    world_audit_clean(&w);
    world_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thanks_are_shown_beside_their_share),
        cmocka_unit_test(a_share_is_thanked_for_once),
        cmocka_unit_test(only_a_settled_share_can_be_thanked_for),
        cmocka_unit_test(a_share_that_was_given_back_is_not_thanked_for),
        cmocka_unit_test(the_worker_tells_a_redis_that_was_not_told),
        cmocka_unit_test(the_worker_tells_redis_at_once_whatever_the_time_of_a_pool_was),
        cmocka_unit_test(thanks_that_must_wait_do_not_keep_redis_from_later_ones),
        cmocka_unit_test(a_rebuilt_packet_gets_its_thanks_back),
        cmocka_unit_test(a_packet_that_redis_has_no_longer_is_thanked_for_in_the_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

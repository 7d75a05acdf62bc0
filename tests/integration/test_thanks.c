/* A receiver thanks the sender: once for each share, shown from Redis and from the tables, whatever failed between. */
#include "acts/give_back.h"
#include "acts/thanks.h"
#include "packet/thanks.h"
#include "test_world.h"

/* users[user] says thanks, with the rights of a pool. */
static enum thanks_result said(uint64_t packet_id, size_t user, const char *text)
{
    enum thanks_result result;
    assert_int_equal(
        thanks_say(&w->page->stores, w->arena, packet_id, w->users[user], str_from(text), clock_now_ms(), &result),
        ST_OK);
    return result;
}

/* The thanks for share share_no on the packet's page from Redis, empty if there are none. */
static struct str shown(uint64_t packet_id, uint32_t share_no)
{
    struct packet_view view = view_of(packet_id, 0);
    for (size_t i = 0; i < view.row_count; i++)
        if (view.rows[i].share_no == share_no)
            return view.rows[i].thanks;
    fail_msg("share %u is not shown", share_no);
    return STR_NONE;
}

/* The thanks for share share_no in the tables, empty if there are none. */
static struct str stored(uint64_t packet_id, uint32_t share_no)
{
    struct grab grabs[] = { { .share_no = share_no + 1 }, { .share_no = share_no } };
    assert_int_equal(thanks_find_all(w->page->stores.db, w->arena, packet_id, grabs, ARRAY_LEN(grabs)), ST_OK);
    return str_or_empty(grabs[1].thanks);
}

static int64_t pending(void)
{
    return world_number(w, "SELECT COUNT(*) FROM thanks WHERE applied_ms IS NULL AND packet_id > ?", 0);
}

WORLD_TEST(thanks_are_shown_beside_their_share, WORLD_USERS)
{
    uint64_t id = world_even_settled(w, 400, 4, 3);
    assert_int_equal(said(id, 3, "谢谢老板 🙏"), THANKS_SAID);
    assert_int_equal(said(id, 1, "b, c\"'\\"), THANKS_SAID);
    assert_true(str_equal(shown(id, 0), STR("b, c\"'\\")));
    assert_true(str_equal(shown(id, 1), STR("")));
    assert_true(str_equal(shown(id, 2), STR("谢谢老板 🙏")));
    assert_true(str_equal(stored(id, 2), STR("谢谢老板 🙏")));
    assert_true(str_equal(stored(id, 1), STR("")));
    assert_true(str_equal(view_of(id, 3).mine.thanks, STR("谢谢老板 🙏")));
    assert_ints({ view_of(id, 2).mine.thanks.len, 0 }, { view_of(id, 0).packet.thanks_count, 2 },
                { world_packet(w, id).thanks_count, 2 }, { pending(), 0 });
    assert_int_equal(world_grab(w, id, 4).code, LIVE_GRABBED); /* grabs still work */
    assert_int_equal(world_drain(w), 1);
    assert_int_equal(said(id, 4, "after the end"), THANKS_SAID);
    assert_true(str_equal(shown(id, 3), STR("after the end")));
}

WORLD_TEST(a_share_is_thanked_for_once, WORLD_USERS)
{
    uint64_t id = world_even_settled(w, 400, 4, 1);
    assert_int_equal(said(id, 1, "thanks"), THANKS_SAID);
    assert_int_equal(said(id, 1, "thanks"), THANKS_SAID);
    assert_int_equal(said(id, 1, "Thanks"), THANKS_OTHER);
    assert_true(str_equal(shown(id, 0), STR("thanks")));
    assert_true(str_equal(stored(id, 0), STR("thanks")));
    assert_int_equal(world_packet(w, id).thanks_count, 1);
}

WORLD_TEST(only_a_settled_share_can_be_thanked_for, WORLD_USERS)
{
    enum thanks_result result;
    uint64_t id = world_even(w, 400, 4);
    world_grab_all(w, id, 1, 1);
    assert_int_equal(said(id, 1, "thanks"), THANKS_UNSETTLED);
    assert_int_equal(said(id, 2, "thanks"), THANKS_NO_SHARE);
    assert_int_equal(said(id, 0, "thanks"), THANKS_NO_SHARE);
    assert_int_equal(
        thanks_say(&w->page->stores, w->arena, id + 1, w->users[1], STR("thanks"), clock_now_ms(), &result),
        ST_NOT_FOUND);
    world_redis(w, id, "HSET {pk} state busy"); /* a rebuild may bring shares that are not there now */
    assert_int_equal(said(id, 2, "thanks"), THANKS_UNSETTLED);
    world_redis(w, id, "HSET {pk} state open");
    assert_int_equal(world_drain(w), 1);
    assert_int_equal(said(id, 1, "thanks"), THANKS_SAID);
    assert_int_equal(world_packet(w, id).thanks_count, 1);
}

static void gave_back(uint64_t packet_id, size_t user)
{
    struct give_back back;
    assert_int_equal(give_back(&w->page->stores, w->arena, packet_id, w->users[user], clock_now_ms(), &back), ST_OK);
    assert_int_equal(back.result, GIVE_BACK_DONE);
}

WORLD_TEST(a_share_that_was_given_back_is_not_thanked_for, WORLD_USERS)
{
    uint64_t id = world_even_settled(w, 400, 4, 2);
    assert_int_equal(said(id, 2, "before"), THANKS_SAID);
    gave_back(id, 1);
    gave_back(id, 2);
    assert_int_equal(said(id, 1, "thanks"), THANKS_NO_SHARE);
    assert_int_equal(said(id, 2, "before"), THANKS_SAID); /* a repeat */
    assert_int_equal(said(id, 2, "after"), THANKS_OTHER);
    assert_ints({ world_packet(w, id).thanks_count, 1 }, { stored(id, 0).len, 0 });
    assert_true(str_equal(stored(id, 1), STR("before")));
}

FAULTY_WORLD_TEST(the_worker_tells_a_redis_that_was_not_told, WORLD_USERS)
{
    uint64_t id = world_even_settled(w, 400, 4, 2);
    /* As after a crash between the commit and the script. */
    world_redis(w, id, "HSET {pk} state busy");
    assert_int_equal(said(id, 1, "thanks"), THANKS_SAID);
    (void)tell_all();
    assert_int_equal(pending(), 1);
    world_redis(w, id, "HSET {pk} state open");
    world_sql(w, "UPDATE thanks SET created_ms = created_ms + 3600000"); /* the clock of the pool was ahead */
    for (int i = 0; i < 2; i++) {
        (void)tell_all();
        assert_int_equal(pending(), 0);
        assert_true(str_equal(shown(id, 0), STR("thanks")));
        assert_int_equal(view_of(id, 0).packet.thanks_count, 1);
    }
}

WORLD_TEST(a_rebuilt_packet_gets_its_thanks_back, WORLD_USERS)
{
    uint64_t id = world_even_settled(w, 400, 4, 3);
    assert_int_equal(said(id, 1, "one"), THANKS_SAID);
    assert_int_equal(said(id, 3, "three"), THANKS_SAID);
    world_redis(w, id, "UNLINK {pk} {sh} {gr} {or}");
    struct recover_done done = { 0 };
    assert_int_equal(recover_packet(w->settle, id, clock_now_ms(), &done), ST_OK);
    assert_ints({ done.loaded, 1 }, { pending(), 2 });
    (void)tell_all();
    assert_true(str_equal(shown(id, 0), STR("one")));
    assert_true(str_equal(shown(id, 2), STR("three")));
    assert_int_equal(view_of(id, 0).packet.thanks_count, 2);
}

WORLD_TEST(a_packet_that_redis_has_no_longer_is_thanked_for_in_the_tables, WORLD_USERS)
{
    uint64_t id = world_even(w, 400, 2);
    world_grab_all(w, id, 1, 2);
    assert_int_equal(world_drain(w), 2);
    assert_int_equal(world_packet(w, id).state, PACKET_CLOSED);
    world_redis(w, id, "UNLINK {pk} {sh} {gr} {or}");
    assert_int_equal(said(id, 1, "late"), THANKS_SAID);
    assert_true(str_equal(stored(id, 0), STR("late")));
    (void)tell_all();
    assert_ints({ pending(), 0 }, { world_redis(w, id, "EXISTS {pk}"), 0 });
}

TESTS(NULL, NULL)

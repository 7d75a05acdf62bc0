/* A sender ends a packet early: nobody gets a share afterwards, and the rest goes back exactly once. */
#include "acts/end.h"
#include "packet/store.h"
#include "test_world.h"

/* users[user] ends the packet, with the rights of a pool. */
static enum status end_by(uint64_t packet_id, size_t user, struct end_packet *out)
{
    return end_packet(&w->page->stores, w->arena, packet_id, w->users[user], clock_now_ms(), out);
}

static void assert_ended(uint64_t packet_id, enum packet_state expected)
{
    struct end_packet ended;
    assert_int_equal(end_by(packet_id, 0, &ended), ST_OK);
    assert_ints({ ended.result, END_DONE }, { ended.state, expected });
}

WORLD_TEST(the_rest_goes_back_once_and_nobody_gets_a_share_any_more, 4)
{
    uint64_t id = world_send(w, 0, PACKET_LUCKY, 1001, 5, HOUR_MS, -1);
    struct live_grab mine = world_grab(w, id, 1);
    assert_ended(id, PACKET_EXPIRED);
    assert_int_equal(world_grab(w, id, 2).code, LIVE_EXPIRED);
    assert_same_share(&mine, id, 1);
    assert_ended(id, PACKET_EXPIRED); /* before and after settling */
    assert_int_equal(world_drain(w), 2);
    assert_ended(id, PACKET_EXPIRED);
    assert_int_equal(world_expire(w, NULL), 0);
    assert_int_equal(world_drain(w), 0);
    struct packet p = assert_closed(id, 1001 - mine.amount_fen);
    assert_true(p.ended_ms > 0 && p.ended_ms == p.expires_ms);
    assert_int_equal(world_balance(w, w->users[0]), 100000 - mine.amount_fen);
}

WORLD_TEST(nobody_but_the_sender_ends_it, 3)
{
    struct end_packet ended;
    uint64_t id = world_even(w, 500, 5);
    assert_int_equal(end_by(id, 1, &ended), ST_OK);
    assert_int_equal(ended.result, END_NOT_SENDER);
    assert_int_equal(end_by(id + 1, 0, &ended), ST_NOT_FOUND);
    assert_int_equal(world_packet(w, id).ended_ms, 0);
    assert_int_equal(world_grab(w, id, 2).code, LIVE_GRABBED);
}

WORLD_TEST(an_end_after_the_last_grab_changes_nothing, 4)
{
    uint64_t id = world_even(w, 300, 3);
    world_grab_all(w, id, 1, 3);
    assert_ended(id, PACKET_FINISHED); /* the tables do not have the grabs yet */
    world_audit_clean(w);
    assert_int_equal(world_drain(w), 3);
    assert_ended(id, PACKET_FINISHED);
    assert_ints({ world_packet(w, id).refund_fen, 0 }, { world_balance(w, w->users[0]), 100000 - 300 });
}

WORLD_TEST(an_end_after_the_expiry_is_no_end, 2)
{
    struct end_packet ended;
    uint64_t id = world_send(w, 0, PACKET_EVEN, 500, 5, 0, -1);
    assert_int_equal(end_by(id, 0, &ended), ST_UNAVAILABLE); /* until the worker has closed it */
    assert_int_equal(world_expire(w, NULL), 1);
    assert_int_equal(world_drain(w), 1);
    assert_ended(id, PACKET_EXPIRED);
    assert_int_equal(world_packet(w, id).ended_ms, 0);
}

WORLD_TEST(the_worker_closes_what_a_pool_that_died_has_ended, 3)
{
    uint64_t id = world_even(w, 500, 5);
    world_grab_all(w, id, 1, 1);
    int64_t ahead_ms = clock_now_ms() + HOUR_MS / 2; /* the time of a pool whose clock is ahead of Redis's */
    assert_int_equal(packet_end(w->app->stores.db, id, ahead_ms, NULL), ST_OK);
    assert_int_equal(world_expire(w, NULL), 0);
    int64_t now_ms = clock_now_ms();
    world_sqlf(w, "UPDATE packet SET ended_ms = %lld, expires_ms = %lld", (long long)now_ms, (long long)now_ms);
    assert_int_equal(world_expire(w, NULL), 1);
    assert_int_equal(world_grab(w, id, 2).code, LIVE_EXPIRED);
    assert_true(
        str_equal(world_redis_text(w, id, "HGET {pk} ended_ms"), arena_printf(w->arena, "%lld", (long long)now_ms)));
    world_drain(w);
    assert_int_equal(world_packet(w, id).refund_fen, 400);
}

/* An ended packet is closed by an event even when Redis has lost it: the cursor shows that a copy is older. */
TEST(an_ended_packet_that_redis_lost_is_rebuilt_and_closed_by_an_event)
{
    WORLDS (loaded, 2, world_begin(w, 3)) {
        uint64_t id = world_even(w, 500, 5);
        world_grab_all(w, id, 1, (size_t)loaded);
        world_drain(w);
        (void)world_redis(w, id, "DEL {pk} {sh} {gr} {or}");
        world_sqlf(w, "UPDATE packet SET state = '%s', created_ms = created_ms - 10000", loaded ? "open" : "funding");
        assert_ended(id, PACKET_EXPIRED);
        assert_int_equal(recover_one(id, 0).refunded, 0);
        assert_int_equal(world_grab(w, id, 2).code, LIVE_EXPIRED);
        assert_int_equal(world_expire(w, NULL), 1);
        assert_int_equal(world_drain_clean(w), 1);
        assert_int_equal(world_packet(w, id).state, PACKET_CLOSED);
        assert_int_equal(world_balance(w, w->users[0]), 100000 - (loaded ? 100 : 0));
    }
}

TESTS(NULL, NULL)

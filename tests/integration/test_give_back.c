/* Shares that are given back: the money is where the row says, exactly once, whichever store learns of the return
 * first. */
#include <sys/wait.h>
#include <unistd.h>

#include "acts/end.h"
#include "acts/give_back.h"
#include "acts/thanks.h"
#include "ledger/ledger.h"
#include "packet/returns.h"
#include "packet/store.h"
#include "packet/totals.h"
#include "support/test_services.h"
#include "support/wait_until.h"
#include "test_world.h"

/* users[user] gives a share back, with the rights of a pool. */
static struct give_back give_back_by(uint64_t packet_id, size_t user)
{
    struct give_back given;
    assert_int_equal(give_back(&w->page->stores, w->arena, packet_id, w->users[user], clock_now_ms(), &given), ST_OK);
    return given;
}

static struct share_return given_back(uint64_t packet_id, size_t user)
{
    struct give_back given = give_back_by(packet_id, user);
    assert_int_equal(given.result, GIVE_BACK_DONE);
    return given.share;
}

static int64_t returns_of(uint64_t packet_id)
{
    return world_number(w, "SELECT COUNT(*) FROM transfer WHERE kind = 'return' AND packet_id = ?", packet_id);
}

WORLD_TEST(into_an_open_packet_it_is_one_more_share_for_somebody_else, WORLD_USERS)
{
    uint64_t id = world_send(w, 0, PACKET_LUCKY, 1001, 3, HOUR_MS, -1);
    int64_t fen = world_grab(w, id, 1).amount_fen;
    world_drain(w);
    struct share_return r = given_back(id, 1);
    assert_ints({ r.position, 3 }, { r.amount_fen, fen }, { world_balance(w, w->users[1]), FUNDED_FEN },
                { world_balance(w, id), 1001 });
    world_audit_clean(w);

    struct packet_view view = view_of(id, 1);
    assert_ints({ view.packet.count, 3 }, { view.packet.amount_fen, 1001 }, { packet_share_total(&view.packet), 4 },
                { packet_taken_count(&view.packet), 0 }, { packet_taken_fen(&view.packet), 0 },
                { view.mine.returned, true });
    assert_int_equal(world_grab(w, id, 1).code, LIVE_ALREADY); /* once is enough */
    assert_int_equal(give_back_by(id, 1).share.position, 3);

    world_grab_all(w, id, 2, 2);
    struct live_grab last = world_grab(w, id, 4);
    assert_ints({ last.code, LIVE_GRABBED }, { last.share_no, 3 }, { last.amount_fen, fen }, { last.left_count, 0 });
    assert_int_equal(world_grab(w, id, 5).code, LIVE_EMPTY);
    assert_int_equal(view_of(id, 5).packet.state, PACKET_FINISHED);
    world_drain(w);
    (void)assert_closed(id, 0);
    assert_int_equal(returns_of(id), 1);
}

WORLD_TEST(after_the_end_it_goes_to_the_sender, WORLD_USERS)
{
    uint64_t finished = world_even(w, 200, 2), expired = world_even(w, 300, 3);
    world_grab_all(w, finished, 1, 2);
    grab_settled(expired, 1, 1);
    world_time_runs_out(w, expired);
    (void)world_expire(w, NULL);
    world_drain(w);
    assert_int_equal(given_back(finished, 2).position, PACKET_NO_SHARE);
    assert_int_equal(given_back(expired, 1).position, PACKET_NO_SHARE);
    assert_int_equal(given_back(expired, 1).position, PACKET_NO_SHARE);
    assert_wallets(0, FUNDED_FEN - 100, FUNDED_FEN + 100, FUNDED_FEN);
    const struct packet_view one = view_of(finished, 1);
    assert_ints({ view_of(finished, 2).mine.returned, true }, { one.mine.returned, false },
                { one.packet.state, PACKET_FINISHED },
                { world_number(w, "SELECT received_count FROM user_month WHERE user_id = ?", w->users[2]), 0 });
}

/* A packet of two shares for three receivers, both shares taken: one more share has a taker, the next one has none. */
WORLD_TEST(a_share_that_nobody_could_take_goes_to_the_sender_of_the_open_packet, WORLD_USERS)
{
    const size_t to[] = { 1, 2, 3 };
    uint64_t id = world_send_to(w, 0, PACKET_EVEN, 200, 2, HOUR_MS, to, 3);
    uint64_t exclusive = world_send(w, 0, PACKET_EXCLUSIVE, 100, 1, HOUR_MS, 1);
    world_grab_all(w, id, 1, 1);
    grab_settled(exclusive, 1, 1);
    assert_int_equal(given_back(exclusive, 1).position, PACKET_NO_SHARE);
    assert_int_equal(given_back(id, 1).position, 2);
    grab_settled(id, 2, 1);
    assert_int_equal(view_of(id, 2).packet.state, PACKET_OPEN);
    assert_int_equal(given_back(id, 2).position, PACKET_NO_SHARE);
    struct packet_view view = view_of(id, 2);
    assert_ints({ world_balance(w, w->users[0]), FUNDED_FEN - 100 }, { world_balance(w, w->users[2]), FUNDED_FEN },
                { view.mine.returned, true }, { view.packet.returned_count, 1 });
    world_audit_clean(w);

    grab_settled(id, 3, 1);
    assert_int_equal(world_packet(w, id).state, PACKET_CLOSED);
}

WORLD_TEST(it_is_refused_without_a_share_before_settlement_and_without_money, WORLD_USERS)
{
    uint64_t id = world_even(w, 300, 3);
    world_grab_all(w, id, 1, 1);
    assert_int_equal(give_back_by(id, 2).result, GIVE_BACK_NO_SHARE);
    assert_int_equal(give_back_by(id + 1, 2).result, GIVE_BACK_NO_SHARE);
    assert_int_equal(give_back_by(id, 1).result, GIVE_BACK_UNSETTLED);
    world_redis(w, id, "HSET {pk} state busy"); /* a rebuild may bring shares that are not there now */
    assert_int_equal(give_back_by(id, 2).result, GIVE_BACK_UNSETTLED);
    world_redis(w, id, "HSET {pk} state open");
    world_drain(w);
    (void)world_send(w, 1, PACKET_EVEN, FUNDED_FEN + 100, 10, HOUR_MS, -1);
    assert_int_equal(give_back_by(id, 1).result, GIVE_BACK_NO_MONEY);
    assert_int_equal(world_number(w, "SELECT COUNT(*) FROM share_return WHERE packet_id = ?", id), 0);
    /* The last shares are grabbed, but not settled: the destination is not known yet. */
    world_grab_all(w, id, 2, 1);
    uint64_t full = world_even(w, 200, 2);
    grab_settled(full, 2, 1);
    world_grab_all(w, full, 3, 1);
    assert_int_equal(give_back_by(full, 2).result, GIVE_BACK_UNSETTLED);
    world_drain(w);
    assert_int_equal(given_back(full, 2).position, PACKET_NO_SHARE);
    /* The sender's own share of a packet that is over. */
    uint64_t own = world_even(w, 100, 1);
    grab_settled(own, 0, 1);
    assert_int_equal(give_back_by(own, 0).result, GIVE_BACK_OWN);
}

WORLD_TEST(an_open_packet_takes_back_as_many_shares_as_it_was_sent_with, WORLD_USERS)
{
    uint64_t id = world_even(w, 200, 2);
    for (size_t user = 1; user <= 3; user++) {
        grab_settled(id, user, 1);
        if (user < 3)
            assert_int_equal(given_back(id, user).position, 1 + user);
    }
    assert_int_equal(give_back_by(id, 3).result, GIVE_BACK_TOO_MANY);
    assert_int_equal(give_back_by(id, 2).result, GIVE_BACK_DONE); /* a repeat */
    assert_ints({ world_balance(w, w->users[3]), FUNDED_FEN + 100 }, { world_packet(w, id).returned_count, 2 });
    grab_settled(id, 4, 1);
    assert_int_equal(world_packet(w, id).state, PACKET_CLOSED);
    assert_int_equal(given_back(id, 3).position, PACKET_NO_SHARE); /* to the sender */
}

/* After the best share is given back, the best is another share of the same amount, or the new share. */
WORLD_TEST(the_best_share_moves_behind_the_others, WORLD_USERS)
{
    uint64_t id = world_send(w, 0, PACKET_LUCKY, 5003, 4, HOUR_MS, -1);
    uint32_t best = world_packet(w, id).best_share_no;
    for (uint32_t i = 0; i <= best && i < 3; i++)
        world_grab_all(w, id, 1 + i, 1);
    world_drain(w);
    if (best < 3) {
        assert_int_equal(given_back(id, 1 + best).position, 4);
        assert_int_equal(world_packet(w, id).best_share_no, 4); /* amounts of a seed rarely tie */
        assert_int_equal(view_of(id, 0).packet.best_share_no, 4);
        world_audit_clean(w);
        for (size_t user = 5; world_grab(w, id, user).code == LIVE_GRABBED && user < 8; user++)
            continue;
    } else {
        world_grab_all(w, id, 5, 1);
    }
    world_drain(w);
    assert_int_equal(world_packet(w, id).state, PACKET_CLOSED);
}

static int64_t pending(const char *table)
{
    return world_number(w, arena_printf(w->arena, "SELECT COUNT(*) FROM %s WHERE applied_ms IS NULL", table).ptr, 0);
}

/* The pool died between the stores. */
WORLD_TEST(the_worker_tells_redis_what_a_pool_that_died_has_not, WORLD_USERS)
{
    static const char shares[] = "HGET {pk} count";
    uint64_t id = world_even_settled(w, 300, 3, 2);
    test_services_fences_write(w->app, "another-process");
    (void)world_redis(w, id, "CLIENT KILL TYPE normal SKIPME yes");
    struct give_back given;
    WAIT_UNTIL(give_back(&w->page->stores, w->arena, id, w->users[2], clock_now_ms(), &given) == ST_OK);
    assert_ints({ given.result, GIVE_BACK_DONE }, { world_redis(w, id, shares), 3 }, { pending("share_return"), 1 });
    world_check_redis(w);
    assert_int_equal(world_redis(w, id, shares), 3);
    for (int i = 0; i < 2; i++) { /* the second time as if the row had not been marked */
        world_sql(w, "UPDATE share_return SET applied_ms = NULL");
        tell_all();
        assert_int_equal(world_redis(w, id, shares), 4);
    }
    assert_int_equal(pending("share_return"), 0);
    grab_settled(id, 3, 2);
    assert_int_equal(world_packet(w, id).state, PACKET_CLOSED);
}

FAULTY_WORLD_TEST(a_damaged_packet_does_not_keep_redis_from_the_returns_of_others, WORLD_USERS)
{
    static const char told[] = "SELECT COUNT(*) FROM share_return WHERE applied_ms IS NOT NULL AND packet_id = ?";
    uint64_t ids[2];
    for (size_t i = 0; i < 2; i++) {
        ids[i] = world_even(w, 300, 3);
        grab_settled(ids[i], 1, 1);
        (void)given_back(ids[i], 1);
    }
    world_sql(w, "UPDATE share_return SET applied_ms = NULL");
    (void)world_redis(w, ids[0], "DEL {pk}");
    (void)world_redis(w, ids[0], "LPUSH {pk} damaged");
    tell_all();
    assert_ints({ world_number(w, told, ids[0]), 0 }, { world_number(w, told, ids[1]), 1 });
}

/* Returns of a packet that is not in Redis stay pending, perhaps for days: here more than the worker reads at once, and
 * all older. */
FAULTY_WORLD_TEST(returns_and_thanks_that_must_wait_do_not_keep_redis_from_later_ones, WORLD_USERS)
{
    enum thanks_result said;
    uint64_t ids[2];
    for (size_t i = 0; i < 2; i++) {
        ids[i] = world_even(w, 300, 3);
        grab_settled(ids[i], 1, 2);
    }
    const unsigned long long missing = ids[0], user = w->users[1];
    (void)world_redis(w, missing, "DEL {pk}");
    world_sql(w, "SET FOREIGN_KEY_CHECKS = 0");
    world_sqlf(w,
               "INSERT INTO share_return (packet_id, share_no, user_id, amount_fen, returned_ms)"
               " SELECT %llu, 10 + seq, %llu, 100, seq DIV 3 FROM seq_1_to_%d",
               missing, user, TELL_ROWS_MAX + 3);
    world_sqlf(w,
               "INSERT INTO thanks (packet_id, share_no, user_id, text, created_ms)"
               " SELECT %llu, seq, %llu, 'x', seq DIV 3 FROM seq_1_to_%d",
               missing, user, TELL_ROWS_MAX + 3);
    world_sql(w, "SET FOREIGN_KEY_CHECKS = 1");
    (void)given_back(ids[1], 1);
    assert_int_equal(thanks_say(&w->page->stores, w->arena, ids[1], w->users[2], STR("thanks"), clock_now_ms(), &said),
                     ST_OK);
    world_sql(w, "UPDATE share_return SET applied_ms = NULL");
    world_sql(w, "UPDATE thanks SET applied_ms = NULL");
    assert_int_equal(tell_all(), 2);
    assert_ints({ pending("share_return"), TELL_ROWS_MAX + 3 }, { pending("thanks"), TELL_ROWS_MAX + 3 });
}

WORLD_TEST(a_rebuilt_packet_has_the_shares_and_the_marks, WORLD_USERS)
{
    uint64_t id = world_send(w, 0, PACKET_LUCKY, 900, 4, HOUR_MS, -1);
    grab_settled(id, 1, 3);
    (void)given_back(id, 2);
    (void)given_back(id, 1);
    grab_settled(id, 4, 2);  /* the last share of the draw, and the first one that was given back */
    (void)given_back(id, 5); /* given back twice */
    struct packet_view before = view_of(id, 1);
    (void)world_redis(w, id, "DEL {pk} {sh} {gr} {or}");
    world_recover(w);
    struct packet_view after = view_of(id, 1);
    assert_ints({ after.packet.count, 4 }, { packet_share_total(&after.packet), 7 }, { after.packet.amount_fen, 900 },
                { after.packet.returned_fen, before.packet.returned_fen }, { after.row_count, before.row_count });
    for (size_t i = 0; i < after.row_count; i++)
        assert_ints({ after.rows[i].returned, before.rows[i].returned },
                    { after.rows[i].amount_fen, before.rows[i].amount_fen });
    world_audit_clean(w);
    world_grab_all(w, id, 6, 2);
    assert_int_equal(world_grab(w, id, 8).code, LIVE_EMPTY);
    world_drain(w);
    assert_int_equal(world_packet(w, id).state, PACKET_CLOSED);
}

/* An older copy of Redis lacks a return that Redis had. */
WORLD_TEST(what_an_older_copy_lacks_is_added_again, WORLD_USERS)
{
    uint64_t id = world_even_settled(w, 300, 3, 2);
    (void)given_back(id, 1);
    (void)given_back(id, 2);
    (void)world_redis(w, id, "HSET {pk} count 3 amount 300 returned_count 0 returned_fen 0 returned_shares 0");
    (void)world_redis(w, id, "HDEL {pk} returned_shares");
    (void)world_redis(w, id, "DEL {sh}");
    (void)world_redis(w, id, "EVAL return(redis.call('SET',KEYS[1],string.rep(string.char(0,0,0,100),3))) 1 {sh}");
    assert_int_equal(world_redis(w, id, "STRLEN {sh}"), 12);
    world_sql(w, "UPDATE share_return SET applied_ms = NULL WHERE position = 4");
    tell_all(); /* the newer one waits for the older one */
    assert_int_equal(world_redis(w, id, "HGET {pk} count"), 3);
    world_recover(w);
    assert_int_equal(world_redis(w, id, "HGET {pk} count"), 5);
    world_audit_clean(w);
    grab_settled(id, 3, 3);
    assert_int_equal(world_packet(w, id).state, PACKET_CLOSED);
}

/* Redis closed the packet before it got the return: the tables decide the refund. */
WORLD_TEST(a_close_event_that_does_not_know_the_return_is_no_fault, WORLD_USERS)
{
    uint64_t id = world_even_settled(w, 300, 3, 2);
    (void)given_back(id, 1);
    world_sqlf(w, "UPDATE packet SET expires_ms = created_ms + 1 WHERE id = %llu", (unsigned long long)id);
    /* As if Redis had closed the packet before it got the return. */
    (void)world_redis(w, id, "HSET {pk} state closed");
    (void)world_redisf(w, id, "XADD {ev} * c %llu,2,200,100", (unsigned long long)id);
    world_drain(w);
    (void)assert_closed(id, 200);
    assert_int_equal(world_number(w, "SELECT COUNT(*) FROM dead_letter WHERE packet_id = ?", id), 0);
}

WORLD_TEST(an_expired_packet_refunds_what_was_given_back_and_not_taken, WORLD_USERS)
{
    struct end_packet ended;
    uint64_t id = world_even_settled(w, 300, 3, 2);
    (void)given_back(id, 2);
    assert_int_equal(end_packet(&w->page->stores, w->arena, id, w->users[0], clock_now_ms(), &ended), ST_OK);
    world_drain(w);
    assert_ints({ world_packet(w, id).refund_fen, 200 }, { view_of(id, 0).packet.refund_fen, 200 },
                { world_balance(w, w->users[0]), FUNDED_FEN - 100 });
}

/* A return to the sender adds no share to Redis, only a mark, which an older copy may lack. */
WORLD_TEST(a_mark_that_an_older_copy_lacks_is_set_again, WORLD_USERS)
{
    const size_t to[] = { 1, 2 };
    uint64_t id = world_send_to(w, 0, PACKET_EVEN, 200, 2, HOUR_MS, to, 2);
    grab_settled(id, 1, 1);
    assert_int_equal(given_back(id, 1).position, PACKET_NO_SHARE);
    world_redis(w, id, "HDEL {pk} returned_shares");
    assert_false(view_of(id, 1).mine.returned);
    world_restart_worker(w);
    world_check_redis(w);
    world_recover(w);
    assert_true(view_of(id, 1).mine.returned);
}

/* ---- another Galera node ---- */

enum { LOCKED_MS = 300, LOCK_WAIT_MS = 20000 };

/* A share that another process gives back to the sender without locking the packet, as a transaction of another Galera
 * node does until it is certified. */
struct elsewhere {
    uint64_t packet_id;
    size_t user;
    int ready; /* a pipe: readable once the rows are written */
};

/* Waits until another process has locked the packet, and a moment longer, in which that process waits for these
 * rows. */
static enum status packet_locked_wait(struct elsewhere *e)
{
    struct db *probe = db_new(w->config);
    const int64_t limit_ms = clock_monotonic_ms() + LOCK_WAIT_MS;
    enum status st = probe == NULL ? ST_NO_MEMORY : ST_OK;
    while (st == ST_OK && clock_monotonic_ms() < limit_ms) {
        struct db_rows rows;
        st = db_query(probe, w->arena, &rows, "SELECT id FROM packet WHERE id = ? FOR UPDATE NOWAIT",
                      DB_PARAMS(DB_U64(e->packet_id)));
        wait_ms(st == ST_OK ? 5 : LOCKED_MS);
    }
    db_free(probe);
    return st == ST_OK ? ST_CONFLICT : ST_OK;
}

static enum status elsewhere_body(struct db *db, void *ctx)
{
    struct elsewhere *e = ctx;
    struct grab grab;
    const uint64_t user_id = w->users[e->user];
    enum status st = packet_grab_of(db, w->arena, e->packet_id, user_id, &grab);
    struct share_return r = { .packet_id = e->packet_id,
                              .share_no = grab.share_no,
                              .user_id = user_id,
                              .amount_fen = grab.amount_fen,
                              .position = PACKET_NO_SHARE,
                              .returned_ms = clock_now_ms() };
    if (st == ST_OK)
        st = return_insert(db, &r);
    if (st == ST_OK)
        st = ledger_return(db, e->packet_id, grab.share_no, false, r.returned_ms);
    if (st == ST_OK)
        st = user_totals_take_back(db, user_id, grab.grabbed_ms, grab.amount_fen);
    return st == ST_OK && write(e->ready, "r", 1) == 1 ? packet_locked_wait(e) : ST_CONFLICT;
}

WORLD_TEST(a_share_that_another_node_gives_back_at_the_same_time_is_given_back_once, WORLD_USERS)
{
    int ready[2], status;
    char letter;
    uint64_t id = world_even_settled(w, 200, 2, 2);
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct elsewhere e = { id, 1, ready[1] };
        _exit((int)db_transaction(db_new(w->config), elsewhere_body, &e));
    }
    assert_int_equal(close(ready[1]), 0);
    assert_int_equal(read(ready[0], &letter, 1), 1);
    assert_int_equal(given_back(id, 1).amount_fen, 100);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == ST_OK);
    assert_int_equal(close(ready[0]), 0);
    assert_wallets(0, FUNDED_FEN - 100, FUNDED_FEN);
    assert_ints({ returns_of(id), 1 }, { view_of(id, 1).mine.returned, true });
}

TESTS(NULL, NULL)

/* What a hot pool that is taken over may append to a stream, with the rights of its role: the worker pays nothing that
 * contradicts the tables. */
#include "base/array.h"
#include "base/clock.h"
#include "live/event.h"
#include "live/keys.h"
#include "ops/replay.h"
#include "packet/returns.h"
#include "packet/split.h"
#include "packet/store.h"
#include "settle/fault.h"
#include "settle/give_back.h"
#include "settle/publish.h"
#include "settle/settle.h"
#include "settle/verify.h"
#include "settle/write.h"
#include "support/stores_do.h"
#include "support/test.h"
#include "support/test_services.h"
#include "test_world.h"

/* The linker replaces clock_now_ms by the function below, so a test can set the clock of the worker. This is added to
 * the real time. */
static int64_t clock_shift_ms;

int64_t __real_clock_now_ms(void);
int64_t __wrap_clock_now_ms(void);

int64_t __wrap_clock_now_ms(void)
{
    return __real_clock_now_ms() + clock_shift_ms;
}

enum { DAY_MS = 24 * HOUR_MS, SHARES_MAX_TEST = 16 };

/* Appends an event to the stream of a partition as the hot pool can. id: "*", or an id of one's own. */
static void forge(uint32_t partition, const char *id, const char *field, struct str value)
{
    char key[LIVE_KEY_MAX];
    struct redis_call call = { 0 };
    const struct str xadd[] = { STR("XADD"), live_events_key(key, partition), str_from(id), str_from(field), value };
    assert_int_equal(redis_do(w->hot->stores.redis, &call, xadd, ARRAY_LEN(xadd)), ST_OK);
    redis_call_free(&call);
}

static uint32_t home(uint64_t packet_id)
{
    return packet_partition(packet_id, w->config->partitions);
}

static struct str grab_text(uint64_t packet_id, uint32_t share, size_t user, int64_t fen, const char *nickname)
{
    return arena_printf(w->arena, "%llu,%u,%llu,%lld,%s", (unsigned long long)packet_id, share,
                        (unsigned long long)w->users[user], (long long)fen, nickname);
}

static void forge_grab(uint64_t packet_id, const char *id, uint32_t share, size_t user, int64_t fen)
{
    forge(home(packet_id), id, "g", grab_text(packet_id, share, user, fen, "x"));
}

/* An id of one's own at a time. */
static const char *id_at(int64_t ms)
{
    return arena_printf(w->arena, "%lld-7", (long long)ms).ptr;
}

static int64_t letters(enum settle_fault_kind reason)
{
    struct db_rows rows;
    assert_int_equal(db_find(w->app->stores.db, w->arena, &rows, "SELECT COUNT(*) FROM dead_letter WHERE reason = ?",
                             DB_PARAMS(DB_TEXT(settle_fault_text(reason)))),
                     ST_OK);
    return db_cell_i64(&rows, 0, 0);
}

/* The forged event became a letter for this reason, and no wallet but the sender's differs from the beginning. */
static void assert_unpaid(uint64_t packet_id, int64_t escrow_fen, enum settle_fault_kind reason)
{
    assert_int_equal(world_drain(w), 0);
    assert_int_equal(letters(reason), 1);
    assert_int_equal(world_number(w, "SELECT COUNT(*) FROM dead_letter", 0), 1);
    assert_true(settle_fault_is_forgery(reason));
    assert_int_equal(world_balance(w, packet_id), escrow_fen);
    for (size_t i = 1; i < 3; i++)
        assert_int_equal(world_balance(w, w->users[i]), 100000);
    assert_int_equal(world_audit_violations(w, "I1"), 0);
    assert_int_equal(world_audit_violations(w, "I5"), 0);
}

static void shares_of(uint64_t packet_id, int64_t *out)
{
    struct packet p = world_packet(w, packet_id);
    assert_true(p.count <= SHARES_MAX_TEST);
    assert_int_equal(split_packet(&p, out), ST_OK);
}

TEST(another_amount_than_the_drawn_one_is_not_paid)
{
    for (int more = -1; more <= 1; more += 2) {
        int64_t shares[SHARES_MAX_TEST];
        world_begin(w, 3);
        uint64_t id = world_send(w, 0, PACKET_LUCKY, 5000, 10, HOUR_MS, -1);
        shares_of(id, shares);
        forge_grab(id, "*", 0, 1, more > 0 ? 4990 : shares[0] - 1);
        assert_unpaid(id, 5000, FAULT_NOT_DRAWN);
        world_end(w);
    }
}

/* Also when both amounts are shares of the packet. */
WORLD_TEST(two_swapped_shares_are_not_paid, 3)
{
    int64_t shares[SHARES_MAX_TEST];
    uint64_t id;
    do {
        id = world_send(w, 0, PACKET_LUCKY, 5000, 2, HOUR_MS, -1);
        shares_of(id, shares);
    } while (shares[0] == shares[1]);
    forge_grab(id, "*", 0, 1, shares[1]);
    forge_grab(id, "*", 1, 2, shares[0]);
    assert_int_equal(world_drain(w), 0);
    assert_int_equal(letters(FAULT_NOT_DRAWN), 1);
    assert_int_equal(letters(FAULT_FOLLOWS_LETTER), 1);
    assert_int_equal(world_balance(w, id), 5000);
}

TEST(an_exclusive_packet_is_paid_to_its_receiver_alone)
{
    world_begin(w, 3);
    uint64_t id = world_send(w, 0, PACKET_EXCLUSIVE, 500, 1, HOUR_MS, 1);
    forge_grab(id, "*", 0, 2, 500);
    assert_unpaid(id, 500, FAULT_NOT_RECEIVER);
    world_end(w);
    world_begin(w, 3);
    id = world_send(w, 0, PACKET_EXCLUSIVE, 500, 1, HOUR_MS, 1);
    forge_grab(id, "*", 0, 1, 500);
    assert_int_equal(world_drain(w), 1);
    assert_int_equal(world_balance(w, w->users[1]), 100500);
    world_end(w);
}

TEST(a_packet_of_several_is_paid_to_its_receivers_alone)
{
    static const size_t to[] = { 1, 3 };
    world_begin(w, 4);
    uint64_t id = world_send_to(w, 0, PACKET_EVEN, 200, 2, HOUR_MS, to, 2);
    forge_grab(id, "*", 0, 2, 100);
    assert_unpaid(id, 200, FAULT_NOT_RECEIVER);
    world_end(w);
    world_begin(w, 4);
    id = world_send_to(w, 0, PACKET_EVEN, 200, 2, HOUR_MS, to, 2);
    assert_int_equal(world_grab(w, id, 3).code, LIVE_GRABBED);
    assert_int_equal(world_drain(w), 1);
    assert_int_equal(world_balance(w, w->users[3]), 100100);
    world_end(w);
}

/* The page pool can insert a receiver beside those of the send, and tell Redis. Which one is new nobody can tell. */
TEST(a_receiver_added_after_the_send_is_not_paid)
{
    static const size_t to[] = { 1, 3 };
    for (size_t user = 1; user <= 2; user++) {
        world_begin(w, 4);
        uint64_t id = world_send_to(w, 0, PACKET_EVEN, 200, 2, HOUR_MS, to, 2),
                 other = world_send_beside(w, id, 300, 3);
        sql_do_with(w->page->stores.db,
                    "INSERT INTO packet_receiver (packet_id, user_id, name, expires_ms)"
                    " SELECT packet_id, ?, 'x', expires_ms FROM packet_receiver WHERE packet_id = ? LIMIT 1",
                    DB_PARAMS(DB_U64(w->users[2]), DB_U64(id)));
        const char *receivers = arena_printf(w->arena, "HSET {pk} receivers ,%llu,%llu,",
                                             (unsigned long long)w->users[1], (unsigned long long)w->users[2])
                                    .ptr;
        (void)world_redis_as(w, w->page, id, receivers);
        assert_int_equal(world_grab(w, id, user).code, LIVE_GRABBED);
        assert_unpaid(id, 200, FAULT_RECEIVER_ADDED);
        assert_int_equal(world_audit_violations(w, "I3"), 1);
        assert_int_equal(world_grab(w, other, 3).code, LIVE_GRABBED);
        assert_int_equal(world_drain(w), 1);
        world_end(w);
    }
}

/* A row of the page pool with numbers below 0, and an event of it. */
TEST(a_row_with_impossible_numbers_does_not_stop_the_worker)
{
    static const char *const numbers[] = {
        "-5, 3, 1, 20000, NULL", "300, 3, -1, 20000, NULL",         "300, 3, 1, -5, NULL",
        "300, 3, 1, 20000, -5",  "300, 4000000000, 1, 20000, NULL", "300, 0, 1, 20000, NULL"
    };
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        world_begin(w, 3);
        uint64_t id = world_even(w, 300, 3), poison = id + (uint64_t)w->config->partitions;
        struct str sql = arena_printf(w->arena,
                                      "INSERT INTO packet (id, sender_id, sender_name, kind, split, amount_fen, count,"
                                      " share_min_fen, share_max_fen, opens_ms, greeting, seed, commitment, state,"
                                      " refund_fen, created_ms, expires_ms, request_key) SELECT %llu, sender_id, '',"
                                      " kind, split, %s, '', seed, commitment, 'open', -9, created_ms, expires_ms, 'x'"
                                      " FROM packet",
                                      (unsigned long long)poison, numbers[i]);
        sql_do(w->page->stores.db, sql.ptr);
        forge_grab(poison, "*", 0, 1, 100);
        assert_int_equal(world_grab(w, id, 2).code, LIVE_GRABBED);
        assert_int_equal(world_drain(w), 1);
        assert_int_equal(world_number(w, "SELECT COUNT(*) FROM dead_letter", 0), 1);
        assert_wallets(1, 100000, 100100);
        world_end(w);
    }
}

/* An id of the time of the opening does not help: the worker's clock is earlier. */
TEST(nothing_is_paid_before_the_opening)
{
    for (int with_id = 0; with_id < 2; with_id++) {
        world_begin(w, 3);
        uint64_t id = world_send(w, 0, PACKET_EVEN, 300, 3, 2 * HOUR_MS, -1);
        const int64_t opens_ms = clock_now_ms() + HOUR_MS;
        world_sqlf(w, "UPDATE packet SET opens_ms = %lld", (long long)opens_ms);
        forge_grab(id, with_id ? id_at(opens_ms) : "*", 0, 1, 100);
        assert_unpaid(id, 300, FAULT_BEFORE_OPENING);
        world_end(w);
    }
}

WORLD_TEST(nothing_is_paid_after_the_expiry, 3)
{
    uint64_t id = world_send(w, 0, PACKET_EVEN, 300, 3, 1000, -1);
    const int64_t expires_ms = world_packet(w, id).expires_ms;
    forge_grab(id, id_at(expires_ms + VERIFY_MARGIN_MS + 1), 0, 1, 100);
    assert_unpaid(id, 300, FAULT_AFTER_EXPIRY);
}

/* A sender has ended the packet in the tables; Redis does not know it yet and grants a grab. */
WORLD_TEST(a_grab_after_an_end_that_redis_did_not_know_is_paid, 3)
{
    uint64_t id = world_even(w, 300, 3);
    assert_int_equal(packet_end(w->page->stores.db, id, clock_now_ms() - VERIFY_MARGIN_MS - HOUR_MS), ST_OK);
    assert_int_equal(world_grab(w, id, 1).code, LIVE_GRABBED);
    assert_int_equal(world_expire(w, NULL), 1);
    assert_int_equal(world_drain(w), 2);
    assert_int_equal(world_balance(w, w->users[1]), 100100);
    assert_int_equal(world_balance(w, w->users[0]), 100000 - 100);
    assert_int_equal(world_number(w, "SELECT COUNT(*) FROM dead_letter", 0), 0);
    world_audit_clean(w);
}

TEST(a_packet_is_not_closed_before_its_expiry)
{
    for (int with_id = 0; with_id < 2; with_id++) {
        world_begin(w, 3);
        uint64_t id = world_send(w, 0, PACKET_EVEN, 300, 3, 2 * HOUR_MS, -1);
        const char *event = with_id ? id_at(world_packet(w, id).expires_ms) : "*";
        forge(home(id), event, "c", arena_printf(w->arena, "%llu,0,0,300", (unsigned long long)id));
        assert_unpaid(id, 300, FAULT_CLOSED_EARLY);
        assert_int_equal(world_packet(w, id).state, PACKET_OPEN);
        world_end(w);
    }
}

/* The pool may write the packet's hash, too. */
WORLD_TEST(a_packet_that_redis_has_as_closed_too_early_is_opened_again, 3)
{
    struct recover_done done = { 0 };
    uint64_t id = world_even_settled(w, 300, 3, 1);
    (void)world_redis_as(w, w->hot, id, "HSET {pk} state closed");
    assert_int_equal(recover_packet(w->settle, id, clock_now_ms(), &done), ST_OK);
    assert_int_equal(done.refunded + done.faults, 0);
    assert_int_equal(done.loaded, 1);
    assert_int_equal(world_balance(w, id), 200);
    assert_int_equal(world_grab(w, id, 2).code, LIVE_GRABBED);
    assert_int_equal(world_drain(w), 1);
    world_audit_clean(w);
}

WORLD_TEST(an_event_in_another_partition_is_not_paid, 3)
{
    uint64_t id = world_even(w, 300, 3);
    forge((home(id) + 1) % (uint32_t)w->config->partitions, "*", "g", grab_text(id, 0, 1, 100, "x"));
    assert_unpaid(id, 300, FAULT_OTHER_PARTITION);
    assert_int_equal(world_grab(w, id, 1).code, LIVE_GRABBED); /* the packet itself is not set aside */
    assert_int_equal(world_drain(w), 1);
}

TEST(an_impossible_nickname_is_not_stored)
{
    char longer[80];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    const char *const names[] = { "\xff\xfe", "a\nb", longer };
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        world_begin(w, 3);
        uint64_t id = world_even(w, 300, 3);
        forge(home(id), "*", "g", grab_text(id, 0, 1, 100, names[i]));
        assert_unpaid(id, 300, FAULT_NICKNAME);
        world_end(w);
    }
}

/* Neither the bank nor an escrow is a user. */
WORLD_TEST(a_grab_by_an_account_that_is_no_wallet_is_not_paid, 3)
{
    uint64_t id = world_even(w, 300, 3), other = world_send_beside(w, id, 300, 3);
    w->users[2] = 1;
    forge_grab(id, "*", 0, 2, 100);
    world_grab(w, other, 1);
    assert_int_equal(world_drain(w), 1);
    assert_int_equal(letters(FAULT_ACCOUNT_MISSING), 1);
    assert_int_equal(world_number(w, "SELECT COUNT(*) FROM dead_letter", 0), 1);
    assert_int_equal(world_balance(w, id), 300);
}

/* A share that was given back has the amount that it had. */
TEST(a_share_that_came_back_is_paid_as_it_was)
{
    for (int forged = 0; forged < 2; forged++) {
        struct give_back back;
        world_begin(w, 5);
        uint64_t id = world_send(w, 0, PACKET_LUCKY, 1000, 3, HOUR_MS, -1);
        const int64_t fen = world_grab(w, id, 1).amount_fen;
        world_drain(w);
        assert_int_equal(give_back(&w->page->stores, w->arena, id, w->users[1], clock_now_ms(), &back), ST_OK);
        assert_int_equal(back.result, GIVE_BACK_DONE);
        for (size_t i = 2; i < 4; i++)
            world_grab(w, id, i);
        assert_int_equal(world_drain(w), 2);
        if (forged)
            forge_grab(id, "*", 3, 4, fen == 1 ? 2 : fen - 1);
        else
            assert_int_equal(world_grab(w, id, 4).amount_fen, fen);
        assert_int_equal(world_drain(w), forged ? 0 : 1);
        assert_int_equal(letters(FAULT_NOT_DRAWN), forged);
        assert_int_equal(world_balance(w, w->users[4]), forged ? 100000 : 100000 + fen);
        assert_int_equal(world_balance(w, id), forged ? fen : 0);
        world_end(w);
    }
}

/* The page pool can add a row of share_return, and count it. The money of another return would pay for it. */
WORLD_TEST(a_share_that_nobody_gave_back_is_not_paid_again, 5)
{
    struct give_back back;
    int64_t fen[3];
    uint64_t id = world_send(w, 0, PACKET_LUCKY, 1000, 3, HOUR_MS, -1);
    for (size_t i = 0; i < 2; i++)
        fen[i] = world_grab(w, id, 1 + i).amount_fen;
    world_drain(w);
    sql_do_with(w->page->stores.db,
                "INSERT INTO share_return (packet_id, share_no, user_id, amount_fen, position,"
                " returned_ms, applied_ms) SELECT packet_id, share_no, user_id, amount_fen, 3, grabbed_ms,"
                " grabbed_ms FROM `grab` WHERE packet_id = ? AND share_no = 1",
                DB_PARAMS(DB_U64(id)));
    sql_do_with(w->page->stores.db, "UPDATE packet SET returned_count = 1, returned_fen = ? WHERE id = ?",
                DB_PARAMS(DB_I64(fen[1]), DB_U64(id)));
    assert_int_equal(give_back(&w->page->stores, w->arena, id, w->users[1], clock_now_ms(), &back), ST_OK);
    assert_int_equal(back.share.position, 4);
    fen[2] = world_grab(w, id, 3).amount_fen;
    assert_int_equal(world_drain(w), 1);
    forge_grab(id, "*", 3, 4, fen[1]);
    assert_int_equal(world_drain(w), 0);
    assert_int_equal(letters(FAULT_NOT_RETURNED), 1);
    assert_int_equal(world_balance(w, w->users[4]), 100000);
    assert_int_equal(world_balance(w, id), fen[0]);
}

WORLD_TEST(a_letter_can_not_be_replayed_as_something_else_than_the_tables_know, 3)
{
    uint64_t id = world_send(w, 0, PACKET_EXCLUSIVE, 500, 1, HOUR_MS, 1);
    forge_grab(id, "*", 0, 2, 500);
    assert_unpaid(id, 500, FAULT_NOT_RECEIVER);
    const struct {
        struct str content;
        enum settle_fault_kind fault;
    } replays[] = {
        { STR_NONE, FAULT_NOT_RECEIVER },
        { arena_printf(w->arena, "g %.*s", STR_ARG(grab_text(id, 0, 1, 499, "x"))), FAULT_NOT_DRAWN },
        { arena_printf(w->arena, "c %llu,0,0,500", (unsigned long long)id), FAULT_CLOSED_EARLY },
        { arena_printf(w->arena, "g %.*s", STR_ARG(grab_text(id, 0, 1, 500, "x"))), FAULT_NONE },
    };
    for (size_t i = 0; i < ARRAY_LEN(replays); i++) {
        struct settle_replay r = { .letter_id = (uint64_t)world_number(w, "SELECT id FROM dead_letter", 0),
                                   .content = replays[i].content,
                                   .now_ms = clock_now_ms() };
        assert_int_equal(settle_replay(w->settler->stores.db, w->arena, &r), ST_OK);
        assert_int_equal(r.fault.kind, replays[i].fault);
        assert_int_equal(r.outcome, replays[i].fault == FAULT_NONE ? REPLAY_DONE : REPLAY_FAULT);
    }
    assert_int_equal(world_balance(w, w->users[1]), 100500);
    world_drain(w);
    world_audit_clean(w);
}

/* ---- clocks ---- */

/* A worker whose clock is behind asks MariaDB for the time. */
TEST(a_worker_whose_clock_is_behind_pays_and_refunds)
{
    static const int64_t shifts_ms[] = { -VERIFY_MARGIN_MS - 1000, -HOUR_MS };
    for (size_t i = 0; i < ARRAY_LEN(shifts_ms); i++) {
        world_begin(w, 3);
        uint64_t opened = world_even(w, 300, 3);
        world_sqlf(w, "UPDATE packet SET opens_ms = %lld", (long long)clock_now_ms());
        assert_int_equal(world_grab(w, opened, 1).code, LIVE_GRABBED);
        uint64_t expired = world_send(w, 0, PACKET_EVEN, 500, 1, 0, -1);
        assert_int_equal(world_expire(w, NULL), 1);
        clock_shift_ms = shifts_ms[i];
        world_drain(w);
        clock_shift_ms = 0;
        assert_int_equal(world_balance(w, w->users[1]), 100100);
        assert_int_equal(world_packet(w, expired).refund_fen, 500);
        assert_int_equal(world_number(w, "SELECT COUNT(*) FROM dead_letter", 0), 0);
        world_audit_clean(w);
        world_end(w);
    }
}

/* ---- positions ---- */

/* The page pool may write the key of a partition's position. The worker looks at it each second. */
WORLD_TEST(a_position_that_a_pool_has_written_is_replaced, 4)
{
    static const char *const planted[] = { "SET {se} 9000000000000-0", "SET {se} 1-0", "SET {se} x", "HSET {se} a b",
                                           "DEL {se}" };
    uint64_t id = world_even_settled(w, 300, 3, 1);
    const struct str position = world_redis_text(w, id, "GET {se}");
    for (size_t i = 0; i < ARRAY_LEN(planted); i++) {
        if (str_starts(str_from(planted[i]), STR("HSET")))
            (void)world_redis(w, id, "DEL {se}");
        (void)world_redis_as(w, w->page, id, planted[i]);
        assert_int_equal(settle_positions_look(w->settle), ST_OK);
        assert_int_equal(world_drain(w), 0);
        if (!str_equal(world_redis_text(w, id, "GET {se}"), position))
            fail_msg("%s", planted[i]);
    }
    world_audit_clean(w);
}

WORLD_TEST(grabs_behind_a_planted_position_are_published_as_settled_no_sooner, 4)
{
    uint64_t id = world_even_settled(w, 300, 3, 1);
    (void)world_redis(w, id, "SET {se} 9000000000000-0");
    world_grab(w, id, 2);
    assert_int_equal(world_drain(w), 1);
    struct live_event_id at;
    assert_true(live_event_id_parse(world_redis_text(w, id, "GET {se}"), &at));
    assert_true(live_event_id_equal(at, world_partition(w, id)->last));
}

/* Another worker that is further has published its position. */
WORLD_TEST(a_position_of_another_worker_is_left, 4)
{
    struct settle *other;
    uint64_t n;
    uint64_t id = world_even_settled(w, 300, 3, 1);
    world_grab(w, id, 2);
    assert_int_equal(settle_new(&w->app->stores, &other), ST_OK);
    assert_int_equal(settle_drain(other, 10, &n), ST_OK);
    const struct str position = world_redis_text(w, id, "GET {se}");
    assert_int_equal(settle_positions_look(w->settle), ST_OK);
    assert_true(live_event_id_equal(world_partition(w, id)->published, world_partition(w, id)->last));
    assert_true(str_equal(world_redis_text(w, id, "GET {se}"), position));
    settle_free(other);
}

/* ---- ids in the future ---- */

static void letter_drop(void)
{
    FILE *out = tmpfile();
    assert_non_null(out);
    const uint64_t letter = (uint64_t)world_number(w, "SELECT id FROM dead_letter WHERE resolved_ms IS NULL", 0);
    assert_int_equal(replay_drop(&w->settler->stores, letter, out), ST_OK);
    (void)fclose(out);
}

/* Rebuilds what was shut, as the worker does. */
static void recover_all(void)
{
    struct recover r = { .full_walk = true };
    struct recover_done done = { 0 };
    assert_int_equal(recover_pass(&r, w->settle, clock_now_ms(), &done), ST_OK);
    assert_int_equal(done.faults, 0);
}

/* The last id of all: Redis can't append anything behind it. */
WORLD_TEST(a_stream_with_the_last_possible_id_begins_anew, 4)
{
    uint64_t id = world_even(w, 300, 3), other = world_send_beside(w, id, 300, 3);
    world_grab(w, other, 1);
    world_drain(w);
    forge_grab(id, "18446744073709551615-18446744073709551615", 0, 1, 100);
    assert_int_equal(world_drain(w), 0);
    assert_int_equal(letters(FAULT_IN_FUTURE), 1);
    assert_int_equal(world_number(w, "SELECT COUNT(*) FROM dead_letter", 0), 1);
    recover_all();
    assert_int_equal(world_grab(w, other, 2).code, LIVE_GRABBED);
    assert_int_equal(world_drain(w), 1);
    letter_drop();
    recover_all();
    assert_int_equal(world_grab(w, id, 1).code, LIVE_GRABBED);
    assert_int_equal(world_drain(w), 1);
    assert_int_equal(world_balance(w, w->users[1]), 100200);
    assert_int_equal(world_number(w, "SELECT COUNT(*) FROM dead_letter", 0), 1);
    assert_false(settle_is_stopped(w->settle));
    world_audit_clean(w);
}

/* Real grabs behind a forged id have its time, and are paid as grabs of now. */
WORLD_TEST(grabs_behind_an_id_in_the_future_are_paid, 4)
{
    uint64_t id = world_even(w, 300, 3), other = world_send_beside(w, id, 300, 3);
    const int64_t now_ms = clock_now_ms();
    forge_grab(id, id_at(now_ms + 400 * (int64_t)DAY_MS), 0, 1, 100);
    world_grab(w, other, 1);
    world_grab_all(w, other, 2, 2);
    assert_int_equal(world_drain(w), 3);
    assert_int_equal(letters(FAULT_IN_FUTURE), 1);
    assert_int_equal(world_number(w, "SELECT COUNT(*) FROM dead_letter", 0), 1);
    assert_int_equal(world_packet(w, other).state, PACKET_CLOSED);
    assert_true(world_number(w, "SELECT MAX(grabbed_ms) FROM `grab`", 0) < now_ms + HOUR_MS);
    assert_true(world_packet(w, other).finished_ms < now_ms + HOUR_MS);
    letter_drop();
    recover_all();
    assert_int_equal(world_redis(w, id, "XLEN {ev}"), 0); /* made anew */
    assert_int_equal(world_grab(w, id, 1).code, LIVE_GRABBED);
    assert_int_equal(world_drain(w), 1);
    world_audit_clean(w);
}

/* An entry without a readable event has an id, too. */
WORLD_TEST(a_broken_entry_with_an_id_in_the_future_does_not_stay, 3)
{
    uint64_t id = world_even(w, 300, 3);
    forge(home(id), "18446744073709551615-18446744073709551615", "g", STR("nonsense"));
    assert_int_equal(world_drain(w), 0);
    recover_all();
    assert_int_equal(world_grab(w, id, 1).code, LIVE_GRABBED);
    assert_int_equal(world_drain(w), 1);
    letter_drop();
    world_audit_clean(w);
}

/* A clock of Redis that is wrong by hours stops nothing: its times are believed up to a day. */
WORLD_TEST(grabs_by_a_clock_that_is_ahead_are_paid, 3)
{
    uint64_t id = world_send(w, 0, PACKET_EVEN, 300, 3, DAY_MS, -1);
    forge_grab(id, id_at(clock_now_ms() + 5 * (int64_t)HOUR_MS), 0, 1, 100);
    forge_grab(id, "*", 1, 2, 100); /* at the same time, as the ids of Redis never decrease */
    assert_int_equal(world_drain(w), 2);
    assert_int_equal(world_number(w, "SELECT COUNT(*) FROM dead_letter", 0), 0);
    assert_int_equal(world_balance(w, w->users[2]), 100100);
    assert_int_equal(world_audit_violations(w, "I5"), 0);
}

TESTS(NULL, NULL)

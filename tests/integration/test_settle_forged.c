/* Events that an intruder in a hot pool can append to a stream, with the rights of its role: the worker pays only
 * events that agree with the tables. */
#include "acts/give_back.h"
#include "commands/replay.h"
#include "live/event.h"
#include "live/keys.h"
#include "packet/split.h"
#include "packet/store.h"
#include "settle/fault.h"
#include "settle/publish.h"
#include "settle/verify.h"
#include "settle/write.h"
#include "support/stores_do.h"
#include "test_world.h"

/* The linker replaces clock_now_ms by the function below, which adds this to the real time: a test can set the worker's
 * clock. */
static int64_t clock_shift_ms;

int64_t __real_clock_now_ms(void);
int64_t __wrap_clock_now_ms(void);

int64_t __wrap_clock_now_ms(void)
{
    return __real_clock_now_ms() + clock_shift_ms;
}

enum { DAY_MS = 24 * HOUR_MS, SHARES_MAX_TEST = 16 };

/* Appends an event to the stream of a partition as the hot pool can. id: "*", or a chosen id. */
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

/* The number of the packet's letters with this reason. */
static int64_t letters(uint64_t packet_id, enum settle_fault_kind reason)
{
    struct db_rows rows;
    assert_int_equal(db_find(w->app->stores.db, w->arena, &rows,
                             "SELECT COUNT(*) FROM dead_letter WHERE packet_id = ? AND reason = ?",
                             DB_PARAMS(DB_U64(packet_id), DB_TEXT(settle_fault_text(reason)))),
                     ST_OK);
    return db_cell_i64(&rows, 0, 0);
}

/* Letters of all packets, also those that are resolved. */
static int64_t all_letters(void)
{
    return world_number(w, "SELECT COUNT(*) FROM dead_letter", 0);
}

/* The packet's only event became a letter for this reason, and only the sender's wallet differs from the beginning. */
static void assert_unpaid(uint64_t packet_id, int64_t escrow_fen, enum settle_fault_kind reason)
{
    assert_int_equal(world_drain(w), 0);
    assert_ints({ letters(packet_id, reason), 1 }, { world_letters(w, packet_id), 1 });
    assert_true(settle_fault_is_forgery(reason));
    assert_int_equal(world_balance(w, packet_id), escrow_fen);
    assert_wallets(1, 100000, 100000);
    assert_ints({ world_audit_violations(w, "I1"), 0 }, { world_audit_violations(w, "I5"), 0 });
}

static void shares_of(uint64_t packet_id, int64_t out[SHARES_MAX_TEST])
{
    struct packet p = world_packet(w, packet_id);
    assert_true(p.count <= SHARES_MAX_TEST);
    assert_int_equal(split_packet(&p, out), ST_OK);
}

/* unit/test_settle_verify tests each limit of a time and each kind of nickname. */
FAULTY_WORLD_TEST(each_forged_event_becomes_a_letter_and_is_not_paid, 4)
{
    static const size_t to[] = { 1, 3 };
    int64_t shares[SHARES_MAX_TEST];
    for (int more = 0; more < 2; more++) {
        uint64_t id = world_send(w, 0, PACKET_LUCKY, 5000, 10, HOUR_MS, -1);
        shares_of(id, shares);
        forge_grab(id, "*", 0, 1, more ? 4990 : shares[0] - 1);
        assert_unpaid(id, 5000, FAULT_NOT_DRAWN);
    }
    uint64_t exclusive = world_send(w, 0, PACKET_EXCLUSIVE, 100, 1, HOUR_MS, 1);
    forge_grab(exclusive, "*", 0, 2, 100);
    assert_unpaid(exclusive, 100, FAULT_NOT_RECEIVER);

    uint64_t several = world_send_to(w, 0, PACKET_EVEN, 200, 2, HOUR_MS, to, 2);
    forge_grab(several, "*", 0, 2, 100);
    assert_unpaid(several, 200, FAULT_NOT_RECEIVER);

    uint64_t named = world_even(w, 300, 3);
    forge(home(named), "*", "g", grab_text(named, 0, 1, 100, "a\nb"));
    assert_unpaid(named, 300, FAULT_NICKNAME);

    uint64_t scheduled = world_even(w, 300, 3);
    world_sqlf(w, "UPDATE packet SET opens_ms = %lld WHERE id = %llu", (long long)clock_now_ms() + HOUR_MS / 2,
               (unsigned long long)scheduled);
    forge_grab(scheduled, "*", 0, 1, 100);
    assert_unpaid(scheduled, 300, FAULT_BEFORE_OPENING);

    uint64_t closed = world_even(w, 300, 3);
    forge(home(closed), "*", "c", arena_printf(w->arena, "%llu,0,0,300", (unsigned long long)closed));
    assert_unpaid(closed, 300, FAULT_CLOSED_EARLY);
    assert_int_equal(world_packet(w, closed).state, PACKET_OPEN);

    uint64_t expired = world_send(w, 0, PACKET_EVEN, 300, 3, 1000, -1);
    forge_grab(expired, id_at(world_packet(w, expired).expires_ms + VERIFY_MARGIN_MS + 1), 0, 1, 100);
    assert_unpaid(expired, 300, FAULT_AFTER_EXPIRY);
}

/* They are not paid although both amounts are shares of the packet. */
FAULTY_WORLD_TEST(two_swapped_shares_are_not_paid, 3)
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
    assert_ints({ letters(id, FAULT_NOT_DRAWN), 1 }, { letters(id, FAULT_FOLLOWS_LETTER), 1 },
                { world_balance(w, id), 5000 });
}

/* The page pool can insert a receiver beside the real ones, and write it to Redis. The tables do not show which
 * receiver is new. */
TEST(a_receiver_added_after_the_send_is_not_paid)
{
    static const size_t to[] = { 1, 3 };
    for (size_t user = 1; user <= 2; user++) {
        world_begin(w, 4);
        const unsigned long long first = w->users[1], added = w->users[2];
        uint64_t id = world_send_to(w, 0, PACKET_EVEN, 200, 2, HOUR_MS, to, 2),
                 other = world_send_beside(w, id, 300, 3);
        sql_do_with(w->page->stores.db,
                    "INSERT INTO packet_receiver (packet_id, user_id, name, expires_ms)"
                    " SELECT packet_id, ?, 'x', expires_ms FROM packet_receiver WHERE packet_id = ? LIMIT 1",
                    DB_PARAMS(DB_U64(added), DB_U64(id)));
        struct str receivers = arena_printf(w->arena, "HSET {pk} receivers ,%llu,%llu,", first, added);
        (void)world_redis_as(w, w->page, id, receivers.ptr);
        assert_int_equal(world_grab(w, id, user).code, LIVE_GRABBED);
        assert_unpaid(id, 200, FAULT_RECEIVER_ADDED);
        assert_int_equal(world_audit_violations(w, "I3"), 1);
        assert_int_equal(world_grab(w, other, 3).code, LIVE_GRABBED);
        assert_int_equal(world_drain(w), 1);
        world_end(w);
    }
}

/* Rows of the page pool with numbers below 0, and an event of each. */
FAULTY_WORLD_TEST(a_row_with_impossible_numbers_does_not_stop_the_worker, 4)
{
    static const char *const numbers[] = {
        "-5, 3, 1, 20000, NULL", "300, 3, -1, 20000, NULL",         "300, 3, 1, -5, NULL",
        "300, 3, 1, 20000, -5",  "300, 4000000000, 1, 20000, NULL", "300, 0, 1, 20000, NULL"
    };
    uint64_t id = world_even(w, 300, 3);
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        const uint64_t poison = id + (i + 1) * (uint64_t)w->config->partitions;
        struct str sql = arena_printf(w->arena,
                                      "INSERT INTO packet (id, sender_id, sender_name, kind, split, amount_fen, count,"
                                      " share_min_fen, share_max_fen, opens_ms, greeting, seed, commitment, state,"
                                      " refund_fen, created_ms, expires_ms, request_key) SELECT %llu, sender_id, '',"
                                      " kind, split, %s, '', seed, commitment, 'open', -9, created_ms, expires_ms,"
                                      " 'x%zu' FROM packet WHERE id = %llu",
                                      (unsigned long long)poison, numbers[i], i, (unsigned long long)id);
        sql_do(w->page->stores.db, sql.ptr);
        forge_grab(poison, "*", 0, 1, 100);
        if (i == 0) /* in the same batch */
            world_grab_all(w, id, 2, 1);
        assert_int_equal(world_drain(w), i == 0);
        assert_int_equal(all_letters(), i + 1);
    }
    world_grab_all(w, id, 3, 1);
    assert_int_equal(world_drain(w), 1);
    assert_wallets(1, 100000, 100100, 100100);
}

/* A sender has ended the packet in the tables; Redis has not learned of it yet and grants a grab. */
WORLD_TEST(a_grab_after_an_end_that_redis_did_not_know_is_paid, 3)
{
    uint64_t id = world_even(w, 300, 3);
    assert_int_equal(packet_end(w->page->stores.db, id, clock_now_ms() - VERIFY_MARGIN_MS - HOUR_MS, NULL), ST_OK);
    assert_int_equal(world_grab(w, id, 1).code, LIVE_GRABBED);
    assert_int_equal(world_expire(w, NULL), 1);
    assert_int_equal(world_drain(w), 2);
    assert_ints({ world_balance(w, w->users[1]), 100100 }, { world_balance(w, w->users[0]), 100000 - 100 });
    assert_int_equal(all_letters(), 0);
}

/* An intruder may also write the packet's hash. */
WORLD_TEST(a_packet_that_redis_has_as_closed_too_early_is_opened_again, 3)
{
    uint64_t id = world_even_settled(w, 300, 3, 1);
    (void)world_redis_as(w, w->hot, id, "HSET {pk} state closed");
    struct recover_done done = recover_one(id, 0);
    assert_ints({ done.refunded + done.faults, 0 }, { done.loaded, 1 }, { world_balance(w, id), 200 });
    world_grab_all(w, id, 2, 1);
    assert_int_equal(world_drain(w), 1);
}

FAULTY_WORLD_TEST(an_event_in_another_partition_is_not_paid, 3)
{
    uint64_t id = world_even(w, 300, 3);
    forge((home(id) + 1) % (uint32_t)w->config->partitions, "*", "g", grab_text(id, 0, 1, 100, "x"));
    assert_unpaid(id, 300, FAULT_OTHER_PARTITION);
    assert_int_equal(world_grab(w, id, 1).code, LIVE_GRABBED); /* only the event is set aside, not the packet */
    assert_int_equal(world_drain(w), 1);
}

/* Neither the bank nor an escrow is a user. */
FAULTY_WORLD_TEST(a_grab_by_an_account_that_is_no_wallet_is_not_paid, 3)
{
    uint64_t id = world_even(w, 300, 3), other = world_send_beside(w, id, 300, 3);
    w->users[2] = 1;
    forge_grab(id, "*", 0, 2, 100);
    world_grab(w, other, 1);
    assert_int_equal(world_drain(w), 1);
    assert_ints({ letters(id, FAULT_ACCOUNT_MISSING), 1 }, { all_letters(), 1 }, { world_balance(w, id), 300 });
}

/* A share that was given back keeps its amount. */
TEST(a_share_that_came_back_is_paid_as_it_was)
{
    WORLDS (forged, 2, world_begin(w, 5)) {
        struct give_back back;
        uint64_t id = world_send(w, 0, PACKET_LUCKY, 1000, 3, HOUR_MS, -1);
        const int64_t fen = world_grab(w, id, 1).amount_fen;
        world_drain(w);
        assert_int_equal(give_back(&w->page->stores, w->arena, id, w->users[1], clock_now_ms(), &back), ST_OK);
        assert_int_equal(back.result, GIVE_BACK_DONE);
        world_grab_all(w, id, 2, 2);
        assert_int_equal(world_drain(w), 2);
        if (forged)
            forge_grab(id, "*", 3, 4, fen == 1 ? 2 : fen - 1);
        else
            assert_int_equal(world_grab(w, id, 4).amount_fen, fen);
        assert_int_equal(world_drain(w), !forged);
        assert_ints({ letters(id, FAULT_NOT_DRAWN), forged }, { world_balance(w, id), forged ? fen : 0 },
                    { world_balance(w, w->users[4]), forged ? 100000 : 100000 + fen });
    }
}

/* The page pool can add a row of share_return, and count it; such a share would be paid from the money of another
 * return. */
FAULTY_WORLD_TEST(a_share_that_nobody_gave_back_is_not_paid_again, 5)
{
    struct give_back back;
    uint64_t id = world_send(w, 0, PACKET_LUCKY, 1000, 3, HOUR_MS, -1);
    const int64_t first_fen = world_grab(w, id, 1).amount_fen, second_fen = world_grab(w, id, 2).amount_fen;
    world_drain(w);
    sql_do_with(w->page->stores.db,
                "INSERT INTO share_return (packet_id, share_no, user_id, amount_fen, position,"
                " returned_ms, applied_ms) SELECT packet_id, share_no, user_id, amount_fen, 3, grabbed_ms,"
                " grabbed_ms FROM `grab` WHERE packet_id = ? AND share_no = 1",
                DB_PARAMS(DB_U64(id)));
    sql_do_with(w->page->stores.db, "UPDATE packet SET returned_count = 1, returned_fen = ? WHERE id = ?",
                DB_PARAMS(DB_I64(second_fen), DB_U64(id)));
    assert_int_equal(give_back(&w->page->stores, w->arena, id, w->users[1], clock_now_ms(), &back), ST_OK);
    assert_int_equal(back.share.position, 4);
    world_grab(w, id, 3);
    assert_int_equal(world_drain(w), 1);
    forge_grab(id, "*", 3, 4, second_fen);
    assert_int_equal(world_drain(w), 0);
    assert_ints({ letters(id, FAULT_NOT_RETURNED), 1 }, { world_balance(w, w->users[4]), 100000 },
                { world_balance(w, id), first_fen });
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
    EACH (row, replays) {
        struct settle_replay r = { .letter_id = (uint64_t)world_number(w, "SELECT id FROM dead_letter", 0),
                                   .content = row->content,
                                   .now_ms = clock_now_ms() };
        assert_int_equal(settle_replay(w->settler->stores.db, w->arena, &r), ST_OK);
        assert_ints({ r.fault.kind, row->fault }, { r.outcome, row->fault == FAULT_NONE ? REPLAY_DONE : REPLAY_FAULT });
    }
    assert_int_equal(world_balance(w, w->users[1]), 100500);
    (void)world_drain(w);
}

/* ---- clocks ---- */

/* A worker whose clock is behind asks MariaDB for the time. */
TEST(a_worker_whose_clock_is_behind_pays_and_refunds)
{
    static const int64_t shifts_ms[] = { -VERIFY_MARGIN_MS - 1000, -HOUR_MS };
    EACH_WORLD (shift_ms, shifts_ms, world_begin(w, 3)) {
        uint64_t opened = world_even(w, 300, 3);
        world_sqlf(w, "UPDATE packet SET opens_ms = %lld", (long long)clock_now_ms());
        assert_int_equal(world_grab(w, opened, 1).code, LIVE_GRABBED);
        uint64_t expired = world_send(w, 0, PACKET_EVEN, 500, 1, 0, -1);
        assert_int_equal(world_expire(w, NULL), 1);
        clock_shift_ms = *shift_ms;
        world_drain(w);
        clock_shift_ms = 0;
        assert_ints({ world_balance(w, w->users[1]), 100100 }, { world_packet(w, expired).refund_fen, 500 });
        assert_int_equal(all_letters(), 0);
        world_audit_clean(w);
    }
}

/* ---- positions ---- */

/* The page pool can write the key of a partition's position. The worker checks it each second. */
WORLD_TEST(a_position_that_a_pool_has_written_is_replaced, 4)
{
    uint64_t id = world_even_settled(w, 300, 3, 1);
    const struct str position = world_redis_text(w, id, "GET {se}");
    EACH_TEXT (planted, "SET {se} 9000000000000-0", "SET {se} 1-0", "SET {se} x", "HSET {se} a b", "DEL {se}") {
        if (str_starts(str_from(planted), STR("HSET")))
            (void)world_redis(w, id, "DEL {se}");
        (void)world_redis_as(w, w->page, id, planted);
        assert_int_equal(settle_positions_look(w->settle), ST_OK);
        assert_int_equal(world_drain(w), 0);
        assert_of(planted, str_equal(world_redis_text(w, id, "GET {se}"), position));
    }
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

/* Another worker that has settled more has published its position. */
WORLD_TEST(a_position_of_another_worker_is_left, 4)
{
    uint64_t id = world_even_settled(w, 300, 3, 1);
    world_grab(w, id, 2);
    struct settle *other = worker_new(w->app);
    (void)worker_drain(other);
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

/* The largest possible id: Redis can't append anything after it. */
WORLD_TEST(a_stream_with_the_last_possible_id_begins_anew, 4)
{
    uint64_t id = world_even(w, 300, 3), other = world_send_beside(w, id, 300, 3);
    world_grab(w, other, 1);
    world_drain(w);
    forge_grab(id, "18446744073709551615-18446744073709551615", 0, 1, 100);
    assert_int_equal(world_drain(w), 0);
    assert_ints({ letters(id, FAULT_IN_FUTURE), 1 }, { all_letters(), 1 });
    assert_int_equal(world_recover(w).faults, 0);
    world_grab_all(w, other, 2, 1);
    assert_int_equal(world_drain(w), 1);
    letter_drop();
    assert_int_equal(world_recover(w).faults, 0);
    world_grab_all(w, id, 1, 1);
    assert_int_equal(world_drain(w), 1);
    assert_ints({ world_balance(w, w->users[1]), 100200 }, { all_letters(), 1 },
                { settle_is_stopped(w->settle), false });
}

/* Real grabs after a forged id get its time, and are paid with the present time. */
WORLD_TEST(grabs_behind_an_id_in_the_future_are_paid, 4)
{
    uint64_t id = world_even(w, 300, 3), other = world_send_beside(w, id, 300, 3);
    const int64_t now_ms = clock_now_ms();
    forge_grab(id, id_at(now_ms + 400 * (int64_t)DAY_MS), 0, 1, 100);
    world_grab(w, other, 1);
    world_grab_all(w, other, 2, 2);
    assert_int_equal(world_drain(w), 3);
    assert_ints({ letters(id, FAULT_IN_FUTURE), 1 }, { all_letters(), 1 },
                { world_packet(w, other).state, PACKET_CLOSED });
    assert_true(world_number(w, "SELECT MAX(grabbed_ms) FROM `grab`", 0) < now_ms + HOUR_MS);
    assert_true(world_packet(w, other).finished_ms < now_ms + HOUR_MS);
    letter_drop();
    assert_int_equal(world_recover(w).faults, 0);
    assert_int_equal(world_redis(w, id, "XLEN {ev}"), 0); /* made anew */
    assert_int_equal(world_grab(w, id, 1).code, LIVE_GRABBED);
    assert_int_equal(world_drain(w), 1);
}

/* An entry without a readable event has an id, too. */
WORLD_TEST(a_broken_entry_with_an_id_in_the_future_does_not_stay, 3)
{
    uint64_t id = world_even(w, 300, 3);
    forge(home(id), "18446744073709551615-18446744073709551615", "g", STR("nonsense"));
    assert_int_equal(world_drain(w), 0);
    assert_int_equal(world_recover(w).faults, 0);
    assert_int_equal(world_grab(w, id, 1).code, LIVE_GRABBED);
    assert_int_equal(world_drain(w), 1);
    letter_drop();
}

/* A clock of Redis that is wrong by hours stops nothing: its times are believed up to a day. */
FAULTY_WORLD_TEST(grabs_by_a_clock_that_is_ahead_are_paid, 3)
{
    uint64_t id = world_send(w, 0, PACKET_EVEN, 300, 3, DAY_MS, -1);
    forge_grab(id, id_at(clock_now_ms() + 5 * (int64_t)HOUR_MS), 0, 1, 100);
    forge_grab(id, "*", 1, 2, 100); /* at the same time, as the ids of Redis never decrease */
    assert_int_equal(world_drain(w), 2);
    assert_int_equal(all_letters(), 0);
    assert_ints({ world_balance(w, w->users[2]), 100100 }, { world_audit_violations(w, "I5"), 0 });
}

TESTS(NULL, NULL)

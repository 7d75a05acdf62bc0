/* Deleting an account: the name goes everywhere, open packets end first, the money is accounted for, the ledger
 * stays. */
#include "acts/fund.h"
#include "acts/give_back.h"
#include "packet/receivers.h"
#include "support/capture_stderr.h"
#include "support/test.h"
#include "support/test_services.h"
#include "test_user_fixture.h"
#include "test_world.h"
#include "user/deletion.h"
#include "user/session.h"
#include "user/session_list.h"
#include "user/store.h"

enum { LATER_MS = DELETION_WAIT_MS + 1000 };

static const struct str HASH = { "hash", 4 };

/* In each world, users[1], "leaver", has a password. */
static struct services *auth;     /* with the rights of its pool */
static struct deletion_walk walk; /* of the worker */

static int leaver_begin(void **state)
{
    (void)state;
    world_begin(w, WORLD_USERS);
    walk = (struct deletion_walk){ 0 };
    auth = test_services_open_as("auth");
    assert_non_null(auth);
    sql_run(w->app, "UPDATE user SET username = 'leaver', password_hash = ? WHERE id = ?", DB_TEXT(HASH),
            DB_U64(w->users[1]));
    return 0;
}

static int faulty_leaver_end(void **state)
{
    test_services_close(auth);
    return faulty_world_test_end(state);
}

static int leaver_end(void **state)
{
    world_audit_clean(w);
    return faulty_leaver_end(state);
}

#define LEAVER_TEST(name)        TEST_WITH(name, leaver_begin, leaver_end)
#define FAULTY_LEAVER_TEST(name) TEST_WITH(name, leaver_begin, faulty_leaver_end)

static enum deletion_result begin_with(struct str password, bool give_up)
{
    enum deletion_result result;
    assert_int_equal(deletion_begin(&auth->stores, w->arena, w->users[1], STR("leaver"), password, give_up, &result),
                     ST_OK);
    return result;
}

static void begin(void)
{
    assert_int_equal(begin_with(HASH, true), DELETION_BEGUN);
}

/* One pass of the worker, as if it ran so much later. */
static void pass_after(int64_t ms)
{
    assert_int_equal(deletion_pass(&walk, &w->settler->stores, clock_now_ms() + ms), ST_OK);
}

static bool is_deleted(void)
{
    return world_number(w, "SELECT deleted_ms IS NOT NULL FROM user WHERE id = ?", w->users[1]) == 1;
}

static void passes_after(int64_t ms)
{
    for (int pass = 0; pass < 3; pass++)
        pass_after(ms);
}

static void until_deleted(void)
{
    for (int pass = 0; pass < PASSES_MAX && !is_deleted(); pass++)
        pass_after(LATER_MS);
    assert_true(is_deleted());
}

/* The money of the account that went to the bank, or to the channel forfeited. */
static int64_t forfeited_fen(void)
{
    return world_number(w, "SELECT amount_fen FROM transfer WHERE kind = 'forfeit' AND debit_id = ?", w->users[1]);
}

static void deleted(void)
{
    begin();
    (void)world_expire(w, NULL);
    (void)world_drain(w);
    until_deleted();
}

/* Whether the entry of a share in Redis has a name. */
static bool has_name(uint64_t packet_id, int share_no)
{
    struct str words = arena_printf(w->arena, "LINDEX {or} %d", share_no);
    struct str entry = world_redis_text(w, packet_id, arena_cstr(w->arena, words));
    assert_true(entry.len > 0);
    return entry.ptr[entry.len - 1] != ',';
}

/* ---- beginning ---- */

FAULTY_LEAVER_TEST(a_deletion_needs_the_password_and_a_decision_about_the_money)
{
    uint64_t id = world_send(w, 1, PACKET_EVEN, 500, 5, HOUR_MS, -1);
    struct deletion_money money;
    assert_int_equal(deletion_money_find(auth->stores.db, w->arena, w->users[1], &money), ST_OK);
    assert_ints({ money.balance_fen, FUNDED_FEN - 500 }, { money.packets_fen, 500 }, { money.packet_count, 1 });
    assert_int_equal(begin_with(STR("hasH"), true), DELETION_OTHER_PASSWORD);
    assert_int_equal(begin_with(HASH, false), DELETION_MONEY_LEFT);
    assert_ints({ world_number(w, "SELECT deleting_ms IS NULL FROM user WHERE id = ?", w->users[1]), 1 },
                { world_packet(w, id).ended_ms, 0 },
                { world_number(w, "SELECT COUNT(*) FROM username_retired", 0), 0 });
    begin();
    assert_int_equal(begin_with(STR("any"), false), DELETION_BEGUN); /* a repeat */
    assert_true(world_packet(w, id).ended_ms > 0);
    assert_int_equal(world_number(w,
                                  "SELECT COUNT(*) FROM user WHERE id = ? AND username = CONCAT('~', id)"
                                  " AND nickname = '' AND password_hash IS NULL",
                                  w->users[1]),
                     1);
}

FAULTY_LEAVER_TEST(the_money_of_an_open_packet_counts_with_an_empty_wallet)
{
    uint64_t id = world_send(w, 1, PACKET_EVEN, FUNDED_FEN, 10, HOUR_MS, -1);
    assert_int_equal(begin_with(HASH, false), DELETION_MONEY_LEFT);
    for (size_t i = 0; i < 4; i++)
        if (i != 1)
            assert_int_equal(world_grab(w, id, i).code, LIVE_GRABBED);
    begin();
}

LEAVER_TEST(nobody_takes_the_username_again)
{
    const struct keys *keys = &auth->stores.config->keys;
    deleted();
    struct user again = { .username = STR("leaver"), .nickname = STR("x") };
    struct user other = { .username = STR("leaver2"), .nickname = STR("x") };
    assert_int_equal(user_insert(auth->stores.db, w->arena, keys, &again, clock_now_ms()), ST_EXISTS);
    assert_int_equal(user_insert(auth->stores.db, w->arena, keys, &other, clock_now_ms()), ST_OK);
    struct user found;
    assert_int_equal(user_find_by_name(w->page->stores.db, w->arena, STR("leaver"), &found), ST_NOT_FOUND);
    /* An earlier version noted the retired name with its own key. */
    struct keys older = *keys;
    older.of[KEY_BEFORE] = older.of[KEY_USERNAMES];
    older.of[KEY_USERNAMES] = older.of[KEY_IDS];
    assert_int_equal(user_insert(auth->stores.db, w->arena, &older, &again, clock_now_ms()), ST_EXISTS);
    older.has[KEY_BEFORE] = false;
    bool retired = true;
    assert_int_equal(username_is_retired(auth->stores.db, w->arena, &older, STR("leaver"), &retired), ST_OK);
    assert_false(retired);
}

LEAVER_TEST(neither_from_nor_to_the_user_a_packet_is_sent_any_more)
{
    begin();
    for (size_t sender = 0; sender < 2; sender++) { /* requests that began before the deletion */
        struct receiver to = { .id = w->users[1 - sender], .name = STR("小红") };
        struct receivers receivers = { &to, 1 };
        const struct send_order order = { .packet = { .kind = PACKET_EXCLUSIVE,
                                                      .split = SPLIT_EVEN,
                                                      .amount_fen = 100,
                                                      .share_min_fen = 1,
                                                      .share_max_fen = w->config->share_fen_max,
                                                      .count = 1,
                                                      .greeting = STR("x"),
                                                      .request_key = STR("late") },
                                          .lifetime_ms = HOUR_MS };
        struct fund_packet funded;
        assert_int_equal(fund_packet(&w->page->stores, w->arena,
                                     (struct send_party){ .id = w->users[sender], .name = STR("小明") }, &receivers,
                                     &order, clock_now_ms(), &funded),
                         ST_UNAVAILABLE);
    }
    assert_int_equal(world_number(w, "SELECT COUNT(*) FROM packet", 0), 0);
}

/* The money that a deletion asks about is the rest of packets: a packet may be taken completely and not closed. */
FAULTY_LEAVER_TEST(the_money_that_is_left_has_only_packets_with_a_rest)
{
    struct deletion_money money;
    uint64_t taken = world_send(w, 1, PACKET_EVEN, 200, 2, HOUR_MS, -1);
    uint64_t refunded = world_send(w, 1, PACKET_EVEN, 400, 2, 0, -1);
    (void)world_send(w, 1, PACKET_EVEN, 300, 3, HOUR_MS, -1);
    (void)world_drain(w);
    world_grab_all(w, taken, 2, 2);
    (void)world_expire(w, NULL);
    (void)world_drain(w);
    assert_ints({ world_packet(w, taken).state, PACKET_CLOSED }, { world_packet(w, refunded).state, PACKET_CLOSED });
    world_sqlf(w, "UPDATE packet SET state = 'finished' WHERE id = %llu", (unsigned long long)taken);
    assert_int_equal(deletion_money_find(auth->stores.db, w->arena, w->users[1], &money), ST_OK);
    assert_ints({ money.packet_count, 1 }, { money.packets_fen, 300 },
                { money.balance_fen, world_balance(w, w->users[1]) });
}

/* ---- continuing ---- */

LEAVER_TEST(the_name_goes_from_both_stores_and_the_ledger_stays)
{
    uint64_t own = world_send(w, 1, PACKET_LUCKY, 1001, 5, HOUR_MS, -1);
    uint64_t joined = world_send(w, 0, PACKET_EVEN, 500, 5, HOUR_MS, -1);
    uint64_t done = world_send(w, 0, PACKET_EVEN, 200, 2, HOUR_MS, -1);
    uint64_t meant = world_send(w, 0, PACKET_EXCLUSIVE, 100, 1, HOUR_MS, 1);
    uint64_t named = world_send_to(w, 0, PACKET_EVEN, 200, 2, HOUR_MS, (const size_t[]){ 1, 2 }, 2);
    world_grab_all(w, joined, 0, 3);
    world_grab_all(w, done, 1, 2);
    assert_int_equal(world_grab(w, own, 2).code, LIVE_GRABBED);
    (void)world_drain(w);
    world_sqlf(w, "UPDATE packet SET note = 'x' WHERE id IN (%llu, %llu)", (unsigned long long)own,
               (unsigned long long)joined);
    assert_int_equal(world_redis(w, own, "HSET {pk} note x") + world_redis(w, joined, "HSET {pk} note x"), 2);
    begin();
    pass_after(0);
    assert_false(is_deleted()); /* the user's own packet is still open */
    assert_int_equal(world_redis_text(w, own, "HGET {pk} note").len, 0);
    assert_true(str_equal(world_redis_text(w, joined, "HGET {pk} note"), STR("x"))); /* of its sender */
    assert_int_equal(world_redis(w, done, "EXISTS {or}"), 0);
    assert_true(has_name(joined, 0));
    assert_false(has_name(joined, 1)); /* of the user */
    assert_true(has_name(joined, 2));
    assert_int_equal(world_redis_text(w, meant, "HGET {pk} receiver_name").len, 0);
    assert_true(str_equal(world_redis_text(w, named, "HGET {pk} receiver_names"), STR("\n小红\n")));
    assert_int_equal(world_redis_text(w, own, "HGET {pk} nickname").len, 0);
    assert_int_equal(world_grab(w, joined, 1).code, LIVE_ALREADY);
    int64_t balance_fen = world_balance(w, w->users[1]);
    (void)world_expire(w, NULL);
    (void)world_drain(w);
    struct packet p = world_packet(w, own);
    assert_int_equal(p.state, PACKET_CLOSED);
    until_deleted();
    assert_int_equal(world_packet(w, own).note.len, 0);
    assert_int_equal(world_packet(w, joined).note.len, 1);
    assert_int_equal(world_balance(w, w->users[1]), 0);
    assert_int_equal(forfeited_fen(), balance_fen + p.refund_fen);
    assert_int_equal(world_number(w, "SELECT COUNT(*) FROM grab WHERE user_id = ? AND nickname = ''", w->users[1]), 2);
}

LEAVER_TEST(a_deletion_waits_for_grabs_that_are_not_settled)
{
    uint64_t id = world_send(w, 0, PACKET_EVEN, 500, 5, HOUR_MS, -1);
    (void)world_drain(w);
    int64_t fen = world_grab(w, id, 1).amount_fen;
    begin();
    passes_after(LATER_MS);
    assert_false(is_deleted());
    (void)world_drain(w);
    until_deleted();
    assert_int_equal(forfeited_fen(), FUNDED_FEN + fen);
}

/* All money of the user waits in a withdrawal. */
static void withdrawal_held(void)
{
    world_sql(w, "CALL channel_open('bank', '', 'boss', 1)");
    world_sql(w, "UPDATE channel SET withdraws = TRUE WHERE name = 'bank'");
    sql_run(w->app, "CALL withdrawal_hold(?, (SELECT id FROM channel WHERE name = 'bank'), ?, 'account 1', 'k', 1)",
            DB_U64(w->users[1]), DB_I64(FUNDED_FEN));
}

LEAVER_TEST(a_pending_withdrawal_is_money_that_needs_a_decision)
{
    struct deletion_money money;
    withdrawal_held();
    assert_int_equal(deletion_money_find(auth->stores.db, w->arena, w->users[1], &money), ST_OK);
    assert_ints({ money.balance_fen, 0 }, { money.packet_count, 0 }, { money.withdrawals_fen, FUNDED_FEN },
                { money.withdrawal_count, 1 });
    assert_int_equal(begin_with(HASH, false), DELETION_MONEY_LEFT);
    world_sql(w, "CALL withdrawal_end((SELECT id FROM withdrawal), TRUE, 'p', NULL, 'boss', 'command', 1)");
    assert_int_equal(deletion_money_find(auth->stores.db, w->arena, w->users[1], &money), ST_OK);
    assert_ints({ money.withdrawals_fen, 0 }, { money.withdrawal_count, 0 });
    assert_int_equal(begin_with(HASH, false), DELETION_BEGUN);
}

LEAVER_TEST(nothing_that_logs_in_is_left_of_the_account)
{
    static const char *const tables[] = { "token", "passkey", "recovery_code" };
    EACH_TEXT (sql,
               "INSERT INTO token (user_id, hash, name, scopes, created_ms, expires_ms)"
               " SELECT id, UNHEX(SHA2(id, 256)), 'x', '', 1, 2 FROM user",
               "INSERT INTO passkey (user_id, credential_id, algorithm, public_key, sign_count, user_handle, name,"
               " created_ms) SELECT id, id, -7, 'key', 0, REPEAT('h', 32), 'x', 1 FROM user",
               "INSERT INTO recovery_code (user_id, slot, hash, created_ms) SELECT id, 1, 'hash', 1 FROM user")
        world_sql(w, sql);
    deleted();
    EACH (table, tables) {
        struct str sql = arena_printf(w->arena, "SELECT COUNT(*) * 1000 + SUM(user_id = ?) FROM %s", *table);
        assert_int_equal(world_number(w, sql.ptr, w->users[1]), (WORLD_USERS - 1) * 1000);
    }
}

/* Paid, or back into the wallet and given up. */
TEST(a_deletion_waits_for_a_withdrawal_without_a_word)
{
    static const struct {
        bool paid;
        int64_t forfeited_fen;
    } cases[] = { { true, 0 }, { false, FUNDED_FEN } };
    EACH (end, cases) {
        assert_int_equal(leaver_begin(NULL), 0);
        char said[8192] = "";
        withdrawal_held();
        begin();
        CAPTURE(said, passes_after(LATER_MS));
        assert_null(strstr(said, "deletion of an account failed"));
        assert_false(is_deleted());
        world_sqlf(w, "CALL withdrawal_end((SELECT id FROM withdrawal), %d, 'p', 'r', 'boss', 'command', 1)",
                   end->paid);
        until_deleted();
        assert_ints({ world_balance(w, w->users[1]), 0 }, { world_balance(w, 2), end->forfeited_fen });
        assert_int_equal(leaver_end(NULL), 0);
    }
}

LEAVER_TEST(the_list_of_a_finished_packet_goes_when_it_is_closed)
{
    uint64_t id = world_send(w, 0, PACKET_EVEN, 200, 2, HOUR_MS, -1);
    assert_int_equal(world_grab(w, id, 1).code, LIVE_GRABBED);
    (void)world_drain(w);
    assert_int_equal(world_grab(w, id, 2).code, LIVE_GRABBED); /* the last one, not settled */
    begin();
    pass_after(0);
    assert_true(has_name(id, 0)); /* processes may have it in memory */
    (void)world_drain(w);
    pass_after(0);
    assert_int_equal(world_redis(w, id, "EXISTS {or}"), 0);
}

LEAVER_TEST(a_deletion_waits_for_a_finished_packet_that_keeps_the_name)
{
    uint64_t id = world_send(w, 0, PACKET_EVEN, 200, 2, HOUR_MS, -1);
    assert_int_equal(world_grab(w, id, 1).code, LIVE_GRABBED);
    (void)world_drain(w);
    begin();
    world_sql(w, "UPDATE user SET deleting_ms = 1 WHERE deleting_ms > 1"); /* everything from before is settled */
    assert_int_equal(world_grab(w, id, 2).code, LIVE_GRABBED);             /* the last one, not settled */
    passes_after(0);
    assert_false(is_deleted());
    (void)world_drain(w);
    until_deleted();
}

LEAVER_TEST(a_deletion_waits_for_requests_that_are_under_way)
{
    begin();
    pass_after(DELETION_WAIT_MS / 2);
    assert_false(is_deleted());
    pass_after(LATER_MS);
    assert_true(is_deleted());
}

LEAVER_TEST(a_deletion_does_not_wait_for_a_worker_whose_clock_is_behind)
{
    begin();
    world_sql(w, "UPDATE user SET deleting_ms = deleting_ms - 11000 WHERE deleting_ms > 0");
    pass_after(-HOUR_MS / 2);
    assert_true(is_deleted());
}

LEAVER_TEST(a_deletion_waits_for_a_dead_letter_and_then_empties_it)
{
    begin();
    world_sqlf(w,
               "INSERT INTO dead_letter (partition_no, event_id, content, reason, created_ms) VALUES"
               " (0, '1-1', 'g 1,0,%llu,5,leaver', 'test', 1)",
               (unsigned long long)w->users[1]);
    pass_after(LATER_MS);
    assert_false(is_deleted());
    world_sql(w, "UPDATE dead_letter SET resolved_ms = 2, resolution = 'dropped'");
    pass_after(LATER_MS);
    assert_true(is_deleted());
    assert_int_equal(world_number(w, "SELECT COUNT(*) FROM dead_letter WHERE content = 'erased'", 0), 1);
}

LEAVER_TEST(a_grab_that_comes_too_late_is_found_and_undone)
{
    uint64_t id = world_send(w, 0, PACKET_EVEN, 500, 5, HOUR_MS, -1);
    deleted();
    assert_int_equal(world_grab(w, id, 1).code, LIVE_GRABBED); /* by a process that was stopped for a long time */
    (void)world_drain(w);
    assert_true(world_audit_violations(w, "deleted") > 0);
    passes_after(2 * LATER_MS);
}

LEAVER_TEST(a_share_is_not_given_back_to_a_sender_who_is_gone)
{
    struct give_back given;
    uint64_t id = world_send(w, 1, PACKET_EVEN, 500, 5, HOUR_MS, -1);
    assert_int_equal(world_grab(w, id, 2).code, LIVE_GRABBED);
    deleted();
    assert_int_equal(give_back(&w->page->stores, w->arena, id, w->users[2], clock_now_ms(), &given), ST_OK);
    assert_int_equal(given.result, GIVE_BACK_SENDER_GONE);
}

/* The settle worker may not be running. */
FAULTY_LEAVER_TEST(the_beginning_removes_the_copies_of_tokens)
{
    static const char hash[] = "abababababababababababababababababababababababababababababababab";
    sql_run(w->app,
            "INSERT INTO token (user_id, hash, name, scopes, created_ms, expires_ms)"
            " VALUES (?, UNHEX(?), 'bot', 'read', 1, 4102444800000)",
            DB_U64(w->users[1]), DB_TEXT(str_from(hash)));
    (void)world_redisf(w, 0, "SET hb:token:%s copy", hash);
    begin();
    assert_int_equal(world_redisf(w, 0, "EXISTS hb:token:%s", hash), 0);
}

LEAVER_TEST(the_worker_ends_the_sessions_that_the_pool_did_not)
{
    char token[SESSION_TOKEN_MAX], key[SESSION_KEY_MAX];
    struct session_entry *entries;
    size_t count;
    begin();
    session_token_new(token);
    session_key_write(str_from(token), key);
    int64_t now_ms = clock_now_ms() + 100; /* time of a login that has checked the password before */
    const struct session s = {
        .user_id = w->users[1], .created_ms = now_ms, .seen_ms = now_ms, .username = STR("leaver"), .nickname = STR("x")
    };
    assert_int_equal(session_list_start(&auth->stores, w->arena, str_from(key), &s, STR(""), now_ms), ST_OK);
    pass_after(0);
    assert_int_equal(session_list_read(&auth->stores, w->arena, w->users[1], now_ms, &entries, &count), ST_OK);
    assert_int_equal(count, 0);
}

/* ---- a user with many grabs ---- */

/* Makes so many packets of users[0] that were closed long ago, each opened by users[user]; only in the tables. */
static void old_grabs_make(size_t user, size_t count)
{
#define NUMBERS                                                                                                        \
    "WITH RECURSIVE digit (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM digit WHERE i < 9), list (n) AS"                \
    " (SELECT a.i * 1000 + b.i * 100 + c.i * 10 + d.i FROM digit AS a CROSS JOIN digit AS b CROSS JOIN digit AS c"     \
    " CROSS JOIN digit AS d) "
    const struct db_param first = DB_U64(UINT64_C(1000000000000) + 1000000 * user), rows = DB_U64(count);
    sql_run(
        w->app,
        "INSERT INTO packet (id, sender_id, sender_name, kind, split, amount_fen, count, greeting, seed, commitment,"
        " state, grabbed_count, grabbed_fen, created_ms, expires_ms, closed_ms, request_key) " NUMBERS
        "SELECT ? + n, ?, 'Ming', 'even', 'even', 1, 1, '', '', '', 'closed', 1, 1, n, n + 2, n + 3,"
        " CONCAT('old-', ?, '-', n) FROM list WHERE n < ?",
        first, DB_U64(w->users[0]), first, rows);
    sql_run(w->app,
            "INSERT INTO `grab` (packet_id, share_no, user_id, nickname, amount_fen, grabbed_ms) " NUMBERS
            "SELECT ? + n, 0, ?, 'Hong', 1, n + 1 FROM list WHERE n < ?",
            first, DB_U64(w->users[user]), rows);
}

static int64_t grab_names(size_t user)
{
    return world_number(w, "SELECT COUNT(*) FROM `grab` WHERE user_id = ? AND nickname <> ''", w->users[user]);
}

/* Rows that the worker's connection has read by walking along a key. */
static int64_t rows_read(void)
{
    struct db_rows rows;
    int64_t sum = 0;
    assert_int_equal(db_query(w->settler->stores.db, w->arena, &rows,
                              "SHOW SESSION STATUS WHERE Variable_name IN ('Handler_read_next', 'Handler_read_prev')",
                              NULL, 0),
                     ST_OK);
    assert_int_equal(rows.count, 2);
    for (size_t i = 0; i < rows.count; i++)
        sum += db_cell_i64(&rows, i, 1);
    return sum;
}

FAULTY_LEAVER_TEST(no_row_is_read_more_than_twice)
{
    enum { GRABS = 3000, OTHER_ROWS_MAX = GRABS / 10 };
    old_grabs_make(1, GRABS);
    begin();
    int64_t before = rows_read();
    until_deleted();
    int64_t rows = rows_read() - before;
    assert_true(is_deleted());
    assert_int_equal(grab_names(1), 0);
    assert_in_range(rows, GRABS, 2 * GRABS + OTHER_ROWS_MAX);
}

FAULTY_LEAVER_TEST(a_name_behind_the_walk_is_found)
{
    old_grabs_make(1, 3 * ERASE_ROWS_MAX);
    world_sql(w, "UPDATE `grab` SET nickname = ''");
    begin();
    pass_after(0);
    assert_true(walk.user_id == w->users[1]);
    world_sql(w, "UPDATE `grab` SET nickname = 'Hong' WHERE grabbed_ms = 1"); /* a grab that is settled late */
    until_deleted();
    assert_int_equal(grab_names(1), 0);
}

FAULTY_LEAVER_TEST(users_with_many_grabs_take_turns)
{
    old_grabs_make(1, 2 * ERASE_ROWS_MAX);
    old_grabs_make(2, 2 * ERASE_ROWS_MAX);
    begin();
    for (size_t user = 2; user <= 3; user++)
        sql_run(w->app, "UPDATE user SET deleting_ms = 1, nickname = '' WHERE id = ?", DB_U64(w->users[user]));
    walk = (struct deletion_walk){ .user_id = w->users[0], .settled = true }; /* another worker has come first */
    for (int pass = 0; pass < PASSES_MAX && grab_names(1) + grab_names(2) > 0; pass++)
        pass_after(LATER_MS);
    assert_int_equal(grab_names(1) + grab_names(2), 0);
    walk = (struct deletion_walk){ 0 }; /* the worker starts again */
    static const char left[] = "SELECT COUNT(*) - 3 FROM user WHERE deleted_ms > 0";
    for (int pass = 0; pass < PASSES_MAX && world_number(w, left, 0) < 0; pass++)
        pass_after(LATER_MS);
    assert_int_equal(world_number(w, left, 0), 0);
    assert_int_equal(grab_names(1) + grab_names(2), 0);
}

TESTS(NULL, NULL)

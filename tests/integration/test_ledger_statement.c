/* A routine of the ledger is one statement: whenever it is interrupted, with autocommit on, it has done all of its work
 * or nothing. */
#include <pthread.h>
#include <unistd.h>

#include <mysql.h>
#include <mysqld_error.h>

#include "base/array.h"
#include "base/random.h"
#include "support/test.h"
#include "support/test_services.h"
#include "test_world.h"

enum { ENDS_MIN = 5, ROUNDS_MAX = 2000, TRIES_MAX = 4, USERS_PER_ROUND = 20, END_US_MAX = 2000, WAIT_US = 100000 };

/* Far from the ids in the world. */
static const unsigned long long FIRST_USER = 1ULL << 40;

/* The end of a statement: another connection kills it some time later. */
struct end {
    MYSQL *admin;
    unsigned long id;
    useconds_t after_us;
};

static void *statement_kill(void *ctx)
{
    const struct end *e = ctx;
    char sql[64];
    (void)usleep(e->after_us);
    (void)snprintf(sql, sizeof sql, "KILL QUERY %lu", e->id);
    (void)mysql_query(e->admin, sql); /* no statement may run any more */
    return NULL;
}

/* Runs the statement and interrupts it at a random moment: by KILL, or by its own time limit. Returns the server's
 * error code; 0: it was done. */
static unsigned statement_error(MYSQL *role, MYSQL *admin, const char *sql, bool kill)
{
    /* Some routines take a tenth of the time that others take. */
    const uint64_t within_us = random_u64() % END_US_MAX + 1;
    struct end e = { .admin = admin, .id = mysql_thread_id(role), .after_us = (useconds_t)(random_u64() % within_us) };
    char limited[2048];
    pthread_t killer;
    if (!kill) {
        (void)snprintf(limited, sizeof limited, "SET STATEMENT max_statement_time = %.6f FOR %s",
                       (double)(e.after_us + 1) / 1e6, sql);
        return mysql_query(role, limited) == 0 ? 0 : mysql_errno(role);
    }
    assert_int_equal(pthread_create(&killer, NULL, statement_kill, &e), 0);
    const unsigned code = mysql_query(role, sql) == 0 ? 0 : mysql_errno(role);
    assert_int_equal(pthread_join(killer, NULL), 0);
    while (mysql_query(role, "DO 1") != 0) /* a late KILL interrupts this statement instead */
        assert_int_not_equal(mysql_errno(role), 0);
    return code;
}

/* Rows that a statement of this round left half-way. */
static void nothing_is_half_done(const char *after)
{
    static const char *const half[] = {
        "SELECT COUNT(*) FROM account AS a WHERE (id < 10001 OR id >= @user) AND balance_fen <>"
        " COALESCE((SELECT SUM(amount_fen) FROM transfer WHERE credit_id = a.id), 0) -"
        " COALESCE((SELECT SUM(amount_fen) FROM transfer WHERE debit_id = a.id), 0) +"
        " COALESCE((SELECT SUM(amount_fen) FROM `grab` WHERE user_id = a.id), 0) -"
        " COALESCE((SELECT SUM(amount_fen) FROM `grab` WHERE packet_id = a.id), 0)",
        "SELECT COUNT(*) FROM account AS a WHERE kind = 'escrow' AND NOT EXISTS"
        " (SELECT 1 FROM transfer WHERE kind = 'send' AND credit_id = a.id)",
        "SELECT COUNT(*) FROM packet AS p WHERE sender_id >= @user AND greeting = 'sent' AND NOT (EXISTS"
        " (SELECT 1 FROM transfer WHERE kind = 'send' AND credit_id = p.id) AND EXISTS"
        " (SELECT 1 FROM packet_receiver WHERE packet_id = p.id))",
        "SELECT (SELECT COUNT(*) FROM packet WHERE sender_id >= @user AND greeting = 'sent') -"
        " (SELECT COALESCE(SUM(sent_count), 0) FROM user_month WHERE user_id >= @user)",
        "SELECT COUNT(*) FROM account AS a JOIN user ON user.id = a.id WHERE a.id >= @user AND user.nickname <> 'alone'"
        " AND NOT EXISTS (SELECT 1 FROM transfer WHERE kind = 'deposit' AND credit_id = a.id)",
        "SELECT (SELECT COUNT(*) FROM username_retired) - (SELECT COUNT(*) FROM user WHERE deleting_ms IS NOT NULL)",
        "SELECT COUNT(*) FROM packet AS p JOIN packet_receiver AS r ON r.packet_id = p.id JOIN `grab` AS g"
        " ON g.packet_id = p.id WHERE (p.sender_name = '') <> (r.name = '') OR (r.name = '') <> (g.nickname = '')",
        "SELECT COUNT(*) FROM user WHERE deleted_ms IS NULL AND deleting_ms IS NOT NULL AND EXISTS"
        " (SELECT 1 FROM transfer WHERE kind = 'forfeit' AND debit_id = user.id)",
        "SELECT (SELECT COUNT(*) FROM channel) - (SELECT COUNT(*) FROM account WHERE kind IN ('bank', 'channel'))",
        "SELECT (SELECT COUNT(*) FROM transfer WHERE kind IN ('credit', 'debit', 'post', 'reverse')) -"
        " (SELECT COUNT(*) FROM external_transfer)",
        "SELECT COUNT(*) FROM transfer AS t WHERE kind IN ('credit', 'debit') AND debit_id + credit_id >= @user AND"
        " request_key NOT LIKE '%:service' AND request_key NOT LIKE '%:topup' AND 3 <> (SELECT COUNT(*) FROM transfer"
        " WHERE kind = t.kind AND request_key NOT LIKE '%:service' AND request_key NOT LIKE '%:topup'"
        " AND debit_id + credit_id = t.debit_id + t.credit_id)",
        "SELECT (SELECT COUNT(*) FROM external_transfer WHERE memo LIKE 'top-up %') -"
        " (SELECT COUNT(*) FROM topup_payment)",
        "SELECT COUNT(*) FROM topup AS o WHERE (state = 'paid') <> EXISTS"
        " (SELECT 1 FROM topup_payment WHERE topup_id = o.id)",
        "SELECT COALESCE((SELECT SUM(moved_fen) FROM service_hour), 0) -"
        " COALESCE((SELECT SUM(amount_fen) FROM transfer AS t JOIN external_transfer AS x ON x.transfer_id = t.id"
        " WHERE x.author LIKE 'service:%'), 0)",
        "SELECT (SELECT COUNT(*) FROM transfer WHERE kind = 'withdraw') - (SELECT COUNT(*) FROM withdrawal)",
        "SELECT (SELECT COUNT(*) FROM transfer WHERE kind IN ('post', 'void')) -"
        " (SELECT COUNT(*) FROM withdrawal WHERE state <> 'pending')",
    };
    static char all[8192]; /* in one statement, which is run thousands of times */
    if (all[0] == '\0')
        for (size_t i = 0, len = 0; i < ARRAY_LEN(half); i++)
            len += (size_t)snprintf(all + len, sizeof all - len, "%s ABS((%s))", i == 0 ? "SELECT" : " +", half[i]);
    if (world_number(w, all, 0) == 0)
        return;
    for (size_t i = 0; i < ARRAY_LEN(half); i++)
        if (world_number(w, half[i], 0) != 0)
            fail_msg("half done: %s: %s", after, half[i]);
}

/* The statements of one round, each by the role that may call it. [id, …] of new users become wallets with money, and
 * one more user gets an empty one. The first user gets a deposit, is credited and debited from a new channel, withdraws
 * twice, orders a top-up and pays it twice, sends three packets, has a share of one and gives it back, gets two
 * packets' money back, and deletes the account. */
struct round {
    MYSQL *roles[5]; /* auth, page, settle, treasury, money */
    unsigned long long user, packet;
};
enum { AUTH, PAGE, SETTLE, TREASURY, MONEY };
enum { IDS_PER_ROUND = USERS_PER_ROUND + 1, PACKETS_PER_ROUND = 3 };

static void users_make(const struct round *r)
{
    for (unsigned i = 0; i < IDS_PER_ROUND; i++) {
        const unsigned long long id = r->user + i;
        world_sqlf(w,
                   "INSERT INTO user (id, username, nickname, password_hash, created_ms)"
                   " VALUES (%llu, 'u%llu', '%s', 'hash', 1)",
                   id, id, i < USERS_PER_ROUND ? "x" : "alone");
    }
}

#define PACKET_INSERT(id)                                                                                              \
    "INSERT INTO packet (id, sender_id, sender_name, kind, split, amount_fen, count, greeting, seed, commitment,"      \
    " state, created_ms, expires_ms, request_key) SELECT " id ", @user, 'x', kind, split, 100, 1, greeting, seed,"     \
    " commitment, 'funding', created_ms, expires_ms, CONCAT('round ', " id ") FROM packet LIMIT 1"

/* A send as the page pool makes it: @alone may open it. */
#define SENT                                                                                                           \
    "CALL packet_send_with(@packet + 2, @user, 'x', NULL, NULL, 'even', 'even', 100, 1, 100, 1, NULL, 'sent',"         \
    " REPEAT('s', 32), REPEAT('c', 32), 1, 2, NULL, CONCAT('round ', @packet + 2), NULL, NULL, '', 1,"                 \
    " CONCAT('[', @alone, ']'), 2026, 1,"                                                                              \
    " '{\"note\":\"x\",\"caps\":{\"fen\":300,\"count\":3,\"from_ms\":0,\"to_ms\":9}}')"

/* The round's channel; the withdrawal of this key; three credits or debits. */
#define CHANNEL   "(SELECT id FROM channel WHERE name = CONCAT('c', @user))"
#define HELD(key) "(SELECT id FROM withdrawal WHERE user_id = @user AND request_key = '" key "')"
/* Of the token of the round's service. */
#define HASH           "UNHEX(SHA2(CONCAT('token of ', @user), 256))"
#define ROW(reference) "'[', @user, ',9,\"" reference "\",\"x\"]'"
#define EXTERNAL(kind)                                                                                                 \
    "CALL ledger_external('" kind "', " CHANNEL                                                                        \
    ", CONCAT('[', " ROW(kind " 1") ", ',', " ROW(kind " 2") ", ',', " ROW(kind " 3") ", ']'), 'anna', 'command', 1)"

enum {
    DEMO,
    WALLET,
    DEPOSIT,
    OPEN,
    ALLOW,
    CREDIT,
    DEBIT,
    HOLD,
    POST,
    HOLD_OTHER,
    VOID,
    REVERSE,
    ORDER,
    PAID,
    SERVICE,
    BY_SERVICE,
    PAID_BY_SERVICE,
    HOLD_THIRD,
    POST_BY_SERVICE,
    REVOKE,
    SEND,
    SEND_OTHER,
    SEND_WHOLE,
    RETURN,
    REFUND,
    MOVE,
    DELETE,
    ERASE,
    DELETED,
    CALLS_COUNT
};

/* Every routine that a role may call, with the administrator's statements before it. */
static const struct call {
    const char *sql;
    unsigned role;
    const char *before[4];
} CALLS[CALLS_COUNT] = {
    [DEMO] = { "CALL ledger_demo(@ids, 1000, 1)", AUTH, { NULL } },
    [WALLET] = { "CALL ledger_wallet(@alone)", AUTH, { NULL } },
    [DEPOSIT] = { "CALL ledger_deposit(@user, 7, 'again', 1)", PAGE, { NULL } },
    [OPEN] = { "CALL channel_open(CONCAT('c', @user), '', 'anna', 1)", TREASURY, { NULL } },
    [CREDIT] = { EXTERNAL("credit"), TREASURY, { NULL } },
    [DEBIT] = { EXTERNAL("debit"), TREASURY, { NULL } },
    [ALLOW] = { "CALL channel_withdrawals(" CHANNEL ", TRUE, 2, 'x')", TREASURY, { NULL } },
    [HOLD] = { "CALL withdrawal_hold(@user, " CHANNEL ", 9, 'x', '1', 1)", AUTH, { NULL } },
    [POST] = { "CALL withdrawal_end(" HELD("1") ", TRUE, 'post', NULL, 'anna', 'command', 1)", TREASURY, { NULL } },
    [HOLD_OTHER] = { "CALL withdrawal_hold(@user, " CHANNEL ", 9, 'x', '2', 1)", AUTH, { NULL } },
    [VOID] = { "CALL withdrawal_end(" HELD("2") ", FALSE, NULL, 'x', 'anna', 'command', 1)", TREASURY, { NULL } },
    [REVERSE] = { "CALL ledger_reverse((SELECT transfer_id FROM external_transfer WHERE channel_id = " CHANNEL
                  " AND reference = 'post'), 'back', 'x', 'anna', 'command', 1)",
                  TREASURY,
                  { NULL } },
    [ORDER] = { "CALL topup_open(@user, " CHANNEL ", 9, 'order', 1)",
                PAGE,
                { "UPDATE channel SET topup_url = 'https://pay.example/' WHERE name = CONCAT('c', @user)" } },
    [PAID] = { "CALL topup_paid((SELECT id FROM topup WHERE user_id = @user), 'topup', 8, 'anna', 'command', 1)",
               TREASURY,
               { NULL } },
    [SERVICE] = { "CALL service_add(CONCAT('s', @user), " HASH ", 'credit,withdraw,topup', " CHANNEL
                  ", 1000, '', 'anna')",
                  TREASURY,
                  { NULL } },
    [BY_SERVICE] = { "CALL service_external(" HASH ", 'credit', " CHANNEL ", @user, 9, 'service', 'x', 1)",
                     MONEY,
                     { NULL } },
    [PAID_BY_SERVICE] = { "CALL service_topup_paid(" HASH
                          ", (SELECT id FROM topup WHERE user_id = @user), 'by:topup', 7,"
                          " 1)",
                          MONEY,
                          { NULL } },
    [HOLD_THIRD] = { "CALL withdrawal_hold(@user, " CHANNEL ", 9, 'x', '3', 1)", AUTH, { NULL } },
    [POST_BY_SERVICE] = { "CALL service_withdrawal_end(" HASH ", " HELD("3") ", TRUE, 'post 3', NULL, 1)",
                          MONEY,
                          { NULL } },
    [REVOKE] = { "CALL service_revoke(CONCAT('s', @user))", TREASURY, { NULL } },
    [SEND] = { "CALL ledger_send(@packet)", PAGE, { PACKET_INSERT("@packet") } },
    [SEND_OTHER] = { "CALL ledger_send(@other)", PAGE, { PACKET_INSERT("@other") } },
    [SEND_WHOLE] = { SENT, PAGE, { NULL } },
    /* the worker has settled a share, and the packet is open */
    [RETURN] = { "CALL ledger_return(@packet, 0, TRUE, 1)",
                 PAGE,
                 { "UPDATE packet SET state = 'open' WHERE id = @packet",
                   "INSERT INTO packet_receiver (packet_id, user_id, name, expires_ms) VALUES (@packet, @user, 'x', 1)",
                   "INSERT INTO `grab` (packet_id, share_no, user_id, nickname, amount_fen, grabbed_ms)"
                   " VALUES (@packet, 0, @user, 'x', 40, 1)",
                   "UPDATE account SET balance_fen = balance_fen + IF(id = @user, 40, -40)"
                   " WHERE id IN (@user, @packet)" } },
    [REFUND] = { "CALL ledger_refund(@packet, 100, 1)", SETTLE, { NULL } },
    /* without grabs, which the worker inserts by statements of its own */
    [MOVE] = { "CALL ledger_settle(CONCAT('[[', @user, ',100],[', @other, ',-100]]'), CONCAT('[[', @other, ',100]]'),"
               " 1)",
               SETTLE,
               { NULL } },
    [DELETE] = { "CALL user_delete(@user, 'hash', UNHEX(SHA2(@user, 256)), TRUE)", AUTH, { NULL } },
    [ERASE] = { "CALL user_erase(@user, CONCAT('[', @packet, ',', @other, ']'))", SETTLE, { NULL } },
    [DELETED] = { "CALL user_deleted(@user, 1)",
                  SETTLE,
                  { "UPDATE packet SET state = 'closed' WHERE sender_id = @user" } },
};

static const char *prepared(const struct call *call)
{
    for (size_t i = 0; i < ARRAY_LEN(call->before) && call->before[i] != NULL; i++)
        world_sql(w, call->before[i]);
    return call->sql;
}

/* The variables in the calls: @user, @alone without money, @packet, @other, and @ids of the users with money. */
static const char *names_text(const struct round *r)
{
    struct str ids = STR("[");
    for (unsigned i = 0; i < USERS_PER_ROUND; i++)
        ids = arena_printf(w->arena, "%.*s%s%llu", STR_ARG(ids), i == 0 ? "" : ",", r->user + i);
    return arena_printf(w->arena, "SET @user = %llu, @alone = %llu, @packet = %llu, @other = %llu, @ids = '%.*s]'",
                        r->user, r->user + USERS_PER_ROUND, r->packet, r->packet + 1, STR_ARG(ids))
        .ptr;
}

static void names_set(MYSQL *mysql, const struct round *r)
{
    assert_int_equal(mysql_query(mysql, names_text(r)), 0);
}

/* A world with one packet, and a connection of each role. */
struct scene {
    struct services *services[5];
    struct round r;
    MYSQL *admin; /* ends statements */
};

static void scene_begin(struct scene *s)
{
    static const char *const names[] = { "auth", "page", "settle", "treasury", "money" };
    world_begin(w, 2);
    (void)world_even(w, 300, 3);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        s->services[i] = test_services_open_as(names[i]);
        assert_non_null(s->services[i]);
        s->r.roles[i] = test_services_mysql(s->services[i]);
    }
    s->admin = test_services_mysql(w->app);
}

static void scene_end(struct scene *s)
{
    mysql_close(s->admin);
    for (size_t i = 0; i < ARRAY_LEN(s->services); i++) {
        mysql_close(s->r.roles[i]);
        test_services_close(s->services[i]);
    }
    world_end(w);
}

static void round_begin(struct round *r, unsigned no)
{
    r->user = FIRST_USER + (unsigned long long)no * IDS_PER_ROUND;
    r->packet = (1ULL << 51) + (unsigned long long)no * PACKETS_PER_ROUND;
    world_sql(w, names_text(r));
    for (size_t i = 0; i < ARRAY_LEN(r->roles); i++)
        if (r->roles[i] != NULL)
            names_set(r->roles[i], r);
    world_sql(w, "DELETE FROM user_month WHERE user_id >= @user"); /* of the tests before */
    users_make(r);
}

/* A statement that is ended while it opens its tables can leave behind, in the routines of its session, that they do
 * not exist. So the program opens a new connection after KILL (db_error_is_connection_loss), and so does this test. */
static MYSQL *session_after(struct scene *s, unsigned role, unsigned code)
{
    if (code == ER_QUERY_INTERRUPTED || code == ER_STATEMENT_TIMEOUT || code == ER_NO_SUCH_TABLE) {
        mysql_close(s->r.roles[role]);
        s->r.roles[role] = test_services_mysql(s->services[role]);
        names_set(s->r.roles[role], &s->r);
    }
    return s->r.roles[role];
}

TEST(a_statement_that_is_ended_at_any_moment_does_all_or_nothing)
{
    struct scene s;
    unsigned ended[ARRAY_LEN(CALLS)] = { 0 }, least = 0;
    scene_begin(&s);
    for (unsigned no = 0; least < ENDS_MIN; no++) {
        assert_true(no < ROUNDS_MAX);
        round_begin(&s.r, no);
        least = ENDS_MIN;
        for (size_t i = 0; i < ARRAY_LEN(CALLS); i++) {
            const char *sql = prepared(&CALLS[i]);
            MYSQL *role = s.r.roles[CALLS[i].role];
            unsigned code = 1;
            for (unsigned tries = 0; tries < TRIES_MAX && code != 0; tries++) {
                code = statement_error(role, s.admin, sql, random_u64() % 2 == 0);
                ended[i] += code == ER_QUERY_INTERRUPTED || code == ER_STATEMENT_TIMEOUT;
                nothing_is_half_done(sql);
                role = session_after(&s, CALLS[i].role, code);
            }
            (void)mysql_query(role, sql); /* the next one builds on it; it may be done already */
            nothing_is_half_done(sql);
            least = ended[i] < least ? ended[i] : least;
        }
        assert_int_equal(world_number(w, "SELECT deleted_ms > 0 FROM user WHERE id = ?", s.r.user), 1);
    }
    scene_end(&s);
}

/* A number that changes when any row of money changes. */
static int64_t money_read(void)
{
    return world_number(w,
                        "SELECT (SELECT COUNT(*) FROM transfer) + (SELECT COUNT(*) FROM external_transfer) +"
                        " (SELECT COUNT(*) FROM withdrawal WHERE state = 'pending') +"
                        " (SELECT SUM(CRC32(CONCAT_WS(' ', id, kind, balance_fen))) FROM account)",
                        0);
}

/* A balance near the end of BIGINT: the routine has done a part of its work when the server refuses the sum. */
TEST(a_statement_whose_sum_overflows_does_nothing)
{
    static const struct {
        const char *sql;
        unsigned role;
    } calls[] = {
        { "CALL ledger_demo(CONCAT('[', @user + 21, ']'), 9223372036854775807, 1)", AUTH },
        { "CALL ledger_deposit(@user, 60, 'more', 1)", PAGE },
        { "CALL ledger_return(@packet, 0, FALSE, 1)", PAGE },
        { "CALL ledger_refund(@other, 100, 1)", SETTLE },
        { "CALL ledger_settle(CONCAT('[[', @user, ',100],[', @other, ',-100]]'), NULL, 1)", SETTLE },
        { "CALL ledger_external('credit', " CHANNEL ", CONCAT('[[', @user, ',60,\"more\",\"\"]]'), 'anna', 'http', 1)",
          TREASURY },
        { "CALL withdrawal_end(" HELD("2") ", FALSE, NULL, 'x', 'anna', 'command', 1)", TREASURY },
        { "CALL ledger_reverse((SELECT transfer_id FROM external_transfer WHERE reference = 'debit 1'), 'back', '',"
          " 'anna', 'http', 1)",
          TREASURY },
        { "CALL topup_paid((SELECT id FROM topup WHERE user_id = @user), 'more', 60, 'anna', 'command', 1)", TREASURY },
    };
    struct scene s;
    scene_begin(&s);
    round_begin(&s.r, 0);
    for (size_t i = 0; i < RETURN; i++)
        if (i != VOID && i != REVERSE)
            assert_int_equal(mysql_query(s.r.roles[CALLS[i].role], prepared(&CALLS[i])), 0);
    (void)prepared(&CALLS[RETURN]);
    world_sql(w, "UPDATE `grab` SET user_id = @user + 1");
    world_sql(w, "UPDATE account SET balance_fen = 9223372036854775800 WHERE id = @user");
    users_make(&(struct round){ .user = s.r.user + IDS_PER_ROUND });
    const int64_t before = money_read();
    EACH (call, calls) {
        MYSQL *role = s.r.roles[call->role];
        (void)mysql_query(role, call->sql);
        if (mysql_errno(role) != ER_DATA_OUT_OF_RANGE || money_read() != before)
            fail_msg("%s: %s", call->sql, mysql_error(role));
    }
    scene_end(&s);
}

/* A statement of another thread. */
struct running {
    MYSQL *mysql;
    const char *sql;
    unsigned code; /* the server's error code, after the thread has ended */
};

static void *statement_run(void *ctx)
{
    struct running *s = ctx;
    s->code = mysql_query(s->mysql, s->sql) == 0 ? 0 : mysql_errno(s->mysql);
    return NULL;
}

/* A send waits for a row that a transaction has locked: its wallet, its sender or its receiver. It decides by the row
 * as it is then, which is newer than what it read before. */
FAULTY_WORLD_TEST(a_send_that_waits_decides_by_the_newest_rows, 2)
{
    enum { NO_SUCH_USER = 31002 };
    static const struct {
        size_t send;
        const char *held;
        unsigned code;
    } waits[] = { { SEND, "CALL ledger_deposit(@user, 7, 'again', 1)", 0 },
                  { SEND_WHOLE, "CALL ledger_deposit(@user, 7, 'again', 1)", 0 },
                  { SEND_WHOLE, "UPDATE user SET deleting_ms = 1 WHERE id = @user", NO_SUCH_USER },
                  { SEND_WHOLE, "UPDATE user SET deleting_ms = 1 WHERE id = @alone", NO_SUCH_USER } };
    (void)world_even(w, 300, 3);
    struct services *auth = test_services_open_as("auth"), *page = test_services_open_as("page");
    assert_true(auth != NULL && page != NULL);
    struct round r = { 0 };
    MYSQL *maker = test_services_mysql(auth), *holder = test_services_mysql(w->app);
    MYSQL *sender = test_services_mysql(page);
    MYSQL *const all[] = { maker, holder, sender };
    EACH_TEXT (text, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
               "SET SESSION innodb_snapshot_isolation = ON")
        assert_int_equal(mysql_query(sender, text), 0);
    for (unsigned no = 0; no < ARRAY_LEN(waits); no++) {
        pthread_t thread;
        round_begin(&r, no);
        for (size_t i = 0; i < ARRAY_LEN(all); i++)
            names_set(all[i], &r);
        assert_int_equal(mysql_query(maker, CALLS[DEMO].sql), 0);
        struct running send = { .mysql = sender, .sql = prepared(&CALLS[waits[no].send]) };
        assert_int_equal(mysql_query(holder, "START TRANSACTION"), 0);
        assert_int_equal(mysql_query(holder, waits[no].held), 0);
        assert_int_equal(pthread_create(&thread, NULL, statement_run, &send), 0);
        (void)usleep(WAIT_US); /* a thread that is slower does not wait for the lock, which proves nothing */
        assert_int_equal(mysql_query(holder, "COMMIT"), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_int_equal(send.code, waits[no].code);
        world_sql(w, "UPDATE user SET deleting_ms = NULL WHERE deleting_ms = 1");
        nothing_is_half_done(send.sql);
    }
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        mysql_close(all[i]);
    test_services_close(auth);
    test_services_close(page);
}

TESTS(NULL, NULL)

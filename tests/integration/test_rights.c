/* Each role is refused everything for which it has no right. Other tests show that its rights suffice: settlement,
 * expiry, recovery and the audit run with the rights of their roles (test_settle_fixture.h), the pools in the tests of
 * the site. */
#include <inttypes.h>
#include <mysql.h>
#include <mysqld_error.h>

#include "audit/watch.h"
#include "base/array.h"
#include "base/buf.h"
#include "base/clock.h"
#include "commands/demo.h"
#include "commands/replay.h"
#include "live/event.h"
#include "live/keys.h"
#include "migrate/migrate.h"
#include "packet/id.h"
#include "redis/function_load.h"
#include "redis/reply.h"
#include "settle/dead_letter.h"
#include "support/stores_do.h"
#include "support/test.h"
#include "support/test_services.h"
#include "test_world.h"
#include "user/session.h"
#include "user/session_list.h"
#include "user/store.h"

/* The roles of processes, then the roles of people and commands. HOT and OPERATOR have no user in MySQL. */
enum { PAGE, AUTH, SSO, CARD, MONEY, SETTLE, AUDIT, MYSQL_ROLES, HOT = MYSQL_ROLES, ROLES };
enum { OPERATOR = ROLES, SUPPORT, TREASURY, BACKUP, ADMIN, ALL_ROLES };
static const char *const ROLE_NAMES[ALL_ROLES] = {
    [PAGE] = "page",         [AUTH] = "auth",       [SSO] = "sso",           [CARD] = "card",
    [MONEY] = "money",       [SETTLE] = "settle",   [AUDIT] = "audit",       [HOT] = "hot",
    [OPERATOR] = "operator", [SUPPORT] = "support", [TREASURY] = "treasury", [BACKUP] = "backup",
};

/* The part behind `hb:token:` for a token whose hash is 32 times this byte. */
#define TOKEN_HEX "c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7"

static struct services *roles[ALL_ROLES];
static MYSQL *connections[ALL_ROLES];

static int roles_open(void **state)
{
    (void)state;
    for (size_t i = ALL_ROLES; i-- > 0;) { /* the administrator, who migrates, comes first */
        roles[i] = test_services_open_as(ROLE_NAMES[i]);
        if (roles[i] == NULL)
            return -1;
        connections[i] = i == HOT || i == OPERATOR ? NULL : test_services_mysql(roles[i]);
    }
    return 0;
}

static int roles_close(void **state)
{
    (void)state;
    for (size_t i = 0; i < ALL_ROLES; i++) {
        if (connections[i] != NULL)
            mysql_close(connections[i]);
        test_services_close(roles[i]);
    }
    return 0;
}

/* The server's error code for a statement; 0: it ran. */
static unsigned int sql_error(size_t role, const char *sql)
{
    MYSQL *mysql = connections[role];
    unsigned int code = mysql_query(mysql, sql) == 0 ? 0 : mysql_errno(mysql);
    mysql_free_result(mysql_store_result(mysql));
    return code;
}

static bool is_denied(unsigned int code)
{
    return code == ER_TABLEACCESS_DENIED_ERROR || code == ER_COLUMNACCESS_DENIED_ERROR ||
           code == ER_DBACCESS_DENIED_ERROR || code == ER_SPECIFIC_ACCESS_DENIED_ERROR ||
           code == ER_PROCACCESS_DENIED_ERROR;
}

static void denied_each(size_t role, const char *const *statements)
{
    for (size_t i = 0; statements[i] != NULL; i++) {
        unsigned int code = sql_error(role, statements[i]);
        if (!is_denied(code))
            fail_msg("%s: code %u instead of access denied: %s", ROLE_NAMES[role], code, statements[i]);
    }
}
#define assert_denied(role, ...) denied_each(role, (const char *const[]){ __VA_ARGS__, NULL })

/* Checks that every role of a process is denied, except roles_with_right: for example 1U << PAGE | 1U << AUTH. */
static void denied_but(unsigned roles_with_right, const char *const *statements)
{
    for (size_t i = 0; i < MYSQL_ROLES; i++)
        if ((roles_with_right & 1U << i) == 0)
            denied_each(i, statements);
}
#define assert_denied_but(roles_with_right, ...)                                                                       \
    denied_but(roles_with_right, (const char *const[]){ __VA_ARGS__, NULL })
#define assert_denied_to_all(...) assert_denied_but(0, __VA_ARGS__)
static void assert_allowed(size_t role, const char *sql)
{
    unsigned int code = sql_error(role, sql);
    if (code != 0)
        fail_msg("%s: code %u: %s", ROLE_NAMES[role], code, sql);
}

TEST(no_role_changes_or_deletes_rows_of_the_ledger)
{
    assert_denied_to_all("UPDATE transfer SET amount_fen = 1", "UPDATE transfer SET credit_id = 1 WHERE id = 0",
                         "DELETE FROM transfer", "TRUNCATE TABLE transfer",
                         "REPLACE INTO transfer (id, kind, debit_id, credit_id, amount_fen, created_ms)"
                         " VALUES (1, 'deposit', 1, 1, 1, 1)",
                         "ALTER TABLE transfer DROP KEY transfer_packet", "DROP TABLE transfer",
                         "UPDATE `grab` SET amount_fen = 1", "UPDATE `grab` SET user_id = 1 WHERE packet_id = 0",
                         "DELETE FROM `grab`", "TRUNCATE TABLE `grab`", "DROP TABLE `grab`");
}

TEST(no_role_changes_what_a_packet_promised_or_the_schema)
{
    assert_denied_to_all(
        "UPDATE packet SET amount_fen = 1", "UPDATE packet SET seed = ''", "UPDATE packet SET commitment = ''",
        "UPDATE packet SET sender_id = 1", "UPDATE packet SET note = ''", "DELETE FROM packet",
        "DELETE FROM packet_receiver", "UPDATE packet_receiver SET user_id = 1", "UPDATE account SET kind = 'bank'",
        "UPDATE account SET id = 2 WHERE id = 0", "DELETE FROM account", "UPDATE user SET username = 'x'",
        "DELETE FROM user", "DELETE FROM user_month", "DELETE FROM stream_cursor", "DELETE FROM schema_migration",
        "UPDATE schema_migration SET sha256 = ''", "CREATE TABLE planted (id INT)", "DROP DATABASE hongbao",
        "SET GLOBAL read_only = 1", "SELECT * FROM mysql.global_priv");
}

TEST(each_role_writes_its_own_columns_only)
{
    /* Only the settle worker writes grabs, their sums and the cursors; receivers insert thanks, but never change
     * them. */
    assert_denied(PAGE,
                  "INSERT INTO `grab` (packet_id, share_no, user_id, nickname, amount_fen, grabbed_ms)"
                  " VALUES (1, 0, 1, 'x', 1, 1)",
                  "UPDATE packet SET grabbed_fen = 0", "UPDATE packet SET refund_fen = 0",
                  "UPDATE share_return SET amount_fen = 0", "DELETE FROM share_return",
                  "UPDATE user_month SET best_count = 0", "UPDATE stream_cursor SET last_id = '0-0'",
                  "UPDATE thanks SET text = ''", "DELETE FROM thanks", "UPDATE token SET user_id = 1",
                  "UPDATE token SET expires_ms = 0", "UPDATE token SET hash = ''");
    /* A sender ends a packet by a new expiry, which the settle worker can't write. The worker writes thanks to Redis,
     * but not into the tables. It creates no users, packets or accounts, and reads no passwords; it compares copies of
     * tokens. */
    assert_denied(SETTLE, "UPDATE packet SET expires_ms = 0", "UPDATE packet SET ended_ms = 0",
                  "INSERT INTO thanks (packet_id, share_no, user_id, text, created_ms) VALUES (1, 0, 1, 'x', 1)",
                  "UPDATE thanks SET text = ''", "UPDATE packet SET thanks_count = 0",
                  "INSERT INTO share_return SELECT * FROM share_return", "UPDATE share_return SET position = 0",
                  "UPDATE packet SET returned_fen = 0", "SELECT password_hash FROM user", "SELECT username FROM user",
                  "SELECT name FROM token", "DELETE FROM token", "UPDATE user SET deleted_ms = 1",
                  "UPDATE `grab` SET nickname = ''",
                  "INSERT INTO user (username, nickname, created_ms) VALUES ('x', 'x', 1)",
                  "INSERT INTO account (id, kind) VALUES (4, 'wallet')", "INSERT INTO packet SELECT * FROM packet",
                  "INSERT INTO packet_receiver VALUES (1, 1, 'x', 1)", "UPDATE instance_lease SET holder = 0",
                  "UPDATE user_month SET sent_fen = 0");
    assert_denied(AUTH, "UPDATE user SET deleting_ms = 1", "INSERT INTO username_retired VALUES ('x')",
                  "DELETE FROM username_retired", "SELECT seed FROM packet", "UPDATE token SET expires_ms = 0");
    assert_denied(AUDIT, "SELECT hash FROM token");
    assert_allowed(AUTH, "SELECT 1 FROM user WHERE id = 0 FOR UPDATE"); /* user/token_store.c */
}

/* Money moves only through the routines of the ledger. */
TEST(no_role_mints_money)
{
    assert_denied_to_all(
        "UPDATE account SET balance_fen = 100000000 WHERE id = 10001",
        "UPDATE account SET balance_fen = balance_fen - 100000000 WHERE id = 1",
        "INSERT INTO account (id, kind, balance_fen) VALUES (2, 'wallet', 100000000)",
        "INSERT INTO account (id, kind) VALUES (16, 'channel')", "INSERT INTO account (id, kind) VALUES (4, 'bank')",
        "INSERT INTO account (id, kind) VALUES (4, 'wallet')",
        "REPLACE INTO account (id, kind, balance_fen) VALUES (10001, 'wallet', 5)",
        "INSERT INTO account (id, kind) VALUES (1, 'bank') ON DUPLICATE KEY UPDATE balance_fen = 5",
        "INSERT INTO transfer (kind, debit_id, credit_id, amount_fen, created_ms) VALUES ('deposit', 1, 10001, 5, 1)",
        "INSERT INTO transfer (kind, debit_id, credit_id, amount_fen, created_ms) VALUES ('refund', 1, 10001, 5, 1)",
        "SELECT ledger_move('deposit', 1, 'bank', 10001, 'wallet', 100000000, NULL, NULL, 'x', 1)",
        "SELECT ledger_send(0)", "SELECT packet_send(0)", "SELECT ledger_settle('[]', NULL, 1)",
        "SELECT ledger_demo('[10001]', 5, 1)", "SELECT user_delete(0, 'x', 'x', TRUE)", "SELECT user_deleted(0, 1)",
        "CREATE FUNCTION planted() RETURNS INT RETURN 1", "DROP FUNCTION ledger_move",
        "CREATE PROCEDURE planted() DO 1", "DROP PROCEDURE ledger_send",
        "ALTER PROCEDURE ledger_send SQL SECURITY INVOKER", "ALTER FUNCTION ledger_move SQL SECURITY INVOKER");
}

/* Only the treasury does, by these routines. */
static const char *const TREASURY_CALLS[] = {
    "CALL channel_open('X', '', 'somebody', 1)",
    "CALL channel_note(0, 'x')",
    "CALL channel_withdrawals(0, TRUE, 1, 'x')",
    "CALL ledger_external('credit', 16, '[[0,5,\"r\",\"\"]]', 'somebody', 'command', 1)",
    "CALL ledger_external('debit', 16, '[[0,5,\"r\",\"\"]]', 'somebody', 'command', 1)",
    "CALL withdrawal_end(0, TRUE, 'r', NULL, 'somebody', 'command', 1)",
    "CALL withdrawal_end(0, FALSE, NULL, 'r', 'somebody', 'command', 1)",
    "CALL ledger_reverse(0, 'r', '', 'somebody', 'command', 1)",
    "CALL channel_topup(0, '')",
    "CALL topup_paid(0, 'r', 5, 'somebody', 'command', 1)",
    "CALL service_add('x', REPEAT('x', 32), 'credit', 0, NULL, '', 'somebody')",
    "CALL service_revoke('x')",
};
static const char *const NOBODYS_CALLS[] = {
    "SELECT channel_withdrawals(16, TRUE, 1, 'x')",
    "SELECT withdrawal_hold(10001, 2, 5, 'x', 'k', 1)",
    "SELECT ledger_transfer('credit', 2, 'channel', 10001, 'wallet', 5, NULL, NULL, '2:x', 1)",
    "SELECT ledger_external('credit', 2, '[[10001,5,\"r\",\"\"]]', 'somebody', 'command', 1)",
    "SELECT withdrawal_end(1, FALSE, NULL, 'r', 'somebody', 'command', 1)",
    "SELECT ledger_reverse(1, 'r', '', 'somebody', 'command', 1)",
    "SELECT channel_open('x', '', 'somebody', 1)",
    "SELECT channel_note(2, 'x')",
    "SELECT channel_kind(2)",
    "SELECT channel_topup(2, '')",
    "SELECT topup_open(10001, 2, 5, 'k', 1)",
    "SELECT topup_paid(1, 'r', 5, 'somebody', 'command', 1)",
    "SELECT service_topup_paid(REPEAT('x', 32), 1, 'r', 5, 1)",
    "INSERT INTO topup (user_id, channel_id, amount_fen, request_key, state, created_ms, expires_ms)"
    " VALUES (1, 2, 5, 'x', 'waiting', 1, 1)",
    "UPDATE topup SET state = 'paid'",
    "DELETE FROM topup",
    "INSERT INTO topup_payment (transfer_id, topup_id) VALUES (1, 1)",
    "UPDATE topup_payment SET topup_id = 1",
    "DELETE FROM topup_payment",
    "SELECT service_check(REPEAT('x', 32), 'credit', 2)",
    "SELECT service_count(1, 5)",
    "SELECT service_author(1)",
    "SELECT service_time(1)",
    "SELECT service_external(REPEAT('x', 32), 'credit', 2, 10001, 5, 'r', '', 1)",
    "SELECT service_withdrawal_end(REPEAT('x', 32), 1, FALSE, NULL, 'r', 1)",
    "SELECT service_used(REPEAT('x', 32))",
    "SELECT service_add('x', REPEAT('x', 32), 'credit', 2, NULL, '', 'somebody')",
    "SELECT service_revoke('x')",
    "INSERT INTO service (name, hash, scopes, channel_id, author, created_ms) VALUES ('x', 'x', 'credit', 2, 'x', 1)",
    "UPDATE service SET revoked_ms = NULL",
    "DELETE FROM service",
    "INSERT INTO service_hour VALUES (1, 1, 1)",
    "UPDATE service_hour SET moved_fen = 1",
    "DELETE FROM service_hour",
    "INSERT INTO channel (id, name, author, created_ms) VALUES (1, 'x', 'x', 1)",
    "UPDATE channel SET note = 'x'",
    "DELETE FROM channel",
    "INSERT INTO external_transfer (transfer_id, channel_id, reference, author, interface, created_ms)"
    " VALUES (1, 2, 'x', 'x', 'command', 1)",
    "UPDATE external_transfer SET memo = 'x'",
    "DELETE FROM external_transfer",
    "INSERT INTO withdrawal (user_id, channel_id, amount_fen, destination, request_key, state, hold_id, created_ms)"
    " VALUES (1, 2, 5, 'x', 'x', 'pending', 1, 1)",
    "UPDATE withdrawal SET state = 'voided'",
    "DELETE FROM withdrawal",
};

/* Reads all columns of the table. Valid until the next call. */
static const char *row_of(const char *table)
{
    static char sql[128];
    (void)snprintf(sql, sizeof sql, "SELECT * FROM %s LIMIT 1", table);
    return sql;
}

/* The role has the right, but the routine refuses. */
static void assert_refused(size_t role, const char *sql)
{
    unsigned int code = sql_error(role, sql);
    if (code == 0 || is_denied(code))
        fail_msg("%s: code %u instead of a refusal: %s", ROLE_NAMES[role], code, sql);
}

/* A send by the page pool; the numbers are texts. */
#define PACKET_SEND(id, sender, fen, created)                                                                          \
    "CALL packet_send(" id ", " sender ", 'x', NULL, NULL, 'even', 'even', " fen ", 1, 100, 1, NULL, 'x',"             \
    " REPEAT('s', 32), REPEAT('c', 32), " created ", UNIX_TIMESTAMP() * 1000 + 3600000, NULL, UUID(), NULL, NULL, ''," \
    " 0, NULL, 2026, 1)"

/* Checks which role may call which routine. With demo = off no role may make a deposit
 * (deploy/rights/grants-demo.sql). */
TEST(each_role_calls_its_own_routines_only)
{
    static const struct {
        const char *call;
        size_t role;
    } routines[] = {
        { "CALL ledger_demo('[0]', 0, 1)", AUTH },
        { "CALL ledger_send(0)", PAGE },
        { PACKET_SEND("0", "0", "1", "1"), PAGE },
        { "CALL packet_send_with(0, 0, 'x', NULL, NULL, 'even', 'even', 1, 1, 100, 1, NULL, 'x', REPEAT('s', 32),"
          " REPEAT('c', 32), 1, 2, NULL, UUID(), NULL, NULL, '', 0, NULL, 2026, 1, '{\"note\":\"x\"}')",
          PAGE },
        { "CALL ledger_return(0, 0, 0, 1)", PAGE },
        { "CALL ledger_deposit(0, 0, 'x', 1)", PAGE },
        { "CALL ledger_refund(0, 0, 1)", SETTLE },
        { "CALL ledger_settle('[]', NULL, 1)", SETTLE },
        { "CALL user_delete(0, 'x', 'x', TRUE)", AUTH },
        { "CALL user_erase(0, '[]')", SETTLE },
        { "CALL user_deleted(0, 1)", SETTLE },
    };
    EACH (routine, routines) {
        assert_denied_but(1U << routine->role, routine->call);
        assert_refused(routine->role, routine->call);
    }
    assert_denied_but(1U << AUTH | 1U << SSO, "CALL ledger_wallet(0)");
    assert_refused(AUTH, "CALL ledger_wallet(0)");
    assert_refused(SSO, "CALL ledger_wallet(0)");
}

static void redis_run(size_t role, const char *words, struct redis_call *call)
{
    struct str args[REDIS_ARGS_MAX], rest = str_from(words);
    size_t count = 0;
    while (rest.ptr != NULL)
        args[count++] = str_cut(rest, ' ', &rest);
    *call = (struct redis_call){ 0 };
    (void)redis_do(roles[role]->stores.redis, call, args, count);
}

/* A command that Redis must execute, formatted as by printf. */
#define redis_plant(role, ...) ((void)redis_number(roles[role]->stores.redis, __VA_ARGS__))

/* ---- attacks with the rights of a role ---- */

/* Runs a statement as an attacker would, who commits after any answer of the server: alone, and within a transaction;
 * with and without the constraints of the tables. */
static void attack(size_t role, const char *sql)
{
    for (unsigned variant = 0; variant < 4; variant++) {
        MYSQL *mysql = test_services_mysql(roles[role]);
        if ((variant & 1) != 0)
            assert_int_equal(mysql_query(mysql, "SET SESSION check_constraint_checks = 0, foreign_key_checks = 0,"
                                                " unique_checks = 0, sql_mode = ''"),
                             0);
        if ((variant & 2) != 0)
            assert_int_equal(mysql_query(mysql, "START TRANSACTION"), 0);
        if (mysql_query(mysql, sql) == 0)
            fail_msg("%s: not refused: %s", ROLE_NAMES[role], sql);
        assert_int_equal(mysql_query(mysql, "COMMIT"), 0);
        mysql_close(mysql);
    }
}

/* The text with the ids of two wallets for {a} and {b}, and the id of an escrow for {e}. */
static const char *text_fill(const char *text, uint64_t escrow)
{
    struct buf sql = BUF_EMPTY;
    for (const char *p = text; *p != '\0'; p++) {
        if (p[0] != '{' || p[1] == '\0' || p[2] != '}') {
            buf_char(&sql, *p);
            continue;
        }
        buf_u64(&sql, p[1] == 'a' ? w->users[0] : p[1] == 'b' ? w->users[1] : escrow);
        p += 2;
    }
    const char *filled = arena_cstr(w->arena, buf_view(&sql));
    buf_free(&sql);
    assert_non_null(filled);
    return filled;
}

/* Plays each text; the escrow has 300 fen. No balance may change. */
static void attack_each(size_t role, const char *const *texts, size_t count, uint64_t escrow)
{
    for (size_t i = 0; i < count; i++) {
        const char *sql = text_fill(texts[i], escrow);
        attack(role, sql);
        int64_t wallets = world_number(w, "SELECT SUM(balance_fen) FROM account WHERE kind = 'wallet' AND id > ?", 0);
        int64_t held = world_number(w, "SELECT balance_fen FROM account WHERE id = ?", escrow);
        if (wallets != 2 * DEMO_MONEY_FEN - 300 || held != 300)
            fail_msg("money moved: %s", sql);
    }
}

WORLD_TEST(the_worker_moves_money_only_from_escrows_to_wallets, 2)
{
    static const char *const texts[] = {
        "CALL ledger_settle('[[{a},100000000]]', NULL, 1)",                /* out of nothing */
        "CALL ledger_settle('[[1,-100000000],[{a},100000000]]', NULL, 1)", /* from the bank */
        "CALL ledger_settle('[[{a},100],[{b},-100]]', NULL, 1)",           /* from a wallet */
        "CALL ledger_settle('[[{a},100],[4,-100],[{e},0]]', NULL, 1)",     /* from no account */
        "CALL ledger_settle('[[{a},100],[2,-100]]', NULL, 1)",             /* from a channel */
        "CALL ledger_settle('[[{a},100],[3,-100]]', NULL, 1)",             /* from pending withdrawals */
        "CALL ledger_settle('[[{a},100],[{e},-50],[{e},-50]]', NULL, 1)",  /* listed twice */
        "CALL ledger_settle('[[{a},301],[{e},-301]]', NULL, 1)",           /* more than there is */
        "CALL ledger_settle('[[{a},1],[{e},-1]]', '[[{e},0,\"x\"', 1)",    /* a broken refund */
        "CALL ledger_settle('[[{a},null]]', NULL, 1)",
        "CALL ledger_settle('x', NULL, 1)",
        "CALL ledger_settle(NULL, NULL, 1)",
        "CALL ledger_refund({e}, 301, 1)",
        "CALL ledger_refund({e}, -5, 1)",
        "CALL ledger_refund({a}, 5, 1)",
        "CALL ledger_refund(1, 5, 1)",
    };
    attack_each(SETTLE, texts, ARRAY_LEN(texts), world_even(w, 300, 3));
}

/* Inserts a row like the only packet's, with another id, amount and state, as an intruder in a pool could. */
static void forge_packet(uint64_t id, const char *amount, const char *packet_state)
{
    assert_allowed(PAGE, arena_printf(w->arena,
                                      "INSERT INTO packet (id, sender_id, sender_name, kind, split, amount_fen,"
                                      " count, greeting, seed, commitment, state, created_ms, expires_ms,"
                                      " request_key) SELECT %" PRIu64 ", sender_id, sender_name, kind, split, %s,"
                                      " count, greeting, seed, commitment, '%s', created_ms, expires_ms,"
                                      " '%" PRIu64 "' FROM packet LIMIT 1",
                                      id, amount, packet_state, id)
                             .ptr);
}

FAULTY_WORLD_TEST(a_pool_pays_only_what_its_packets_and_grabs_say, 2)
{
    static const char *const texts[] = {
        "CALL ledger_send({e})", /* again */
        "CALL ledger_send({a})",
        PACKET_SEND("{e} + 1", "{a}", "100000000", "1"), /* more than there is */
        PACKET_SEND("{e} + 1", "{a}", "0", "1"),
        PACKET_SEND("{e} + 1", "{a}", "-5", "1"),
        PACKET_SEND("{e} + 1", "{a}", "NULL", "1"),
        PACKET_SEND("{e} + 1", "{e}", "5", "1"), /* from an escrow */
        PACKET_SEND("{e} + 1", "1", "5", "1"),   /* from the bank */
        PACKET_SEND("{e}", "{a}", "5", "1"),     /* into an escrow that there is */
        PACKET_SEND("1", "{a}", "5", "1"),
        "CALL ledger_return({e}, 0, 1, 1)", /* nobody has this share */
        "CALL ledger_return({e}, 0, 0, 1)",
        "CALL ledger_deposit({a}, -5, 'x', 1)",
        "CALL ledger_deposit({a}, 0, 'x', 1)",
        "CALL ledger_deposit({a}, 5, NULL, 1)",
        "CALL ledger_deposit({e}, 5, 'x', 1)", /* to an escrow */
        "CALL ledger_deposit(1, 5, 'x', 1)",
        "UPDATE account SET balance_fen = 100000000 WHERE id = {a}",
    };
    uint64_t id = world_even(w, 300, 3);
    attack_each(PAGE, texts, ARRAY_LEN(texts), id);
    world_audit_clean(w);
    /* A packet of more than the sender has, and one that is not in state funding, are rows without money. */
    forge_packet(id + 1, "100000000", "funding");
    forge_packet(id + 2, "100", "closed");
    for (unsigned i = 1; i <= 2; i++)
        attack(PAGE, arena_printf(w->arena, "CALL ledger_send(%llu)", (unsigned long long)id + i).ptr);
    assert_true(world_audit_violations(w, "I1") > 0);
}

/* Otherwise registrations would fail: the account of a new user's id would already exist, or the id would be too
 * large. */
FAULTY_WORLD_TEST(no_pool_takes_the_ids_of_users_to_come, 2)
{
    (void)world_even(w, 300, 3);
    unsigned long long next = w->users[1] + 1;
    forge_packet(next, "1", "funding");
    attack(PAGE, arena_printf(w->arena, "CALL ledger_send(%llu)", next).ptr);
    attack(PAGE, text_fill(PACKET_SEND("{b} + 2", "{a}", "5", "1"), 0));
    assert_denied(AUTH, "INSERT INTO user (id, username, nickname, created_ms) VALUES (1 << 63, 'x', 'x', 1)");
    assert_denied(AUTH, "INSERT INTO user (username, nickname, created_ms, deleting_ms) VALUES ('x', 'x', 1, 1)");
}

/* ---- attacks that are not refused, but found by the watch of the settle worker ---- */

/* Runs one look and one walk of the watch, with the rights of the worker. Returns whether the check names the
 * subject. */
static bool is_found(enum audit_check check, const char *kind, uint64_t id)
{
    static struct audit_watch watch;
    watch = (struct audit_watch){ 0 };
    do {
        assert_int_equal(audit_watch_run(&watch, &w->settler->stores, 0), ST_OK);
        if (audit_names(&watch.audit, check, kind, id))
            return true;
    } while (watch.part != 0 || watch.to != 0);
    return false;
}

/* Executes a statement, which the server must accept, and commits it. */
static void plant(size_t role, const char *text, uint64_t escrow)
{
    assert_allowed(role, text_fill(text, escrow));
}

static enum status money_take(struct db *db, void *ctx)
{
    return db_exec(db, NULL, ctx, NULL, 0);
}

/* Takes an open packet's money without a grab, for which a transaction is needed. */
FAULTY_WORLD_TEST(what_the_worker_takes_from_a_packet_is_found, 2)
{
    const uint64_t id = world_even(w, 300, 3);
    world_drain(w);
    assert_false(is_found(AUDIT_I1, "packet", id));
    char *take = (char *)text_fill("CALL ledger_settle('[[{a},300],[{e},-300]]', NULL, 1)", id);
    assert_int_equal(db_transaction(roles[SETTLE]->stores.db, money_take, take), ST_OK);
    assert_true(is_found(AUDIT_I1, "packet", id));
}

/* A session may choose its clock (SET timestamp), but the routines of the ledger ignore it. */
FAULTY_WORLD_TEST(no_routine_writes_a_time_of_the_future, 2)
{
    static const struct {
        size_t role;
        const char *call;
    } calls[] = {
        { AUTH, "SET STATEMENT timestamp = 2147000000 FOR CALL user_delete({a}, 'hash', 'x', TRUE)" },
        { PAGE, "SET STATEMENT timestamp = 2147000000 FOR CALL ledger_deposit({b}, 5, 'x', 4000000000000)" },
        { PAGE, "SET STATEMENT timestamp = 2147000000 FOR CALL ledger_send({e})" },
        { PAGE, "SET STATEMENT timestamp = 2147000000 FOR " PACKET_SEND("{e} + 1", "{b}", "5", "4000000000000") },
        { SETTLE, "SET STATEMENT timestamp = 2147000000 FOR CALL ledger_refund({e}, 100, 4000000000000)" },
        { SETTLE, "CALL user_deleted({a}, 4000000000000)" },
    };
    uint64_t id = world_send(w, 1, PACKET_EVEN, 300, 3, HOUR_MS, -1) + 1;
    forge_packet(id, "100", "funding");
    world_sql(w, "UPDATE packet SET created_ms = 4000000000000 WHERE state = 'funding'");
    world_sqlf(w, "UPDATE user SET password_hash = 'hash' WHERE id = %llu", (unsigned long long)w->users[0]);
    EACH (row, calls)
        plant(row->role, row->call, id);
    assert_int_equal(world_number(w,
                                  "SELECT (SELECT COUNT(*) FROM transfer WHERE created_ms > 3000000000000) +"
                                  " (SELECT COUNT(*) FROM user WHERE GREATEST(deleting_ms, deleted_ms) > 2000000000000)"
                                  " + (SELECT COUNT(*) FROM packet WHERE ended_ms > 2000000000000)",
                                  0),
                     0);
}

/* A packet like the only one, inserted by an intruder in a pool. */
#define PACKET_COPY(amount, state, created, expires)                                                                   \
    "INSERT INTO packet (id, sender_id, sender_name, kind, split, amount_fen, count, greeting, seed, commitment,"      \
    " state, created_ms, expires_ms, request_key) SELECT id + 1, sender_id, sender_name, kind, split, " amount         \
    ", count, greeting, seed, commitment, '" state "', " created ", " expires ", 'copy' FROM packet LIMIT 1"
#define UNCHECKED "SET STATEMENT check_constraint_checks = 0 FOR UPDATE "
/* The form of tokens allows at most 366 days. */
#define TOKEN_INSERT                                                                                                   \
    "INSERT INTO token (user_id, hash, name, scopes, created_ms, expires_ms)"                                          \
    " VALUES ({a}, REPEAT('x', 32), 'x', 'read', "
#define LEASE        "UPDATE instance_lease SET holder = 7, until_ms = "

#define FIRST_PACKET "packet", "SELECT MIN(id) FROM packet"
#define LAST_PACKET  "packet", "SELECT MAX(id) FROM packet"
#define THE_TOKEN    "token", "SELECT id FROM token"

/* Each row is planted beside a settled packet. The audit must find it, and the worker's watch must find it in what the
 * watch checks: open packets, tokens and leases. */
static const struct {
    size_t role;
    const char *sql, *check; /* of the audit */
    uint64_t found;          /* violations */
    enum audit_check watched;
    const char *kind, *id; /* the subject that the watch must name, and a statement that reads its id */
    bool named;
} PLANTED[] = {
    { PAGE, PACKET_COPY("100000000", "funding", "created_ms", "expires_ms"), "I1", 2, AUDIT_I1, LAST_PACKET, true },
    { PAGE, PACKET_COPY("100000000", "open", "created_ms", "expires_ms"), "I1", 2, AUDIT_I1, LAST_PACKET, true },
    { PAGE, PACKET_COPY("100000000", "open", "created_ms", "expires_ms"), "I1", 2, AUDIT_I1, FIRST_PACKET, false },
    /* a grab without money */
    { SETTLE,
      "INSERT INTO `grab` (packet_id, share_no, user_id, nickname, amount_fen, grabbed_ms)"
      " VALUES ({e}, 0, {b}, 'x', 100, 1)",
      "I1", 1, AUDIT_I1, FIRST_PACKET, true },
    /* sums of such numbers do not fit into BIGINT */
    { PAGE, UNCHECKED "packet SET returned_fen = 9223372036854775807", "I1", 1, AUDIT_I1, FIRST_PACKET, true },
    { PAGE, UNCHECKED "packet SET returned_fen = -9223372036854775808", "I1", 1, AUDIT_I1, FIRST_PACKET, true },
    { PAGE, UNCHECKED "packet SET returned_count = 4294967295", "returns", 1, AUDIT_I1, FIRST_PACKET, false },
    { PAGE, UNCHECKED "user_month SET received_fen = -9223372036854775808", "months", 1, AUDIT_I1, FIRST_PACKET,
      false },
    /* times of the future */
    { PAGE, "UPDATE packet SET expires_ms = 4000000000000", "times", 1, AUDIT_TIMES, FIRST_PACKET, true },
    { PAGE, "UPDATE packet SET ended_ms = 4000000000000", "times", 1, AUDIT_TIMES, FIRST_PACKET, true },
    { SETTLE, "UPDATE packet SET closed_ms = 4000000000000", "times", 1, AUDIT_TIMES, FIRST_PACKET, true },
    { PAGE, PACKET_COPY("amount_fen", "open", "-9223372036854775808", "9223372036854775807"), "times", 1, AUDIT_TIMES,
      FIRST_PACKET, false },
    { SETTLE,
      "INSERT INTO `grab` (packet_id, share_no, user_id, nickname, amount_fen, grabbed_ms)"
      " VALUES ({e}, 0, {b}, 'x', 100, 4000000000000)",
      "times", 1, AUDIT_TIMES, FIRST_PACKET, false },
    { AUTH, "INSERT INTO user (username, nickname, password_hash, created_ms) VALUES ('x', 'x', 'x', 4000000000000)",
      "times", 1, AUDIT_TIMES, FIRST_PACKET, false },
    { AUTH, TOKEN_INSERT "UNIX_TIMESTAMP() * 1000, (UNIX_TIMESTAMP() + 366 * 86400) * 1000)", "times", 0, AUDIT_TIMES,
      THE_TOKEN, false },
    { AUTH, TOKEN_INSERT "UNIX_TIMESTAMP() * 1000, (UNIX_TIMESTAMP() + 366 * 86400 + 1) * 1000)", "times", 1,
      AUDIT_TIMES, THE_TOKEN, true },
    { AUTH, TOKEN_INSERT "UNIX_TIMESTAMP() * 1000, 253402300799000)", "times", 1, AUDIT_TIMES, THE_TOKEN, true },
    { AUTH, TOKEN_INSERT "1, UNIX_TIMESTAMP() * 1000)", "times", 1, AUDIT_TIMES, THE_TOKEN, true },
    { AUTH, TOKEN_INSERT "4000000000000, 4000000000001)", "times", 1, AUDIT_TIMES, THE_TOKEN, true },
    { AUTH, TOKEN_INSERT "-9223372036854775808, 9223372036854775807)", "times", 1, AUDIT_TIMES, THE_TOKEN, true },
    { AUTH, TOKEN_INSERT "9223372036854775807, 9223372036854775807)", "times", 1, AUDIT_TIMES, THE_TOKEN, true },
    /* while an intruder in a pool holds all numbers, no packet can be sent */
    { PAGE, LEASE "(UNIX_TIMESTAMP() + 600) * 1000 WHERE instance_no > 100", "times", 0, AUDIT_TIMES, "instance",
      "SELECT 0", false },
    { PAGE, LEASE "(UNIX_TIMESTAMP() + 60) * 1000", "times", ID_INSTANCES, AUDIT_TIMES, "instance", "SELECT 0", true },
    { PAGE, LEASE "4000000000000 WHERE instance_no = 1023", "times", 1, AUDIT_TIMES, "instance", "SELECT 1023", true },
};

TEST(what_a_role_writes_and_the_program_never_does_is_found)
{
    size_t wrong = 0;
    EACH_WORLD (row, PLANTED, world_begin(w, 2)) {
        const uint64_t id = world_even(w, 300, 3);
        world_drain(w);
        assert_false(is_found(row->watched, "packet", id));
        assert_int_equal(world_audit_violations(w, row->check), 0);
        plant(row->role, row->sql, id);
        const uint64_t found = world_audit_violations(w, row->check);
        const bool named = is_found(row->watched, row->kind, (uint64_t)world_number(w, row->id, 0));
        if (found != row->found || named != row->named) {
            print_error("%" PRIu64 " found, the watch %s: %s\n", found, named ? "too" : "not", row->sql);
            wrong++;
        }
        world_sql(w, "UPDATE instance_lease SET until_ms = 0");
    }
    assert_int_equal(wrong, 0);
}

/* The page pool renews sessions, so it can write them. */
TEST(a_session_that_nobody_began_is_found)
{
    static const struct {
        size_t role;
        bool of_nobody; /* or of a user in whose list it is not */
        const char *before, *after;
    } planted[] = {
        { PAGE, true, "", "" }, /* nothing ends it by itself */
        { PAGE, false, "v2,", " PX 600000" },
        { AUTH, true, "", "" },
        { AUTH, false, "v2,", " PX 600000" },
    };
    EACH_WORLD (row, planted, world_begin(w, 1)) {
        const unsigned long long user = row->of_nobody ? 999999999 : w->users[0];
        assert_false(is_found(AUDIT_SESSIONS, "user", user));
        redis_plant(row->role, "SET hb:session:planted %s%llu,1,1,x,x%s", row->before, user, row->after);
        assert_true(is_found(AUDIT_SESSIONS, "user", user));
    }
}

static bool exists(const char *key)
{
    return world_redisf(w, 0, "EXISTS %s", key) == 1;
}

/* Planted: a session from before the operator disabled the user, with an entry in the user's list, or from after all
 * sessions were ended; a copy of an access token that was never made. The watch ends each of these, and nothing
 * else. */
TEST(the_watch_ends_what_was_planted)
{
    static const struct {
        size_t role;
        const char *key, *before, *after; /* the user's id is between them */
        bool listed, disabled;
    } planted[] = {
        { PAGE, "hb:session:aa", "v2,", "1,1,x,x PX 600000", false, false },
        { AUTH, "hb:session:aa", "v2,", "1,1,x,x", true, false },
        { AUTH, "hb:session:aa", "v2,", "1,1,x,x PX 600000", true, true },
        { PAGE, "hb:session:aa", "", "1,1,x,x PX 600000", false, true },
        { PAGE, "hb:session:aa", "", "9000000000000,9000000000000,x,x PX 600000", false, false },
        { PAGE, "hb:token:aa", "v2,1,", "7,9999999999999,x,x PX 600000", false, false },
    };
    EACH_WORLD (row, planted, world_begin(w, 2)) {
        const unsigned long long user = w->users[0];
        if (row->disabled)
            world_sqlf(w, "UPDATE user SET disabled_ms = 1 WHERE id = %llu", user);
        redis_plant(row->role, "SET %s %s%llu,%s", row->key, row->before, user, row->after);
        if (row->listed)
            redis_plant(row->role, "HSET hb:sessions:%llu aa 1,x", user);
        (void)world_redis(w, 0, "HSET hb:session:wrongtype a b"); /* hides no later row */
        (void)world_redisf(w, 0, "SET hb:session:bb v2,%llu,1,1,x,x PX 600000", (unsigned long long)w->users[1]);
        (void)world_redisf(w, 0, "HSET hb:sessions:%llu bb 1,x", (unsigned long long)w->users[1]);
        (void)world_redis(w, 0, "SET hb:token:cc revoked PX 600000");
        (void)world_redis(w, 0, "HSET hb:token:dd a b");
        (void)is_found(AUDIT_I8, "packet", 0); /* one whole walk */
        if (exists(row->key))
            fail_msg("not ended: %s %s…,%s", row->key, row->before, row->after);
        assert_false(exists("hb:session:wrongtype"));
        assert_false(exists("hb:token:dd"));
        assert_true(exists("hb:session:bb") && exists("hb:token:cc"));
    }
}

/* A planted copy under a real token, of another user or of a disabled one, is removed within a minute. A copy that
 * agrees with the token's row stays. */
TEST(the_watch_ends_copies_that_differ_from_their_token)
{
    static const struct {
        const char *before, *after; /* the user's id is between them */
        bool disabled, ends;
    } planted[] = {
        { "v2,1,", ",1,9999999999999,x,x", false, false }, { "v2,1,", ",1,9999999999999,x,x", true, true },
        { "v2,1,1", ",1,9999999999999,x,x", false, true }, { "v2,1,", ",7,9999999999999,x,x", false, true },
        { "v2,1,", ",1,9999999999998,x,x", false, true },  { "not-a-copy-", "", false, true },
    };
    EACH_WORLD (row, planted, world_begin(w, 1)) {
        const unsigned long long user = w->users[0];
        world_sqlf(w,
                   "INSERT INTO token (user_id, hash, name, scopes, created_ms, expires_ms)"
                   " VALUES (%llu, UNHEX(REPEAT('c7', 32)), 'x', 'read', 1, 9999999999999)",
                   user);
        if (row->disabled)
            world_sqlf(w, "UPDATE user SET disabled_ms = 1 WHERE id = %llu", user);
        redis_plant(PAGE, "SET hb:token:" TOKEN_HEX " %s%llu%s PX 600000", row->before, user, row->after);
        (void)is_found(AUDIT_I8, "packet", 0); /* one whole walk */
        if (exists("hb:token:" TOKEN_HEX) == row->ends)
            fail_msg("%zu: the copy %s", (size_t)(row - planted), row->ends ? "lives on" : "was ended");
    }
}

/* A role that may write a key may give it another type, or no time to live. A list of sessions with another type would
 * keep the operator from ending sessions. */
TEST(keys_that_the_program_does_not_write_are_found)
{
    static const struct {
        size_t role;
        const char *command, *key;
        bool ends;
    } planted[] = {
        { PAGE, "SET hb:sessions:10001 x PX 600000", "hb:sessions:10001", true },
        { AUTH, "HSET hb:{limit}:read:10001 a b", "hb:{limit}:read:10001", false },
        { PAGE, "SET hb:token:planted v2,1,10001,7,9999999999999,x,x", "hb:token:planted", true },
    };
    EACH_WORLD (row, planted, world_begin(w, 1)) {
        assert_false(is_found(AUDIT_SESSIONS, "key", 0));
        redis_plant(row->role, "%s", row->command);
        assert_true(world_audit_violations(w, "sessions") > 0);
        assert_true(is_found(AUDIT_SESSIONS, "key", 0));
        assert_int_equal(exists(row->key), !row->ends);
    }
}

/* The end of all sessions reads the whole list. */
FAULTY_WORLD_TEST(a_list_of_sessions_that_is_too_long_is_ended, 1)
{
    for (int i = 0; i < SESSION_LIST_LEN_MAX; i++)
        redis_plant(AUTH, "HSET hb:sessions:10001 %064x 1,x", i);
    for (size_t more = 0; more < 2; more++) {
        assert_int_equal(world_audit_violations(w, "sessions"), more);
        assert_int_equal(is_found(AUDIT_SESSIONS, "key", 0), more);
        assert_int_equal(exists("hb:sessions:10001"), more == 0);
        redis_plant(AUTH, "HSET hb:sessions:10001 %064x 1,x", SESSION_LIST_LEN_MAX);
    }
}

/* A session without an entry would look planted, so no session is stored when the entry can't be made. */
FAULTY_WORLD_TEST(a_session_is_entered_before_it_is_stored, 1)
{
    char token[SESSION_TOKEN_MAX], key[SESSION_KEY_MAX];
    const int64_t now_ms = clock_now_ms();
    const struct session s = { .user_id = w->users[0],
                               .created_ms = now_ms,
                               .seen_ms = now_ms,
                               .username = STR("x"),
                               .nickname = STR("x"),
                               .listed = true };
    session_token_new(token);
    session_key_write(str_from(token), key);
    (void)world_redisf(w, 0, "SET hb:sessions:%llu x", (unsigned long long)w->users[0]);
    assert_int_equal(session_list_start(&roles[AUTH]->stores, w->arena, str_from(key), &s, STR("Firefox"), now_ms),
                     ST_UNAVAILABLE);
    assert_false(exists(key));
}

/* No role may do this; an administrator, or a bug, might. */
FAULTY_WORLD_TEST(money_from_nowhere_and_accounts_of_nobody_are_found, 2)
{
    assert_false(is_found(AUDIT_ORIGIN, "account", w->users[0]));
    plant(ADMIN,
          "INSERT INTO transfer (kind, debit_id, credit_id, amount_fen, created_ms) VALUES ('deposit', 1, {a}, 5, 1)",
          0);
    assert_true(is_found(AUDIT_ORIGIN, "account", w->users[0]));
    assert_false(is_found(AUDIT_ORIGIN, "account", w->users[1]));
    world_sql(w, "SET check_constraint_checks = 0");
    world_sql(w, "INSERT INTO account (id, kind) VALUES (4, 'bank'), (5, 'wallet'), (6, 'channel'), (7, 'pending'),"
                 " (1125899906842699, 'escrow')");
    world_sql(w, "SET check_constraint_checks = 1");
    static const uint64_t planted[] = { 4, 5, 6, 7, 1125899906842699 };
    EACH (id, planted)
        if (!is_found(AUDIT_ORIGIN, "account", *id))
            fail_msg("account %" PRIu64 " is not found", *id);
}

static void replay_all(uint64_t packet_id)
{
    FILE *out = tmpfile();
    assert_non_null(out);
    assert_int_equal(replay_packet(&w->settler->stores, packet_id, out), ST_OK);
    (void)fclose(out);
}

/* A role that may append to a stream may trim it. The packet's list of grabs still has the lost grabs. */
TEST(grabs_that_the_hot_pool_trims_become_dead_letters)
{
    static const struct {
        const char *rest; /* of XADD */
        bool same, other; /* a grab follows, of the same packet or another one */
    } attacks[] = {
        { "MAXLEN 0 * g x", false, false },
        { "MAXLEN = 0 * g x", true, false },
        { "MAXLEN 0 * g x", false, true },
        { "MAXLEN 1 * r 1", true, true },
    };
    EACH_WORLD (row, attacks, world_begin(w, 5)) {
        char key[LIVE_KEY_MAX];
        const uint64_t id = world_even(w, 500, 5);
        const uint64_t other = world_send_beside(w, id, 500, 5);
        grab_settled(id, 1, 1);
        world_grab_all(w, id, 2, 2);
        (void)live_events_key(key, packet_partition(id, w->config->partitions));
        redis_plant(HOT, "XADD %s %s", key, row->rest);
        if (row->same)
            world_grab_all(w, id, 4, 1);
        if (row->other)
            world_grab_all(w, other, 1, 1);
        assert_int_equal(world_drain(w), row->other);
        (void)recover_once(0);
        assert_false(settle_is_stopped(w->settle));
        assert_int_equal(world_balance(w, w->users[2]), DEMO_MONEY_FEN);
        assert_int_equal(world_grab(w, id, 2).share_no, 1);    /* as it was shown */
        assert_int_equal(world_letters(w, id), 1 + row->same); /* one more for the second grab of the same entry */
        replay_all(id);
        world_sql(w, "UPDATE dead_letter SET resolved_ms = 1, resolution = 'dropped' WHERE resolved_ms IS NULL");
        for (size_t user = 2; user < (row->same ? 5 : 4); user++)
            assert_int_equal(world_balance(w, w->users[user]), DEMO_MONEY_FEN + 100);
        assert_int_equal(recover_once(0).faults, 0);
        world_grab_all(w, id, 0, 1);
        (void)world_drain_clean(w);
    }
}

/* The hot pool may also write into the list: entries that no call has made, and ids that the stream has not given
 * yet. */
FAULTY_WORLD_TEST(a_list_with_foreign_entries_stops_no_partition, 5)
{
    char key[LIVE_KEY_MAX];
    struct live_keys keys;
    const uint64_t id = world_even_settled(w, 500, 5, 1);
    const uint64_t other = world_send_beside(w, id, 500, 5);
    const struct live_event_id cursor = world_partition(w, id)->last;
    (void)world_grab(w, id, 2);
    (void)live_events_key(key, packet_partition(id, w->config->partitions));
    char *name = arena_alloc(w->arena, DEAD_LETTER_CONTENT_MAX);
    memset(name, 'x', DEAD_LETTER_CONTENT_MAX);
    live_keys(&keys, other, w->config->partitions);
    const char *order = arena_printf(w->arena, "%.*s", STR_ARG(keys.key[LIVE_KEY_ORDER])).ptr;
    redis_plant(HOT, "RPUSH %s 5,1,9000000000000-0,x", order);
    redis_plant(HOT, "RPUSH %s 5,1,%" PRIu64 "-%" PRIu64 ",%.*s", order, cursor.ms, cursor.seq + 1,
                DEAD_LETTER_CONTENT_MAX, name);
    redis_plant(HOT, "XADD %s MAXLEN 0 * g x", key);
    assert_int_equal(world_drain(w), 0);
    (void)recover_once(0);
    assert_ints({ settle_is_stopped(w->settle), false }, { world_letters(w, 0), 1 }, { world_letters(w, id), 1 });
    assert_int_equal(world_grab(w, other, 3).share_no, 0); /* the list was made anew */
    assert_int_equal(world_drain(w), 1);
}

/* Only grants-demo.sql grants deposits. */
TEST(where_demo_is_off_nobody_may_deposit)
{
    char path[512];
    struct buf grants = { .limit = 1 << 16 };
    (void)snprintf(path, sizeof path, "%s/../deploy/rights/grants.sql", roles[ADMIN]->stores.config->sql_dir);
    assert_int_equal(buf_file(&grants, path), ST_OK);
    assert_int_equal(str_find(buf_view(&grants), STR("ledger_deposit")), grants.len);
    assert_int_equal(str_find(buf_view(&grants), STR("ledger_demo")), grants.len);
    buf_free(&grants);
}

/* An intruder in a page pool reads no password hash, and one in a card pool no name. */
TEST(only_the_auth_pool_has_users_and_their_hashes)
{
    assert_denied_but(1U << AUTH, "SELECT password_hash FROM user", "SELECT * FROM user",
                      "UPDATE user SET password_hash = ''");
    assert_denied_but(1U << AUTH | 1U << SSO, "INSERT INTO user (username, nickname, created_ms) VALUES ('x', 'x', 1)");
    assert_allowed(PAGE, "SELECT id, username, nickname FROM user LIMIT 1");
    assert_denied(CARD, "SELECT id FROM user", "SELECT * FROM `grab`");
    assert_denied(AUTH, "UPDATE account SET kind = 'wallet'", "SELECT * FROM packet", "SELECT note FROM packet",
                  "INSERT INTO packet SELECT * FROM packet");
}

/* No pool can change the owner of a passkey, or its key. The auth pool, which requires the password, adds keys and
 * notes logins; the page pool removes keys. */
TEST(the_key_of_a_passkey_never_changes)
{
    assert_denied_to_all("UPDATE passkey SET public_key = ''", "UPDATE passkey SET user_id = 1");
    assert_denied_but(1U << PAGE, "DELETE FROM passkey");
    assert_denied_but(1U << AUTH, "INSERT INTO passkey SELECT * FROM passkey", "INSERT INTO token SELECT * FROM token");
    assert_denied_but(1U << PAGE | 1U << AUTH, "SELECT * FROM passkey");
    assert_denied(PAGE, "UPDATE passkey SET sign_count = 0");
}

/* The page pool writes the files but can't read one; the card pool serves them without knowing the owner. The audit
 * reads which users have one. */
TEST(covers_and_pictures_are_written_by_the_page_pool_and_read_by_the_card_pool)
{
    struct arena *a = arena_new(4096, 1 << 20);
#define OF_TABLE(sql) arena_printf(a, sql, table).ptr
    EACH_TEXT (table, "cover", "picture") {
        assert_denied_to_all(OF_TABLE("UPDATE %s SET bytes = ''"), OF_TABLE("SELECT * FROM %s"));
        assert_denied_but(1U << CARD, OF_TABLE("SELECT bytes FROM %s"));
        assert_denied_but(1U << PAGE, OF_TABLE("INSERT INTO %s VALUES (10001, REPEAT('0', 26), 'x', 1)"),
                          OF_TABLE("DELETE FROM %s"));
        assert_denied_but(1U << PAGE | 1U << AUDIT, OF_TABLE("SELECT user_id FROM %s"));
        assert_allowed(CARD, OF_TABLE("SELECT bytes FROM %s WHERE hash = ''"));
        assert_allowed(PAGE, OF_TABLE("SELECT hash FROM %s WHERE user_id = 1"));
        assert_denied(SUPPORT, OF_TABLE("SELECT hash FROM %s"));
    }
    arena_free(a);
}

/* The page pool counts codes; only the auth pool reads or adds codes, and no role changes one. */
TEST(only_the_auth_pool_has_recovery_codes)
{
    static const char counted[] = "SELECT COUNT(user_id) FROM recovery_code WHERE user_id = 1";
    assert_denied_to_all("UPDATE recovery_code SET hash = ''", "UPDATE recovery_code SET user_id = 1");
    assert_denied_but(1U << AUTH, "SELECT hash FROM recovery_code", "SELECT * FROM recovery_code",
                      "INSERT INTO recovery_code VALUES (10001, 0, 'x', 1)", "DELETE FROM recovery_code");
    assert_denied_but(1U << PAGE | 1U << AUTH, counted);
    assert_allowed(PAGE, counted);
    assert_denied(SUPPORT, "SELECT hash FROM recovery_code", "INSERT INTO recovery_code VALUES (10001, 0, 'x', 1)");
}

/* Commands with the rights of auth make links; the support ends them. */
TEST(only_the_auth_pool_has_login_links)
{
    assert_denied_to_all("UPDATE login_link SET hash = ''", "UPDATE login_link SET expires_ms = 1");
    assert_denied_but(1U << AUTH, "SELECT hash FROM login_link", "SELECT * FROM login_link",
                      "SELECT user_id FROM login_link", "INSERT INTO login_link VALUES (10001, 'x', 1, 2)",
                      "DELETE FROM login_link");
    assert_allowed(SUPPORT, "SELECT user_id, expires_ms FROM login_link");
    assert_denied(SUPPORT, "SELECT hash FROM login_link", "INSERT INTO login_link VALUES (10001, 'x', 1, 2)",
                  "UPDATE login_link SET expires_ms = 1");
    assert_denied(TREASURY, "SELECT user_id FROM login_link", "DELETE FROM login_link");
}

/* Users (auth) and operators (support) make invitations, and only a registration uses one. No role deletes one or gives
 * it another life, and none changes what was accepted of the terms. */
TEST(only_auth_uses_invitations_and_notes_consent)
{
    static const char made_by_user[] = "INSERT INTO invitation (hash, seed, user_id, created_ms, expires_ms)"
                                       " VALUES ('x', 1, 10001, 1, 2)",
                      made[] = "INSERT INTO invitation (hash, seed, author, created_ms, expires_ms)"
                               " VALUES ('x', 1, 'y', 1, 2)",
                      accepted[] = "INSERT INTO user_terms (user_id, version, accepted_ms) VALUES (10001, 'x', 1)";
    assert_denied_to_all("DELETE FROM invitation", "UPDATE invitation SET hash = 'x'",
                         "UPDATE invitation SET expires_ms = 1", "UPDATE invitation SET user_id = 1",
                         "UPDATE user_terms SET accepted_ms = 1", "DELETE FROM user_terms");
    assert_denied_but(1U << AUTH | 1U << SUPPORT, "SELECT seed FROM invitation",
                      "UPDATE invitation SET revoked_ms = 1");
    assert_denied_but(1U << AUTH, "UPDATE invitation SET used_ms = 1", "UPDATE invitation SET used_by = 1", accepted,
                      made_by_user);
    assert_denied_but(1U << SUPPORT, made);
    assert_denied_but(1U << AUTH | 1U << SSO | 1U << PAGE, "SELECT version FROM user_terms");
    assert_allowed(SUPPORT, "SELECT used_by, note, author FROM invitation LIMIT 1");
    assert_allowed(PAGE, "SELECT accepted_ms FROM user_terms LIMIT 1");
}

TEST(the_audit_only_reads)
{
    EACH_TEXT (table, "user", "account", "transfer", "packet", "`grab`", "user_month", "stream_cursor",
               "instance_lease", "schema_migration", "channel", "external_transfer", "withdrawal", "service",
               "service_hour", "topup", "topup_payment") {
        char delete[128], insert[128];
        (void)snprintf(delete, sizeof delete, "DELETE FROM %s", table);
        (void)snprintf(insert, sizeof insert, "INSERT INTO %s VALUES ()", table);
        assert_denied(AUDIT, delete, insert);
    }
    assert_denied(AUDIT, "UPDATE account SET balance_fen = 0", "UPDATE packet SET state = 'closed'",
                  "SELECT * FROM user");
    assert_allowed(AUDIT, "SELECT * FROM transfer LIMIT 1");
}

TEST(the_pools_can_check_the_schema)
{
    assert_int_equal(migrate_check(roles[PAGE]->stores.db, roles[ADMIN]->migrations, NULL), ST_OK);
}

/* ---- Redis ---- */

static void no_permission_each(size_t role, const char *const *commands)
{
    for (size_t i = 0; commands[i] != NULL; i++) {
        struct redis_call call;
        redis_run(role, commands[i], &call);
        if (call.reply == NULL || call.reply->type != REDIS_REPLY_ERROR ||
            strncmp(call.reply->str, "NOPERM", strlen("NOPERM")) != 0)
            fail_msg("%s: no NOPERM for: %s", ROLE_NAMES[role], commands[i]);
        redis_call_free(&call);
    }
}
#define assert_no_permission(role, ...) no_permission_each(role, (const char *const[]){ __VA_ARGS__, NULL })

TEST(no_role_empties_scans_or_configures_redis)
{
    for (size_t role = 0; role < ROLES; role++)
        assert_no_permission(role, "FLUSHALL", "FLUSHDB", "CONFIG GET *", "CONFIG SET appendonly no", "KEYS *",
                             "RANDOMKEY", "SHUTDOWN NOSAVE", "ACL LIST", "ACL SETUSER x", "MONITOR", "REPLICAOF a 1",
                             "SCRIPT FLUSH", "EVAL return(1) 0", "EVALSHA 0 0", "EVAL_RO return(1) 0", "BGREWRITEAOF",
                             "CLIENT KILL x", "SCRIPT LOAD return(1)", "SCRIPT EXISTS x", "FUNCTION FLUSH",
                             "FUNCTION DUMP", "FUNCTION RESTORE x", "FUNCTION KILL", "FUNCTION STATS", "SWAPDB 0 0",
                             "RENAME a b", "MIGRATE a 1 b 0 1", "DUMP hb:{p00}:events", "DEL other", "GET other",
                             "SET other 1");
}

TEST(each_role_reaches_its_own_keys_only)
{
    /* The pools append events to the streams and can't remove any; only the page pool reads their age. */
    assert_no_permission(PAGE, "XTRIM hb:{p00}:events MAXLEN 0", "XDEL hb:{p00}:events 1-1",
                         "XRANGE hb:{p00}:order:1 - +", "UNLINK hb:{p00}:events", "RPOP hb:{p00}:order:1",
                         "SET hb:challenge:x 1");
    /* The hot pool writes no session and no token; the auth pool has no access to packets, and the card pool only to
     * limits. */
    assert_no_permission(HOT, "XTRIM hb:{p00}:events MAXLEN 0", "XRANGE hb:{p00}:events - +",
                         "SET hb:session:x 10001,1,1,x,x", "DEL hb:session:x", "SET hb:token:x 1", "GET hb:news:1",
                         "SET hb:challenge:x 1", "SET hb:{limit}:send:1 1", "SET hb:capped:1 1", "DEL hb:capped:1");
    assert_no_permission(AUTH, "XRANGE hb:{p00}:events - +", "XADD hb:{p00}:events * g 1", "GET hb:token:x",
                         "SET hb:token:x 1");
    assert_no_permission(CARD, "SET hb:challenge:x 1", "GET hb:session:x", "GET hb:{p00}:settled", "SET hb:wait:{0} 1");
    redis_plant(HOT, "SET hb:wait:{0} 1 NX PX 60000"); /* before each WAIT; see redis/wait.c */
    redis_plant(HOT, "PEXPIRE hb:wait:{0} 60000");
    assert_no_permission(HOT, "GET hb:wait:{0}", "SET hb:waiting 1");
    assert_no_permission(SETTLE, "SET hb:{limit}:send:1 1", "SET hb:session:x 1", "SET hb:sessions:1 1",
                         "GET hb:news:1", "SET hb:token:x 1", "XDEL hb:{p00}:events 1-1");
    redis_plant(SETTLE, "SET hb:capped:1 1 PX 60000"); /* who has received enough: the worker writes it */
    redis_plant(HOT, "GET hb:capped:1");
    assert_no_permission(SETTLE, "GET hb:capped:1", "DEL hb:capped:1");
    assert_no_permission(PAGE, "GET hb:capped:1", "SET hb:capped:1 1", "DEL hb:capped:1");
    assert_no_permission(AUTH, "GET hb:capped:1", "SET hb:capped:1 1", "DEL hb:capped:1");
    assert_no_permission(AUDIT, "GET hb:news:1", "GET hb:token:x", "SET hb:{p00}:settled 0-0", "DEL hb:{p00}:packet:1",
                         "XADD hb:{p00}:events * g 1", "FCALL x 0");
    for (size_t role = 0; role < ROLES; role++) {
        assert_no_permission(role, "GET hb:challenge:x");
        if (role != AUDIT && role != SETTLE)
            assert_no_permission(role, "SCAN 0"); /* these two search sessions without a user */
    }
    redis_plant(AUDIT, "GET hb:{p00}:settled");
}

/* A role that counts logins could shut a user out, or guess without end. */
TEST(only_the_auth_pool_counts_logins)
{
    for (size_t role = 0; role < ROLES; role++)
        if (role != AUTH)
            assert_no_permission(role, "SET hb:{limit}:login_account:x 1", "DEL hb:{limit}:login_site:all",
                                 "DEL hb:{limit}:password:1", "SET hb:{limit}:recovery_code:x 1",
                                 "GET hb:{limit}:devices:x");
    assert_no_permission(CARD, "DEL hb:{limit}:send:1", "SET hb:{limit}:devices:x 1");
    assert_no_permission(PAGE, "DEL hb:{limit}:card:1");
}

/* The seed reveals each share before it is opened. */
TEST(the_card_pool_reads_only_what_a_picture_shows)
{
    static const char needs_phrase[] = "SELECT packet_needs_phrase(1)";
    assert_denied(CARD, "SELECT seed FROM packet", "SELECT phrase_hash FROM packet", "SELECT phrase_sealed FROM packet",
                  "SELECT amount_fen FROM packet", "SELECT best_share_no FROM packet", "SELECT request_key FROM packet",
                  "SELECT sender_id FROM packet", "SELECT note FROM packet");
    assert_allowed(CARD, "SELECT sender_name, greeting FROM packet LIMIT 1");
    assert_allowed(CARD, needs_phrase); /* yes or no, which the picture shows */
    assert_denied_but(1U << CARD, needs_phrase);
}

/* The page pool finds users by name and renames them, but may not read password hashes, nor change usernames. */
TEST(the_page_pool_reads_users_without_their_hashes)
{
    struct arena *a = arena_new(4096, 1 << 20);
    struct user found;
    assert_int_equal(user_find_by_name(roles[PAGE]->stores.db, a, STR("nobody-here"), &found), ST_NOT_FOUND);
    assert_int_equal(user_rename(roles[PAGE]->stores.db, 1, &STR("nobody"), &FACE_NONE), ST_OK);
    assert_denied(PAGE, "UPDATE user SET password_hash = NULL", "UPDATE user SET disabled_ms = NULL");
    assert_denied(AUTH, "UPDATE user SET disabled_ms = NULL");
    arena_free(a);
}

/* The operator can do what docs/how-to/restart.md and dead-letters.md need, and nothing else. */
TEST(the_operator_changes_settings_and_loads_rights)
{
    assert_no_permission(OPERATOR, "FLUSHALL", "KEYS *", "GET hb:news:1", "GET hb:session:x", "DEL hb:sessions:1",
                         "SET hb:token:x revoked", "SET hb:{p00}:fence x", "ACL SETUSER x", "ACL LIST",
                         "SHUTDOWN NOSAVE", "MONITOR", "EVAL return(1) 0", "XRANGE hb:{p00}:events - +",
                         "RPUSH hb:{p00}:order:1 x");
    EACH_TEXT (command, "INFO persistence", "CONFIG GET auto-aof-rewrite-percentage", "LRANGE hb:{p00}:order:1 0 -1",
               "TIME", "ACL GETUSER hongbao_hot")
        redis_plant(OPERATOR, "%s", command);
    /* Not run: it closes the connections of other tests. */
    EACH_TEXT (command, "ACL DRYRUN hongbao_operator ACL LOAD",
               "ACL DRYRUN hongbao_operator CONFIG SET auto-aof-rewrite-percentage 0") {
        struct redis_call call;
        redis_run(ADMIN, command, &call);
        assert_of(command, call.status == ST_OK && str_equal(redis_reply_str(call.reply), STR("OK")));
        redis_call_free(&call);
    }
}

/* The password of this role is on the disk of the machine that makes backups every night. */
TEST(the_backup_reads_everything_and_writes_nothing)
{
    assert_allowed(BACKUP, "SELECT password_hash FROM user");
    assert_allowed(BACKUP, "SHOW CREATE PROCEDURE ledger_settle");
    assert_denied(BACKUP, "UPDATE account SET balance_fen = 1", "INSERT INTO transfer SELECT * FROM transfer",
                  "DELETE FROM user", "UPDATE packet SET seed = ''", "CREATE TABLE planted (id INT)",
                  "DROP DATABASE hongbao", "CALL ledger_wallet(1)", "SET GLOBAL read_only = 1",
                  "SELECT * FROM mysql.global_priv");
    assert_no_permission(BACKUP, "FLUSHALL", "CONFIG SET appendonly no", "ACL LIST", "KEYS *", "GET hb:session:x",
                         "SET hb:session:x 1", "SHUTDOWN NOSAVE", "REPLICAOF a 1", "DEL hb:{p00}:events",
                         "EVAL return(1) 0", "XADD hb:{p00}:events * g 1");
}

/* `hongbao user` ends sessions and tokens, and sets passwords that it can't read; it finds the sender of a packet. It
 * has no other rights on packets, on money or on the settings of the stores. */
TEST(the_support_helps_users_and_does_nothing_else)
{
    assert_allowed(SUPPORT, "SELECT id, sender_id, state, count, grabbed_count, created_ms FROM packet");
    assert_denied(SUPPORT, "SELECT password_hash FROM user", "UPDATE user SET nickname = 'x'",
                  "UPDATE account SET balance_fen = 1", "SELECT * FROM account",
                  "INSERT INTO transfer SELECT * FROM transfer", "SELECT * FROM packet", "SELECT greeting FROM packet",
                  "SELECT note FROM packet", "SELECT seed FROM packet", "SELECT amount_fen FROM packet",
                  "SELECT * FROM packet_receiver", "SELECT * FROM `grab`", "UPDATE packet SET state = 'open'",
                  "INSERT INTO token SELECT * FROM token", "CALL ledger_wallet(0)",
                  "CALL ledger_deposit(0, 0, 'x', 1)");
    assert_no_permission(SUPPORT, "FLUSHALL", "KEYS *", "SCAN 0", "CONFIG GET maxmemory", "CONFIG SET appendonly no",
                         "ACL LOAD", "ACL LIST", "LRANGE hb:{p00}:order:1 0 -1", "GET hb:news:1",
                         "SET hb:{p00}:fence x", "XRANGE hb:{p00}:events - +");
}

TEST(only_the_treasury_moves_money_from_and_to_channels)
{
    static const size_t others[] = { SUPPORT, BACKUP };
    EACH (call, TREASURY_CALLS) {
        assert_denied_to_all(*call);
        EACH (role, others)
            assert_denied(*role, *call);
        assert_refused(TREASURY, *call);
    }
    EACH (call, NOBODYS_CALLS) {
        assert_denied_to_all(*call);
        EACH (role, others)
            assert_denied(*role, *call);
        assert_denied(TREASURY, *call);
    }
}

/* It reads who has what; no passwords, packets or sessions. */
TEST(the_treasury_reads_money_and_does_nothing_else)
{
    EACH_TEXT (table, "channel", "external_transfer", "withdrawal", "topup", "topup_payment", "transfer", "account",
               "site", "schema_migration")
        assert_allowed(TREASURY, row_of(table));
    assert_allowed(TREASURY, "SELECT id, username, nickname, created_ms, disabled_ms, deleting_ms, deleted_ms FROM user"
                             " LIMIT 1");
    EACH_TEXT (table, "packet", "packet_receiver", "`grab`", "share_return", "thanks", "token", "passkey",
               "recovery_code", "picture", "cover", "user_month", "dead_letter", "stream_cursor", "instance_lease",
               "username_retired", "mysql.global_priv")
        assert_denied(TREASURY, row_of(table));
    assert_denied(TREASURY, "SELECT password_hash FROM user", "SELECT face FROM user",
                  "UPDATE user SET disabled_ms = NULL", "UPDATE user SET nickname = 'x'",
                  "UPDATE account SET balance_fen = 1", "INSERT INTO account (id, kind) VALUES (16, 'channel')",
                  "INSERT INTO transfer SELECT * FROM transfer", "DELETE FROM transfer",
                  "UPDATE site SET generation = 1", "CALL ledger_wallet(0)", "CALL ledger_deposit(0, 0, 'x', 1)",
                  "CALL ledger_demo('[0]', 0, 1)", "CALL ledger_refund(0, 0, 1)", "CALL ledger_settle('[]', NULL, 1)",
                  "CALL ledger_send(0)", "CALL ledger_return(0, 0, 0, 1)", "CALL user_delete(0, 'x', 'x', TRUE)",
                  "CALL user_deleted(0, 1)",
                  "SELECT ledger_move('deposit', 1, 'bank', 10001, 'wallet', 5, NULL, NULL, 'x', 1)",
                  "CREATE TABLE planted (id INT)", "DROP PROCEDURE ledger_external", "SET GLOBAL read_only = 1");
    assert_no_permission(TREASURY, "FLUSHALL", "KEYS *", "SCAN 0", "CONFIG GET maxmemory", "ACL LIST",
                         "GET hb:session:x", "SET hb:session:x 1", "GET hb:token:x", "GET hb:sessions:1",
                         "SET hb:{p00}:site x", "GET hb:{p00}:packet:1", "XRANGE hb:{p00}:events - +", "FCALL x 0",
                         "FUNCTION LIST", "EVAL return(1) 0");
    redis_plant(TREASURY, "GET hb:{p00}:site");
}

/* Money moves by the hash of a token alone, which the pool can't read, and can't guess. */
static const char *const SERVICE_CALLS[] = {
    "CALL service_external(REPEAT('x', 32), 'credit', 2, 10001, 5, 'r', '', 1)",
    "CALL service_external(REPEAT('x', 32), 'debit', 2, 10001, 5, 'r', '', 1)",
    "CALL service_withdrawal_end(REPEAT('x', 32), 1, TRUE, 'r', NULL, 1)",
    "CALL service_withdrawal_end(REPEAT('x', 32), 1, FALSE, NULL, 'r', 1)",
};

TEST(only_the_money_pool_moves_money_by_tokens_and_a_guessed_hash_does_nothing)
{
    enum { NO_SUCH_TOKEN = 31011 };
    static const size_t others[] = { SUPPORT, TREASURY, BACKUP };
    EACH (call, SERVICE_CALLS) {
        assert_denied_but(1U << MONEY, *call);
        EACH (role, others)
            assert_denied(*role, *call);
        assert_int_equal(sql_error(MONEY, *call), NO_SUCH_TOKEN);
    }
    assert_denied_but(1U << MONEY, "CALL service_used(REPEAT('x', 32))", "SELECT service_of(REPEAT('x', 32))");
    assert_allowed(MONEY, "CALL service_used(REPEAT('x', 32))");
    assert_allowed(MONEY, "SELECT id FROM service WHERE id = service_of(REPEAT('x', 32))");
    EACH (call, TREASURY_CALLS)
        assert_denied(MONEY, *call);
    EACH (call, NOBODYS_CALLS)
        assert_denied(MONEY, *call);
    assert_denied(MONEY, "SELECT id FROM service WHERE hash > ''", "SELECT id FROM service ORDER BY hash",
                  "SELECT * FROM service", "SELECT revoked_ms FROM service", "SELECT * FROM service_hour");
    assert_denied_to_all("SELECT hash FROM service", "SELECT id FROM service WHERE hash > ''");
    assert_denied(TREASURY, "SELECT hash FROM service", "SELECT id FROM service WHERE hash > ''");
}

/* Of people it reads what the lists of a channel show. */
TEST(the_money_pool_reads_money_and_writes_no_table)
{
    EACH_TEXT (table, "site", "schema_migration", "channel", "external_transfer", "withdrawal")
        assert_allowed(MONEY, row_of(table));
    assert_allowed(MONEY, "SELECT id, username, deleting_ms FROM user LIMIT 1");
    EACH_TEXT (table, "user", "account", "transfer", "packet", "packet_receiver", "`grab`", "share_return", "thanks",
               "token", "passkey", "recovery_code", "picture", "cover", "user_month", "dead_letter", "stream_cursor",
               "instance_lease", "username_retired", "mysql.global_priv")
        assert_denied(MONEY, row_of(table));
    assert_no_permission(MONEY, "GET hb:session:x", "GET hb:token:x", "GET hb:{p00}:packet:1", "SET hb:{p00}:site x",
                         "SET hb:{p00}:fence x", "SET hb:{limit}:card:1 1", "SET hb:{limit}:unused 1", "FCALL x 0",
                         "SET hb:wait:{0} 1", "XRANGE hb:{p00}:events - +");
    redis_plant(MONEY, "GET hb:{p00}:site");
}

/* A withdrawal needs the password, which only the auth pool verifies. */
TEST(only_the_auth_pool_takes_a_withdrawal_out_of_a_wallet)
{
    static const char held[] = "CALL withdrawal_hold(0, 0, 5, 'x', 'k', 1)";
    assert_denied_but(1U << AUTH, held);
    assert_denied(AUTH, "CALL channel_withdrawals(16, TRUE, 1, 'x')", "UPDATE channel SET withdraws = TRUE",
                  "SELECT reason FROM withdrawal", "SELECT author FROM channel");
    assert_allowed(AUTH, "SELECT name, withdraws, withdraw_min_fen, withdraw_hint FROM channel LIMIT 1");
}

/* It logs people in, and makes users without a password: it knows no password, no money and no packet. */
TEST(the_sso_pool_makes_users_and_sessions_alone)
{
    EACH_TEXT (table, "site", "schema_migration", "username_retired")
        assert_allowed(SSO, row_of(table));
    assert_allowed(SSO,
                   "SELECT id, username, nickname, face, created_ms, disabled_ms, deleting_ms, deleted_ms FROM user");
    EACH_TEXT (table, "account", "transfer", "packet", "packet_receiver", "`grab`", "share_return", "thanks", "token",
               "passkey", "recovery_code", "picture", "cover", "user_month", "dead_letter", "stream_cursor", "channel",
               "withdrawal", "topup", "service", "instance_lease", "mysql.global_priv")
        assert_denied(SSO, row_of(table));
    EACH_TEXT (sql, "SELECT password_hash FROM user", "UPDATE user SET password_hash = NULL", "DELETE FROM user",
               "UPDATE user SET username = 'x'", "CALL user_delete(1, 1, 1, 1)", "DELETE FROM username_retired")
        assert_denied(SSO, sql);
    assert_no_permission(SSO, "GET hb:token:x", "GET hb:{p00}:packet:1", "SET hb:{p00}:site x", "SET hb:{p00}:fence x",
                         "SET hb:{limit}:card:1 1", "SET hb:{limit}:login_account:1 1", "SET hb:challenge:x 1",
                         "XRANGE hb:{p00}:events - +", "KEYS *");
    redis_plant(SSO, "SET hb:{limit}:oidc_address:1 1 PX 1");
}

/* The sso pool links a subject only with a permit, which the auth pool gives after a proof; neither can do both. */
TEST(no_pool_alone_links_a_subject_to_a_user)
{
    static const char insert[] = "INSERT INTO subject (issuer, subject, user_id, linked_ms) VALUES ('i', 's', 0, 1)";
    static const char permit[] = "INSERT INTO subject_permit (user_id, session, expires_ms) VALUES (0, 's', 1)";
    assert_denied_but(1U << SSO, insert, "SELECT subject FROM subject LIMIT 1",
                      "UPDATE subject SET logout_jti = NULL WHERE user_id = 0",
                      "UPDATE subject SET proof_session = NULL WHERE user_id = 0",
                      "DELETE FROM subject_permit WHERE user_id = 0");
    assert_denied_but(1U << AUTH, permit, "UPDATE subject_permit SET expires_ms = 1 WHERE user_id = 0",
                      "DELETE FROM subject WHERE user_id = 0");
    assert_denied(SSO, "UPDATE subject SET user_id = 0", "UPDATE subject SET subject = 'x'");
    assert_denied_but(1U << PAGE | 1U << AUTH | 1U << SSO, "SELECT user_id, issuer, linked_ms FROM subject LIMIT 1");
    assert_allowed(SSO, "SELECT user_id, version FROM user_terms LIMIT 1");
}

/* A statement shows the channel, memo and reference, and why a withdrawal came back. Authors are not for people. */
TEST(the_pools_read_of_channels_what_a_statement_shows)
{
    static const char shown[] = "SELECT transfer_id, channel_id, memo, reference FROM external_transfer LIMIT 1";
    static const char named[] = "SELECT id, name, note FROM channel LIMIT 1";
    assert_allowed(PAGE, shown);
    assert_allowed(PAGE, named);
    assert_allowed(PAGE, "SELECT end_id, channel_id, reason FROM withdrawal LIMIT 1");
    assert_denied(PAGE, "SELECT author FROM withdrawal", "SELECT author FROM external_transfer",
                  "SELECT author FROM channel");
    assert_denied_but(1U << PAGE | 1U << MONEY | 1U << AUDIT, shown);
    assert_denied_but(1U << PAGE | 1U << AUTH | 1U << MONEY | 1U << SETTLE | 1U << AUDIT, named);
    assert_denied_but(1U << PAGE | 1U << AUTH | 1U << MONEY | 1U << SETTLE | 1U << AUDIT,
                      "SELECT destination FROM withdrawal");
    assert_allowed(SETTLE, "SELECT COUNT(*), MIN(created_ms) FROM withdrawal WHERE state = 'pending'");
    EACH_TEXT (table, "channel", "external_transfer", "withdrawal", "topup", "topup_payment")
        assert_denied(SUPPORT, row_of(table));
}

/* An order is no money, so the page pool makes it; it can't say that it was paid. */
TEST(only_the_page_pool_makes_orders_of_top_ups)
{
    static const char call[] = "CALL topup_open(0, 16, 5, 'k', 1)";
    assert_refused(PAGE, call);
    assert_denied_but(1U << PAGE, call);
    assert_denied(TREASURY, call);
    assert_denied(SUPPORT, call);
    EACH_TEXT (table, "topup", "topup_payment")
        assert_allowed(PAGE, row_of(table));
    assert_denied_but(1U << PAGE | 1U << SETTLE | 1U << AUDIT, row_of("topup"));
    assert_denied_but(1U << PAGE | 1U << MONEY | 1U << SETTLE | 1U << AUDIT, row_of("topup_payment"),
                      "SELECT topup_url FROM channel LIMIT 1");
    assert_refused(MONEY, "CALL service_topup_paid(REPEAT('x', 32), 1, 'r', 5, 1)");
    assert_denied_but(1U << MONEY, "CALL service_topup_paid(REPEAT('x', 32), 1, 'r', 5, 1)");
    assert_denied(TREASURY, "CALL service_topup_paid(REPEAT('x', 32), 1, 'r', 5, 1)");
}

/* Who answers repeats, or lists what others book, waits for the disk by a routine, and reads and writes nothing. */
TEST(the_roles_that_answer_repeats_commit_a_change_of_their_own_and_nothing_else)
{
    static const size_t may[] = { PAGE, AUTH, MONEY, SETTLE, TREASURY };
    static const char call[] = "CALL durable_commit()";
    EACH (role, may) {
        assert_allowed(*role, call);
        assert_denied(*role, "SELECT durable_commit()", "SELECT id FROM durable", "INSERT INTO durable VALUES (NULL)",
                      "UPDATE durable SET id = 2", "DELETE FROM durable", "LOCK TABLES durable WRITE");
    }
    assert_denied_but(1U << PAGE | 1U << AUTH | 1U << MONEY | 1U << SETTLE, call, "SELECT id FROM durable");
    assert_denied(SUPPORT, call, "SELECT id FROM durable");
    assert_denied(BACKUP, call, "INSERT INTO durable VALUES (NULL)");
}

/* Loads a library with one function, both of this name. */
static enum status library_load(size_t role, struct str name, const char *body)
{
    char text[512];
    struct redis_call call;
    (void)snprintf(text, sizeof text, "#!lua name=%.*s\nredis.register_function('%.*s', function() %s end)",
                   STR_ARG(name), STR_ARG(name), body);
    const struct str load[] = { STR("FUNCTION"), STR("LOAD"), STR("REPLACE"), str_from(text) };
    const enum status st = redis_do(roles[role]->stores.redis, &call, load, 4);
    redis_call_free(&call);
    return st;
}

/* An intruder in a pool can't run its own loop, which would stop Redis. */
TEST(only_the_worker_loads_functions)
{
    for (size_t role = 0; role < ROLES; role++) {
        if (role == SETTLE)
            continue;
        assert_no_permission(role, "FUNCTION LOAD x", "FUNCTION DELETE x");
        if (role != AUDIT)
            assert_no_permission(role, "FUNCTION LIST");
        assert_int_equal(library_load(role, STR("planted"), "while true do end"), ST_CONFLICT);
    }
    assert_no_permission(OPERATOR, "FUNCTION LOAD x", "FUNCTION DELETE x");
    assert_int_equal(redis_functions_load(roles[SETTLE]->stores.redis, roles[SETTLE]->stores.functions), ST_OK);
}

/* The worker must load functions that Redis has lost, so an intruder in it could plant one: its text gets the rights of
 * the pool that calls it. */
FAULTY_WORLD_TEST(a_function_that_the_worker_plants_is_found_and_replaced, 1)
{
    const struct services *auth = roles[AUTH];
    const struct services *readers[] = { roles[SETTLE], roles[AUDIT], roles[OPERATOR] };
    const struct redis_functions *functions = auth->stores.functions;
    struct redis_functions_state found;
    struct redis_call call;
    struct str keys[16];
    const uint32_t key_count = redis_function_key_count(auth->stores.limit);
    assert_true(key_count <= ARRAY_LEN(keys));
    for (size_t i = 0; i < key_count; i++)
        keys[i] = STR("hb:{limit}:unused");
    for (int planted = 1; planted >= 0; planted--) {
        if (planted) /* under the function's name, a text that starts a session */
            assert_int_equal(library_load(SETTLE, redis_function_name(auth->stores.limit),
                                          "return redis.call('SET', 'hb:session:planted', 'x')"),
                             ST_OK);
        else
            assert_int_equal(redis_functions_load(roles[SETTLE]->stores.redis, functions), ST_OK);
        EACH (reader, readers) {
            assert_int_equal(redis_functions_compare((*reader)->stores.redis, functions, 0, &found), ST_OK);
            assert_ints({ found.missing_count, 0 }, { found.other_count, planted });
        }
        assert_int_equal(world_audit_violations(w, "functions"), planted);
        (void)redis_do_function(auth->stores.redis, &call, auth->stores.limit, REDIS_ANY, keys, key_count, NULL, 0);
        redis_call_free(&call);
        assert_int_equal(redis_number(roles[ADMIN]->stores.redis, "DEL hb:session:planted"), planted);
    }
}

/* A function runs with the rights of its caller. */
TEST(a_function_has_no_more_rights_than_its_caller)
{
    struct redis_call call;
    assert_int_equal(library_load(ADMIN, STR("planted"), "return redis.call('FLUSHALL')"), ST_OK);
    redis_run(PAGE, "FCALL planted 0", &call);
    assert_int_not_equal(call.status, ST_OK);
    const char *said = call.reply->str; /* by Redis 7.0, or by later ones and Valkey */
    assert_true(strstr(said, "can't run this command") != NULL || strstr(said, "ACL failure in script") != NULL);
    redis_call_free(&call);
    redis_plant(ADMIN, "FUNCTION DELETE planted");

    const struct str keys[] = { STR("hb:{p00}:packet:1"), STR("hb:{p00}:shares:1"), STR("hb:{p00}:grabs:1"),
                                STR("hb:{p00}:order:1"), STR("hb:{p00}:events") };
    const struct str args[] = { STR("1"), STR("10001"), STR("x"), STR(""), STR("") };
    for (size_t role = 0; role < ROLES; role++) {
        const struct services *s = roles[role];
        bool reaches_packets = role == HOT || role == PAGE || role == SETTLE;
        enum status st = redis_do_function(s->stores.redis, &call, s->stores.live.grab, REDIS_ANY, keys, 5, args, 5);
        assert_int_equal(st, reaches_packets ? ST_OK : ST_CONFLICT); /* no such packet, or NOPERM */
        redis_call_free(&call);
    }
}

TESTS(roles_open, roles_close)

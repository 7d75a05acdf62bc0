/* Each role is refused what it has no right to. That its rights suffice is shown by other tests: settlement, expiry,
 * recovery and the audit run with the rights of their roles (test_settle_fixture.h), the pools in the tests of the
 * site. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <mysql.h>
#include <mysqld_error.h>
#include <string.h>

#include "base/array.h"
#include "io/redis_reply.h"
#include "ops/migrate.h"
#include "support/test_services.h"

enum { WORDS_MAX = 8, REDIS_NOPERM_LEN = 6 };

static struct services *admin, *web, *settle, *audit;

static int roles_open(void **state)
{
    (void)state;
    admin = test_services_open();
    web = test_services_open_as("web");
    settle = test_services_open_as("settle");
    audit = test_services_open_as("audit");
    return admin != NULL && web != NULL && settle != NULL && audit != NULL ? 0 : -1;
}

static int roles_close(void **state)
{
    (void)state;
    test_services_close(web);
    test_services_close(settle);
    test_services_close(audit);
    test_services_close(admin);
    return 0;
}

/* The server's error code for a statement; 0: it ran. */
static unsigned int sql_error(const struct services *role, const char *sql)
{
    const struct config *c = role->stores.config;
    MYSQL *mysql = mysql_init(NULL);
    assert_non_null(mysql);
    assert_non_null(
        mysql_real_connect(mysql, NULL, c->mysql_user, c->mysql_password, c->mysql_database, 0, c->mysql_socket, 0));
    unsigned int code = mysql_query(mysql, sql) == 0 ? 0 : mysql_errno(mysql);
    MYSQL_RES *result = mysql_store_result(mysql);
    mysql_free_result(result);
    mysql_close(mysql);
    return code;
}

static void assert_denied(const struct services *role, const char *sql)
{
    unsigned int code = sql_error(role, sql);
    if (code != ER_TABLEACCESS_DENIED_ERROR && code != ER_COLUMNACCESS_DENIED_ERROR &&
        code != ER_DBACCESS_DENIED_ERROR && code != ER_SPECIFIC_ACCESS_DENIED_ERROR)
        fail_msg("%s: code %u instead of access denied: %s", role->stores.config->mysql_user, code, sql);
}

static void no_role_changes_or_deletes_rows_of_the_ledger(void **state)
{
    static const char *const statements[] = {
        "UPDATE transfer SET amount_fen = 1",
        "UPDATE transfer SET credit_id = 1 WHERE id = 0",
        "DELETE FROM transfer",
        "TRUNCATE TABLE transfer",
        "REPLACE INTO transfer (id, kind, debit_id, credit_id, amount_fen, created_ms)"
        " VALUES (1, 'deposit', 1, 1, 1, 1)",
        "ALTER TABLE transfer DROP KEY transfer_packet",
        "DROP TABLE transfer",
        "UPDATE `grab` SET amount_fen = 1",
        "UPDATE `grab` SET user_id = 1 WHERE packet_id = 0",
        "DELETE FROM `grab`",
        "TRUNCATE TABLE `grab`",
        "DROP TABLE `grab`"
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(statements); i++) {
        assert_denied(web, statements[i]);
        assert_denied(settle, statements[i]);
        assert_denied(audit, statements[i]);
    }
}

static void no_role_changes_what_a_packet_promised_or_the_schema(void **state)
{
    static const char *const statements[] = { "UPDATE packet SET amount_fen = 1",
                                              "UPDATE packet SET seed = ''",
                                              "UPDATE packet SET commitment = ''",
                                              "UPDATE packet SET sender_id = 1",
                                              "DELETE FROM packet",
                                              "DELETE FROM packet_receiver",
                                              "UPDATE packet_receiver SET user_id = 1",
                                              "UPDATE account SET kind = 'bank'",
                                              "UPDATE account SET id = 2 WHERE id = 0",
                                              "DELETE FROM account",
                                              "UPDATE user SET username = 'x'",
                                              "DELETE FROM user",
                                              "DELETE FROM user_month",
                                              "DELETE FROM stream_cursor",
                                              "DELETE FROM schema_migration",
                                              "UPDATE schema_migration SET sha256 = ''",
                                              "CREATE TABLE planted (id INT)",
                                              "DROP DATABASE hongbao",
                                              "SET GLOBAL read_only = 1",
                                              "SELECT * FROM mysql.global_priv" };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(statements); i++) {
        assert_denied(web, statements[i]);
        assert_denied(settle, statements[i]);
        assert_denied(audit, statements[i]);
    }
}

static void each_role_writes_its_own_columns_only(void **state)
{
    (void)state;
    /* Only the settle worker writes grabs, their sums and the cursors. */
    assert_denied(web, "INSERT INTO `grab` (packet_id, share_no, user_id, nickname, amount_fen, grabbed_ms)"
                       " VALUES (1, 0, 1, 'x', 1, 1)");
    assert_denied(web, "UPDATE packet SET grabbed_fen = 0");
    assert_denied(web, "UPDATE packet SET refund_fen = 0");
    assert_denied(web, "UPDATE share_return SET amount_fen = 0");
    assert_denied(web, "DELETE FROM share_return");
    assert_denied(web, "UPDATE user_month SET best_count = 0");
    assert_denied(web, "UPDATE stream_cursor SET last_id = '0-0'");
    /* A sender's end is a new expiry; the settle worker ends nothing. */
    assert_denied(settle, "UPDATE packet SET expires_ms = 0");
    assert_denied(settle, "UPDATE packet SET ended_ms = 0");
    /* Receivers write thanks, the settle worker tells Redis. */
    assert_denied(settle,
                  "INSERT INTO thanks (packet_id, share_no, user_id, text, created_ms) VALUES (1, 0, 1, 'x', 1)");
    assert_denied(settle, "UPDATE thanks SET text = ''");
    assert_denied(settle, "UPDATE packet SET thanks_count = 0");
    assert_denied(web, "UPDATE thanks SET text = ''");
    assert_denied(web, "DELETE FROM thanks");
    assert_denied(settle, "INSERT INTO share_return SELECT * FROM share_return");
    assert_denied(settle, "UPDATE share_return SET position = 0");
    assert_denied(settle, "UPDATE packet SET returned_fen = 0");
    /* The settle worker creates no users, packets or accounts, and reads no passwords. */
    assert_denied(settle, "SELECT password_hash FROM user");
    assert_denied(settle, "SELECT hash FROM token");
    assert_denied(settle, "DELETE FROM token");
    assert_denied(audit, "SELECT hash FROM token");
    assert_denied(web, "UPDATE token SET user_id = 1");
    assert_denied(web, "UPDATE token SET expires_ms = 0");
    assert_denied(web, "UPDATE token SET hash = ''");
    assert_int_equal(sql_error(web, "SELECT 1 FROM user WHERE id = 0 FOR UPDATE"), 0); /* user/token_store.c */
    assert_denied(settle, "INSERT INTO user (username, nickname, created_ms) VALUES ('x', 'x', 1)");
    assert_denied(settle, "INSERT INTO account (id, kind) VALUES (2, 'wallet')");
    assert_denied(settle, "INSERT INTO packet SELECT * FROM packet");
    assert_denied(settle, "INSERT INTO packet_receiver VALUES (1, 1, 'x', 1)");
    assert_denied(settle, "UPDATE instance_lease SET holder = 0");
    assert_denied(settle, "UPDATE user_month SET sent_fen = 0");
}

static void the_audit_only_reads(void **state)
{
    static const char *const tables[] = { "user",       "account",       "transfer",       "packet",          "`grab`",
                                          "user_month", "stream_cursor", "instance_lease", "schema_migration" };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        char sql[128];
        (void)snprintf(sql, sizeof sql, "DELETE FROM %s", tables[i]);
        assert_denied(audit, sql);
        (void)snprintf(sql, sizeof sql, "INSERT INTO %s VALUES ()", tables[i]);
        assert_denied(audit, sql);
    }
    assert_denied(audit, "UPDATE account SET balance_fen = 0");
    assert_denied(audit, "UPDATE packet SET state = 'closed'");
    assert_denied(audit, "SELECT * FROM user");
    assert_int_equal(sql_error(audit, "SELECT * FROM transfer LIMIT 1"), 0);
}

static void the_pools_can_check_the_schema(void **state)
{
    (void)state;
    assert_int_equal(migrate_check(web->stores.db, web->stores.config->sql_dir, NULL), ST_OK);
}

/* ---- Redis ---- */

static void redis_run(const struct services *role, const char *words, struct redis_call *call)
{
    struct str args[WORDS_MAX], rest = str_from(words);
    size_t count = 0;
    while (rest.ptr != NULL) {
        assert_true(count < WORDS_MAX);
        args[count++] = str_cut(rest, ' ', &rest);
    }
    *call = (struct redis_call){ 0 };
    (void)redis_do(role->stores.redis, call, args, count);
}

static void assert_no_permission(const struct services *role, const char *words)
{
    struct redis_call call;
    redis_run(role, words, &call);
    if (call.reply == NULL || call.reply->type != REDIS_REPLY_ERROR ||
        strncmp(call.reply->str, "NOPERM", REDIS_NOPERM_LEN) != 0)
        fail_msg("%s: no NOPERM for: %s", role->stores.config->redis_user, words);
    redis_call_free(&call);
}

static void no_role_empties_scans_or_configures_redis(void **state)
{
    static const char *const commands[] = { "FLUSHALL",
                                            "FLUSHDB",
                                            "CONFIG GET *",
                                            "CONFIG SET appendonly no",
                                            "KEYS *",
                                            "SCAN 0",
                                            "RANDOMKEY",
                                            "SHUTDOWN NOSAVE",
                                            "ACL LIST",
                                            "ACL SETUSER x",
                                            "MONITOR",
                                            "REPLICAOF a 1",
                                            "SCRIPT FLUSH",
                                            "EVAL return(1) 0",
                                            "FUNCTION LIST",
                                            "BGREWRITEAOF",
                                            "CLIENT KILL x",
                                            "SWAPDB 0 0",
                                            "RENAME a b",
                                            "MIGRATE a 1 b 0 1",
                                            "DUMP hb:{p00}:events",
                                            "DEL other",
                                            "GET other",
                                            "SET other 1" };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        assert_no_permission(web, commands[i]);
        assert_no_permission(settle, commands[i]);
        assert_no_permission(audit, commands[i]);
    }
}

static void each_role_reaches_its_own_keys_only(void **state)
{
    struct redis_call call;
    (void)state;
    /* The pools add events to the streams; they can't read or remove any. */
    assert_no_permission(web, "XTRIM hb:{p00}:events MAXLEN 0");
    assert_no_permission(web, "XDEL hb:{p00}:events 1-1");
    assert_no_permission(web, "XRANGE hb:{p00}:events - +");
    assert_no_permission(web, "UNLINK hb:{p00}:events");
    assert_no_permission(web, "RPOP hb:{p00}:order:1");
    assert_no_permission(settle, "GET hb:session:x");
    assert_no_permission(settle, "SET hb:session:x 1");
    assert_no_permission(settle, "GET hb:news:1");
    assert_no_permission(settle, "GET hb:token:x");
    assert_no_permission(settle, "SET hb:token:x 1");
    assert_no_permission(audit, "GET hb:news:1");
    assert_no_permission(audit, "GET hb:token:x");
    assert_no_permission(settle, "XDEL hb:{p00}:events 1-1");
    assert_no_permission(audit, "GET hb:session:x");
    assert_no_permission(audit, "SET hb:{p00}:settled 0-0");
    assert_no_permission(audit, "DEL hb:{p00}:packet:1");
    assert_no_permission(audit, "XADD hb:{p00}:events * g 1");
    assert_no_permission(audit, "EVALSHA 0 0");
    redis_run(audit, "GET hb:{p00}:settled", &call);
    assert_int_equal(call.status, ST_OK);
    redis_call_free(&call);
}

/* A script that another role has put into Redis's cache runs with the rights of its caller. */
static void a_script_has_no_more_rights_than_its_caller(void **state)
{
    struct redis_call call;
    (void)state;
    const struct str load[] = { STR("SCRIPT"), STR("LOAD"), STR("return redis.call('FLUSHALL')") };
    struct redis_call loaded = { 0 };
    assert_int_equal(redis_do(web->stores.redis, &loaded, load, 3), ST_OK);
    const struct str run[] = { STR("EVALSHA"), redis_reply_str(loaded.reply), STR("0") };
    call = (struct redis_call){ 0 };
    assert_int_not_equal(redis_do(web->stores.redis, &call, run, 3), ST_OK);
    assert_non_null(call.reply);
    assert_non_null(strstr(call.reply->str, "can't run this command"));
    redis_call_free(&call);
    redis_call_free(&loaded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_role_changes_or_deletes_rows_of_the_ledger),
        cmocka_unit_test(no_role_changes_what_a_packet_promised_or_the_schema),
        cmocka_unit_test(each_role_writes_its_own_columns_only),
        cmocka_unit_test(the_audit_only_reads),
        cmocka_unit_test(the_pools_can_check_the_schema),
        cmocka_unit_test(no_role_empties_scans_or_configures_redis),
        cmocka_unit_test(each_role_reaches_its_own_keys_only),
        cmocka_unit_test(a_script_has_no_more_rights_than_its_caller),
    };
    return cmocka_run_group_tests(tests, roles_open, roles_close);
}

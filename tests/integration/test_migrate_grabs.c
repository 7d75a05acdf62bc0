/* Migrations 0006 and 0007: tables in which every grab has a second row in `transfer` keep all money, statements and
 * totals. */
#include <inttypes.h>
#include <unistd.h>

#include "audit/audit_internal.h"
#include "base/array.h"
#include "base/clock.h"
#include "migrate/migrate.h"
#include "packet/totals.h"
#include "support/stores_do.h"
#include "support/test.h"
#include "support/test_services.h"
#include "test_migrate_fixture.h"
#include "wallet/statement.h"

enum { FIRST_USER = 10001, USERS = 3, OUTPUT_MAX = 4096 };

static struct services *app;
static struct config config; /* names the database of this test */
static struct db *db;
static struct arena *arena;
static char dir[] = "/tmp/hb-migrate-XXXXXX"; /* the migrations before */
static char output[OUTPUT_MAX];               /* of the last run */

static int setup(void **state)
{
    (void)state;
    app = test_services_open();
    arena = arena_new(64 << 10, 64 << 20);
    if (app == NULL || arena == NULL || mkdtemp(dir) == NULL || !clock_zone_set("Asia/Shanghai"))
        return 1;
    char command[512];
    snprintf(command, sizeof command, "mkdir %s/migrations && cp %s/migrations/000[1-5]_* %s/migrations/", dir,
             app->stores.config->sql_dir, dir);
    config = *app->stores.config;
    snprintf(config.mysql_database, sizeof config.mysql_database, "%.200s_grabs", app->stores.config->mysql_database);
    db = db_new(&config);
    return system(command) != 0 || db == NULL;
}

static void database_drop(void)
{
    char sql[512];
    snprintf(sql, sizeof sql, "DROP DATABASE IF EXISTS `%s`", config.mysql_database);
    sql_do(app->stores.db, sql);
}

static int teardown(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", dir);
    (void)system(command);
    database_drop();
    db_free(db);
    arena_free(arena);
    test_services_close(app);
    return 0;
}

/* Rows as the program of the version before wrote them: a deposit, and three packets around the end of February 2026 in
 * Shanghai, which is 1772294400000. One packet is finished, with its third grab in March; one is refunded after a grab;
 * one is open. The shares are those that the seed draws (I7 of the audit). All amounts differ, so that exchanged rows
 * are noticed; the first share is the best. */
static const char *const ROWS[] = {
    "INSERT INTO user (id, username, nickname, created_ms) VALUES (10001, 'a', 'a', 1), (10002, 'b', 'b', 1),"
    " (10003, 'c', 'c', 1)",
    "INSERT INTO packet (id, sender_id, sender_name, kind, split, amount_fen, count, best_share_no, greeting, seed,"
    " commitment, state, grabbed_count, grabbed_fen, refund_fen, created_ms, expires_ms, finished_ms, closed_ms,"
    " request_key) SELECT (1 << 60) + no, 10001, 'x', kind, split, amount_fen, 3, best, '', REPEAT('s', 32),"
    " UNHEX(SHA2(REPEAT('s', 32), 256)), state, grabs, grabbed, refund, ms, ms + 100, finished, closed, no FROM ("
    "SELECT 0 AS no, 'lucky' AS kind, 'double-average' AS split, 101 AS amount_fen, 0 AS best, 'closed' AS state,"
    " 3 AS grabs, 101 AS grabbed, 0 AS refund, 1772294399997 AS ms, 1772294400000 AS finished, 1772294400097 AS closed"
    " UNION ALL SELECT 1, 'even', 'even', 300, NULL, 'closed', 1, 100, 200, 1772294400999, NULL, 1772294401099"
    " UNION ALL SELECT 2, 'lucky', 'double-average', 12, 0, 'open', 2, 11, 0, 1772294401999, NULL, NULL) AS p",
    "INSERT INTO `grab` SELECT p.id, s.no, 10001 + (s.no + 1) % 3, 'x', s.fen, p.created_ms + 1 + s.no FROM packet p"
    " JOIN (SELECT 0 AS packet, 0 AS no, 46 AS fen UNION SELECT 0, 1, 34 UNION SELECT 0, 2, 21 UNION SELECT 1, 0, 100"
    " UNION SELECT 2, 0, 10 UNION SELECT 2, 1, 1) s ON p.id = (1 << 60) + s.packet",
    "INSERT INTO account (id, kind) SELECT id, 'wallet' FROM user UNION ALL SELECT id, 'escrow' FROM packet",
    "INSERT INTO transfer (kind, debit_id, credit_id, amount_fen, request_key, created_ms)"
    " VALUES ('deposit', 1, 10001, 5000, '10001:key', 1000)",
    "INSERT INTO transfer (kind, debit_id, credit_id, amount_fen, packet_id, seq, created_ms) SELECT * FROM ("
    "SELECT 'send' AS kind, 10001 AS debit, id AS credit, amount_fen, id AS packet, 0 AS seq, created_ms AS ms"
    " FROM packet UNION ALL SELECT 'grab', packet_id, user_id, amount_fen, packet_id, share_no, grabbed_ms FROM `grab`"
    " UNION ALL SELECT 'refund', id, 10001, refund_fen, id, 0, closed_ms FROM packet WHERE refund_fen > 0) AS t"
    " ORDER BY ms",
    "UPDATE account a SET balance_fen = (SELECT SUM(IF(t.credit_id = a.id, t.amount_fen, -t.amount_fen))"
    " FROM transfer t WHERE a.id IN (t.debit_id, t.credit_id))",
    "INSERT INTO user_year (user_id, year, sent_count, sent_fen, received_count, received_fen, best_count)"
    " VALUES (10001, 2026, 3, 413, 1, 21, 0), (10002, 2026, 0, 0, 3, 156, 1), (10003, 2026, 0, 0, 2, 35, 0)",
    "INSERT INTO user_month (user_id, year, month, sent_count, sent_fen, received_count, received_fen)"
    " VALUES (10001, 2026, 2, 1, 101, 0, 0), (10002, 2026, 2, 0, 0, 1, 46), (10003, 2026, 2, 0, 0, 1, 34),"
    " (10001, 2026, 3, 2, 312, 1, 21), (10002, 2026, 3, 0, 0, 2, 110), (10003, 2026, 3, 0, 0, 1, 1)",
};

/* A new database with the migrations before, and these rows. */
static void tables_fill(void)
{
    char sql[512];
    database_drop();
    snprintf(sql, sizeof sql, "CREATE DATABASE `%s`", config.mysql_database);
    sql_do(app->stores.db, sql);
    db_set_timeout_s(db, config.mysql_timeout_s); /* and a connection that knows the new database */
    assert_int_equal(migrate_run(db, dir, NULL), ST_OK);
    for (size_t i = 0; i < ARRAY_LEN(ROWS); i++)
        sql_do(db, ROWS[i]);
}

static enum status migrate_all(void)
{
    memset(output, 0, sizeof output);
    FILE *out = fmemopen(output, sizeof output - 1, "w");
    assert_non_null(out);
    enum status st = migrate_run(db, app->stores.config->sql_dir, out);
    fclose(out);
    return st;
}

/* ---- what must stay ---- */

static struct str cell(const char *sql)
{
    struct db_rows rows;
    assert_int_equal(db_query(db, arena, &rows, sql, NULL, 0), ST_OK);
    assert_true(rows.count == 1 && db_cell(&rows, 0, 0).ptr != NULL);
    return db_cell(&rows, 0, 0);
}

/* Without the empty accounts that 0030 adds. */
static struct str balances(void)
{
    return cell("SELECT GROUP_CONCAT(id, ':', balance_fen ORDER BY id) FROM account WHERE id NOT IN (2, 3)");
}

/* The statement as the version before showed it: kind, signed amount, packet, time. */
static struct str statement_before(uint64_t user_id)
{
    unsigned long long id = user_id;
    return cell(arena_printf(arena,
                             "SELECT GROUP_CONCAT(kind, ' ', IF(credit_id = %llu, amount_fen, -amount_fen), ' ',"
                             " COALESCE(packet_id, 0), ' ', created_ms ORDER BY id DESC) FROM transfer"
                             " WHERE debit_id = %llu OR credit_id = %llu",
                             id, id, id)
                    .ptr);
}

static struct str statement_after(uint64_t user_id)
{
    const struct statement_query query = { .account_id = user_id, .limit = STATEMENT_PAGE_ENTRIES };
    struct statement s;
    struct str text = STR("");
    assert_int_equal(statement_read(db, arena, &query, &s), ST_OK);
    for (size_t i = 0; i < s.count; i++)
        text = arena_printf(arena, "%.*s%s%s %" PRId64 " %" PRIu64 " %" PRId64, STR_ARG(text), i > 0 ? "," : "",
                            transfer_kind_name(s.entries[i].kind), s.entries[i].amount_fen, s.entries[i].packet_id,
                            s.entries[i].created_ms);
    return text;
}

static struct str years_before(uint64_t user_id)
{
    return cell(arena_printf(arena,
                             "SELECT GROUP_CONCAT(year, ' ', sent_count, ' ', sent_fen, ' ', received_count, ' ',"
                             " received_fen, ' ', best_count ORDER BY year DESC) FROM user_year WHERE user_id = %llu",
                             (unsigned long long)user_id)
                    .ptr);
}

static struct str years_after(uint64_t user_id)
{
    struct user_totals totals;
    assert_int_equal(user_totals_find(db, arena, user_id, 2026, &totals), ST_OK);
    assert_int_equal(totals.year_count, 1);
    const struct user_year *years = totals.years;
    return arena_printf(arena, "%d %" PRIu64 " %" PRId64 " %" PRIu64 " %" PRId64 " %" PRIu64, years->year,
                        years->sent_count, years->sent_fen, years->received_count, years->received_fen,
                        years->best_count);
}

static enum status tables_body(struct db *in, void *ctx)
{
    return audit_tables(ctx, in);
}

static void assert_audit_clean(void)
{
    static struct audit audit;
    memset(&audit, 0, sizeof audit);
    audit.demo = true;
    assert_int_equal(db_snapshot(db, tables_body, &audit), ST_OK);
    if (!audit_clean(&audit))
        audit_print(&audit, false, stderr);
    assert_true(audit_clean(&audit));
    assert_int_equal(audit.packets, 3);
}

struct kept {
    struct str balances, statements[USERS], years[USERS];
};

static struct kept keep(void)
{
    struct kept k = { .balances = balances() };
    for (unsigned i = 0; i < USERS; i++) {
        k.statements[i] = statement_before(FIRST_USER + i);
        k.years[i] = years_before(FIRST_USER + i);
    }
    return k;
}

static void assert_same(struct str a, struct str b)
{
    if (!str_equal(a, b))
        fail_msg("%.*s is not %.*s", STR_ARG(a), STR_ARG(b));
}

static void assert_kept(const struct kept *k)
{
    assert_same(balances(), k->balances);
    for (unsigned i = 0; i < USERS; i++) {
        assert_same(statement_after(FIRST_USER + i), k->statements[i]);
        assert_same(years_after(FIRST_USER + i), k->years[i]);
    }
    assert_audit_clean();
}

/* ---- tests ---- */

TEST(money_statements_and_totals_stay)
{
    tables_fill();
    struct kept k = keep();
    assert_int_equal(migrate_all(), ST_OK);
    assert_kept(&k);
    assert_same(cell("SELECT COUNT(*) FROM transfer"), STR("5"));
    assert_same(cell("SELECT COUNT(*) FROM user_month WHERE month = 2"), STR("3"));
    assert_same(cell("SELECT request_key FROM transfer WHERE kind = 'deposit'"), STR("10001:key"));
    assert_same(cell("SELECT GROUP_CONCAT(c.name, ' ', a.kind, ' ', a.balance_fen <> 0 ORDER BY a.id) FROM channel AS c"
                     " JOIN account AS a ON a.id = c.id"),
                STR("demo bank 1,forfeited channel 0"));
    static const char *const refused[] = { "amount_fen = 0", "debit_id = credit_id", "debit_id = 5", "credit_id = 5" };
    for (size_t i = 0; i < ARRAY_LEN(refused); i++)
        if (db_exec(db, NULL, arena_printf(arena, "UPDATE transfer SET %s", refused[i]).ptr, NULL, 0) != ST_INVALID)
            fail_msg("not refused: %s", refused[i]);
}

TEST(a_grab_that_differs_from_its_transfer_is_refused)
{
    static const char *const damage[][2] = {
        { "UPDATE transfer SET amount_fen = amount_fen + 1 WHERE kind = 'grab'",
          "UPDATE transfer SET amount_fen = amount_fen - 1 WHERE kind = 'grab'" },
        { "UPDATE transfer SET credit_id = 10003 WHERE kind = 'grab' AND credit_id = 10002 AND amount_fen = 100",
          "UPDATE transfer SET credit_id = 10002 WHERE kind = 'grab' AND credit_id = 10003 AND amount_fen = 100" },
        { "UPDATE transfer SET debit_id = 1 WHERE kind = 'grab' AND seq = 2",
          "UPDATE transfer SET debit_id = packet_id WHERE kind = 'grab' AND seq = 2" },
        { "UPDATE transfer SET kind = 'refund' WHERE kind = 'grab' AND seq = 2",
          "UPDATE transfer SET kind = 'grab' WHERE seq = 2" },
        { "INSERT INTO transfer (kind, debit_id, credit_id, amount_fen, packet_id, seq, created_ms)"
          " SELECT 'grab', id, 10001, 1, id, 77, 1 FROM packet",
          "DELETE FROM transfer WHERE seq = 77" },
    };
    tables_fill();
    struct kept k = keep();
    for (size_t i = 0; i < ARRAY_LEN(damage); i++) {
        sql_do(db, damage[i][0]);
        struct kept damaged = keep();
        assert_int_equal(migrate_all(), ST_CORRUPT);
        assert_non_null(strstr(output, "0006_grab_is_transfer.sql failed in statement 1 (invalid"));
        struct kept still = keep();
        for (unsigned user = 0; user < USERS; user++) {
            assert_same(still.statements[user], damaged.statements[user]);
            assert_same(still.years[user], damaged.years[user]);
        }
        sql_do(db, damage[i][1]);
    }
    assert_int_equal(migrate_all(), ST_OK);
    assert_kept(&k);
}

TEST(a_killed_migrator_is_continued)
{
#ifndef HB_CRASH_POINTS
    skip();
#endif
    unsigned deaths = 0;
    for (;; deaths++) {
        tables_fill();
        struct kept k = keep();
        if (!migrator_dies(&config, app->stores.config->sql_dir, "migrate-after-statement", deaths + 1))
            break;
        assert_int_equal(migrate_all(), ST_OK);
        assert_kept(&k);
    }
    assert_true(deaths >= 8); /* statements of 0006 to 0008 that write no rows */
}

/* Wherever the migrator died, a deposit by the older program either fails or is in the new tables. */
TEST(a_program_that_was_not_stopped_loses_no_transfer)
{
#ifndef HB_CRASH_POINTS
    skip();
#endif
    unsigned refused = 0;
    for (unsigned deaths = 1;; deaths++) {
        tables_fill();
        if (!migrator_dies(&config, app->stores.config->sql_dir, "migrate-before-statement", deaths))
            break;
        enum status st = db_exec(db, NULL,
                                 "INSERT INTO transfer (kind, debit_id, credit_id, amount_fen, created_ms)"
                                 " VALUES ('deposit', 1, 10001, 77, 1)",
                                 NULL, 0);
        refused += st != ST_OK;
        assert_int_equal(migrate_all(), ST_OK);
        assert_same(cell("SELECT COUNT(*) FROM transfer WHERE amount_fen = 77"), st == ST_OK ? STR("1") : STR("0"));
    }
    assert_true(refused >= 6);
}

TESTS(setup, teardown)

/* Migrations 0006 and 0007: tables in which every grab has a second row in `transfer` keep all money, statements and
 * totals. */
#include <inttypes.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "ops/audit_internal.h"
#include "ops/migrate.h"
#include "packet/split.h"
#include "packet/totals.h"
#include "support/stores_do.h"
#include "support/test.h"
#include "support/test_services.h"
#include "test_migrate_fixture.h"
#include "wallet/statement.h"

enum { SENDER = 10001, FIRST, SECOND, USERS = 3, SHARES_MAX = 3, OUTPUT_MAX = 4096 };
static const uint64_t FINISHED = UINT64_C(1) << 60, REFUNDED = (UINT64_C(1) << 60) + 1, OPEN = (UINT64_C(1) << 60) + 2;
static const int64_t BEFORE_MARCH_MS = 1772294399999; /* the last millisecond of February 2026 in Shanghai */

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

static void run_on(struct db *on, const char *sql)
{
    if (db_exec(on, NULL, sql, NULL, 0) != ST_OK)
        fail_msg("%s", sql);
}

static void run_sql(const char *sql)
{
    run_on(db, sql);
}

static void database_drop(void)
{
    char sql[512];
    snprintf(sql, sizeof sql, "DROP DATABASE IF EXISTS `%s`", config.mysql_database);
    run_on(app->stores.db, sql);
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

/* ---- rows as the program before wrote them ---- */

static void pay(const char *kind, uint64_t from, uint64_t to, int64_t fen, uint64_t packet_id, uint32_t seq, int64_t ms)
{
    sql_do_with(db,
                "INSERT INTO transfer (kind, debit_id, credit_id, amount_fen, packet_id, seq, created_ms)"
                " VALUES (?, ?, ?, ?, NULLIF(?, 0), IF(? = 0, NULL, ?), ?)",
                DB_PARAMS(DB_TEXT(str_from(kind)), DB_U64(from), DB_U64(to), DB_I64(fen), DB_U64(packet_id),
                          DB_U64(packet_id), DB_U64(seq), DB_I64(ms)));
    sql_do_with(db, "UPDATE account SET balance_fen = balance_fen + IF(id = ?, ?, ?) WHERE id IN (?, ?)",
                DB_PARAMS(DB_U64(to), DB_I64(fen), DB_I64(-fen), DB_U64(from), DB_U64(to)));
}

static void total(uint64_t user_id, int64_t ms, const char *what, int64_t fen)
{
    const struct clock_date date = clock_zone_date(ms);
    struct str sql =
        arena_printf(arena,
                     "INSERT INTO user_year (user_id, year, %s_count, %s_fen) VALUES (%" PRIu64 ", %d, 1,"
                     " %" PRId64 ") ON DUPLICATE KEY UPDATE %s_count = %s_count + 1, %s_fen = %s_fen + %" PRId64,
                     what, what, user_id, date.year, fen, what, what, what, what, fen);
    run_sql(sql.ptr);
    sql = arena_printf(arena,
                       "INSERT INTO user_month (user_id, year, month, %s_count, %s_fen) VALUES (%" PRIu64 ", %d, %d, 1,"
                       " %" PRId64 ") ON DUPLICATE KEY UPDATE %s_count = %s_count + 1, %s_fen = %s_fen + %" PRId64,
                       what, what, user_id, date.year, date.month, fen, what, what, what, what, fen);
    run_sql(sql.ptr);
}

/* A packet that was sent at ms, its first shares grabbed by the users, the first one a millisecond later. */
static void packet_fill(uint64_t id, enum packet_kind kind, int64_t amount_fen, uint32_t count, int64_t ms,
                        const uint64_t *users, uint32_t grabs)
{
    struct packet p = { .id = id,
                        .kind = kind,
                        .split = kind == PACKET_LUCKY ? SPLIT_DOUBLE_AVERAGE : SPLIT_EVEN,
                        .amount_fen = amount_fen,
                        .share_min_fen = 1,
                        .share_max_fen = 20000,
                        .count = count,
                        .seed = "a seed of this test" };
    int64_t shares_fen[SHARES_MAX], rest_fen = amount_fen;
    split_commitment(p.seed, p.commitment);
    assert_int_equal(split_packet(&p, shares_fen), ST_OK);
    const bool finished = grabs == count, closed = finished || id == REFUNDED;
    for (uint32_t i = 0; i < grabs; i++)
        rest_fen -= shares_fen[i];
    const int64_t refund_fen = closed ? rest_fen : 0;
    uint32_t best = split_best_share_no(shares_fen, count);
    sql_do_with(db,
                "INSERT INTO packet (id, sender_id, sender_name, kind, split, amount_fen, count, best_share_no,"
                " greeting, seed, commitment, state, grabbed_count, grabbed_fen, refund_fen, created_ms, expires_ms,"
                " finished_ms, closed_ms, request_key)"
                " VALUES (?, ?, 'x', ?, ?, ?, ?, ?, '', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                DB_PARAMS(DB_U64(id), DB_U64(SENDER), DB_TEXT(packet_kind_name(kind)),
                          DB_TEXT(split_method_name(p.split)), DB_I64(amount_fen), DB_U64(count),
                          kind == PACKET_LUCKY ? DB_U64(best) : DB_NULL,
                          DB_BYTES(((struct str){ (const char *)p.seed, sizeof p.seed })),
                          DB_BYTES(((struct str){ (const char *)p.commitment, sizeof p.commitment })),
                          DB_TEXT(closed ? STR("closed") : STR("open")), DB_U64(grabs), DB_I64(amount_fen - rest_fen),
                          DB_I64(refund_fen), DB_I64(ms), DB_I64(ms + 100), finished ? DB_I64(ms + grabs) : DB_NULL,
                          closed ? DB_I64(ms + 100) : DB_NULL, DB_U64(id)));
    sql_do_with(db, "INSERT INTO account (id, kind) VALUES (?, 'escrow')", DB_PARAMS(DB_U64(id)));
    pay("send", SENDER, id, amount_fen, id, 0, ms);
    total(SENDER, ms, "sent", amount_fen);
    for (uint32_t i = 0; i < grabs; i++) {
        const int64_t at_ms = ms + 1 + i;
        sql_do_with(db, "INSERT INTO `grab` VALUES (?, ?, ?, 'x', ?, ?)",
                    DB_PARAMS(DB_U64(id), DB_U64(i), DB_U64(users[i]), DB_I64(shares_fen[i]), DB_I64(at_ms)));
        pay("grab", id, users[i], shares_fen[i], id, i, at_ms);
        total(users[i], at_ms, "received", shares_fen[i]);
    }
    if (finished && kind == PACKET_LUCKY)
        sql_do_with(db, "UPDATE user_year SET best_count = best_count + 1 WHERE user_id = ?",
                    DB_PARAMS(DB_U64(users[best])));
    if (refund_fen > 0)
        pay("refund", id, SENDER, refund_fen, id, 0, ms + 100);
}

/* A new database with the migrations before, a deposit, and three packets. */
static void tables_fill(void)
{
    static const uint64_t everyone[] = { FIRST, SECOND, SENDER };
    char sql[512];
    database_drop();
    snprintf(sql, sizeof sql, "CREATE DATABASE `%s`", config.mysql_database);
    run_on(app->stores.db, sql);
    db_set_timeout_s(db, config.mysql_timeout_s); /* and a connection that knows the new database */
    assert_int_equal(migrate_run(db, dir, NULL), ST_OK);
    run_sql("INSERT INTO user (id, username, nickname, created_ms) VALUES (10001, 'a', 'a', 1), (10002, 'b', 'b', 1),"
            " (10003, 'c', 'c', 1)");
    run_sql("INSERT INTO account (id, kind) SELECT id, 'wallet' FROM user");
    pay("deposit", 1, SENDER, 5000, 0, 0, 1000);
    run_sql("UPDATE transfer SET request_key = '10001:key'");
    packet_fill(FINISHED, PACKET_LUCKY, 1000, 3, BEFORE_MARCH_MS - 2, everyone, 3); /* the third grab is in March */
    packet_fill(REFUNDED, PACKET_EVEN, 300, 3, BEFORE_MARCH_MS + 1000, everyone, 1);
    packet_fill(OPEN, PACKET_LUCKY, 500, 3, BEFORE_MARCH_MS + 2000, everyone, 2);
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

static struct str balances(void)
{
    return cell("SELECT GROUP_CONCAT(id, ':', balance_fen ORDER BY id) FROM account");
}

/* As the program before showed it: kind, signed amount, packet, time. */
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
    struct statement s;
    struct str text = STR("");
    assert_int_equal(statement_read(db, arena, user_id, (struct list_key){ 0 }, STATEMENT_PAGE_ENTRIES, &s), ST_OK);
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
        k.statements[i] = statement_before(SENDER + i);
        k.years[i] = years_before(SENDER + i);
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
        assert_same(statement_after(SENDER + i), k->statements[i]);
        assert_same(years_after(SENDER + i), k->years[i]);
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
    assert_int_equal(db_exec(db, NULL, "UPDATE transfer SET amount_fen = 0", NULL, 0), ST_INVALID);
    assert_int_equal(db_exec(db, NULL, "UPDATE transfer SET debit_id = credit_id", NULL, 0), ST_INVALID);
    assert_int_equal(db_exec(db, NULL, "UPDATE transfer SET debit_id = 5", NULL, 0), ST_INVALID);
    assert_int_equal(db_exec(db, NULL, "UPDATE transfer SET credit_id = 5", NULL, 0), ST_INVALID);
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
        run_sql(damage[i][0]);
        struct kept damaged = keep();
        assert_int_equal(migrate_all(), ST_CORRUPT);
        assert_non_null(strstr(output, "0006_grab_is_transfer.sql failed in statement 1 (invalid"));
        struct kept still = keep();
        for (unsigned user = 0; user < USERS; user++) {
            assert_same(still.statements[user], damaged.statements[user]);
            assert_same(still.years[user], damaged.years[user]);
        }
        run_sql(damage[i][1]);
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

/* Wherever the migrator died, a deposit of the older program fails or is in the new tables. */
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

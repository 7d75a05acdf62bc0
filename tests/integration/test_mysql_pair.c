/* The client of MySQL with a primary and its semi-synchronous replica: a failover loses nothing, and the old primary,
 * which comes back, is not used again. The tests build on each other. */
#include "base/arena.h"
#include "base/log.h"
#include "config/config.h"
#include "mysql/db.h"
#include "support/script_run.h"
#include "support/stores_do.h"
#include "support/wait_until.h"

enum { ROWS = 200, AVOIDED_MS = 11000 /* longer than the client avoids a server */ };

static char dir[] = "/tmp/hongbao-pair-XXXXXX";
static struct config config;
static struct arena *arena;
static struct db *db; /* used in all tests, as a process uses one */

static void node_sql(int node, const char *sql)
{
    assert_int_equal(script_run("mariadb_pair", "sql %s %d \"%s\" >/dev/null", dir, node, sql), 0);
}

static int64_t number(struct db *on, const char *sql)
{
    struct db_rows rows;
    enum status st = db_query(on, arena, &rows, sql, NULL, 0);
    return st == ST_OK && rows.count == 1 ? db_cell_i64(&rows, 0, 0) : -1;
}

TEST(what_was_committed_outlives_the_primary)
{
    sql_do(db, "CREATE TABLE item (no INT PRIMARY KEY) ENGINE = InnoDB");
    for (int i = 0; i < ROWS; i++)
        sql_do_with(db, "INSERT INTO item VALUES (?)", DB_PARAMS(DB_I64(i)));
    assert_int_equal(number(db, "SELECT @@server_id"), 1);
    assert_int_equal(script_run("mariadb_pair", "kill %s 1", dir), 0);

    struct config at_2 = config;
    snprintf(at_2.mysql, sizeof at_2.mysql, "%s", strchr(config.mysql, ' ') + 1);
    struct db *two = db_new(&at_2);
    WAIT_UNTIL(number(two, "SELECT COUNT(*) FROM item") == ROWS);
    assert_int_equal(number(db, "SELECT @@server_id"), -1); /* none takes writes */
    assert_int_equal(script_run("mariadb_pair", "promote %s 2", dir), 0);
    WAIT_UNTIL(number(db, "SELECT @@server_id") == 2);
    sql_do_with(db, "INSERT INTO item VALUES (?)", DB_PARAMS(DB_I64(ROWS)));
    db_free(two);
}

/* A process that starts now finds the old primary first in its list. */
TEST(an_old_primary_that_comes_back_is_read_only)
{
    assert_int_equal(script_run("mariadb_pair", "again %s 1", dir), 0);
    struct db *started = db_new(&config);
    assert_int_equal(number(started, "SELECT @@server_id"), 2);
    assert_int_equal(number(db, "SELECT @@server_id"), 2);
    db_free(started);
}

/* Somebody has left read_only out of its configuration. */
TEST(an_old_primary_that_takes_writes_is_not_used_by_those_who_left_it)
{
    char kill[64];
    node_sql(1, "SET GLOBAL read_only = 0");
    wait_ms(AVOIDED_MS);
    int64_t id = number(db, "SELECT CONNECTION_ID()");
    assert_true(id > 0);
    snprintf(kill, sizeof kill, "KILL %lld", (long long)id);
    node_sql(2, kill);
    int64_t now;
    WAIT_UNTIL((now = number(db, "SELECT CONNECTION_ID()")) > 0 && now != id);
    WAIT_UNTIL(number(db, "SELECT @@server_id") == 2);
}

static int pair_stop(void **state)
{
    (void)state;
    db_free(db);
    arena_free(arena);
    return script_run("mariadb_pair", "stop %s", dir);
}

static bool settings_make(void)
{
    char path[64], network[32] = "";
    snprintf(path, sizeof path, "%s/network", dir);
    FILE *file = fopen(path, "r");
    bool ok = file != NULL && fscanf(file, "%31s", network) == 1;
    if (file != NULL)
        (void)fclose(file);
    config_defaults(&config);
    snprintf(config.mysql, sizeof config.mysql, "%1$s.1:3306, %1$s.2:3306", network);
    snprintf(config.mysql_user, sizeof config.mysql_user, "hb_test");
    snprintf(config.mysql_password, sizeof config.mysql_password, "hb_test");
    snprintf(config.mysql_database, sizeof config.mysql_database, "hb_test");
    config.mysql_timeout_s = 10;
    return ok;
}

int main(void)
{
    log_init("test", LOG_SILENT);
    arena = arena_new(1 << 20, 64 << 20);
    if (arena == NULL || mkdtemp(dir) == NULL)
        return 1;
    if (script_run("mariadb_pair", "start %s", dir) != 0 || !settings_make() || (db = db_new(&config)) == NULL) {
        (void)pair_stop(NULL);
        return 1;
    }
    return tests_run(NULL, pair_stop);
}

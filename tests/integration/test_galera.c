/* The client of MySQL and a Galera cluster of three nodes, which are set to read only, killed, and left without their
 * cluster. The tests build on each other: the nodes that they kill stay away. */
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/log.h"
#include "config/config.h"
#include "mysql/db.h"
#include "support/script_run.h"
#include "support/stores_do.h"
#include "support/wait_until.h"

enum {
    NODES = 3,
    WORKERS = 4,
    WORKER_ROWS = 150,
    WAIT_MS = 120000 * HB_TEST_PATIENCE,
    AVOIDED_MS = 11000, /* longer than the client avoids a server */
    NOT_INSTALLED = 77,
};

static char dir[] = "/tmp/hongbao-galera-XXXXXX";
static char network[32];
static struct config config;
static struct arena *arena;

/* ---- the nodes ---- */

/* Executes a statement as the administrator, on one node. */
static void node_sql(int node, const char *sql)
{
    assert_int_equal(script_run("galera", "sql %s %d \"%s\" >/dev/null", dir, node, sql), 0);
}

static void settings_make(void)
{
    config_defaults(&config);
    snprintf(config.mysql, sizeof config.mysql, "%1$s.1:3306, %1$s.2:3306, %1$s.3:3306", network);
    snprintf(config.mysql_user, sizeof config.mysql_user, "hb_test");
    snprintf(config.mysql_password, sizeof config.mysql_password, "hb_test");
    snprintf(config.mysql_database, sizeof config.mysql_database, "hb_test");
    config.mysql_timeout_s = 5;
}

/* A client of one node only. */
static struct db *node_open(struct config *c, int node)
{
    *c = config;
    snprintf(c->mysql, sizeof c->mysql, "%s.%d:3306", network, node);
    struct db *db = db_new(c);
    assert_non_null(db);
    return db;
}

static int64_t number(struct db *db, const char *sql)
{
    struct db_rows rows;
    assert_int_equal(db_query(db, arena, &rows, sql, NULL, 0), ST_OK);
    assert_int_equal(rows.count, 1);
    return db_cell_i64(&rows, 0, 0);
}

/* The number of the node that the client uses: 1, 2 or 3; 0: none. */
static int node_of(struct db *db)
{
    struct db_rows rows;
    enum status st = db_query(db, arena, &rows, "SELECT @@wsrep_node_name", NULL, 0);
    assert_true(st == ST_OK || st == ST_UNAVAILABLE);
    return st == ST_OK ? db_cell(&rows, 0, 0).ptr[2] - '0' : 0;
}

/* ---- which node is used ---- */

TEST(the_first_node_of_the_list_is_used)
{
    struct db *db = db_new(&config);
    assert_int_equal(node_of(db), 1);
    sql_do(db, "CREATE TABLE counter (id INT PRIMARY KEY, n INT NOT NULL) ENGINE = InnoDB");
    sql_do(db, "CREATE TABLE item (worker INT, no INT, PRIMARY KEY (worker, no)) ENGINE = InnoDB");
    sql_do(db, "INSERT INTO counter VALUES (1, 0), (2, 0)");
    db_free(db);
}

TEST(what_one_node_committed_is_read_on_another_at_once)
{
    struct config at_1, at_2;
    struct db *one = node_open(&at_1, 1), *two = node_open(&at_2, 2);
    for (int i = 1; i <= 200; i++) {
        sql_do(one, "UPDATE counter SET n = n + 1 WHERE id = 2");
        assert_int_equal(number(two, "SELECT n FROM counter WHERE id = 2"), i);
    }
    db_free(one);
    db_free(two);
}

/* A single UPDATE that finds its row only after the other node's change. */
TEST(what_one_node_committed_decides_a_single_update_on_another)
{
    struct config at_1, at_2;
    struct db *one = node_open(&at_1, 1), *two = node_open(&at_2, 2);
    sql_do(one, "UPDATE counter SET n = 0 WHERE id = 2");
    for (int i = 0; i < 400; i += 2) {
        uint64_t changed = 0;
        sql_do(one, "UPDATE counter SET n = n + 1 WHERE id = 2");
        assert_int_equal(
            db_exec(two, &changed, "UPDATE counter SET n = n + 1 WHERE id = 2 AND n = ?", DB_PARAMS(DB_I64(i + 1))),
            ST_OK);
        assert_int_equal(changed, 1);
    }
    db_free(one);
    db_free(two);
}

/* 0: it was just lost. */
static uint64_t connection_of(struct db *db)
{
    struct db_rows rows;
    enum status st = db_query(db, arena, &rows, "SELECT CONNECTION_ID()", NULL, 0);
    return st == ST_OK ? db_cell_u64(&rows, 0, 0) : 0;
}

/* After a lost connection the client goes back to the same node, although a node before it in the list works again. */
TEST(the_node_that_was_used_last_is_used_again)
{
    struct config at_2;
    struct db *db = db_new(&config), *other = node_open(&at_2, 2);
    node_sql(1, "SET GLOBAL read_only = 1");
    assert_int_equal(node_of(db), 2);
    node_sql(1, "SET GLOBAL read_only = 0");
    uint64_t id = connection_of(db);
    wait_ms(AVOIDED_MS); /* the first one was avoided because it was read-only */
    sql_do_with(other, "KILL ?", DB_PARAMS(DB_U64(id)));
    uint64_t now;
    WAIT_UNTIL((now = connection_of(db)) != 0 && now != id);
    assert_int_equal(node_of(db), 2);
    db_free(db);
    db_free(other);
}

TEST(a_node_that_is_read_only_is_skipped_and_left)
{
    struct db *db = db_new(&config);
    node_sql(1, "SET GLOBAL read_only = 1");
    assert_int_equal(node_of(db), 2); /* skipped */
    node_sql(2, "SET GLOBAL read_only = 1");
    assert_int_equal(node_of(db), 2); /* still answers */
    assert_int_equal(db_exec(db, NULL, "UPDATE counter SET n = 0 WHERE id = 2", NULL, 0), ST_UNAVAILABLE);
    assert_int_equal(node_of(db), 3); /* left */
    sql_do(db, "UPDATE counter SET n = 0 WHERE id = 2");
    node_sql(3, "SET GLOBAL read_only = 1");
    assert_int_equal(db_exec(db, NULL, "UPDATE counter SET n = 0 WHERE id = 2", NULL, 0), ST_UNAVAILABLE);
    assert_int_equal(node_of(db), 0); /* none takes writes */
    for (int node = 1; node <= NODES; node++)
        node_sql(node, "SET GLOBAL read_only = 0");
    WAIT_UNTIL(db_exec(db, NULL, "UPDATE counter SET n = 0 WHERE id = 2", NULL, 0) == ST_OK);
    assert_true(node_of(db) != 0);
    db_free(db);
    db = db_new(&config);
    assert_int_equal(node_of(db), 1); /* a new client begins with the first */
    db_free(db);
}

/* A single server has no alternative: reads are still done. */
TEST(a_single_server_that_is_read_only_is_read)
{
    struct config at_1;
    struct db *db = node_open(&at_1, 1);
    node_sql(1, "SET GLOBAL read_only = 1");
    assert_int_equal(node_of(db), 1);
    assert_int_equal(db_exec(db, NULL, "UPDATE counter SET n = 0 WHERE id = 2", NULL, 0), ST_UNAVAILABLE);
    assert_int_equal(node_of(db), 1);
    node_sql(1, "SET GLOBAL read_only = 0");
    sql_do(db, "UPDATE counter SET n = 0 WHERE id = 2");
    db_free(db);
}

/* ---- TLS ---- */

static bool tls_answers(int node, const char *ca)
{
    struct config at;
    struct db *db = node_open(&at, node);
    at.mysql_tls = true;
    snprintf(at.mysql_tls_ca, sizeof at.mysql_tls_ca, "%s", ca);
    struct db_rows rows;
    enum status st = db_query(db, arena, &rows, "SHOW SESSION STATUS LIKE 'Ssl_cipher'", NULL, 0);
    assert_true(st == ST_OK || st == ST_UNAVAILABLE);
    bool has_cipher = st == ST_OK && db_cell(&rows, 0, 1).len > 0;
    assert_int_equal(has_cipher, st == ST_OK); /* never without TLS */
    db_free(db);
    return has_cipher;
}

TEST(with_tls_only_a_server_with_a_certificate_of_its_name_is_used)
{
    char ca[64], other[64];
    snprintf(ca, sizeof ca, "%s/ca.pem", dir);
    snprintf(other, sizeof other, "%s/2.pem", dir); /* signs nothing */
    assert_true(tls_answers(1, ca));
    assert_false(tls_answers(1, other));
    assert_false(tls_answers(2, ca)); /* the certificate of another name */
    assert_false(tls_answers(3, ca)); /* has no TLS */
}

/* Whether the user, whom MariaDB lets in only with a certificate, can log in. */
static bool certificate_answers(bool has_certificate)
{
    struct config at;
    struct db *db = node_open(&at, 1);
    struct db_rows rows;
    at.mysql_tls = true;
    snprintf(at.mysql_user, sizeof at.mysql_user, "hb_x509");
    snprintf(at.mysql_tls_ca, sizeof at.mysql_tls_ca, "%s/ca.pem", dir);
    if (has_certificate) {
        snprintf(at.mysql_tls_cert, sizeof at.mysql_tls_cert, "%s/client.pem", dir);
        snprintf(at.mysql_tls_key, sizeof at.mysql_tls_key, "%s/client.key", dir);
    }
    enum status st = db_query(db, arena, &rows, "SELECT 1", NULL, 0);
    assert_true(st == ST_OK || st == ST_UNAVAILABLE);
    db_free(db);
    return st == ST_OK;
}

TEST(a_user_with_a_certificate_needs_it)
{
    assert_true(certificate_answers(true));
    assert_false(certificate_answers(false));
}

/* ---- two nodes write ---- */

struct conflict {
    struct db *other;
    int tries;
};

/* In the first try, another node commits a change of the row before this transaction does. */
static enum status count_against(struct db *db, void *ctx)
{
    struct conflict *c = ctx;
    enum status st = db_exec(db, NULL, "UPDATE counter SET n = n + 1 WHERE id = 1", NULL, 0);
    if (c->tries++ == 0)
        sql_do(c->other, "UPDATE counter SET n = n + 10 WHERE id = 1");
    return st;
}

TEST(a_commit_that_another_node_forestalls_is_repeated)
{
    struct config at_1, at_2;
    struct db *one = node_open(&at_1, 1), *two = node_open(&at_2, 2);
    struct conflict c = { .other = two };
    assert_int_equal(db_transaction(one, count_against, &c), ST_OK);
    assert_int_equal(c.tries, 2);
    assert_int_equal(number(two, "SELECT n FROM counter WHERE id = 1"), 11);
    sql_do(one, "UPDATE counter SET n = 0 WHERE id = 1");
    db_free(one);
    db_free(two);
}

/* What durable_commit does (sql/migrations/0037_durable.sql). */
static enum status row_come_and_go(struct db *db, void *ctx)
{
    struct conflict *c = ctx;
    enum status st = db_exec(db, NULL, "INSERT INTO durable (id) VALUES (NULL)", NULL, 0);
    if (st == ST_OK)
        st = db_exec(db, NULL, "DELETE FROM durable WHERE id = LAST_INSERT_ID()", NULL, 0);
    c->tries++;
    if (c->other != NULL)
        assert_int_equal(db_transaction(c->other, row_come_and_go, &(struct conflict){ 0 }), ST_OK);
    return st;
}

TEST(durable_commits_of_two_nodes_do_not_conflict)
{
    struct config at_1, at_2;
    struct db *one = node_open(&at_1, 1), *two = node_open(&at_2, 2);
    sql_do(one, "CREATE TABLE durable (id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY) ENGINE = InnoDB");
    sql_do(one, "INSERT INTO durable (id) VALUES (1)");
    for (int i = 0; i < 20; i++) {
        struct conflict c = { .other = i % 2 == 0 ? two : one };
        assert_int_equal(db_transaction(i % 2 == 0 ? one : two, row_come_and_go, &c), ST_OK);
        assert_int_equal(c.tries, 1);
    }
    assert_int_equal(number(two, "SELECT COUNT(*) FROM durable"), 1);
    db_free(one);
    db_free(two);
}

/* ---- a node is killed under load ---- */

struct step {
    int worker, no;
};

static enum status step_write(struct db *db, void *ctx)
{
    const struct step *s = ctx;
    enum status st = db_exec(db, NULL, "INSERT INTO item VALUES (?, ?)", DB_PARAMS(DB_I64(s->worker), DB_I64(s->no)));
    return st != ST_OK ? st : db_exec(db, NULL, "UPDATE counter SET n = n + 1 WHERE id = 1", NULL, 0);
}

/* Each step is done once; a repeated step reports that it is done. Returns the exit status: 0, or a status that does
 * not mean that a store is away. */
static int worker_run(int worker)
{
    struct config c = config;
    if (worker % 2 == 1) /* these prefer another node, so that commits conflict */
        snprintf(c.mysql, sizeof c.mysql, "%1$s.2:3306, %1$s.3:3306, %1$s.1:3306", network);
    struct db *db = db_new(&c);
    const int64_t limit_ms = clock_monotonic_ms() + WAIT_MS;
    for (int no = 0; no < WORKER_ROWS;) {
        struct step s = { .worker = worker, .no = no };
        enum status st = db_transaction(db, step_write, &s);
        if (st == ST_OK || st == ST_EXISTS)
            no++;
        else if (st != ST_UNAVAILABLE && st != ST_UNKNOWN && st != ST_CONFLICT)
            return (int)st;
        if (st == ST_UNAVAILABLE)
            wait_ms(20);
        if (clock_monotonic_ms() > limit_ms)
            return 100;
    }
    db_free(db);
    return 0;
}

TEST(a_node_killed_under_load_loses_and_doubles_nothing)
{
    pid_t pids[WORKERS];
    struct config at_3;
    for (int w = 0; w < WORKERS; w++) {
        pids[w] = fork();
        assert_true(pids[w] >= 0);
        if (pids[w] == 0)
            _exit(worker_run(w));
    }
    struct db *db = node_open(&at_3, 3);
    WAIT_UNTIL(number(db, "SELECT COUNT(*) FROM item") >= WORKERS * WORKER_ROWS / 4);
    assert_int_equal(script_run("galera", "kill %s 1", dir), 0);
    for (int w = 0; w < WORKERS; w++) {
        int status;
        assert_int_equal(waitpid(pids[w], &status, 0), pids[w]);
        if (status != 0)
            fail_msg("worker %d: status %x", w, (unsigned)status);
    }
    assert_int_equal(number(db, "SELECT COUNT(*) FROM item"), WORKERS * WORKER_ROWS);
    assert_int_equal(number(db, "SELECT n FROM counter WHERE id = 1"), WORKERS * WORKER_ROWS);
    db_free(db);
}

/* ---- a node without its cluster ---- */

struct alone {
    struct db *second, *probe;
    enum status second_status;
};

/* Kills the second node, and waits until the third one has noticed that it is alone. */
static enum status write_and_be_alone(struct db *db, void *ctx)
{
    struct alone *a = ctx;
    struct db_rows rows;
    enum status st = db_exec(db, NULL, "UPDATE counter SET n = n + 1 WHERE id = 2", NULL, 0);
    if (st != ST_OK || script_run("galera", "kill %s 2", dir) != 0)
        return ST_CORRUPT;
    const int64_t limit_ms = clock_monotonic_ms() + WAIT_MS;
    while (st == ST_OK && clock_monotonic_ms() < limit_ms) {
        wait_ms(20);
        st = db_query(a->probe, arena, &rows, "SELECT n FROM counter WHERE id = 2", NULL, 0);
    }
    return st == ST_UNAVAILABLE ? ST_OK : ST_CORRUPT; /* to COMMIT */
}

static enum status write_around(struct db *db, void *ctx)
{
    struct alone *a = ctx;
    enum status st = db_exec(db, NULL, "UPDATE counter SET n = n + 1 WHERE id = 1", NULL, 0);
    a->second_status = db_transaction(a->second, write_and_be_alone, a);
    return st != ST_OK ? st : db_exec(db, NULL, "UPDATE counter SET n = n + 1 WHERE id = 1", NULL, 0);
}

TEST(a_node_that_is_not_primary_is_unavailable_and_comes_back)
{
    struct config at_3;
    struct db *first = node_open(&at_3, 3), *any = db_new(&config);
    struct alone a = { .second = node_open(&at_3, 3), .probe = node_open(&at_3, 3) };
    sql_do(first, "UPDATE counter SET n = 7 WHERE id = 2");
    assert_int_equal(db_transaction(first, write_around, &a), ST_UNAVAILABLE);
    assert_int_equal(a.second_status, ST_UNKNOWN);
    for (int i = 0; i < 20; i++) {
        struct db_rows rows;
        assert_int_equal(db_query(any, arena, &rows, "SELECT n FROM counter WHERE id = 2", NULL, 0), ST_UNAVAILABLE);
        enum status st = db_exec(first, NULL, "UPDATE counter SET n = n + 1 WHERE id = 2", NULL, 0);
        assert_true(st == ST_UNAVAILABLE || st == ST_UNKNOWN); /* unknown: it began before the node had noticed */
        wait_ms(50);
    }
    assert_int_equal(script_run("galera", "bootstrap %s 3", dir), 0);
    WAIT_UNTIL(node_of(any) == 3);
    assert_int_equal(number(any, "SELECT n FROM counter WHERE id = 2"), 7);
    assert_int_equal(number(any, "SELECT n FROM counter WHERE id = 1"), WORKERS * WORKER_ROWS);
    assert_int_equal(number(any, "SELECT COUNT(*) FROM item"), WORKERS * WORKER_ROWS);
    sql_do(any, "UPDATE counter SET n = n + 1 WHERE id = 2");
    db_free(first);
    db_free(a.second);
    db_free(a.probe);
    db_free(any);
}

static int cluster_stop(void **state)
{
    (void)state;
    arena_free(arena);
    return script_run("galera", "stop %s >/dev/null 2>&1", dir);
}

int main(void)
{
    char path[64];
    log_init("test", LOG_SILENT);
    arena = arena_new(1 << 20, 64 << 20);
    if (arena == NULL || mkdtemp(dir) == NULL || chmod(dir, 0755) != 0)
        return 1;
    int started = script_run("galera", "start %s '%s'", dir, HB_PROGRAM);
    snprintf(path, sizeof path, "%s/network", dir);
    FILE *file = started == 0 ? fopen(path, "r") : NULL;
    if (file == NULL || fscanf(file, "%31s", network) != 1) {
        (void)cluster_stop(NULL);
        return started == NOT_INSTALLED ? NOT_INSTALLED : 1;
    }
    (void)fclose(file);
    settings_make();
    return tests_run(NULL, cluster_stop);
}

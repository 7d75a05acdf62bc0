/* A routine of the ledger is one statement: whenever it is ended, and with autocommit on, it has done all of its work
 * or nothing. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>
#include <mysql.h>

#include "base/array.h"
#include "base/random.h"
#include "support/test_services.h"
#include "support/unix_path.h"
#include "test_settle_fixture.h"

enum { ROUNDS = 200, USERS_PER_ROUND = 20, HOUR_MS = 3600000, END_US_MAX = 2000, WAIT_US = 100000 };

/* Far from the ids that the world has. */
static const unsigned long long FIRST_USER = 1ULL << 40;

static MYSQL *connection(const struct services *role)
{
    const struct config *c = role->stores.config;
    MYSQL *mysql = mysql_init(NULL);
    assert_non_null(mysql);
    assert_non_null(mysql_real_connect(mysql, NULL, c->mysql_user, c->mysql_password, c->mysql_database, 0,
                                       unix_path(c->mysql), 0));
    return mysql;
}

/* What ends a statement: another connection, some time later. */
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

/* Runs the statement, which is ended at a random moment: by KILL, or by its own time limit. Whether it was done. */
static bool is_done(MYSQL *role, MYSQL *admin, const char *sql, bool kill)
{
    struct end e = { .admin = admin, .id = mysql_thread_id(role), .after_us = (useconds_t)(random_u64() % END_US_MAX) };
    char limited[2048];
    pthread_t killer;
    if (!kill) {
        (void)snprintf(limited, sizeof limited, "SET STATEMENT max_statement_time = %.6f FOR %s",
                       (double)(e.after_us + 1) / 1e6, sql);
        return mysql_query(role, limited) == 0;
    }
    assert_int_equal(pthread_create(&killer, NULL, statement_kill, &e), 0);
    const bool done = mysql_query(role, sql) == 0;
    assert_int_equal(pthread_join(killer, NULL), 0);
    while (mysql_query(role, "DO 1") != 0) /* a late KILL ends this one instead */
        assert_int_not_equal(mysql_errno(role), 0);
    return done;
}

/* Rows that a statement left half-way; no packet of this world has a grab. */
static void nothing_is_half_done(struct world *w, const char *after)
{
    static const char *const half[] = {
        "SELECT COUNT(*) FROM account AS a WHERE balance_fen <>"
        " COALESCE((SELECT SUM(amount_fen) FROM transfer WHERE credit_id = a.id), 0) -"
        " COALESCE((SELECT SUM(amount_fen) FROM transfer WHERE debit_id = a.id), 0)",
        "SELECT COUNT(*) FROM account AS a WHERE kind = 'escrow' AND NOT EXISTS"
        " (SELECT 1 FROM transfer WHERE kind = 'send' AND credit_id = a.id)",
        "SELECT COUNT(*) FROM account AS a WHERE kind = 'wallet' AND NOT EXISTS"
        " (SELECT 1 FROM transfer WHERE kind = 'deposit' AND credit_id = a.id)",
        "SELECT (SELECT COUNT(*) FROM username_retired) - (SELECT COUNT(*) FROM user WHERE deleting_ms IS NOT NULL)",
        "SELECT COUNT(*) FROM user WHERE deleted_ms IS NULL AND deleting_ms IS NOT NULL AND EXISTS"
        " (SELECT 1 FROM transfer WHERE kind = 'forfeit' AND debit_id = user.id)",
    };
    for (size_t i = 0; i < ARRAY_LEN(half); i++)
        if (world_number(w, half[i], 0) != 0)
            fail_msg("half done: %s: %s", after, half[i]);
}

/* The statements of one round, each by the role that may call it: [id, …] of new users become wallets with money, one
 * of them gets a deposit, sends a packet, and deletes the account. */
struct round {
    struct world *w;
    MYSQL *roles[3]; /* auth, page, settle */
    unsigned long long user, packet;
    unsigned no;
};
enum { AUTH, PAGE, SETTLE };

static void users_make(const struct round *r)
{
    for (unsigned i = 0; i < USERS_PER_ROUND; i++) {
        const unsigned long long id = r->user + i;
        world_sql(r->w, arena_printf(r->w->arena,
                                     "INSERT INTO user (id, username, nickname, password_hash, created_ms)"
                                     " VALUES (%llu, 'u%llu', 'x', 'hash', 1)",
                                     id, id)
                            .ptr);
    }
}

static void packet_make(const struct round *r)
{
    world_sql(r->w, arena_printf(r->w->arena,
                                 "INSERT INTO packet (id, sender_id, sender_name, kind, split, amount_fen, count,"
                                 " greeting, seed, commitment, state, created_ms, expires_ms, request_key) SELECT"
                                 " %llu, %llu, sender_name, kind, split, 100, 1, greeting, seed, commitment, 'funding',"
                                 " created_ms, expires_ms, 'round %u' FROM packet LIMIT 1",
                                 r->packet, r->user, r->no)
                        .ptr);
}

static const char *call_demo(const struct round *r)
{
    struct str ids = STR("[");
    for (unsigned i = 0; i < USERS_PER_ROUND; i++)
        ids = arena_printf(r->w->arena, "%.*s%s%llu", STR_ARG(ids), i == 0 ? "" : ",", r->user + i);
    return arena_printf(r->w->arena, "CALL ledger_demo('%.*s]', 1000, 1)", STR_ARG(ids)).ptr;
}

static const char *call_deposit(const struct round *r)
{
    return arena_printf(r->w->arena, "CALL ledger_deposit(%llu, 7, 'again', 1)", r->user).ptr;
}

static const char *call_send(const struct round *r)
{
    packet_make(r);
    return arena_printf(r->w->arena, "CALL ledger_send(%llu)", r->packet).ptr;
}

static const char *call_refund(const struct round *r)
{
    return arena_printf(r->w->arena, "CALL ledger_refund(%llu, 100, 1)", r->packet).ptr;
}

static const char *call_delete(const struct round *r)
{
    return arena_printf(r->w->arena, "CALL user_delete(%llu, 'hash', UNHEX(SHA2('%u', 256)), TRUE)", r->user, r->no)
        .ptr;
}

static const char *call_deleted(const struct round *r)
{
    world_sql(r->w, arena_printf(r->w->arena, "UPDATE packet SET state = 'closed' WHERE id = %llu", r->packet).ptr);
    return arena_printf(r->w->arena, "CALL user_deleted(%llu, 1)", r->user).ptr;
}

static const struct {
    const char *(*text)(const struct round *r);
    unsigned role;
} CALLS[] = {
    { call_demo, AUTH },     { call_deposit, PAGE }, { call_send, PAGE },
    { call_refund, SETTLE }, { call_delete, AUTH },  { call_deleted, SETTLE },
};

static void a_statement_that_is_ended_at_any_moment_does_all_or_nothing(void **state)
{
    static const char *const names[] = { "auth", "page", "settle" };
    struct world w;
    struct services *services[ARRAY_LEN(names)];
    struct round r = { .w = &w };
    unsigned ended = 0;
    (void)state;
    world_begin(&w, 2);
    (void)world_send(&w, 0, PACKET_EVEN, 300, 3, HOUR_MS, -1);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        services[i] = test_services_open_as(names[i]);
        assert_non_null(services[i]);
        r.roles[i] = connection(services[i]);
    }
    MYSQL *admin = connection(w.app);
    for (r.no = 0; ended < ROUNDS; r.no++) {
        r.user = FIRST_USER + (unsigned long long)r.no * USERS_PER_ROUND;
        r.packet = (1ULL << 51) + r.no;
        users_make(&r);
        for (size_t i = 0; i < ARRAY_LEN(CALLS); i++) {
            const char *sql = CALLS[i].text(&r);
            for (unsigned tries = 0; ended < ROUNDS && tries < 4; tries++) {
                if (is_done(r.roles[CALLS[i].role], admin, sql, random_u64() % 2 == 0))
                    break;
                ended++;
                nothing_is_half_done(&w, sql);
            }
            (void)mysql_query(r.roles[CALLS[i].role], sql); /* the next one builds on it; it may be done already */
            nothing_is_half_done(&w, sql);
        }
    }
    assert_true(world_number(&w, "SELECT COUNT(*) FROM user WHERE deleted_ms IS NOT NULL", 0) > 0);
    mysql_close(admin);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        mysql_close(r.roles[i]);
        test_services_close(services[i]);
    }
    world_end(&w);
}

/* A statement of another thread. */
struct running {
    MYSQL *mysql;
    const char *sql;
    int failed; /* after the thread has ended */
};

static void *statement_run(void *ctx)
{
    struct running *s = ctx;
    s->failed = mysql_query(s->mysql, s->sql);
    return NULL;
}

/* A send reads the packet first; the wallet that it waits for is newer than that when it gets the lock. */
static void a_send_that_waits_for_its_wallet_is_not_refused(void **state)
{
    static const char *const session[] = { "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
                                           "SET SESSION innodb_snapshot_isolation = ON" };
    struct world w;
    pthread_t thread;
    (void)state;
    world_begin(&w, 2);
    (void)world_send(&w, 0, PACKET_EVEN, 300, 3, HOUR_MS, -1);
    struct services *auth = test_services_open_as("auth"), *page = test_services_open_as("page");
    assert_true(auth != NULL && page != NULL);
    struct round r = { .w = &w, .user = FIRST_USER, .packet = 1ULL << 51 };
    MYSQL *maker = connection(auth), *holder = connection(page);
    users_make(&r);
    assert_int_equal(mysql_query(maker, call_demo(&r)), 0);
    struct running send = { .mysql = connection(page), .sql = call_send(&r) };
    for (size_t i = 0; i < ARRAY_LEN(session); i++)
        assert_int_equal(mysql_query(send.mysql, session[i]), 0);
    assert_int_equal(mysql_query(holder, "START TRANSACTION"), 0);
    assert_int_equal(mysql_query(holder, call_deposit(&r)), 0);
    assert_int_equal(pthread_create(&thread, NULL, statement_run, &send), 0);
    (void)usleep(WAIT_US); /* a thread that is slower does not wait for the lock, which proves nothing */
    assert_int_equal(mysql_query(holder, "COMMIT"), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(send.failed, 0);
    nothing_is_half_done(&w, send.sql);
    MYSQL *const all[] = { maker, holder, send.mysql };
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        mysql_close(all[i]);
    test_services_close(auth);
    test_services_close(page);
    world_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_statement_that_is_ended_at_any_moment_does_all_or_nothing),
        cmocka_unit_test(a_send_that_waits_for_its_wallet_is_not_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* A routine of the ledger is one statement: whenever it is ended, and with autocommit on, it has done all of its work
 * or nothing. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>
#include <mysql.h>
#include <mysqld_error.h>

#include "base/array.h"
#include "base/random.h"
#include "support/test_services.h"
#include "support/unix_path.h"
#include "test_settle_fixture.h"

enum {
    ENDS_MIN = 5,
    ROUNDS_MAX = 2000,
    TRIES_MAX = 4,
    USERS_PER_ROUND = 20,
    HOUR_MS = 3600000,
    END_US_MAX = 2000,
    WAIT_US = 100000
};

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

/* Runs the statement, which is ended at a random moment: by KILL, or by its own time limit. The server's error code; 0:
 * it was done. */
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
    while (mysql_query(role, "DO 1") != 0) /* a late KILL ends this one instead */
        assert_int_not_equal(mysql_errno(role), 0);
    return code;
}

/* Rows that a statement of this round left half-way. */
static void nothing_is_half_done(struct world *w, const char *after)
{
    static const char *const half[] = {
        "SELECT COUNT(*) FROM account AS a WHERE (id = 1 OR id >= @user) AND balance_fen <>"
        " COALESCE((SELECT SUM(amount_fen) FROM transfer WHERE credit_id = a.id), 0) -"
        " COALESCE((SELECT SUM(amount_fen) FROM transfer WHERE debit_id = a.id), 0) +"
        " COALESCE((SELECT SUM(amount_fen) FROM `grab` WHERE user_id = a.id), 0) -"
        " COALESCE((SELECT SUM(amount_fen) FROM `grab` WHERE packet_id = a.id), 0)",
        "SELECT COUNT(*) FROM account AS a WHERE kind = 'escrow' AND NOT EXISTS"
        " (SELECT 1 FROM transfer WHERE kind = 'send' AND credit_id = a.id)",
        "SELECT COUNT(*) FROM account AS a JOIN user ON user.id = a.id WHERE a.id >= @user AND user.nickname <> 'alone'"
        " AND NOT EXISTS (SELECT 1 FROM transfer WHERE kind = 'deposit' AND credit_id = a.id)",
        "SELECT (SELECT COUNT(*) FROM username_retired) - (SELECT COUNT(*) FROM user WHERE deleting_ms IS NOT NULL)",
        "SELECT COUNT(*) FROM packet AS p JOIN packet_receiver AS r ON r.packet_id = p.id JOIN `grab` AS g"
        " ON g.packet_id = p.id WHERE (p.sender_name = '') <> (r.name = '') OR (r.name = '') <> (g.nickname = '')",
        "SELECT COUNT(*) FROM user WHERE deleted_ms IS NULL AND deleting_ms IS NOT NULL AND EXISTS"
        " (SELECT 1 FROM transfer WHERE kind = 'forfeit' AND debit_id = user.id)",
    };
    for (size_t i = 0; i < ARRAY_LEN(half); i++)
        if (world_number(w, half[i], 0) != 0)
            fail_msg("half done: %s: %s", after, half[i]);
}

/* The statements of one round, each by the role that may call it. [id, …] of new users become wallets with money, and
 * one more user gets an empty one. The first user gets a deposit, sends two packets, has a share of one and gives it
 * back, gets both packets' money back, and deletes the account. */
struct round {
    struct world *w;
    MYSQL *roles[3]; /* auth, page, settle */
    unsigned long long user, packet;
    unsigned no;
};
enum { AUTH, PAGE, SETTLE };
enum { IDS_PER_ROUND = USERS_PER_ROUND + 1, PACKETS_PER_ROUND = 2 };

static void users_make(const struct round *r)
{
    for (unsigned i = 0; i < IDS_PER_ROUND; i++) {
        const unsigned long long id = r->user + i;
        world_sql(r->w, arena_printf(r->w->arena,
                                     "INSERT INTO user (id, username, nickname, password_hash, created_ms)"
                                     " VALUES (%llu, 'u%llu', '%s', 'hash', 1)",
                                     id, id, i < USERS_PER_ROUND ? "x" : "alone")
                            .ptr);
    }
}

static const char *call_demo(const struct round *r)
{
    struct str ids = STR("[");
    for (unsigned i = 0; i < USERS_PER_ROUND; i++)
        ids = arena_printf(r->w->arena, "%.*s%s%llu", STR_ARG(ids), i == 0 ? "" : ",", r->user + i);
    return arena_printf(r->w->arena, "CALL ledger_demo('%.*s]', 1000, 1)", STR_ARG(ids)).ptr;
}

static const char *call_wallet(const struct round *r)
{
    return arena_printf(r->w->arena, "CALL ledger_wallet(%llu)", r->user + USERS_PER_ROUND).ptr;
}

static const char *call_deposit(const struct round *r)
{
    return arena_printf(r->w->arena, "CALL ledger_deposit(%llu, 7, 'again', 1)", r->user).ptr;
}

static const char *send(const struct round *r, unsigned long long packet)
{
    world_sql(r->w, arena_printf(r->w->arena,
                                 "INSERT INTO packet (id, sender_id, sender_name, kind, split, amount_fen, count,"
                                 " greeting, seed, commitment, state, created_ms, expires_ms, request_key) SELECT"
                                 " %llu, %llu, 'x', kind, split, 100, 1, greeting, seed, commitment, 'funding',"
                                 " created_ms, expires_ms, 'round %llu' FROM packet LIMIT 1",
                                 packet, r->user, packet)
                        .ptr);
    return arena_printf(r->w->arena, "CALL ledger_send(%llu)", packet).ptr;
}

static const char *call_send(const struct round *r)
{
    return send(r, r->packet);
}

static const char *call_send_other(const struct round *r)
{
    return send(r, r->packet + 1);
}

/* The worker has settled a share, and the packet is open. */
static const char *call_return(const struct round *r)
{
    static const char *const settled[] = {
        "UPDATE packet SET state = 'open' WHERE id = @packet",
        "INSERT INTO packet_receiver (packet_id, user_id, name, expires_ms) VALUES (@packet, @user, 'x', 1)",
        "INSERT INTO `grab` (packet_id, share_no, user_id, nickname, amount_fen, grabbed_ms)"
        " VALUES (@packet, 0, @user, 'x', 40, 1)",
        "UPDATE account SET balance_fen = balance_fen + IF(id = @user, 40, -40) WHERE id IN (@user, @packet)",
    };
    for (size_t i = 0; i < ARRAY_LEN(settled); i++)
        world_sql(r->w, settled[i]);
    return arena_printf(r->w->arena, "CALL ledger_return(%llu, 0, TRUE, 1)", r->packet).ptr;
}

static const char *call_refund(const struct round *r)
{
    return arena_printf(r->w->arena, "CALL ledger_refund(%llu, 100, 1)", r->packet).ptr;
}

/* Without grabs, which the worker inserts by statements of its own. */
static const char *call_settle(const struct round *r)
{
    return arena_printf(r->w->arena, "CALL ledger_settle('[[%llu,100],[%llu,-100]]', '[[%llu,100]]', 1)", r->user,
                        r->packet + 1, r->packet + 1)
        .ptr;
}

static const char *call_delete(const struct round *r)
{
    return arena_printf(r->w->arena, "CALL user_delete(%llu, 'hash', UNHEX(SHA2('%u', 256)), TRUE)", r->user, r->no)
        .ptr;
}

static const char *call_erase(const struct round *r)
{
    return arena_printf(r->w->arena, "CALL user_erase(%llu, '[%llu,%llu]')", r->user, r->packet, r->packet + 1).ptr;
}

static const char *call_deleted(const struct round *r)
{
    world_sql(r->w,
              arena_printf(r->w->arena, "UPDATE packet SET state = 'closed' WHERE sender_id = %llu", r->user).ptr);
    return arena_printf(r->w->arena, "CALL user_deleted(%llu, 1)", r->user).ptr;
}

/* Every routine that a role may call. */
static const struct {
    const char *(*text)(const struct round *r);
    unsigned role;
} CALLS[] = {
    { call_demo, AUTH },       { call_wallet, AUTH },  { call_deposit, PAGE },   { call_send, PAGE },
    { call_send_other, PAGE }, { call_return, PAGE },  { call_refund, SETTLE },  { call_settle, SETTLE },
    { call_delete, AUTH },     { call_erase, SETTLE }, { call_deleted, SETTLE },
};

/* A world with one packet, and a connection of each role. */
struct scene {
    struct world w;
    struct services *services[3];
    struct round r;
    MYSQL *admin;
};

static void scene_begin(struct scene *s)
{
    static const char *const names[] = { "auth", "page", "settle" };
    world_begin(&s->w, 2);
    (void)world_send(&s->w, 0, PACKET_EVEN, 300, 3, HOUR_MS, -1);
    s->r = (struct round){ .w = &s->w };
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        s->services[i] = test_services_open_as(names[i]);
        assert_non_null(s->services[i]);
        s->r.roles[i] = connection(s->services[i]);
    }
    s->admin = connection(s->w.app);
}

static void scene_end(struct scene *s)
{
    mysql_close(s->admin);
    for (size_t i = 0; i < ARRAY_LEN(s->services); i++) {
        mysql_close(s->r.roles[i]);
        test_services_close(s->services[i]);
    }
    world_end(&s->w);
}

static void round_begin(struct round *r, unsigned no)
{
    r->no = no;
    r->user = FIRST_USER + (unsigned long long)no * IDS_PER_ROUND;
    r->packet = (1ULL << 51) + (unsigned long long)no * PACKETS_PER_ROUND;
    world_sql(r->w, arena_printf(r->w->arena, "SET @user = %llu, @packet = %llu", r->user, r->packet).ptr);
    users_make(r);
}

static void a_statement_that_is_ended_at_any_moment_does_all_or_nothing(void **state)
{
    struct scene s;
    unsigned ended[ARRAY_LEN(CALLS)] = { 0 }, least = 0;
    (void)state;
    scene_begin(&s);
    for (unsigned no = 0; least < ENDS_MIN; no++) {
        assert_true(no < ROUNDS_MAX);
        round_begin(&s.r, no);
        least = ENDS_MIN;
        for (size_t i = 0; i < ARRAY_LEN(CALLS); i++) {
            const char *sql = CALLS[i].text(&s.r);
            MYSQL *role = s.r.roles[CALLS[i].role];
            unsigned code = 1;
            for (unsigned tries = 0; tries < TRIES_MAX && code != 0; tries++) {
                code = statement_error(role, s.admin, sql, random_u64() % 2 == 0);
                ended[i] += code == ER_QUERY_INTERRUPTED || code == ER_STATEMENT_TIMEOUT;
                nothing_is_half_done(&s.w, sql);
            }
            (void)mysql_query(role, sql); /* the next one builds on it; it may be done already */
            nothing_is_half_done(&s.w, sql);
            least = ended[i] < least ? ended[i] : least;
        }
        assert_int_equal(world_number(&s.w, "SELECT deleted_ms > 0 FROM user WHERE id = ?", s.r.user), 1);
    }
    scene_end(&s);
}

/* A number that says whether any row of money has changed. */
static int64_t money_read(struct world *w)
{
    return world_number(w,
                        "SELECT (SELECT COUNT(*) FROM transfer) +"
                        " (SELECT SUM(CRC32(CONCAT_WS(' ', id, kind, balance_fen))) FROM account)",
                        0);
}

/* A balance near the end of BIGINT: the routine has done a part of its work when the server refuses the sum. */
static void a_statement_whose_sum_overflows_does_nothing(void **state)
{
    static const struct {
        const char *sql;
        unsigned role;
    } calls[] = {
        { "CALL ledger_demo(CONCAT('[', @new, ']'), 9223372036854775807, 1)", AUTH },
        { "CALL ledger_deposit(@user, 60, 'more', 1)", PAGE },
        { "CALL ledger_return(@packet, 0, FALSE, 1)", PAGE },
        { "CALL ledger_refund(@packet + 1, 100, 1)", SETTLE },
        { "CALL ledger_settle(CONCAT('[[', @user, ',100],[', @packet + 1, ',-100]]'), NULL, 1)", SETTLE },
    };
    struct scene s;
    (void)state;
    scene_begin(&s);
    round_begin(&s.r, 0);
    for (size_t i = 0; CALLS[i].text != call_return; i++)
        assert_int_equal(mysql_query(s.r.roles[CALLS[i].role], CALLS[i].text(&s.r)), 0);
    (void)call_return(&s.r);
    world_sql(&s.w, "UPDATE `grab` SET user_id = @user + 1");
    world_sql(&s.w, "UPDATE account SET balance_fen = 9223372036854775800 WHERE id = @user");
    users_make(&(struct round){ .w = &s.w, .user = s.r.user + IDS_PER_ROUND });
    const char *names = arena_printf(s.w.arena, "SET @user = %llu, @packet = %llu, @new = %llu", s.r.user, s.r.packet,
                                     s.r.user + IDS_PER_ROUND)
                            .ptr;
    const int64_t before = money_read(&s.w);
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        MYSQL *role = s.r.roles[calls[i].role];
        assert_int_equal(mysql_query(role, names), 0);
        (void)mysql_query(role, calls[i].sql);
        if (mysql_errno(role) != ER_DATA_OUT_OF_RANGE || money_read(&s.w) != before)
            fail_msg("%s: %s", calls[i].sql, mysql_error(role));
    }
    scene_end(&s);
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
    struct round r = { .w = &w };
    MYSQL *maker = connection(auth), *holder = connection(page);
    round_begin(&r, 0);
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
        cmocka_unit_test(a_statement_whose_sum_overflows_does_nothing),
        cmocka_unit_test(a_send_that_waits_for_its_wallet_is_not_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

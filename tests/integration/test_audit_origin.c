/* The audit of where money comes from, and of sessions: it names each planted contradiction. An intruder in a pool
 * can't plant most of them (test_rights.c). */
#include "base/array.h"
#include "support/stores_do.h"
#include "support/test.h"
#include "test_world.h"

enum { MINUTE_MS = 60000, USERS = 4 };

/* The linker replaces clock_now_ms by the function below, which adds this to the real time. */
static int64_t clock_shift_ms;

int64_t __real_clock_now_ms(void);
int64_t __wrap_clock_now_ms(void);

int64_t __wrap_clock_now_ms(void)
{
    return __real_clock_now_ms() + clock_shift_ms;
}

/* A packet of three shares, of which one is taken, and a refund. */
static uint64_t packet;

static void scene_begin(void)
{
    world_begin(w, USERS);
    packet = world_even(w, 300, 3);
    (void)world_grab(w, packet, 1);
    (void)world_send(w, 2, PACKET_EVEN, 100, 1, 0, -1);
    (void)world_drain_clean(w);
}

#define SCENE_TEST(name) FAULTY_WORLD_TEST_BY(name, scene_begin())

TEST(money_that_was_never_asked_for_is_found)
{
    /* The named account belongs to users[3]. Both balances are changed as the transfer says, so the sums are right. */
    static const struct {
        const char *transfer; /* kind, debit, packet, seq, key; the first ? is the wallet of users[3] */
        const char *debit;
    } planted[] = {
        { "SELECT 'deposit', 1, id, 500, NULL, NULL, NULL, 1 FROM account WHERE id = ?", "1" },
        { "SELECT 'deposit', 1, id, 500, NULL, NULL, 'x', 1 FROM account WHERE id = ?", "1" },
        { "SELECT 'deposit', 1, id, 500, NULL, NULL, CONCAT(id - 1, ':x'), 1 FROM account WHERE id = ?", "1" },
        { "SELECT 'refund', 1, id, 500, NULL, NULL, NULL, 1 FROM account WHERE id = ?", "1" },
        { "SELECT 'send', id - 1, id, 500, NULL, NULL, NULL, 1 FROM account WHERE id = ?", "id - 1" },
        { "SELECT 'forfeit', id - 1, id, 500, NULL, NULL, NULL, 1 FROM account WHERE id = ?", "id - 1" },
        { "SELECT 'return', id - 1, id, 500, NULL, NULL, NULL, 1 FROM account WHERE id = ?", "id - 1" },
        { "SELECT 'deposit', id - 1, id, 500, NULL, NULL, CONCAT(id, ':x'), 1 FROM account WHERE id = ?", "id - 1" },
    };
    scene_begin();
    const struct db_param wallet = DB_U64(w->users[3]);
    EACH (row, planted) {
        const bool of_bank = strcmp(row->debit, "1") == 0;
        struct str insert = arena_printf(w->arena,
                                         "INSERT INTO transfer (kind, debit_id, credit_id, amount_fen, packet_id, seq,"
                                         " request_key, created_ms) %s",
                                         row->transfer);
        world_tables_keep(w);
        sql_do_with(w->app->stores.db, insert.ptr, DB_PARAMS(wallet));
        sql_do_with(w->app->stores.db,
                    "UPDATE account SET balance_fen = balance_fen + IF(id = ?, 500, -500) WHERE id IN (?, ?)",
                    DB_PARAMS(wallet, wallet, DB_U64(of_bank ? 1 : w->users[2])));
        assert_int_equal(world_audit_violations(w, "I5"), 0);
        if (!world_audit_names(w, AUDIT_ORIGIN, "account", w->users[3]))
            fail_msg("not found: %s", row->transfer);
        world_tables_restore(w);
    }
    world_audit_clean(w); /* nothing of them is left */
    world_end(w);
}

TEST(what_is_left_of_a_deleted_user_is_found)
{
    /* Planted for users[3], whose account has nothing else. */
    static const char *const planted[] = {
        "UPDATE packet SET sender_id = ?, state = 'open'",
        "UPDATE packet SET sender_id = ?",
        "UPDATE packet SET receiver_id = ?, receiver_name = 'x'",
        "INSERT INTO packet_receiver SELECT id, ?, 'x', expires_ms FROM packet LIMIT 1",
        "UPDATE `grab` SET user_id = ?",
        "UPDATE account SET balance_fen = 5 WHERE id = ?",
    };
    scene_begin();
    const struct db_param user = DB_U64(w->users[3]);
    struct db *db = w->app->stores.db;
    sql_do_with(db, "UPDATE user SET deleting_ms = 1, deleted_ms = 2 WHERE id = ?", DB_PARAMS(user));
    sql_do_with(db, "UPDATE account SET balance_fen = 0 WHERE id = ?", DB_PARAMS(user));
    assert_false(world_audit_names(w, AUDIT_DELETED, "user", w->users[3]));
    for (size_t i = 0; i < ARRAY_LEN(planted); i++) {
        world_tables_keep(w);
        sql_do_with(db, planted[i], DB_PARAMS(user));
        if (!world_audit_names(w, AUDIT_DELETED, "user", w->users[3]))
            fail_msg("not found: %s", planted[i]);
        world_tables_restore(w);
        assert_false(world_audit_names(w, AUDIT_DELETED, "user", w->users[3]));
    }
    world_end(w);
}

SCENE_TEST(a_second_bank_and_accounts_of_nobody_are_found)
{
    assert_int_equal(db_exec(w->app->stores.db, NULL, "INSERT INTO account (id, kind) VALUES (4, 'bank')", NULL, 0),
                     ST_INVALID); /* the table refuses it */
    world_sql(w, "SET check_constraint_checks = 0");
    world_sql(w, "INSERT INTO account (id, kind) VALUES (4, 'bank'), (5, 'wallet'), (1125899906842699, 'escrow')");
    world_sql(w, "SET check_constraint_checks = 1");
    assert_true(world_audit_names(w, AUDIT_ORIGIN, "account", 4));
    assert_true(world_audit_names(w, AUDIT_ORIGIN, "account", 5));
    assert_true(world_audit_names(w, AUDIT_ORIGIN, "account", 1125899906842699));
}

SCENE_TEST(deposits_while_demo_is_off_are_found)
{
    w->config->demo = false;
    assert_int_equal(world_audit_violations(w, "origin"), USERS);
    assert_true(world_audit_names(w, AUDIT_ORIGIN, "account", w->users[0]));
}

SCENE_TEST(a_session_of_nobody_is_found)
{
    (void)world_redisf(w, packet, "SET hb:session:known %llu,1,1,x,x PX 600000", (unsigned long long)w->users[0]);
    assert_int_equal(world_audit_violations(w, "sessions"), 0);
    (void)world_redis(w, packet, "SET hb:session:nobody 999999999,1,1,x,x PX 600000");
    assert_int_equal(world_audit_violations(w, "sessions"), 1);
    assert_true(world_audit_names(w, AUDIT_SESSIONS, "user", 999999999));
    (void)world_redis(w, packet, "SET hb:session:malformed x PX 600000");
    assert_int_equal(world_audit_violations(w, "sessions"), 2);
}

/* Each line of the table makes one thing about the session wrong. */
TEST(a_session_that_its_list_or_its_times_do_not_explain_is_found)
{
    static const struct {
        const char *name;
        int64_t later_ms;
        bool listed, endless;
        uint64_t found;
    } CASES[] = {
        { "right", 0, true, false, 0 },
        { "unlisted", 0, false, false, 1 },
        { "endless", 0, true, true, 1 },
        { "future", (int64_t)30 * 24 * 3600 * 1000, true, false, 1 },
        { "all", (int64_t)30 * 24 * 3600 * 1000, false, true, 1 }, /* the first fault is reported */
    };
    scene_begin();
    const unsigned long long user = w->users[0];
    EACH (row, CASES) {
        const long long at_ms = (long long)(clock_now_ms() - MINUTE_MS + row->later_ms);
        (void)world_redisf(w, packet, "HSET hb:sessions:%llu %s %lld,x", user, row->listed ? row->name : "y", at_ms);
        (void)world_redisf(w, packet, "SET hb:session:%s v2,%llu,%lld,%lld,x,x%s", row->name, user, at_ms, at_ms,
                           row->endless ? "" : " PX 600000");
        assert_int_equal(world_audit_violations(w, "sessions"), row->found);
        if (row->found > 0)
            assert_true(world_audit_names(w, AUDIT_SESSIONS, "user", w->users[0]));
        (void)world_redisf(w, packet, "DEL hb:sessions:%llu hb:session:%s", user, row->name);
    }
    world_end(w);
}

/* The watch ends sessions in the future, so a machine whose clock is behind must not find everybody's sessions. */
SCENE_TEST(a_clock_that_is_behind_finds_no_session_in_the_future)
{
    const unsigned long long user = w->users[0];
    const long long now_ms = (long long)clock_now_ms(), later_ms = now_ms + CLOCKS_DIFFER_MS + MINUTE_MS;
    (void)world_redisf(w, packet, "HSET hb:sessions:%llu a %lld,x b %lld,x", user, now_ms, now_ms);
    (void)world_redisf(w, packet, "SET hb:session:a v2,%llu,%lld,%lld,x,x PX 600000", user, now_ms, now_ms);
    clock_shift_ms = -HOUR_MS;
    assert_int_equal(world_audit_violations(w, "sessions"), 0);
    (void)world_redisf(w, packet, "SET hb:session:b v2,%llu,%lld,%lld,x,x PX 600000", user, now_ms, later_ms);
    assert_int_equal(world_audit_violations(w, "sessions"), 1);
    clock_shift_ms = 0;
}

SCENE_TEST(a_key_without_its_time_to_live_or_with_an_unknown_name_is_found)
{
    static const char *const NAMES[] = { "hb:token:x", "hb:challenge:x", "hb:news:1", "hb:capped:1",
                                         "hb:{limit}:send:1" };
    for (size_t i = 0; i < ARRAY_LEN(NAMES); i++) {
        (void)world_redisf(w, packet, "SET %s 1 PX 600000", NAMES[i]);
        assert_int_equal(world_audit_violations(w, "sessions"), i);
        (void)world_redisf(w, packet, "PERSIST %s", NAMES[i]);
        assert_int_equal(world_audit_violations(w, "sessions"), i + 1);
    }
    static const char *const UNKNOWN[] = { "hb:planted",     "hb:{p07}:planted", "hb:{p07}:packet:x", "hb:{p07}:fence2",
                                           "hb:{px}:events", "hb:fence2",        "hb:{p07}" };
    for (size_t i = 0; i < ARRAY_LEN(UNKNOWN); i++) {
        (void)world_redisf(w, packet, "SET %s 1 PX 600000", UNKNOWN[i]);
        assert_int_equal(world_audit_violations(w, "sessions"), ARRAY_LEN(NAMES) + i + 1);
    }
}

/* It is one more violation, and hides none of the others; nor does a list of another type. */
SCENE_TEST(a_session_of_another_type_hides_no_other)
{
    (void)world_redis(w, packet, "HSET hb:session:planted a b");
    assert_int_equal(world_audit_violations(w, "sessions"), 1);
    (void)world_redis(w, packet, "SET hb:session:nobody 999999999,1,1,x,x PX 600000");
    assert_int_equal(world_audit_violations(w, "sessions"), 2);
    assert_true(world_audit_names(w, AUDIT_SESSIONS, "user", 999999999));
    const unsigned long long user = w->users[0];
    (void)world_redisf(w, packet, "SET hb:session:x v2,%llu,1,1,x,x PX 600000", user);
    (void)world_redisf(w, packet, "SET hb:sessions:%llu x PX 600000", user);
    assert_in_range(world_audit_violations(w, "sessions"), 3, 4); /* with the user's own, unless it is just made */
    assert_true(world_audit_names(w, AUDIT_SESSIONS, "user", w->users[0]));
}

TESTS(NULL, NULL)

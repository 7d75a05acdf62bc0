/* The audit of money from outside: a site with transfers of all kinds is clean, also for the watch of the settle
 * worker, and each row that an administrator forges is named. */
#include "audit/audit_internal.h"
#include "audit/watch.h"
#include "base/array.h"
#include "commands/demo.h"
#include "io/metrics.h"
#include "support/stores_do.h"
#include "support/test.h"
#include "test_world.h"

enum { USERS = 5, STEPS_MAX = 1000 };

static struct audit audit;

/* As hongbao money does. The ids are kept in variables of the session: @u0 … @u4 the users, @c1 … the transfers by
 * their references, @w1 … @w4 the withdrawals by their keys, @h1 what holds the first one, @v what voids the third. */
static const char *const SCENE[] = {
    "SET @now = CAST(UNIX_TIMESTAMP(SYSDATE(3)) * 1000 AS SIGNED)",
    "CALL channel_open('payroll', 'ACME payroll', 'boss', @now)",
    "CALL channel_open('bank', '', 'boss', @now)",
    "SET @a = (SELECT id FROM channel WHERE name = 'payroll'), @b = (SELECT id FROM channel WHERE name = 'bank')",
    "UPDATE channel SET withdraws = TRUE WHERE id > 2",
    "CALL ledger_external('credit', @a, CONCAT('[[', @u0, ',500,\"c1\",\"May\"],[', @u1, ',700,\"c2\",\"\"]]'), 'boss',"
    " 'import', @now)",
    "CALL ledger_external('debit', @a, CONCAT('[[', @u1, ',200,\"d1\",\"\"],[', @u1, ',300,\"d2\",\"\"]]'), 'boss',"
    " 'command', @now)",
    "SET @c1 = (SELECT transfer_id FROM external_transfer WHERE reference = 'c1')",
    "SET @c2 = (SELECT transfer_id FROM external_transfer WHERE reference = 'c2')",
    "SET @d1 = (SELECT transfer_id FROM external_transfer WHERE reference = 'd1')",
    "SET @d2 = (SELECT transfer_id FROM external_transfer WHERE reference = 'd2')",
    "CALL withdrawal_hold(@u0, @a, 100, 'account 1', 'k1', @now)",
    "CALL withdrawal_hold(@u1, @a, 110, 'account 2', 'k2', @now)",
    "CALL withdrawal_hold(@u2, @b, 120, 'account 3', 'k3', @now)",
    "CALL withdrawal_hold(@u2, @b, 130, 'account 3', 'k4', @now)",
    "SET @w1 = (SELECT id FROM withdrawal WHERE request_key = 'k1'),"
    " @w2 = (SELECT id FROM withdrawal WHERE request_key = 'k2'),"
    " @w3 = (SELECT id FROM withdrawal WHERE request_key = 'k3'),"
    " @w4 = (SELECT id FROM withdrawal WHERE request_key = 'k4')",
    "CALL withdrawal_end(@w2, TRUE, 'p1', NULL, 'boss', 'command', @now)",
    "CALL withdrawal_end(@w3, FALSE, NULL, 'no such account', 'boss', 'command', @now)",
    "CALL withdrawal_end(@w4, TRUE, 'p2', NULL, 'boss', 'command', @now)",
    "SET @h1 = (SELECT hold_id FROM withdrawal WHERE id = @w1), @p1 = (SELECT end_id FROM withdrawal WHERE id = @w2),"
    " @v = (SELECT end_id FROM withdrawal WHERE id = @w3), @p2 = (SELECT end_id FROM withdrawal WHERE id = @w4)",
    "CALL ledger_reverse(@c1, 'rc', 'twice', 'boss', 'command', @now)",
    "CALL ledger_reverse(@d1, 'rd', '', 'boss', 'command', @now)",
    "CALL ledger_reverse(@p2, 'rp', 'came back', 'boss', 'command', @now)",
    "SET @rc = (SELECT transfer_id FROM external_transfer WHERE reference = 'rc'),"
    " @rd = (SELECT transfer_id FROM external_transfer WHERE reference = 'rd'),"
    " @rp = (SELECT transfer_id FROM external_transfer WHERE reference = 'rp')",
    "CALL channel_topup(@b, 'https://pay.example/')",
    "CALL topup_open(@u4, @b, 900, 'o1', @now)",
    "CALL topup_open(@u4, @b, 950, 'o2', @now)",
    "SET @o1 = (SELECT id FROM topup WHERE request_key = 'o1'), @o2 = (SELECT id FROM topup WHERE request_key = 'o2')",
    "CALL topup_paid(@o1, 't1', 800, 'boss', 'command', @now)",
    "SET @t1 = (SELECT transfer_id FROM external_transfer WHERE reference = 't1')",
    /* two services; one is revoked after it has moved money */
    "SET @web = UNHEX(SHA2('web', 256)), @old = UNHEX(SHA2('old', 256))",
    "CALL service_add('web', @web, 'credit,debit,withdraw', @a, 1000, '', 'boss')",
    "CALL service_add('old', @old, 'topup,debit,credit', @b, NULL, '', 'boss')",
    "CALL service_external(@web, 'credit', @a, @u4, 70, 's1', '', @now)",
    "CALL service_external(@web, 'debit', @a, @u4, 20, 's2', '', @now)",
    "CALL service_external(@old, 'credit', @b, @u4, 5, 's3', '', @now)",
    "CALL topup_open(@u4, @b, 6, 'o3', @now)",
    "CALL service_topup_paid(@old, (SELECT id FROM topup WHERE request_key = 'o3'), 's5', 6, @now)",
    "SET @s5 = (SELECT transfer_id FROM external_transfer WHERE reference = 's5')",
    "CALL service_revoke('old')",
    "CALL withdrawal_hold(@u4, @a, 10, 'account 4', 'k5', @now)",
    "CALL withdrawal_hold(@u4, @a, 11, 'account 4', 'k6', @now)",
    "SET @w5 = (SELECT id FROM withdrawal WHERE request_key = 'k5'),"
    " @w6 = (SELECT id FROM withdrawal WHERE request_key = 'k6')",
    "CALL service_withdrawal_end(@web, @w5, TRUE, 's4', NULL, @now)",
    "CALL service_withdrawal_end(@web, @w6, FALSE, NULL, 'no such account', @now)",
    "SET @s1 = (SELECT transfer_id FROM external_transfer WHERE reference = 's1'),"
    " @s2 = (SELECT transfer_id FROM external_transfer WHERE reference = 's2'),"
    " @s3 = (SELECT transfer_id FROM external_transfer WHERE reference = 's3'),"
    " @s4 = (SELECT transfer_id FROM external_transfer WHERE reference = 's4'),"
    " @sw = (SELECT id FROM service WHERE name = 'web'), @so = (SELECT id FROM service WHERE name = 'old')",
    "UPDATE user SET password_hash = 'hash' WHERE id = @u3",
    "CALL user_delete(@u3, 'hash', REPEAT('x', 32), TRUE)",
    "CALL user_deleted(@u3, @now)",
};

/* The number of violations that the watch finds in one look and one walk. */
static uint64_t watch_found(void)
{
    struct audit_watch *watch = calloc(1, sizeof *watch);
    assert_non_null(watch);
    const uint64_t before = metrics_get(METRIC_AUDIT_VIOLATED);
    for (int i = 0; i < STEPS_MAX && !(watch->walked && watch->to == 0); i++)
        assert_int_equal(audit_watch_run(watch, &w->settler->stores, 0), ST_OK);
    assert_true(watch->walked && watch->to == 0);
    free(watch);
    return metrics_get(METRIC_AUDIT_VIOLATED) - before;
}

static void scene_begin(void)
{
    world_begin(w, USERS);
    const uint64_t packet = world_even(w, 300, 3);
    (void)world_grab(w, packet, 1);
    (void)world_drain(w);
    for (size_t i = 0; i < USERS; i++)
        world_sqlf(w, "SET @u%zu = %llu", i, (unsigned long long)w->users[i]);
    EACH (sql, SCENE)
        world_sql(w, *sql);
    (void)watch_found(); /* it ends the session of the deleted user */
}

WORLD_TEST_BY(a_site_with_all_kinds_of_transfers_is_clean, scene_begin())
{
    assert_ints({ world_number(w, "SELECT COUNT(DISTINCT kind) FROM transfer", 0), 9 }, /* no refund, no return */
                { world_number(w, "SELECT SUM(balance_fen) FROM account", 0), 0 },
                { world_balance(w, 2), DEMO_MONEY_FEN }, { world_balance(w, 3), 100 }, { watch_found(), 0 });
}

/* Each is planted in tables that are right. id: an expression, of the subject. */
static const struct forgery {
    enum audit_check check;
    const char *kind, *id, *sql;
    bool watched; /* the watch finds it, too */
} FORGERIES[] = {
    /* transfers without their row in external_transfer, or with a row that says something else */
    { AUDIT_ORIGIN, "account", "@u1", "DELETE FROM external_transfer WHERE transfer_id = @c2", true },
    { AUDIT_ORIGIN, "account", "@a", "DELETE FROM external_transfer WHERE transfer_id = @d2", true },
    { AUDIT_ORIGIN, "account", "@a", "DELETE FROM external_transfer WHERE transfer_id = @p1", true },
    { AUDIT_ORIGIN, "account", "@a", "DELETE FROM external_transfer WHERE transfer_id = @rc", true },
    { AUDIT_ORIGIN, "account", "@u1", "UPDATE external_transfer SET channel_id = @b WHERE transfer_id = @c2", true },
    { AUDIT_ORIGIN, "account", "@a", "UPDATE external_transfer SET channel_id = @b WHERE transfer_id = @d2", true },
    { AUDIT_ORIGIN, "account", "@a", "UPDATE external_transfer SET channel_id = @b WHERE transfer_id = @p1", true },
    { AUDIT_ORIGIN, "account", "@u1", "UPDATE external_transfer SET reference = 'other' WHERE transfer_id = @c2",
      true },
    { AUDIT_ORIGIN, "account", "@u1", "UPDATE transfer SET request_key = NULL WHERE id = @c2", true },
    { AUDIT_ORIGIN, "account", "@u1", "UPDATE external_transfer SET author = '' WHERE transfer_id = @c2", true },
    { AUDIT_ORIGIN, "account", "@u1", "UPDATE external_transfer SET reverses = @d2 WHERE transfer_id = @c2", true },
    { AUDIT_ORIGIN, "account", "@u1", "UPDATE transfer SET debit_id = @b WHERE id = @c2", true },
    { AUDIT_ORIGIN, "account", "3", "UPDATE transfer SET credit_id = 3 WHERE id = @c2", true },
    { AUDIT_ORIGIN, "account", "@b", "UPDATE transfer SET credit_id = @b WHERE id = @c2", true },
    { AUDIT_ORIGIN, "account", "@a", "UPDATE transfer SET debit_id = @b WHERE id = @d2", true },
    { AUDIT_ORIGIN, "account", "@u1",
      "UPDATE external_transfer AS x JOIN transfer AS t ON t.id = x.transfer_id"
      " SET x.channel_id = 1, t.debit_id = 1, t.request_key = '1:c2' WHERE t.id = @c2",
      true },
    /* rows without a transfer of the right kind */
    { AUDIT_ORIGIN, "transfer", "@c2", "DELETE FROM transfer WHERE id = @c2", false },
    { AUDIT_ORIGIN, "transfer", "@c2", "UPDATE transfer SET kind = 'deposit' WHERE id = @c2", true },
    { AUDIT_ORIGIN, "transfer", "@h1",
      "INSERT INTO external_transfer (transfer_id, channel_id, reference, author, interface, created_ms)"
      " VALUES (@h1, @a, 'x', 'x', 'page', @now)",
      false },
    /* reversals */
    { AUDIT_ORIGIN, "account", "@a", "UPDATE external_transfer SET reverses = NULL WHERE transfer_id = @rc", true },
    { AUDIT_ORIGIN, "account", "@u1", "UPDATE external_transfer SET reverses = @rc WHERE transfer_id = @rd", true },
    { AUDIT_ORIGIN, "account", "@u0", /* a reversal of a reversal */
      "UPDATE external_transfer AS x JOIN transfer AS t ON t.id = x.transfer_id SET t.kind = 'reverse',"
      " x.reverses = @rc WHERE t.id = @c1",
      true },
    { AUDIT_ORIGIN, "account", "@u1", "UPDATE external_transfer SET reverses = @d2 WHERE transfer_id = @rd", true },
    { AUDIT_ORIGIN, "account", "@a", "UPDATE transfer SET amount_fen = amount_fen + 1 WHERE id = @rc", true },
    { AUDIT_ORIGIN, "account", "@a", "UPDATE transfer SET debit_id = @u1 WHERE id = @rc", true },
    { AUDIT_ORIGIN, "account", "@u4", "UPDATE transfer SET credit_id = @u4 WHERE id = @rd", true },
    { AUDIT_ORIGIN, "account", "@u4", "UPDATE transfer SET credit_id = @u4 WHERE id = @rp", true },
    { AUDIT_ORIGIN, "account", "@u1",
      "UPDATE external_transfer AS x JOIN transfer AS t ON t.id = x.transfer_id"
      " SET x.channel_id = @b, t.debit_id = @b, t.request_key = CONCAT(@b, ':rd') WHERE t.id = @rd",
      true },
    /* orders, and their payments */
    { AUDIT_ORIGIN, "topup", "@o1", "DELETE FROM topup_payment WHERE topup_id = @o1", false },
    { AUDIT_ORIGIN, "topup", "@o1", "UPDATE topup SET state = 'waiting' WHERE id = @o1", false },
    { AUDIT_ORIGIN, "topup", "@o2", "UPDATE topup SET state = 'paid' WHERE id = @o2", false },
    { AUDIT_ORIGIN, "topup", "@o2", "UPDATE topup_payment SET topup_id = @o2 WHERE topup_id = @o1", false },
    { AUDIT_ORIGIN, "transfer", "@t1", "DELETE FROM topup WHERE id = @o1", false },
    { AUDIT_ORIGIN, "transfer", "@t1", "UPDATE topup SET user_id = @u2 WHERE id = @o1", false },
    { AUDIT_ORIGIN, "transfer", "@t1", "UPDATE topup SET channel_id = @a WHERE id = @o1", false },
    { AUDIT_ORIGIN, "transfer", "@rc", "UPDATE topup_payment SET transfer_id = @rc WHERE topup_id = @o1", false },
    { AUDIT_TIMES, "topup", "@o2", "UPDATE topup SET created_ms = 4000000000000 WHERE id = @o2", false },
    /* transfers of withdrawals that do not exist, or ended in another way */
    { AUDIT_ORIGIN, "account", "3", "DELETE FROM withdrawal WHERE id = @w1", true },
    { AUDIT_ORIGIN, "account", "@a", "UPDATE withdrawal SET state = 'voided' WHERE id = @w2", true },
    { AUDIT_ORIGIN, "account", "@u2", "UPDATE withdrawal SET state = 'posted' WHERE id = @w3", true },
    /* what comes from the bank, and where forfeits go */
    { AUDIT_ORIGIN, "account", "@u4", "UPDATE transfer SET debit_id = @a WHERE kind = 'deposit' AND credit_id = @u4",
      true },
    { AUDIT_ORIGIN, "account", "@a",
      "UPDATE transfer SET credit_id = @a, request_key = CONCAT(@a, ':x') WHERE kind = 'deposit' AND credit_id = @u4",
      true },
    { AUDIT_ORIGIN, "account", "@a", "UPDATE transfer SET credit_id = @a WHERE kind = 'forfeit'", true },
    { AUDIT_ORIGIN, "account", "2", "UPDATE user SET deleting_ms = NULL WHERE id = @u3", true },
    /* kinds of accounts */
    { AUDIT_ORIGIN, "account", "1", "UPDATE account SET kind = 'channel' WHERE id = 1", true },
    { AUDIT_ORIGIN, "account", "3", "UPDATE account SET kind = 'wallet' WHERE id = 3", true },
    { AUDIT_ORIGIN, "account", "@a", "UPDATE account SET kind = 'wallet' WHERE id = @a", true },
    { AUDIT_ORIGIN, "account", "@u4", "UPDATE account SET kind = 'channel' WHERE id = @u4", true },
    { AUDIT_ORIGIN, "account", "@u4", "UPDATE account SET kind = 'pending' WHERE id = @u4", true },
    { AUDIT_ORIGIN, "account", "@b", "DELETE FROM channel WHERE id = @b", true },
    { AUDIT_ORIGIN, "account", "9999", "INSERT INTO account (id, kind) VALUES (9999, 'channel')", true },
    { AUDIT_ORIGIN, "account", "9999", "INSERT INTO account (id, kind) VALUES (9999, 'bank')", true },
    { AUDIT_ORIGIN, "account", "9999", "INSERT INTO account (id, kind) VALUES (9999, 'pending')", true },
    { AUDIT_ORIGIN, "account", "2", "UPDATE account SET balance_fen = -1 WHERE id = 2", true },
    /* balances */
    { AUDIT_I5, "account", "3", "UPDATE account SET balance_fen = -1 WHERE id = 3", true },
    { AUDIT_I5, "account", "@a", "UPDATE account SET balance_fen = balance_fen - 1 WHERE id = @a", false },
    { AUDIT_I5, "account", "0", "UPDATE account SET balance_fen = balance_fen - 1 WHERE id = @a", false },
    { AUDIT_I5, "account", "@u4",
      "INSERT INTO transfer (kind, debit_id, credit_id, amount_fen, created_ms)"
      " VALUES ('debit', @u4, @a, 100000000, 1)",
      true },
    /* withdrawals */
    { AUDIT_WITHDRAWALS, "account", "3", "UPDATE account SET balance_fen = balance_fen + 1 WHERE id = 3", false },
    { AUDIT_WITHDRAWALS, "account", "3",
      "UPDATE account SET balance_fen = balance_fen + IF(id = 3, -50, 50) WHERE id IN (3, @u4)", false },
    { AUDIT_WITHDRAWALS, "account", "3", "DELETE FROM account WHERE id = 3", false },
    { AUDIT_WITHDRAWALS, "account", "3", "UPDATE withdrawal SET amount_fen = amount_fen + 1 WHERE id = @w1", false },
    { AUDIT_WITHDRAWALS, "account", "3",
      "UPDATE withdrawal SET state = 'pending', end_id = NULL, ended_ms = NULL WHERE id = @w2", true },
    { AUDIT_WITHDRAWALS, "withdrawal", "@w1", "UPDATE withdrawal SET amount_fen = amount_fen + 1 WHERE id = @w1",
      false },
    { AUDIT_WITHDRAWALS, "withdrawal", "@w1", "UPDATE withdrawal SET user_id = @u4 WHERE id = @w1", false },
    { AUDIT_WITHDRAWALS, "withdrawal", "@w1", "UPDATE withdrawal SET channel_id = 1 WHERE id = @w1", false },
    { AUDIT_WITHDRAWALS, "withdrawal", "@w1", "UPDATE withdrawal SET request_key = 'x' WHERE id = @w1", false },
    { AUDIT_WITHDRAWALS, "withdrawal", "@w1", "UPDATE withdrawal SET end_id = @c2 WHERE id = @w1", false },
    { AUDIT_WITHDRAWALS, "withdrawal", "@w1", "UPDATE transfer SET credit_id = @a WHERE id = @h1", false },
    { AUDIT_WITHDRAWALS, "withdrawal", "@w1", "UPDATE transfer SET debit_id = @u4 WHERE id = @h1", false },
    { AUDIT_WITHDRAWALS, "withdrawal", "@w1", "UPDATE transfer SET kind = 'debit' WHERE id = @h1", true },
    { AUDIT_WITHDRAWALS, "withdrawal", "@w1", "DELETE FROM transfer WHERE id = @h1", false },
    { AUDIT_WITHDRAWALS, "withdrawal", "@w2", "UPDATE withdrawal SET end_id = NULL WHERE id = @w2", true },
    { AUDIT_WITHDRAWALS, "withdrawal", "@w2", "UPDATE withdrawal SET author = '' WHERE id = @w2", false },
    { AUDIT_WITHDRAWALS, "withdrawal", "@w2", "UPDATE withdrawal SET channel_id = @b WHERE id = @w2", false },
    { AUDIT_WITHDRAWALS, "withdrawal", "@w2", "DELETE FROM external_transfer WHERE transfer_id = @p1", true },
    { AUDIT_WITHDRAWALS, "withdrawal", "@w2", "UPDATE transfer SET kind = 'void' WHERE id = @p1", true },
    { AUDIT_WITHDRAWALS, "withdrawal", "@w2", "UPDATE transfer SET amount_fen = amount_fen + 1 WHERE id = @p1", false },
    { AUDIT_WITHDRAWALS, "withdrawal", "@w2", "UPDATE transfer SET debit_id = @u1 WHERE id = @p1", false },
    { AUDIT_WITHDRAWALS, "withdrawal", "@w3", "UPDATE transfer SET credit_id = @u4 WHERE id = @v", false },
    { AUDIT_WITHDRAWALS, "withdrawal", "@w3", "UPDATE transfer SET amount_fen = amount_fen - 1 WHERE id = @v", false },
    { AUDIT_WITHDRAWALS, "withdrawal", "@w3", "UPDATE transfer SET kind = 'post' WHERE id = @v", true },
    /* services */
    { AUDIT_SERVICES, "transfer", "@s1", "UPDATE external_transfer SET interface = 'page' WHERE transfer_id = @s1",
      false },
    { AUDIT_SERVICES, "transfer", "@s1", "UPDATE external_transfer SET author = 'anna' WHERE transfer_id = @s1",
      false },
    { AUDIT_SERVICES, "transfer", "@s1", "UPDATE external_transfer SET author = 'service:x' WHERE transfer_id = @s1",
      false },
    { AUDIT_SERVICES, "transfer", "@s1", "UPDATE external_transfer SET author = 'service:old' WHERE transfer_id = @s1",
      false },
    { AUDIT_SERVICES, "transfer", "@c2", "UPDATE external_transfer SET interface = 'http' WHERE transfer_id = @c2",
      false },
    { AUDIT_SERVICES, "transfer", "@rc",
      "UPDATE external_transfer SET interface = 'http', author = 'service:web' WHERE transfer_id = @rc", false },
    { AUDIT_SERVICES, "transfer", "@s1", "UPDATE service SET scopes = 'debit,withdraw' WHERE id = @sw", false },
    { AUDIT_SERVICES, "transfer", "@s2", "UPDATE service SET scopes = 'credit,withdraw' WHERE id = @sw", false },
    { AUDIT_SERVICES, "transfer", "@s4", "UPDATE service SET scopes = 'credit,debit' WHERE id = @sw", false },
    { AUDIT_SERVICES, "transfer", "@s3", "UPDATE service SET scopes = 'debit' WHERE id = @so", false },
    { AUDIT_SERVICES, "transfer", "@s3", "UPDATE service SET scopes = 'topup,debit' WHERE id = @so", false },
    { AUDIT_SERVICES, "transfer", "@s5", "UPDATE service SET scopes = 'credit,debit' WHERE id = @so", false },
    { AUDIT_SERVICES, "transfer", "@s3", "UPDATE service SET channel_id = @a WHERE id = @so", false },
    { AUDIT_SERVICES, "transfer", "@s3", "UPDATE service SET created_ms = created_ms + 100000000 WHERE id = @so",
      false },
    { AUDIT_SERVICES, "transfer", "@s3", "UPDATE service SET revoked_ms = revoked_ms - 100000000 WHERE id = @so",
      false },
    { AUDIT_SERVICES, "transfer", "@s3", "DELETE FROM service WHERE id = @so", false },
    { AUDIT_SERVICES, "withdrawal", "@w6", "UPDATE service SET scopes = 'credit,debit' WHERE id = @sw", false },
    { AUDIT_SERVICES, "withdrawal", "@w6", "UPDATE service SET channel_id = @b WHERE id = @sw", false },
    { AUDIT_SERVICES, "withdrawal", "@w6", "UPDATE withdrawal SET author = 'service:old' WHERE id = @w6", false },
    { AUDIT_SERVICES, "withdrawal", "@w6", "UPDATE service SET revoked_ms = created_ms - 100000000 WHERE id = @sw",
      false },
    { AUDIT_SERVICES, "service", "@sw", "UPDATE service_hour SET moved_fen = moved_fen + 1 WHERE service_id = @sw",
      false },
    { AUDIT_SERVICES, "service", "@sw", "UPDATE withdrawal SET author = 'anna' WHERE id = @w6", false },
    { AUDIT_SERVICES, "service", "@sw", "UPDATE external_transfer SET author = 'anna' WHERE transfer_id = @s2", false },
    { AUDIT_SERVICES, "service", "@sw", "UPDATE service SET day_max_fen = 110 WHERE id = @sw", false },
    { AUDIT_SERVICES, "service", "@so", "DELETE FROM service_hour WHERE service_id = @so", false },
    /* times, and a deleted user */
    { AUDIT_TIMES, "transfer", "@c2", "UPDATE external_transfer SET created_ms = 4000000000000 WHERE transfer_id = @c2",
      false },
    { AUDIT_TIMES, "transfer", "@c2", "UPDATE external_transfer SET created_ms = created_ms - 86400000", false },
    { AUDIT_TIMES, "withdrawal", "@w1", "UPDATE withdrawal SET created_ms = 4000000000000 WHERE id = @w1", false },
    { AUDIT_TIMES, "withdrawal", "@w2", "UPDATE withdrawal SET ended_ms = 4000000000000 WHERE id = @w2", false },
    { AUDIT_TIMES, "account", "@b", "UPDATE channel SET created_ms = 4000000000000 WHERE id = @b", false },
    { AUDIT_DELETED, "user", "@u3", "UPDATE withdrawal SET user_id = @u3 WHERE id = @w1", false },
};

static enum status tables_body(struct db *db, void *ctx)
{
    return audit_tables(ctx, db);
}

FAULTY_WORLD_TEST_BY(each_forged_row_is_named, scene_begin())
{
    size_t wrong = 0;
    world_sql(w, "SET FOREIGN_KEY_CHECKS = 0, check_constraint_checks = 0");
    EACH (row, FORGERIES) {
        const uint64_t id = (uint64_t)world_number(w, arena_printf(w->arena, "SELECT %s", row->id).ptr, 0);
        world_tables_keep(w);
        world_sql(w, "SET FOREIGN_KEY_CHECKS = 0");
        world_sql(w, row->sql);
        audit = (struct audit){ .demo = true };
        assert_int_equal(db_snapshot(w->auditor->stores.db, tables_body, &audit), ST_OK);
        const bool named = audit_names(&audit, row->check, row->kind, id);
        const bool watched = watch_found() > 0;
        if (!named || watched != row->watched) {
            print_error("%s %s, %s by the watch: %s\n", audit_check_name(row->check), named ? "names it" : "is silent",
                        watched ? "found" : "not found", row->sql);
            wrong++;
        }
        world_tables_restore(w);
    }
    assert_int_equal(wrong, 0);
    world_audit_clean(w); /* nothing of them is left */
}

TESTS(NULL, NULL)

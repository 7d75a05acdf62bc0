/* The audit: clean where all is well, and it names each planted violation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "ops/audit_internal.h"
#include "test_settle_fixture.h"

enum { HOUR_MS = 3600000 };

/* A world with one open packet (two of three shares settled), one finished, one refunded. */
struct scene {
    struct world w;
    struct audit audit;
    uint64_t open, finished, exclusive;
};

static void scene_begin(struct scene *s)
{
    memset(s, 0, sizeof *s);
    world_begin(&s->w, 6);
    s->open = world_send(&s->w, 0, PACKET_LUCKY, 1000, 3, HOUR_MS, -1);
    s->finished = world_send(&s->w, 0, PACKET_LUCKY, 500, 2, HOUR_MS, -1);
    s->exclusive = world_send(&s->w, 1, PACKET_EXCLUSIVE, 100, 1, HOUR_MS, 2);
    world_grab_all(&s->w, s->open, 1, 2);
    world_grab_all(&s->w, s->finished, 3, 2);
    world_grab(&s->w, s->exclusive, 2);
    assert_int_equal(world_drain(&s->w), 5);
    world_audit_clean(&s->w);
}

static void audit_packet(struct scene *s, uint64_t packet_id)
{
    s->audit.packet_id = packet_id;
    assert_int_equal(audit_run(&s->w.app->stores, &s->audit), ST_OK);
}

/* Runs the whole audit, which must name the subject in this check, and ends the world. */
static void scene_violates(struct scene *s, enum audit_check check, const char *kind, uint64_t id)
{
    char subject[AUDIT_SUBJECT_MAX];
    bool named = false;
    audit_packet(s, 0);
    assert_false(audit_clean(&s->audit));
    (void)snprintf(subject, sizeof subject, "%s %llu", kind, (unsigned long long)id);
    for (uint64_t i = 0; i < s->audit.checks[check].violations && i < AUDIT_ROWS_MAX; i++)
        named = named || strcmp(s->audit.checks[check].rows[i].subject, subject) == 0;
    if (!named)
        audit_print(&s->audit, false, stderr);
    assert_true(named);
    world_end(&s->w);
}

static void sql(struct scene *s, const char *text, uint64_t id)
{
    assert_int_equal(db_exec(s->w.app->stores.db, NULL, text, DB_PARAMS(DB_U64(id))), ST_OK);
}

static void redis(struct scene *s, uint64_t packet_id, const char *words)
{
    (void)world_redis(&s->w, packet_id, words);
}

static void an_escrow_that_does_not_hold_the_rest_violates_i1(void **state)
{
    struct scene s;
    (void)state;
    scene_begin(&s);
    sql(&s, "UPDATE account SET balance_fen = balance_fen + 1 WHERE id = ?", s.open);
    scene_violates(&s, AUDIT_I1, "packet", s.open);
}

static void a_packet_that_counts_a_grab_too_few_violates_i1(void **state)
{
    struct scene s;
    (void)state;
    scene_begin(&s);
    sql(&s, "UPDATE packet SET grabbed_count = grabbed_count - 1 WHERE id = ?", s.open);
    scene_violates(&s, AUDIT_I1, "packet", s.open);
}

static void a_hole_in_the_shares_violates_i2(void **state)
{
    struct scene s;
    (void)state;
    scene_begin(&s);
    sql(&s, "UPDATE grab SET share_no = 2 WHERE share_no = 1 AND packet_id = ?", s.open);
    scene_violates(&s, AUDIT_I2, "packet", s.open);
}

static void two_users_with_one_share_in_redis_violate_i2(void **state)
{
    struct scene s;
    (void)state;
    scene_begin(&s);
    redis(&s, s.open, "HSET {gr} 99999 0");
    scene_violates(&s, AUDIT_I2, "packet", s.open);
}

static void a_user_twice_in_redis_violates_i3(void **state)
{
    struct scene s;
    (void)state;
    scene_begin(&s);
    struct str entry = arena_printf(s.w.arena, "RPUSH {or} %llu,1,%llu-0,n", (unsigned long long)s.w.users[1],
                                    (unsigned long long)clock_now_ms() + 1000);
    redis(&s, s.open, entry.ptr);
    scene_violates(&s, AUDIT_I3, "packet", s.open);
}

static void an_exclusive_packet_grabbed_by_another_user_violates_i3(void **state)
{
    struct scene s;
    (void)state;
    scene_begin(&s);
    struct str text =
        arena_printf(s.w.arena, "UPDATE grab SET user_id = %llu WHERE packet_id = ?", (unsigned long long)s.w.users[4]);
    sql(&s, text.ptr, s.exclusive);
    scene_violates(&s, AUDIT_I3, "packet", s.exclusive);
}

static void a_grab_of_a_user_without_a_wallet_violates_i4(void **state)
{
    struct scene s;
    (void)state;
    scene_begin(&s);
    world_sql(&s.w, "SET FOREIGN_KEY_CHECKS = 0");
    sql(&s, "DELETE FROM account WHERE id = ?", s.w.users[1]);
    world_sql(&s.w, "SET FOREIGN_KEY_CHECKS = 1");
    scene_violates(&s, AUDIT_I4, "packet", s.open);
}

static void a_deleted_grab_violates_i1_and_i5(void **state)
{
    for (int i = 0; i < 2; i++) {
        struct scene s;
        (void)state;
        scene_begin(&s);
        sql(&s, "DELETE FROM grab WHERE share_no = 1 AND packet_id = ?", s.open);
        if (i == 0)
            scene_violates(&s, AUDIT_I1, "packet", s.open);
        else
            scene_violates(&s, AUDIT_I5, "account", s.w.users[2]);
    }
}

/* The sums of the packet stay right: only the wallets are wrong. */
static void a_grab_that_pays_another_wallet_violates_i5(void **state)
{
    struct scene s;
    (void)state;
    scene_begin(&s);
    struct str text = arena_printf(s.w.arena, "UPDATE grab SET user_id = %llu WHERE share_no = 0 AND packet_id = ?",
                                   (unsigned long long)s.w.users[5]);
    sql(&s, text.ptr, s.finished);
    audit_packet(&s, 0);
    assert_int_equal(s.audit.checks[AUDIT_I1].violations, 0);
    assert_int_equal(s.audit.checks[AUDIT_I5].violations, 2);
    scene_violates(&s, AUDIT_I5, "account", s.w.users[5]);
}

static void a_grab_of_another_amount_violates_i1_and_i5(void **state)
{
    struct scene s;
    (void)state;
    scene_begin(&s);
    sql(&s, "UPDATE grab SET amount_fen = amount_fen + 1 WHERE share_no = 0 AND packet_id = ?", s.open);
    audit_packet(&s, 0);
    assert_int_equal(s.audit.checks[AUDIT_I1].violations, 1);
    assert_int_equal(s.audit.checks[AUDIT_I5].violations, 2); /* escrow and wallet */
    scene_violates(&s, AUDIT_I5, "account", s.open);
}

static void a_refund_of_a_missing_packet_violates_i1(void **state)
{
    struct scene s;
    (void)state;
    scene_begin(&s);
    world_sql(&s.w, "INSERT INTO transfer (kind, debit_id, credit_id, amount_fen, packet_id, seq, created_ms)"
                    " SELECT 'refund', 1, MIN(id), 5, 77, 0, 1 FROM user");
    scene_violates(&s, AUDIT_I1, "packet", 77);
}

static void an_acknowledged_grab_missing_from_the_stream_violates_i4(void **state)
{
    struct scene s;
    (void)state;
    scene_begin(&s);
    world_grab(&s.w, s.open, 3);
    redis(&s, s.open, "XTRIM {ev} MAXLEN 0");
    scene_violates(&s, AUDIT_I4, "packet", s.open);
}

static void a_balance_without_transfers_violates_i5(void **state)
{
    struct scene s;
    (void)state;
    scene_begin(&s);
    sql(&s, "UPDATE account SET balance_fen = balance_fen + 100 WHERE id = ?", s.w.users[5]);
    scene_violates(&s, AUDIT_I5, "account", s.w.users[5]);
}

static void balances_that_do_not_sum_to_zero_violate_i5(void **state)
{
    struct scene s;
    (void)state;
    scene_begin(&s);
    sql(&s, "UPDATE account SET balance_fen = balance_fen - 7 WHERE id = ?", 1);
    scene_violates(&s, AUDIT_I5, "account", 0);
}

static void a_closed_packet_with_money_in_escrow_violates_i6(void **state)
{
    struct scene s;
    (void)state;
    scene_begin(&s);
    sql(&s, "UPDATE account SET balance_fen = 5 WHERE id = ?", s.finished);
    scene_violates(&s, AUDIT_I6, "packet", s.finished);
}

static void a_refund_to_the_wrong_person_violates_i6(void **state)
{
    struct scene s;
    (void)state;
    scene_begin(&s);
    struct str text =
        arena_printf(s.w.arena,
                     "INSERT INTO transfer (kind, debit_id, credit_id, amount_fen, packet_id, seq, created_ms)"
                     " SELECT 'refund', id, %llu, 1, id, 0, 0 FROM packet WHERE id = ?",
                     (unsigned long long)s.w.users[5]);
    sql(&s, text.ptr, s.finished);
    scene_violates(&s, AUDIT_I6, "packet", s.finished);
}

static void a_grab_with_another_amount_than_drawn_violates_i7(void **state)
{
    struct scene s;
    (void)state;
    scene_begin(&s);
    sql(&s, "UPDATE grab SET amount_fen = amount_fen + 1 WHERE share_no = 0 AND packet_id = ?", s.finished);
    scene_violates(&s, AUDIT_I7, "packet", s.finished);
}

static void a_changed_seed_violates_i7(void **state)
{
    struct scene s;
    (void)state;
    scene_begin(&s);
    sql(&s, "UPDATE packet SET seed = REPEAT('x', 32) WHERE id = ?", s.finished);
    scene_violates(&s, AUDIT_I7, "packet", s.finished);
}

static void shares_changed_in_redis_violate_i7(void **state)
{
    struct scene s;
    (void)state;
    scene_begin(&s);
    redis(&s, s.open, "SETRANGE {sh} 8 abcd");
    scene_violates(&s, AUDIT_I7, "packet", s.open);
}

static void a_shown_grab_that_changed_violates_i7(void **state)
{
    struct scene s;
    (void)state;
    scene_begin(&s);
    struct str words = arena_printf(s.w.arena, "LSET {or} 0 %llu,1,5-0,n", (unsigned long long)s.w.users[1]);
    redis(&s, s.open, words.ptr);
    scene_violates(&s, AUDIT_I7, "packet", s.open);
}

static void an_open_packet_missing_in_redis_violates_i8(void **state)
{
    struct scene s;
    (void)state;
    scene_begin(&s);
    redis(&s, s.open, "DEL {pk} {sh} {gr} {or}");
    scene_violates(&s, AUDIT_I8, "packet", s.open);
}

static void a_settled_grab_missing_in_redis_violates_i8(void **state)
{
    struct scene s;
    (void)state;
    scene_begin(&s);
    redis(&s, s.open, "RPOP {or}");
    scene_violates(&s, AUDIT_I8, "packet", s.open);
}

static void a_wrong_monthly_total_is_named(void **state)
{
    static const char *const wrong[] = {
        "UPDATE user_month SET received_fen = received_fen + 1 WHERE user_id = ?",
        "UPDATE user_month SET received_count = received_count + 1 WHERE user_id = ?",
        "UPDATE user_month SET sent_fen = sent_fen - 1 WHERE user_id = ?",
        "UPDATE user_month SET sent_count = sent_count - 1 WHERE user_id = ?",
        "UPDATE user_month SET month = month % 12 + 1 WHERE user_id = ?", /* the sum of the year stays right */
        "DELETE FROM user_month WHERE user_id = ?",
        "INSERT INTO user_month (user_id, year, month, sent_count) SELECT user_id, year, month % 12 + 1, 1"
        " FROM user_month WHERE user_id = ? LIMIT 1",
        "INSERT INTO user_month (user_id, year, month, sent_count) VALUES (?, 2199, 1, 1)", /* a year without rows */
        "UPDATE user_month SET best_count = best_count + 1 WHERE user_id = ?",
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        struct scene s;
        scene_begin(&s);
        sql(&s, wrong[i], s.w.users[i == 2 || i == 3 ? 0 : 1]);
        scene_violates(&s, AUDIT_MONTHS, "user", s.w.users[i == 2 || i == 3 ? 0 : 1]);
    }
}

static void grabs_that_wait_for_the_worker_are_counted_and_no_violation(void **state)
{
    struct scene s;
    (void)state;
    scene_begin(&s);
    world_grab(&s.w, s.open, 3);
    audit_packet(&s, 0);
    assert_true(audit_clean(&s.audit));
    assert_int_equal(s.audit.unsettled, 1);
    assert_int_equal(s.audit.packets, 3);
    world_end(&s.w);
}

static void the_audit_of_one_packet_checks_that_packet_only(void **state)
{
    struct scene s;
    (void)state;
    scene_begin(&s);
    sql(&s, "UPDATE packet SET grabbed_count = grabbed_count - 1 WHERE id = ?", s.open);
    audit_packet(&s, s.finished);
    assert_true(audit_clean(&s.audit));
    assert_int_equal(s.audit.packets, 1);
    audit_packet(&s, s.open);
    assert_int_equal(s.audit.checks[AUDIT_I1].violations, 1);
    world_end(&s.w);
}

static enum status tables_body(struct db *db, void *ctx)
{
    return audit_tables(ctx, db);
}

static void the_length_of_the_id_ranges_does_not_change_the_result(void **state)
{
    struct scene s;
    static struct audit audits[5];
    (void)state;
    scene_begin(&s);
    world_sql(&s.w, "UPDATE packet SET grabbed_count = grabbed_count - 1");
    world_sql(&s.w, "UPDATE `grab` SET amount_fen = amount_fen + 1");
    world_sql(&s.w, "UPDATE account SET balance_fen = balance_fen + 1");
    world_sql(&s.w, "INSERT INTO transfer (kind, debit_id, credit_id, amount_fen, packet_id, seq, created_ms)"
                    " SELECT 'refund', 1, MIN(id), 5, 9223372036854775809, 0, 1 FROM user"); /* of no packet */
    for (uint32_t rows = 0; rows < 5; rows++) {
        audits[rows].range_rows = rows;
        assert_int_equal(db_snapshot(s.w.auditor->stores.db, tables_body, &audits[rows]), ST_OK);
        assert_int_equal(audits[rows].packets, 3);
        for (size_t check = 0; check < AUDIT_CHECK_COUNT; check++)
            assert_int_equal(audits[rows].checks[check].violations, audits[0].checks[check].violations);
    }
    assert_int_equal(audits[0].checks[AUDIT_I1].violations, 4); /* three packets, one transfer of no packet */
    assert_int_equal(audits[0].checks[AUDIT_I7].violations, 5);
    assert_true(audits[0].checks[AUDIT_I5].violations > 3);
    world_end(&s.w);
}

static void the_json_report_lists_the_violations(void **state)
{
    struct scene s;
    char *text = NULL;
    size_t size = 0;
    (void)state;
    scene_begin(&s);
    sql(&s, "UPDATE account SET balance_fen = balance_fen + 100 WHERE id = ?", s.w.users[5]);
    audit_packet(&s, 0);
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    audit_print(&s.audit, true, out);
    (void)fclose(out);
    assert_non_null(strstr(text, "\"ok\":false"));
    assert_non_null(strstr(text, "{\"id\":\"I5\""));
    assert_non_null(strstr(text, "wallet balance 100100, its transfers and grabs make 100000"));
    free(text);
    world_end(&s.w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_escrow_that_does_not_hold_the_rest_violates_i1),
        cmocka_unit_test(a_packet_that_counts_a_grab_too_few_violates_i1),
        cmocka_unit_test(a_hole_in_the_shares_violates_i2),
        cmocka_unit_test(two_users_with_one_share_in_redis_violate_i2),
        cmocka_unit_test(a_user_twice_in_redis_violates_i3),
        cmocka_unit_test(an_exclusive_packet_grabbed_by_another_user_violates_i3),
        cmocka_unit_test(a_grab_of_a_user_without_a_wallet_violates_i4),
        cmocka_unit_test(a_deleted_grab_violates_i1_and_i5),
        cmocka_unit_test(a_grab_that_pays_another_wallet_violates_i5),
        cmocka_unit_test(a_grab_of_another_amount_violates_i1_and_i5),
        cmocka_unit_test(a_refund_of_a_missing_packet_violates_i1),
        cmocka_unit_test(an_acknowledged_grab_missing_from_the_stream_violates_i4),
        cmocka_unit_test(a_balance_without_transfers_violates_i5),
        cmocka_unit_test(balances_that_do_not_sum_to_zero_violate_i5),
        cmocka_unit_test(a_closed_packet_with_money_in_escrow_violates_i6),
        cmocka_unit_test(a_refund_to_the_wrong_person_violates_i6),
        cmocka_unit_test(a_grab_with_another_amount_than_drawn_violates_i7),
        cmocka_unit_test(a_changed_seed_violates_i7),
        cmocka_unit_test(shares_changed_in_redis_violate_i7),
        cmocka_unit_test(a_shown_grab_that_changed_violates_i7),
        cmocka_unit_test(an_open_packet_missing_in_redis_violates_i8),
        cmocka_unit_test(a_settled_grab_missing_in_redis_violates_i8),
        cmocka_unit_test(a_wrong_monthly_total_is_named),
        cmocka_unit_test(grabs_that_wait_for_the_worker_are_counted_and_no_violation),
        cmocka_unit_test(the_audit_of_one_packet_checks_that_packet_only),
        cmocka_unit_test(the_length_of_the_id_ranges_does_not_change_the_result),
        cmocka_unit_test(the_json_report_lists_the_violations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

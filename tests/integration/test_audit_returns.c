/* The audit of returns and thanks: it names the packet of each planted contradiction. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "ops/audit_internal.h"
#include "settle/give_back.h"
#include "settle/thanks.h"
#include "test_settle_fixture.h"

enum { HOUR_MS = 3600000 };

/* An open packet of three shares: users 1 and 2 have given theirs back, as shares 3 and 4; users 3 and 4 have taken
 * shares 2 and 3, and user 3 has said thanks. A finished packet of two: user 1 has given share 0 back to the sender. */
struct scene {
    struct world w;
    struct audit audit;
    uint64_t open, finished;
};

static void gave_back(struct scene *s, uint64_t packet_id, size_t user)
{
    struct give_back given;
    assert_int_equal(give_back(&s->w.page->stores, s->w.arena, packet_id, s->w.users[user], clock_now_ms(), &given),
                     ST_OK);
    assert_int_equal(given.result, GIVE_BACK_DONE);
}

static void scene_begin(struct scene *s)
{
    enum thanks_result said;
    memset(s, 0, sizeof *s);
    world_begin(&s->w, 6);
    s->open = world_send(&s->w, 0, PACKET_EVEN, 300, 3, HOUR_MS, -1);
    s->finished = world_send(&s->w, 0, PACKET_EVEN, 200, 2, HOUR_MS, -1);
    world_grab_all(&s->w, s->open, 1, 2);
    world_grab_all(&s->w, s->finished, 1, 2);
    assert_int_equal(world_drain(&s->w), 4);
    gave_back(s, s->open, 1);
    gave_back(s, s->open, 2);
    gave_back(s, s->finished, 1);
    world_grab_all(&s->w, s->open, 3, 2);
    assert_int_equal(world_drain(&s->w), 2);
    assert_int_equal(
        thanks_say(&s->w.page->stores, s->w.arena, s->open, s->w.users[3], STR("thanks"), clock_now_ms(), &said),
        ST_OK);
    assert_int_equal(said, THANKS_SAID);
    world_audit_clean(&s->w);
}

static enum status tables_body(struct db *db, void *ctx)
{
    return audit_tables(ctx, db);
}

/* True when the audit names the packet in this check; of the tables alone, or with Redis. */
static bool is_named(struct scene *s, enum audit_check check, uint64_t packet_id, bool with_redis)
{
    char subject[AUDIT_SUBJECT_MAX];
    s->audit = (struct audit){ 0 };
    assert_int_equal(with_redis ? audit_run(&s->w.auditor->stores, &s->audit)
                                : db_snapshot(s->w.auditor->stores.db, tables_body, &s->audit),
                     ST_OK);
    (void)snprintf(subject, sizeof subject, "packet %llu", (unsigned long long)packet_id);
    for (uint64_t i = 0; i < s->audit.checks[check].violations && i < AUDIT_ROWS_MAX; i++)
        if (strcmp(s->audit.checks[check].rows[i].subject, subject) == 0)
            return true;
    return false;
}

/* Plants each statement, with the id of the open packet for its ?, in a world of its own: the audit must name that
 * packet in this check. */
static void each_is_found(enum audit_check check, const char *const *statements, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct scene s;
        scene_begin(&s);
        world_sql(&s.w, "SET FOREIGN_KEY_CHECKS = 0");
        assert_int_equal(db_exec(s.w.app->stores.db, NULL, statements[i], DB_PARAMS(DB_U64(s.open))), ST_OK);
        if (!is_named(&s, check, s.open, false))
            fail_msg("not found: %s", statements[i]);
        world_sql(&s.w, "SET FOREIGN_KEY_CHECKS = 1");
        world_end(&s.w);
    }
}

static void money_that_is_not_where_the_row_says_is_found(void **state)
{
    static const char *const planted[] = {
        /* the row says packet, the transfer says sender, and the other way round */
        "UPDATE transfer t JOIN packet p ON p.id = t.packet_id SET t.credit_id = p.sender_id"
        " WHERE t.kind = 'return' AND t.seq = 0 AND t.packet_id = ?",
        "UPDATE share_return SET position = NULL WHERE share_no = 0 AND packet_id = ?",
        /* from somebody else, or another amount */
        "UPDATE transfer SET debit_id = debit_id + 4 WHERE kind = 'return' AND seq = 0 AND packet_id = ?",
        "UPDATE transfer SET amount_fen = amount_fen + 1 WHERE kind = 'return' AND seq = 1 AND packet_id = ?",
        "UPDATE share_return SET amount_fen = amount_fen + 1 WHERE share_no = 1 AND packet_id = ?",
        "UPDATE share_return r JOIN transfer t ON t.kind = 'return' AND t.packet_id = r.packet_id"
        " AND t.seq = r.share_no SET r.amount_fen = 99, t.amount_fen = 99 WHERE r.share_no = 1 AND r.packet_id = ?",
        /* missing, or once more */
        "DELETE FROM transfer WHERE kind = 'return' AND seq = 0 AND packet_id = ?",
        "UPDATE transfer SET seq = 7 WHERE kind = 'return' AND seq = 0 AND packet_id = ?",
        "INSERT INTO transfer (kind, debit_id, credit_id, amount_fen, packet_id, seq, created_ms)"
        " SELECT kind, debit_id, credit_id, amount_fen, packet_id, 7, created_ms FROM transfer"
        " WHERE kind = 'return' AND seq = 0 AND packet_id = ?",
        "DELETE FROM share_return WHERE share_no = 0 AND packet_id = ?",
    };
    (void)state;
    each_is_found(AUDIT_RETURNS, planted, ARRAY_LEN(planted));
}

static void returns_that_do_not_fit_their_packet_and_its_grabs_are_found(void **state)
{
    static const char *const planted[] = {
        /* a gap, another beginning, other sums */
        "UPDATE share_return SET position = 5 WHERE position = 4 AND packet_id = ?",
        "UPDATE share_return SET position = 2 WHERE position = 3 AND packet_id = ?",
        "UPDATE packet SET returned_count = returned_count + 1 WHERE id = ?",
        "UPDATE packet SET returned_count = returned_count - 1 WHERE id = ?",
        "UPDATE packet SET returned_fen = returned_fen - 1 WHERE id = ?",
        /* of a share that nobody, or somebody else, has grabbed */
        "DELETE FROM `grab` WHERE share_no = 0 AND packet_id = ?",
        "UPDATE share_return SET share_no = 4 WHERE share_no = 0 AND packet_id = ?",
        "UPDATE share_return SET user_id = user_id + 1 WHERE share_no = 0 AND packet_id = ?",
        "UPDATE share_return r JOIN transfer t ON t.kind = 'return' AND t.packet_id = r.packet_id"
        " AND t.seq = r.share_no SET r.user_id = r.user_id + 4, t.debit_id = t.debit_id + 4"
        " WHERE r.share_no = 0 AND r.packet_id = ?",
        /* the share that it became has another amount */
        "UPDATE `grab` SET amount_fen = amount_fen + 1 WHERE share_no = 3 AND packet_id = ?",
        /* of a packet that is missing */
        "DELETE FROM packet WHERE id = ?",
    };
    (void)state;
    each_is_found(AUDIT_RETURNS, planted, ARRAY_LEN(planted));
}

static void a_return_to_the_sender_that_went_into_the_packet_is_found(void **state)
{
    static const char *const planted[] = {
        "UPDATE transfer SET credit_id = packet_id WHERE kind = 'return' AND packet_id = ?",
        "UPDATE share_return SET position = 2 WHERE packet_id = ?",
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(planted); i++) {
        struct scene s;
        scene_begin(&s);
        assert_int_equal(db_exec(s.w.app->stores.db, NULL, planted[i], DB_PARAMS(DB_U64(s.finished))), ST_OK);
        assert_true(is_named(&s, AUDIT_RETURNS, s.finished, false));
        world_end(&s.w);
    }
}

/* The row says that Redis was told. */
static void what_redis_lacks_of_a_return_is_found(void **state)
{
    static const char *const planted[] = {
        "HDEL {pk} returned_shares",       /* both marks */
        "HSET {pk} returned_shares 1",     /* one of them */
        "HSET {pk} returned_shares 0,1,2", /* one too many */
        "HSET {pk} count 4",               /* a share */
        "HSET {pk} amount 400",            /* its amount */
        "SETRANGE {sh} 16 abcd",           /* another amount of the last share */
        "APPEND {sh} abcd",                /* a share more */
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(planted); i++) {
        struct scene s;
        scene_begin(&s);
        (void)world_redis(&s.w, s.open, planted[i]);
        if (!is_named(&s, i == 5 ? AUDIT_I7 : AUDIT_I8, s.open, true))
            fail_msg("not found: %s", planted[i]);
        world_end(&s.w);
    }
}

static void thanks_of_nobody_and_miscounted_thanks_are_found(void **state)
{
    static const char *const planted[] = {
        "UPDATE thanks SET user_id = user_id + 1 WHERE packet_id = ?",
        "UPDATE thanks SET share_no = 4 WHERE packet_id = ?",
        "UPDATE thanks SET share_no = 0 WHERE packet_id = ?",
        "INSERT INTO thanks (packet_id, share_no, user_id, text, created_ms)"
        " SELECT packet_id, 3, user_id, 'x', 1 FROM `grab` WHERE share_no = 3 AND packet_id = ?",
        "DELETE FROM thanks WHERE packet_id = ?",
        "UPDATE packet SET thanks_count = 2 WHERE id = ?",
        "UPDATE packet SET thanks_count = 0 WHERE id = ?",
        "DELETE FROM `grab` WHERE share_no = 2 AND packet_id = ?",
    };
    (void)state;
    each_is_found(AUDIT_THANKS, planted, ARRAY_LEN(planted));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(money_that_is_not_where_the_row_says_is_found),
        cmocka_unit_test(returns_that_do_not_fit_their_packet_and_its_grabs_are_found),
        cmocka_unit_test(a_return_to_the_sender_that_went_into_the_packet_is_found),
        cmocka_unit_test(what_redis_lacks_of_a_return_is_found),
        cmocka_unit_test(thanks_of_nobody_and_miscounted_thanks_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The audit of returns and thanks: it names the packet of each planted contradiction. */
#include "acts/give_back.h"
#include "acts/thanks.h"
#include "audit/audit_internal.h"
#include "base/array.h"
#include "base/clock.h"
#include "support/stores_do.h"
#include "support/test.h"
#include "test_world.h"

/* An open packet of three shares: users 1 and 2 have given theirs back, as shares 3 and 4; users 3 and 4 have taken
 * shares 2 and 3, and user 3 has said thanks. A finished packet of two: user 1 has given share 0 back to the sender. */
static struct audit audit;
static uint64_t open_packet, finished;

static void gave_back(uint64_t packet_id, size_t user)
{
    struct give_back given;
    assert_int_equal(give_back(&w->page->stores, w->arena, packet_id, w->users[user], clock_now_ms(), &given), ST_OK);
    assert_int_equal(given.result, GIVE_BACK_DONE);
}

static void scene_begin(void)
{
    enum thanks_result said;
    world_begin(w, 6);
    open_packet = world_even(w, 300, 3);
    finished = world_even(w, 200, 2);
    world_grab_all(w, open_packet, 1, 2);
    world_grab_all(w, finished, 1, 2);
    assert_int_equal(world_drain(w), 4);
    gave_back(open_packet, 1);
    gave_back(open_packet, 2);
    gave_back(finished, 1);
    world_grab_all(w, open_packet, 3, 2);
    assert_int_equal(world_drain(w), 2);
    assert_int_equal(
        thanks_say(&w->page->stores, w->arena, open_packet, w->users[3], STR("thanks"), clock_now_ms(), &said), ST_OK);
    assert_int_equal(said, THANKS_SAID);
    world_audit_clean(w);
}

static enum status tables_body(struct db *db, void *ctx)
{
    return audit_tables(ctx, db);
}

/* True when this check of the audit names the packet; for the tables alone, or with Redis. */
static bool is_named(enum audit_check check, uint64_t packet_id, bool with_redis)
{
    audit = (struct audit){ 0 };
    assert_int_equal(with_redis ? audit_run(&w->auditor->stores, &audit)
                                : db_snapshot(w->auditor->stores.db, tables_body, &audit),
                     ST_OK);
    return audit_names(&audit, check, "packet", packet_id);
}

/* Executes each statement, with the packet's id for its ?, on correct tables: the audit must then name the packet. */
static void each_is_found(enum audit_check check, uint64_t packet_id, const char *const *statements, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        world_tables_keep(w);
        world_sql(w, "SET FOREIGN_KEY_CHECKS = 0");
        sql_do_with(w->app->stores.db, statements[i], DB_PARAMS(DB_U64(packet_id)));
        if (!is_named(check, packet_id, false))
            fail_msg("not found: %s", statements[i]);
        world_tables_restore(w);
    }
}

TEST(each_planted_return_and_thanks_is_named)
{
    static const char *const returns[] = {
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
    static const char *const to_sender[] = {
        /* it went into the packet */
        "UPDATE transfer SET credit_id = packet_id WHERE kind = 'return' AND packet_id = ?",
        "UPDATE share_return SET position = 2 WHERE packet_id = ?",
    };
    static const char *const thanks[] = {
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
    scene_begin();
    each_is_found(AUDIT_RETURNS, open_packet, returns, ARRAY_LEN(returns));
    each_is_found(AUDIT_RETURNS, finished, to_sender, ARRAY_LEN(to_sender));
    each_is_found(AUDIT_THANKS, open_packet, thanks, ARRAY_LEN(thanks));
    world_audit_clean(w); /* nothing of them is left */
    world_end(w);
}

/* The row says that Redis has it. */
TEST(what_redis_lacks_of_a_return_is_found)
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
    for (size_t i = 0; i < ARRAY_LEN(planted); i++) {
        scene_begin();
        (void)world_redis(w, open_packet, planted[i]);
        if (!is_named(i == 5 ? AUDIT_I7 : AUDIT_I8, open_packet, true))
            fail_msg("not found: %s", planted[i]);
        world_end(w);
    }
}

TESTS(NULL, NULL)

/* The audit: it is clean when nothing is wrong, and it names each planted violation. */
#include "audit/audit_internal.h"
#include "test_world.h"

/* A world with one open packet (two of three shares settled), one finished, one for users[2] alone. */
static struct audit audit;
static uint64_t packets[3];
enum { OPEN, FINISHED, EXCLUSIVE };

static void scene_begin(void)
{
    memset(&audit, 0, sizeof audit);
    world_begin(w, 6);
    packets[OPEN] = world_send(w, 0, PACKET_LUCKY, 1000, 3, HOUR_MS, -1);
    packets[FINISHED] = world_send(w, 0, PACKET_LUCKY, 500, 2, HOUR_MS, -1);
    packets[EXCLUSIVE] = world_send(w, 1, PACKET_EXCLUSIVE, 100, 1, HOUR_MS, 2);
    world_grab_all(w, packets[OPEN], 1, 2);
    world_grab_all(w, packets[FINISHED], 3, 2);
    world_grab(w, packets[EXCLUSIVE], 2);
    assert_int_equal(world_drain_clean(w), 5);
}

#define SCENE_TEST(name) FAULTY_WORLD_TEST_BY(name, scene_begin())

static void audit_packet(uint64_t packet_id)
{
    audit.packet_id = packet_id;
    assert_int_equal(audit_run(&w->app->stores, &audit), ST_OK);
}

/* The id for a mark: {0} … {5}: of a user; {o} {f} {e}: of the packet that is open, finished, exclusive. */
static uint64_t id_of(char mark)
{
    if (mark >= '0' && mark <= '5')
        return w->users[mark - '0'];
    return packets[mark == 'o' ? OPEN : mark == 'f' ? FINISHED : EXCLUSIVE];
}

static const char *marks_fill(const char *text)
{
    struct buf filled = BUF_EMPTY;
    for (const char *p = text; *p != '\0'; p++)
        if (p[0] == '{' && p[1] != '\0' && strchr("012345ofe", p[1]) != NULL && p[2] == '}') {
            buf_u64(&filled, id_of(p[1]));
            p += 2;
        } else {
            buf_char(&filled, *p);
        }
    const char *out = arena_cstr(w->arena, buf_view(&filled));
    buf_free(&filled);
    return out;
}

/* Each row plants its statement, or its Redis command for the keys of the open packet, in correct stores. Packet 77
 * does not exist; account 0 stands for all. */
TEST(each_planted_violation_is_named)
{
    static const struct {
        enum audit_check check;
        const char *subject, *sql, *redis;
    } planted[] = {
        /* an escrow that does not hold the rest */
        { AUDIT_I1, "packet {o}", "UPDATE account SET balance_fen = balance_fen + 1 WHERE id = {o}", NULL },
        { AUDIT_I1, "packet {o}", "UPDATE packet SET grabbed_count = grabbed_count - 1 WHERE id = {o}", NULL },
        { AUDIT_I1, "packet {o}", "DELETE FROM grab WHERE share_no = 1 AND packet_id = {o}", NULL },
        { AUDIT_I5, "account {2}", "DELETE FROM grab WHERE share_no = 1 AND packet_id = {o}", NULL },
        /* a refund of a packet that does not exist */
        { AUDIT_I1, "packet 77",
          "INSERT INTO transfer (kind, debit_id, credit_id, amount_fen, packet_id, seq, created_ms)"
          " VALUES ('refund', 1, {0}, 5, 77, 0, 1)",
          NULL },
        /* a hole in the shares, and two users with one share in Redis */
        { AUDIT_I2, "packet {o}", "UPDATE grab SET share_no = 2 WHERE share_no = 1 AND packet_id = {o}", NULL },
        { AUDIT_I2, "packet {o}", NULL, "HSET {gr} 99999 0" },
        /* a user twice, and one who is not the receiver */
        { AUDIT_I3, "packet {o}", NULL, "RPUSH {or} {1},1,9000000000000-0,n" },
        { AUDIT_I3, "packet {e}", "UPDATE grab SET user_id = {4} WHERE packet_id = {e}", NULL },
        /* a grab of a user without a wallet */
        { AUDIT_I4, "packet {o}", "SET STATEMENT foreign_key_checks = 0 FOR DELETE FROM account WHERE id = {1}", NULL },
        /* a balance without transfers, and balances that do not sum to zero */
        { AUDIT_I5, "account {5}", "UPDATE account SET balance_fen = balance_fen + 100 WHERE id = {5}", NULL },
        { AUDIT_I5, "account 0", "UPDATE account SET balance_fen = balance_fen - 7 WHERE id = 1", NULL },
        /* a closed packet with money in escrow, and a refund to the wrong person */
        { AUDIT_I6, "packet {f}", "UPDATE account SET balance_fen = 5 WHERE id = {f}", NULL },
        { AUDIT_I6, "packet {f}",
          "INSERT INTO transfer (kind, debit_id, credit_id, amount_fen, packet_id, seq, created_ms)"
          " VALUES ('refund', {f}, {5}, 1, {f}, 0, 0)",
          NULL },
        /* another amount than drawn, a changed seed, shares that changed in Redis, a shown grab that changed */
        { AUDIT_I7, "packet {f}", "UPDATE grab SET amount_fen = amount_fen + 1 WHERE share_no = 0 AND packet_id = {f}",
          NULL },
        { AUDIT_I7, "packet {f}", "UPDATE packet SET seed = REPEAT('x', 32) WHERE id = {f}", NULL },
        { AUDIT_I7, "packet {o}", NULL, "SETRANGE {sh} 8 abcd" },
        { AUDIT_I7, "packet {o}", NULL, "LSET {or} 0 {1},1,5-0,n" },
        /* an open packet, and a settled grab, that Redis lacks */
        { AUDIT_I8, "packet {o}", NULL, "DEL {pk} {sh} {gr} {or}" },
        { AUDIT_I8, "packet {o}", NULL, "RPOP {or}" },
        /* wrong totals of a month */
        { AUDIT_MONTHS, "user {1}", "UPDATE user_month SET received_fen = received_fen + 1 WHERE user_id = {1}", NULL },
        { AUDIT_MONTHS, "user {1}", "UPDATE user_month SET received_count = received_count + 1 WHERE user_id = {1}",
          NULL },
        { AUDIT_MONTHS, "user {0}", "UPDATE user_month SET sent_fen = sent_fen - 1 WHERE user_id = {0}", NULL },
        { AUDIT_MONTHS, "user {0}", "UPDATE user_month SET sent_count = sent_count - 1 WHERE user_id = {0}", NULL },
        { AUDIT_MONTHS, "user {1}", "UPDATE user_month SET month = month % 12 + 1 WHERE user_id = {1}",
          NULL }, /* the year's sum stays right */
        { AUDIT_MONTHS, "user {1}", "DELETE FROM user_month WHERE user_id = {1}", NULL },
        { AUDIT_MONTHS, "user {1}",
          "INSERT INTO user_month (user_id, year, month, sent_count) SELECT user_id, year, month % 12 + 1, 1"
          " FROM user_month WHERE user_id = {1} LIMIT 1",
          NULL },
        { AUDIT_MONTHS, "user {1}",
          "INSERT INTO user_month (user_id, year, month, sent_count) VALUES ({1}, 2199, 1, 1)",
          NULL }, /* its only row */
        { AUDIT_MONTHS, "user {1}", "UPDATE user_month SET best_count = best_count + 1 WHERE user_id = {1}", NULL },
    };
    scene_begin();
    EACH (c, planted) {
        const bool in_tables = c->sql != NULL;
        if (in_tables) {
            world_tables_keep(w);
            world_sql(w, marks_fill(c->sql));
        } else {
            (void)world_redis(w, packets[OPEN], marks_fill(c->redis));
        }
        audit_packet(0);
        assert_false(audit_clean(&audit));
        if (!audit_names_subject(&audit, c->check, marks_fill(c->subject))) {
            audit_print(&audit, false, stderr);
            fail_msg("%s is not named after: %s", c->subject, in_tables ? c->sql : c->redis);
        }
        if (in_tables) {
            world_tables_restore(w);
        } else {
            world_end(w);
            scene_begin();
        }
    }
    world_audit_clean(w); /* nothing of them is left */
    world_end(w);
}

/* The sums of the packet stay right: only the wallets are wrong. */
SCENE_TEST(a_grab_that_pays_another_wallet_violates_i5)
{
    world_sql(w, marks_fill("UPDATE grab SET user_id = {5} WHERE share_no = 0 AND packet_id = {f}"));
    audit_packet(0);
    assert_ints({ audit.checks[AUDIT_I1].violations, 0 }, { audit.checks[AUDIT_I5].violations, 2 });
    assert_true(audit_names(&audit, AUDIT_I5, "account", w->users[5]));
}

SCENE_TEST(a_grab_of_another_amount_violates_i1_and_i5)
{
    world_sql(w, marks_fill("UPDATE grab SET amount_fen = amount_fen + 1 WHERE share_no = 0 AND packet_id = {o}"));
    audit_packet(0);
    assert_int_equal(audit.checks[AUDIT_I1].violations, 1);
    assert_int_equal(audit.checks[AUDIT_I5].violations, 2); /* escrow and wallet */
    assert_true(audit_names(&audit, AUDIT_I5, "account", packets[OPEN]));
}

SCENE_TEST(an_acknowledged_grab_missing_from_the_stream_violates_i4)
{
    world_grab(w, packets[OPEN], 3);
    (void)world_redis(w, packets[OPEN], "XTRIM {ev} MAXLEN 0");
    audit_packet(0);
    assert_true(audit_names(&audit, AUDIT_I4, "packet", packets[OPEN]));
}

SCENE_TEST(grabs_that_wait_for_the_worker_are_counted_and_no_violation)
{
    world_grab(w, packets[OPEN], 3);
    audit_packet(0);
    assert_true(audit_clean(&audit));
    assert_ints({ audit.unsettled, 1 }, { audit.packets, 3 });
}

SCENE_TEST(the_audit_of_one_packet_checks_that_packet_only)
{
    world_sql(w, marks_fill("UPDATE packet SET grabbed_count = grabbed_count - 1 WHERE id = {o}"));
    audit_packet(packets[FINISHED]);
    assert_true(audit_clean(&audit));
    assert_int_equal(audit.packets, 1);
    audit_packet(packets[OPEN]);
    assert_int_equal(audit.checks[AUDIT_I1].violations, 1);
}

static enum status tables_body(struct db *db, void *ctx)
{
    return audit_tables(ctx, db);
}

SCENE_TEST(the_length_of_the_id_ranges_does_not_change_the_result)
{
    static struct audit audits[5];
    world_sql(w, "UPDATE packet SET grabbed_count = grabbed_count - 1");
    world_sql(w, "UPDATE `grab` SET amount_fen = amount_fen + 1");
    world_sql(w, "UPDATE account SET balance_fen = balance_fen + 1");
    world_sql(w, "INSERT INTO transfer (kind, debit_id, credit_id, amount_fen, packet_id, seq, created_ms)"
                 " SELECT 'refund', 1, MIN(id), 5, 9223372036854775809, 0, 1 FROM user"); /* of no packet */
    for (uint32_t rows = 0; rows < 5; rows++) {
        audits[rows].range_rows = rows;
        assert_int_equal(db_snapshot(w->auditor->stores.db, tables_body, &audits[rows]), ST_OK);
        assert_int_equal(audits[rows].packets, 3);
        for (size_t check = 0; check < AUDIT_CHECK_COUNT; check++)
            assert_int_equal(audits[rows].checks[check].violations, audits[0].checks[check].violations);
    }
    assert_int_equal(audits[0].checks[AUDIT_I1].violations, 4); /* three packets, one transfer of no packet */
    assert_int_equal(audits[0].checks[AUDIT_I7].violations, 5);
    assert_true(audits[0].checks[AUDIT_I5].violations > 3);
}

SCENE_TEST(the_json_report_lists_the_violations)
{
    char *text = NULL;
    size_t size = 0;
    world_sql(w, marks_fill("UPDATE account SET balance_fen = balance_fen + 100 WHERE id = {5}"));
    audit_packet(0);
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    audit_print(&audit, true, out);
    (void)fclose(out);
    assert_non_null(strstr(text, "\"ok\":false"));
    assert_non_null(strstr(text, "{\"id\":\"I5\""));
    assert_non_null(strstr(text, "wallet balance 100100, its transfers and grabs make 100000"));
    free(text);
}

TESTS(NULL, NULL)

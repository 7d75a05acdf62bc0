/* A repeat is answered as done only when MariaDB can't lose the row that it rests on (mysql/db_durable.h). */
#include "acts/end.h"
#include "acts/fund.h"
#include "acts/give_back.h"
#include "acts/thanks.h"
#include "ledger/topup.h"
#include "mysql/db_durable.h"
#include "mysql/db_internal.h"
#include "test_service_world.h"
#include "wallet/deposit.h"

/* ---- the linker replaces db_durable by this wrapper (hb_wrap) ---- */

static size_t durable_calls;
static bool durable_fails;

enum status __real_db_durable(struct db *db, uint64_t connection);
enum status __wrap_db_durable(struct db *db, uint64_t connection);

enum status __wrap_db_durable(struct db *db, uint64_t connection)
{
    durable_calls++;
    return durable_fails ? ST_UNKNOWN : __real_db_durable(db, connection);
}

/* ---- kinds of repeats: each call asks for the same ---- */

static struct {
    uint64_t channel, packet, ends, withdrawal[2], order, credit;
    struct caller *caller;
} made;

static enum status moved_by(const struct external_author *author, enum transfer_kind kind, const char *reference)
{
    struct external_row row = row_of(0, 5, reference);
    return external_move(money_db(), w->arena, kind, made.channel, &row, 1, author, clock_now_ms());
}

static enum status ended_by(const struct external_author *author, uint64_t id, bool post)
{
    struct withdrawal_end end = { .id = id, .post = post, .reference = STR("paid"), .reason = STR("why") };
    return withdrawal_end(money_db(), w->arena, &end, author, clock_now_ms());
}

static enum status send_call(void)
{
    struct fund_packet funded;
    struct receivers nobody = { .count = 0 };
    const struct send_order order = { .packet = { .kind = PACKET_EVEN,
                                                  .split = SPLIT_EVEN,
                                                  .amount_fen = 100,
                                                  .share_min_fen = 1,
                                                  .share_max_fen = w->config->share_fen_max,
                                                  .count = 1,
                                                  .greeting = STR("x"),
                                                  .request_key = STR("durable") },
                                      .lifetime_ms = HOUR_MS };
    return fund_packet(&w->page->stores, w->arena, (struct send_party){ .id = w->users[0], .name = STR("x") }, &nobody,
                       &order, clock_now_ms(), &funded);
}

static enum status deposit_call(void)
{
    struct deposit d = { .user_id = w->users[0], .amount_fen = 5, .request_key = STR("durable") };
    return deposit_make(money_db(), w->arena, &d, clock_now_ms());
}

static enum status withdraw_call(void)
{
    struct withdrawal_request r = { .user_id = w->users[0],
                                    .channel_id = made.channel,
                                    .amount_fen = 5,
                                    .destination = STR("bank"),
                                    .key = STR("durable") };
    return withdrawal_request(money_db(), w->arena, &r, clock_now_ms());
}

static enum status order_call(void)
{
    struct topup order = {
        .user_id = w->users[0], .channel.id = made.channel, .amount_fen = 5, .request_key = STR("durable")
    };
    bool repeated;
    return topup_open(money_db(), w->arena, &order, &repeated, clock_now_ms());
}

static enum status credit_call(void)
{
    return moved_by(&ANNA, TRANSFER_CREDIT, "durable-c");
}

static enum status debit_call(void)
{
    return moved_by(&ANNA, TRANSFER_DEBIT, "durable-d");
}

static enum status service_call(void)
{
    return moved_by(&made.caller->author, TRANSFER_CREDIT, "durable-s");
}

static enum status reverse_call(void)
{
    struct reversal r = { .transfer_id = made.credit, .reference = STR("durable-r"), .memo = STR("") };
    return external_reverse(money_db(), w->arena, &r, &ANNA, clock_now_ms());
}

static enum status post_call(void)
{
    return ended_by(&made.caller->author, made.withdrawal[0], true);
}

static enum status void_call(void)
{
    return ended_by(&ANNA, made.withdrawal[1], false);
}

static enum status paid_call(void)
{
    struct topup_paid paid = { .id = made.order, .reference = STR("durable-p"), .amount_fen = 7 };
    return topup_paid(money_db(), w->arena, &paid, &ANNA, clock_now_ms());
}

static enum status end_call(void)
{
    struct end_packet ended;
    return end_packet(&w->page->stores, w->arena, made.ends, w->users[0], clock_now_ms(), &ended);
}

static enum status thanks_call(void)
{
    enum thanks_result said;
    return thanks_say(&w->page->stores, w->arena, made.packet, w->users[1], STR("thanks"), clock_now_ms(), &said);
}

static enum status give_back_call(void)
{
    struct give_back given;
    return give_back(&w->page->stores, w->arena, made.packet, w->users[1], clock_now_ms(), &given);
}

static const struct {
    const char *name;
    enum status (*call)(void);
} KINDS[] = {
    { "a send", send_call },           { "a deposit", deposit_call },
    { "a withdrawal", withdraw_call }, { "an order", order_call },
    { "a credit", credit_call },       { "a debit", debit_call },
    { "by a service", service_call },  { "a reversal", reverse_call },
    { "a post", post_call },           { "a void", void_call },
    { "a payment", paid_call },        { "an end", end_call },
    { "thanks", thanks_call },         { "a share given back", give_back_call },
};

static uint64_t withdrawal_new(const char *key)
{
    assert_int_equal(withdrawal_hold(money_db(), w->users[0], made.channel, 5, STR("bank"), str_from(key), 1), ST_OK);
    return (uint64_t)world_number(w, "SELECT MAX(id) FROM withdrawal", 0);
}

static void all_make(void)
{
    bool repeated;
    durable_fails = false;
    made.channel = channel_new(STR("payroll"));
    assert_int_equal(topup_url_set(money_db(), made.channel, STR("https://pay.example/")), ST_OK);
    made.caller = caller_new(STR("program"), ALL_SCOPES, made.channel, 0);
    made.credit = moved_one(TRANSFER_CREDIT, made.channel, 0, 9, "reversed");
    made.packet = world_even_settled(w, 400, 4, 1);
    made.ends = world_even(w, 400, 4);
    for (size_t i = 0; i < ARRAY_LEN(made.withdrawal); i++)
        made.withdrawal[i] = withdrawal_new(i == 0 ? "posted" : "voided");
    struct topup order = {
        .user_id = w->users[0], .channel.id = made.channel, .amount_fen = 7, .request_key = STR("paid")
    };
    assert_int_equal(topup_open(money_db(), w->arena, &order, &repeated, clock_now_ms()), ST_OK);
    made.order = order.id;
}

WORLD_TEST(only_a_repeat_waits_until_mariadb_can_not_lose_what_it_found, 2)
{
    all_make();
    EACH (kind, KINDS) {
        static const struct {
            bool fails;
            size_t calls;
            enum status answer;
        } times[] = { { true, 0, ST_OK }, { false, 1, ST_OK }, { true, 1, ST_UNKNOWN }, { false, 1, ST_OK } };
        EACH (time, times) {
            durable_calls = 0;
            durable_fails = time->fails;
            const enum status st = kind->call();
            if (st != time->answer || durable_calls != time->calls)
                fail_msg("%s, call %zu: status %d, %zu commits", kind->name, (size_t)(time - times), (int)st,
                         durable_calls);
        }
    }
    (void)world_expire(w, NULL);
    (void)world_drain(w);
}

WORLD_TEST(a_batch_waits_once_when_one_of_its_rows_was_there, 2)
{
    all_make();
    for (size_t before = 0; before < 3; before++) {
        struct external_row rows[] = { row_of(0, 5, "batch-1"), row_of(1, 5, "batch-2") };
        durable_calls = 0;
        assert_int_equal(moved_all(TRANSFER_CREDIT, made.channel, rows, before == 0 ? 1 : 2), ST_OK);
        assert_int_equal(durable_calls, before == 0 ? 0 : 1);
    }
}

/* ---- the commit itself ---- */

static int64_t next_id(void)
{
    return world_number(w,
                        "SELECT AUTO_INCREMENT FROM information_schema.TABLES"
                        " WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'durable'",
                        0);
}

static int64_t log_position(const char *name)
{
    return world_number(w,
                        arena_printf(w->arena,
                                     "SELECT CAST(VARIABLE_VALUE AS SIGNED) FROM information_schema.GLOBAL_STATUS"
                                     " WHERE VARIABLE_NAME = '%s'",
                                     name)
                            .ptr,
                        0);
}

/* The status variables are MariaDB's. */
WORLD_TEST(the_commit_flushes_the_log_and_leaves_no_row, 1)
{
    struct db *db = money_db();
    const int64_t before = next_id();
    for (int64_t i = 1; i <= 3; i++) {
        world_sqlf(w, "UPDATE user SET face = 'rabbit', created_ms = created_ms - 1");
        const int64_t written = log_position("Innodb_lsn_current");
        assert_int_equal(db_durable(db, db_connections(db)), ST_OK);
        assert_true(written > 0 && log_position("Innodb_lsn_flushed") >= written);
        assert_int_equal(next_id(), before + i);
        assert_int_equal(world_number(w, "SELECT COUNT(*) FROM durable", 0), 1);
    }
}

WORLD_TEST(what_was_read_on_a_lost_connection_may_be_lost, 1)
{
    struct db *db = money_db();
    const uint64_t connection = db_connections(db);
    db_connection_close(db); /* as when the server restarts: the call opens another connection */
    assert_int_equal(db_durable(db, connection), ST_UNKNOWN);
    assert_int_equal(db_connections(db), connection + 1);
    const int64_t before = next_id();
    assert_int_equal(db_durable(db, connection), ST_UNKNOWN);
    assert_int_equal(next_id(), before);
    assert_int_equal(db_durable(db, connection + 1), ST_OK);
}

/* Also with the checks of the session switched off: InnoDB then locks an empty table as a whole, and the table has the
 * row of its migration. */
WORLD_TEST(a_call_that_somebody_leaves_open_holds_up_nobody, 1)
{
    struct db *db = money_db();
    MYSQL *page = test_services_mysql(w->page);
    EACH_TEXT (sql, "SET unique_checks = 0, foreign_key_checks = 0", "START TRANSACTION", "CALL durable_commit()")
        assert_of(sql, mysql_query(page, sql) == 0);
    assert_int_equal(db_durable(db, db_connections(db)), ST_OK);
    mysql_close(page);
}

WORLD_TEST(without_the_routine_nothing_is_durable, 1)
{
    struct db *db = money_db();
    world_sql(w, "RENAME TABLE durable TO durable_away");
    const enum status st = db_durable(db, db_connections(db));
    world_sql(w, "RENAME TABLE durable_away TO durable");
    assert_int_equal(st, ST_UNKNOWN);
    assert_int_equal(db_durable(db, db_connections(db)), ST_OK);
}

TESTS(NULL, NULL)

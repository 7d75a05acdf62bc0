/* Orders of top-ups: they are made once for each key, and each payment is credited once for its reference. */
#include <mysqld_error.h>

#include "ledger/topup.h"
#include "support/test.h"
#include "test_lost_commit.h"
#include "test_service_world.h"

enum { DAY_MS = 24 * HOUR_MS };

/* A channel that takes payments; its id. */
static uint64_t taker_new(struct str name)
{
    const uint64_t channel = channel_new(name);
    assert_int_equal(topup_url_set(money_db(), channel, STR("https://pay.example/?c=1")), ST_OK);
    return channel;
}

static struct topup order_of(size_t user, uint64_t channel, int64_t fen, const char *key)
{
    return (struct topup){
        .user_id = w->users[user], .channel.id = channel, .amount_fen = fen, .request_key = str_from(key)
    };
}

static enum status opened(struct topup *order)
{
    bool repeated;
    return topup_open(money_db(), w->arena, order, &repeated, clock_now_ms());
}

/* A new order of users[user]; its number. */
static uint64_t ordered(size_t user, uint64_t channel, int64_t fen, const char *key)
{
    struct topup order = order_of(user, channel, fen, key);
    assert_int_equal(opened(&order), ST_OK);
    return order.id;
}

static struct topup_paid payment(uint64_t id, const char *reference, int64_t fen)
{
    return (struct topup_paid){ .id = id, .reference = str_from(reference), .amount_fen = fen };
}

static enum status paid(struct topup_paid *p)
{
    return topup_paid(money_db(), w->arena, p, &ANNA, clock_now_ms());
}

static struct topup seen(size_t user, uint64_t id)
{
    struct topup order;
    assert_int_equal(topup_find(money_db(), w->arena, w->users[user], id, &order), ST_OK);
    return order;
}

static int64_t order_count(void)
{
    return world_number(w, "SELECT COUNT(*) FROM topup", 0);
}

/* ---- orders ---- */

WORLD_TEST(a_channel_takes_payments_while_it_has_a_page, 1)
{
    struct topup_channel *found;
    size_t count;
    bool offered;
    (void)channel_new(STR("bank"));
    assert_int_equal(topup_is_offered(money_db(), w->arena, &offered), ST_OK);
    assert_false(offered);
    const uint64_t channel = taker_new(STR("cards"));
    assert_int_equal(topup_is_offered(money_db(), w->arena, &offered), ST_OK);
    assert_true(offered);
    assert_int_equal(topup_channels_find(money_db(), w->arena, &found, &count), ST_OK);
    assert_ints({ count, 1 }, { found[0].id, channel });
    assert_true(str_equal(found[0].name, STR("cards")) && str_equal(found[0].note, STR("of a test")) &&
                str_equal(found[0].url, STR("https://pay.example/?c=1")));
    const struct {
        uint64_t channel;
        struct str url;
        enum status status;
    } refused[] = {
        { channel, STR("ftp://pay.example/"), ST_INVALID },
        { channel, STR("https://pay.example/ x"), ST_INVALID },
        { channel, STR("\xff"), ST_INVALID },
        { CHANNEL_DEMO_ID, STR("https://pay.example/"), ST_NOT_FOUND },
        { CHANNEL_FORFEITED_ID, STR("https://pay.example/"), ST_NOT_FOUND },
        { channel + 1, STR("https://pay.example/"), ST_NOT_FOUND },
    };
    EACH (c, refused)
        assert_int_equal(topup_url_set(money_db(), c->channel, c->url), c->status);
    const uint64_t id = ordered(0, channel, 100, "1");
    assert_int_equal(topup_url_set(money_db(), channel, STR("")), ST_OK);
    struct topup late = order_of(0, channel, 100, "2");
    assert_int_equal(opened(&late), ST_NOT_FOUND);
    struct topup_paid p = payment(id, "r", 100);
    assert_int_equal(paid(&p), ST_OK); /* of an order from before */
}

WORLD_TEST(an_order_is_made_once_for_each_key_and_is_no_money, 2)
{
    const uint64_t channel = taker_new(STR("cards")), other = taker_new(STR("bank"));
    struct topup order = order_of(0, channel, 700, "key");
    bool repeated;
    assert_int_equal(topup_open(money_db(), w->arena, &order, &repeated, clock_now_ms()), ST_OK);
    assert_false(repeated);
    const struct topup first = seen(0, order.id);
    assert_ints({ first.user_id, w->users[0] }, { first.channel.id, channel }, { first.amount_fen, 700 },
                { first.paid, 0 }, { first.paid_fen, 0 }, { first.payment_count, 0 },
                { first.expires_ms - first.created_ms, DAY_MS });
    struct topup again = order_of(0, channel, 700, "key"), amount = order_of(0, channel, 701, "key"),
                 channel_too = order_of(0, other, 700, "key");
    assert_int_equal(topup_open(money_db(), w->arena, &again, &repeated, clock_now_ms()), ST_OK);
    assert_ints({ again.id, order.id }, { repeated, 1 });
    assert_int_equal(opened(&amount), ST_EXISTS);
    assert_int_equal(opened(&channel_too), ST_EXISTS);
    assert_true(ordered(1, channel, 5, "key") != order.id); /* a key is of its user */
    struct topup *list;
    size_t count;
    (void)ordered(0, other, 9, "2");
    assert_int_equal(topup_list(money_db(), w->arena, w->users[0], 0, 5, &list, &count), ST_OK);
    assert_ints({ count, 2 }, { list[0].amount_fen, 9 }, { list[1].id, order.id });
    assert_int_equal(topup_list(money_db(), w->arena, w->users[0], list[0].id, 5, &list, &count), ST_OK);
    assert_ints({ count, 1 }, { list[0].id, order.id });
    assert_int_equal(topup_find(money_db(), w->arena, w->users[1], order.id, &order), ST_NOT_FOUND);
    assert_wallets(0, FUNDED_FEN, FUNDED_FEN);
}

WORLD_TEST(an_order_that_is_wrong_is_refused, 2)
{
    const uint64_t channel = taker_new(STR("cards")), plain = channel_new(STR("bank"));
    world_sqlf(w, "UPDATE user SET deleting_ms = 1 WHERE id = %" PRIu64, w->users[1]);
    const struct {
        const char *what;
        struct topup order;
        enum status status;
    } cases[] = {
        { "nothing", order_of(0, channel, 0, "k"), ST_INVALID },
        { "less", order_of(0, channel, -5, "k"), ST_INVALID },
        { "too much", order_of(0, channel, TOPUP_FEN_MAX + 1, "k"), ST_INVALID },
        { "no key", order_of(0, channel, 5, ""), ST_INVALID },
        { "a channel without a page", order_of(0, plain, 5, "k"), ST_NOT_FOUND },
        { "demo", order_of(0, CHANNEL_DEMO_ID, 5, "k"), ST_NOT_FOUND },
        { "no channel", order_of(0, channel + 100, 5, "k"), ST_NOT_FOUND },
        { "a user who is being deleted", order_of(1, channel, 5, "k"), ST_NOT_FOUND },
    };
    EACH (c, cases) {
        struct topup order = c->order;
        const enum status st = opened(&order);
        if (st != c->status || order_count() != 0)
            fail_msg("%s: status %d", c->what, (int)st);
    }
}

/* What is paid, or an hour old, counts no more. */
WORLD_TEST(a_user_has_twenty_orders_of_an_hour_that_wait, 2)
{
    enum { WAITING_MAX = 20 };
    const uint64_t channel = taker_new(STR("cards"));
    uint64_t first = 0;
    for (int i = 0; i < WAITING_MAX; i++) {
        const uint64_t id = ordered(0, channel, 5, arena_printf(w->arena, "%d", i).ptr);
        first = first == 0 ? id : first;
    }
    struct topup one_more = order_of(0, channel, 5, "more"), repeat = order_of(0, channel, 5, "0");
    assert_int_equal(opened(&one_more), ST_INVALID);
    assert_int_equal(opened(&repeat), ST_OK);
    (void)ordered(1, channel, 5, "of another");
    struct topup_paid p = payment(first, "r", 5);
    assert_int_equal(paid(&p), ST_OK);
    assert_int_equal(opened(&one_more), ST_OK);
    one_more = order_of(0, channel, 5, "still more");
    assert_int_equal(opened(&one_more), ST_INVALID);
    world_sql(w, "UPDATE topup SET created_ms = created_ms - 3600000");
    assert_int_equal(opened(&one_more), ST_OK);
}

/* ---- payments ---- */

WORLD_TEST(what_was_paid_is_credited_once_for_each_reference, 2)
{
    const uint64_t channel = taker_new(STR("cards")), id = ordered(0, channel, 700, "1");
    struct topup_paid p = payment(id, "pay 1", 0);
    assert_int_equal(paid(&p), ST_OK);
    assert_ints({ p.repeated, 0 }, { p.amount_fen, 700 }, { p.order.user_id, w->users[0] }, { p.order.id, id },
                { p.made.kind, TRANSFER_CREDIT }, { p.made.user_id, w->users[0] }, { p.made.amount_fen, 700 });
    assert_true(str_equal(p.made.memo, arena_printf(w->arena, "top-up %" PRIu64, id)) &&
                str_equal(p.made.author, STR("anna")));
    const uint64_t transfer = p.made.id;
    assert_int_equal(paid(&p), ST_OK);
    assert_ints({ p.repeated, 1 }, { p.made.id, transfer });
    /* a second payment of the same order is money, too */
    struct topup_paid second = payment(id, "pay 2", 50);
    assert_int_equal(paid(&second), ST_OK);
    assert_false(second.repeated);
    assert_wallets(0, FUNDED_FEN + 750, FUNDED_FEN);
    assert_int_equal(world_balance(w, channel), -750);
    struct reversal back = { .transfer_id = second.made.id, .reference = STR("back"), .memo = STR("") };
    assert_int_equal(external_reverse(money_db(), w->arena, &back, &ANNA, clock_now_ms()), ST_OK);
    const struct topup order = seen(0, id);
    assert_ints({ order.paid, 1 }, { order.paid_fen, 750 }, { order.payment_count, 2 },
                { order.payments[0].transfer_id, transfer }, { order.payments[0].amount_fen, 700 },
                { order.payments[0].reversed_by, 0 }, { order.payments[1].amount_fen, 50 },
                { order.payments[1].reversed_by, back.made.id });
    assert_true(str_equal(order.payments[1].reference, STR("pay 2")));
}

WORLD_TEST(a_late_payment_and_another_amount_count, 1)
{
    const uint64_t channel = taker_new(STR("cards")), late = ordered(0, channel, 700, "1"),
                   other = ordered(0, channel, 700, "2");
    world_sql(w, "UPDATE topup SET created_ms = 1, expires_ms = 2");
    struct topup_paid p = payment(late, "late", 700), less = payment(other, "less", 699);
    assert_int_equal(paid(&p), ST_OK);
    assert_int_equal(paid(&less), ST_OK);
    assert_ints({ seen(0, other).paid_fen, 699 }, { seen(0, other).amount_fen, 700 });
    assert_wallets(0, FUNDED_FEN + 1399);
}

WORLD_TEST(a_payment_that_is_wrong_is_refused, 2)
{
    const uint64_t channel = taker_new(STR("cards")), first = ordered(0, channel, 700, "1"),
                   waits = ordered(0, channel, 300, "2"), leaver = ordered(1, channel, 100, "3");
    struct topup_paid made = payment(first, "pay", 700);
    assert_int_equal(paid(&made), ST_OK);
    moved_one(TRANSFER_CREDIT, channel, 0, 300, "credit");
    world_sqlf(w, "UPDATE user SET deleting_ms = 1 WHERE id = %" PRIu64, w->users[1]);
    const struct {
        const char *what;
        struct topup_paid paid;
        enum status status;
    } cases[] = {
        { "the same reference, another amount", payment(first, "pay", 699), ST_EXISTS },
        { "the reference of another order", payment(waits, "pay", 700), ST_EXISTS },
        { "the reference of a credit of this amount", payment(waits, "credit", 300), ST_EXISTS },
        { "no reference", payment(waits, "", 300), ST_INVALID },
        { "a blank at the end", payment(waits, "x ", 300), ST_INVALID },
        { "less than nothing", payment(waits, "x", -300), ST_INVALID },
        { "no order", payment(waits + 100, "x", 300), ST_NOT_FOUND },
        { "a user who is being deleted", payment(leaver, "x", 100), ST_NOT_FOUND },
        { "an order of another channel",
          { .id = waits, .channel_id = channel + 1, .reference = STR("x"), .amount_fen = 300 },
          ST_NOT_FOUND },
    };
    const int64_t before = money_read();
    EACH (c, cases) {
        struct topup_paid p = c->paid;
        const enum status st = paid(&p);
        if (st != c->status || p.is_leaving != (p.id == leaver) || money_read() != before)
            fail_msg("%s: status %d", c->what, (int)st);
    }
    const struct external_author nobody = { .name = STR(""), .interface = INTERFACE_COMMAND };
    assert_int_equal(
        topup_paid(money_db(), w->arena, &(struct topup_paid){ .id = waits, .reference = STR("x") }, &nobody, 5),
        ST_INVALID);
    assert_ints({ money_read(), before }, { seen(0, waits).paid, 0 });
}

WORLD_TEST(a_payment_is_credited_once_after_a_lost_commit_or_reply, 1)
{
    const uint64_t channel = taker_new(STR("cards")), id = ordered(0, channel, 10, "1");
    EACH (lost, LOST_COMMITS) {
        struct topup_paid p = payment(id, arena_printf(w->arena, "%p", (const void *)lost).ptr, 10);
        losses_plan(lost->first, lost->second, lost->third);
        const enum status st = paid(&p);
        if (st != lost->status)
            fail_msg("case %zu: status %d", (size_t)(lost - LOST_COMMITS), (int)st);
        losses_left = 0;
        assert_int_equal(paid(&p), ST_OK);
    }
    assert_wallets(0, FUNDED_FEN + 10 * (int64_t)ARRAY_LEN(LOST_COMMITS));
}

WORLD_TEST(an_operator_lists_what_waits, 1)
{
    const uint64_t channel = taker_new(STR("cards")), first = ordered(0, channel, 700, "1"),
                   second = ordered(0, channel, 300, "2"), third = ordered(0, channel, 100, "3");
    struct topup_paid p = payment(second, "pay", 300);
    struct topup_waiting *found;
    size_t count;
    assert_int_equal(paid(&p), ST_OK);
    assert_int_equal(topup_waiting_find(money_db(), w->arena, 0, 5, &found, &count), ST_OK);
    assert_ints({ count, 2 }, { found[0].id, first }, { found[0].amount_fen, 700 }, { found[1].id, third });
    assert_true(str_equal(found[0].channel, STR("cards")) && str_starts(found[0].username, STR("demo")));
    assert_int_equal(topup_waiting_find(money_db(), w->arena, first, 5, &found, &count), ST_OK);
    assert_ints({ count, 1 }, { found[0].id, third });
}

/* ---- by a service ---- */

static enum status paid_by(const struct caller *c, struct topup_paid *p)
{
    return topup_paid(money_db(), w->arena, p, &c->author, clock_now_ms());
}

WORLD_TEST(a_service_says_what_was_paid_by_its_channel_up_to_its_limit, 1)
{
    const uint64_t channel = taker_new(STR("cards")), other = taker_new(STR("bank")),
                   id = ordered(0, channel, 700, "1"), foreign = ordered(0, other, 700, "2");
    const struct caller *pays = caller_new(STR("pays"), SERVICE_TOPUP, channel, 1000),
                        *reads = caller_new(STR("reads"), SERVICE_READ | SERVICE_CREDIT, channel, 0);
    struct topup_paid p = payment(id, "pay", 700), not_its_channel = payment(foreign, "x", 700),
                      not_its_scope = payment(id, "x", 5), too_much = payment(id, "x", 301);
    assert_int_equal(paid_by(pays, &p), ST_OK);
    assert_true(str_equal(p.made.author, STR("service:pays")));
    assert_int_equal(p.made.interface, INTERFACE_HTTP);
    assert_int_equal(paid_by(pays, &p), ST_OK);
    assert_true(p.repeated);
    const int64_t before = money_read();
    assert_int_equal(paid_by(pays, &not_its_channel), ST_DENIED);
    assert_int_equal(paid_by(reads, &not_its_scope), ST_DENIED);
    assert_int_equal(paid_by(pays, &too_much), ST_LIMITED);
    assert_ints({ money_read(), before }, { moved_fen(STR("pays")), 700 }, { seen(0, foreign).paid, 0 });
    assert_int_equal(service_revoke(money_db(), STR("pays")), ST_OK);
    struct topup_paid revoked = payment(id, "x", 5);
    assert_int_equal(paid_by(pays, &revoked), ST_DENIED);
    assert_wallets(0, FUNDED_FEN + 700);
}

/* ---- what the routines themselves refuse ---- */

WORLD_TEST(the_routines_refuse_what_the_program_never_asks_for, 1)
{
    static const struct sql_refusal cases[] = {
        { "CALL channel_topup(@c, NULL)", ROUTINE_REFUSED },
        { "CALL channel_topup(@c, 'https://x\\n')", ROUTINE_REFUSED },
        { "CALL channel_topup(@c, CONCAT('https://', REPEAT('x', 500)))", ER_DATA_TOO_LONG },
        { "CALL channel_topup(NULL, '')", ROUTINE_NOT_FOUND },
        { "CALL topup_open(@u, @c, 5, NULL, 1)", ROUTINE_REFUSED },
        { "CALL topup_open(@u, @c, NULL, 'k', 1)", ROUTINE_REFUSED },
        { "CALL topup_open(@u, @c, -5, 'k', 1)", ROUTINE_REFUSED },
        { "CALL topup_open(NULL, @c, 5, 'k', 1)", ROUTINE_NOT_FOUND },
        { "CALL topup_open(@u, NULL, 5, 'k', 1)", ROUTINE_NOT_FOUND },
        { "CALL topup_open(@u, @c, 5, '1', 1)", ER_DUP_ENTRY },
        { "CALL topup_paid(@o, NULL, 5, 'anna', 'command', 1)", ROUTINE_REFUSED },
        { "CALL topup_paid(@o, '', 5, 'anna', 'command', 1)", ROUTINE_REFUSED },
        { "CALL topup_paid(@o, ' r', 5, 'anna', 'command', 1)", ROUTINE_REFUSED },
        { "CALL topup_paid(@o, 'r\\n', 5, 'anna', 'command', 1)", ROUTINE_REFUSED },
        { "CALL topup_paid(@o, 'r', NULL, 'anna', 'command', 1)", ROUTINE_REFUSED },
        { "CALL topup_paid(@o, 'r', 0, 'anna', 'command', 1)", ROUTINE_REFUSED },
        { "CALL topup_paid(@o, 'r', 5, '', 'command', 1)", ROUTINE_REFUSED },
        { "CALL topup_paid(@o, 'r', 5, NULL, 'command', 1)", ROUTINE_REFUSED },
        { "CALL topup_paid(@o, 'r', 5, 'anna', 'mail', 1)", WARN_DATA_TRUNCATED },
        { "CALL topup_paid(@o, 'r', 9223372036854775807, 'anna', 'command', 1)", ER_DATA_OUT_OF_RANGE },
        { "CALL topup_paid(@o, 'credit', 5, 'anna', 'command', 1)", ER_DUP_ENTRY },
        { "CALL topup_paid(NULL, 'r', 5, 'anna', 'command', 1)", ROUTINE_NOT_FOUND },
        { "CALL topup_paid(0, 'r', 5, 'anna', 'command', 1)", ROUTINE_NOT_FOUND },
        { "CALL service_topup_paid(NULL, @o, 'r', 5, 1)", SERVICE_UNKNOWN },
        { "CALL service_topup_paid(REPEAT('x', 32), @o, 'r', 5, 1)", SERVICE_UNKNOWN },
        { "CALL service_topup_paid(REPEAT('x', 32), NULL, 'r', 5, 1)", SERVICE_UNKNOWN },
    };
    const uint64_t channel = taker_new(STR("cards")), id = ordered(0, channel, 5, "1");
    moved_one(TRANSFER_CREDIT, channel, 0, 700, "credit");
    sql_refused(
        arena_printf(w->arena, "SET @c = %" PRIu64 ", @u = %" PRIu64 ", @o = %" PRIu64, channel, w->users[0], id).ptr,
        cases, ARRAY_LEN(cases));
    assert_ints({ order_count(), 1 }, { seen(0, id).paid, 0 });
}

TESTS(NULL, NULL)

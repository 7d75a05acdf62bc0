/* wallet/topup: a user orders a top-up, is shown the signed link to the channel's page, and what was paid. */
#include "wallet/topup.h"

#include <inttypes.h>

#include "base/clock.h"
#include "ledger/ledger.h"
#include "support/test.h"
#include "test_wallet_app.h"
#include "wallet/statement.h"

static int64_t key_of_order;

/* As the router does for /wallet/topup/ID. */
static char asked[32];
static enum step order_asked(struct exchange *x)
{
    x->params.key = str_from(asked);
    return topup_show(x);
}

static struct visit *shown(const struct account *p, int64_t id, bool json)
{
    (void)snprintf(asked, sizeof asked, "%" PRId64, id);
    return json ? json_of(order_asked, "/wallet/topup/x", NULL, p->cookie)
                : html_of(order_asked, "/wallet/topup/x", NULL, p->cookie);
}

static struct account person_new(void)
{
    struct account p = account_new(app);
    (void)account_kept(p.id);
    return p;
}

/* A channel that no other test has; its name. */
static const char *channel_new(const char *note)
{
    static unsigned channels;
    const char *name = text_printf("pages-%" PRId64 "-%u", clock_now_ms(), channels++);
    sql_run(app, "CALL channel_open(?, ?, 'boss', 1)", DB_TEXT(str_from(name)), DB_TEXT(str_from(note)));
    return name;
}

static void page_set(const char *channel, const char *url)
{
    sql_run(app, "CALL channel_topup((SELECT id FROM channel WHERE name = ?), ?)", DB_TEXT(str_from(channel)),
            DB_TEXT(str_from(url)));
}

/* No channel takes payments, whatever the tests before have made. */
static void pages_remove(void)
{
    assert_int_equal(db_exec(app->stores.db, NULL, "UPDATE channel SET topup_url = ''", NULL, 0), ST_OK);
}

static struct visit *order_of(const struct account *p, const char *amount, const char *channel, const char *key)
{
    return json_of(topup_form_post, "/wallet/topup",
                   text_printf("amount=%s&channel=%s&request_key=%s", amount, channel, key), p->cookie);
}

static int64_t order_count(uint64_t user_id)
{
    return sql_number(app, "SELECT COUNT(*) FROM topup WHERE user_id = ?", user_id);
}

static int64_t order_new(const struct account *p, const char *amount)
{
    struct visit *v = order_of(p, amount, "", text_printf("k%" PRId64, key_of_order++));
    const int64_t id = visit_json_int(v, "id");
    visit_says(v, 201);
    return id;
}

static void paid(int64_t id, const char *reference, int64_t fen)
{
    sql_run(app, "CALL topup_paid(?, ?, ?, 'boss', 'command', ?)", DB_I64(id), DB_TEXT(str_from(reference)),
            DB_I64(fen), DB_I64(clock_now_ms()));
}

TEST(without_a_channel_that_takes_payments_there_is_no_page)
{
    struct account p = person_new();
    pages_remove();
    visit_says(html_of(topup_form_get, "/wallet/topup", NULL, p.cookie), 404);
    visit_says(order_of(&p, "5", "", "k"), 404);
    visit_says(html_of(statement_show, "/wallet", NULL, p.cookie), 200, LACKS, "/wallet/topup");
    page_set(channel_new("Cards"), "https://pay.example/");
    visit_says(html_of(topup_form_get, "/wallet/topup?amount=12.5", NULL, p.cookie), 200, "Cards", "value=\"12.5\"",
               LACKS, "<select");
    visit_says(html_of(statement_show, "/wallet", NULL, p.cookie), 200, "href=\"/wallet/topup\"");
    assert_int_equal(order_count(p.id), 0);
}

TEST(an_order_has_a_signed_link_to_the_page_of_its_channel)
{
    struct account p = person_new();
    pages_remove();
    const char *channel = channel_new("Cards & more");
    page_set(channel, "https://pay.example/now?shop=1");
    struct visit *v = order_of(&p, "88.8", channel, "form-1");
    const int64_t id = visit_json_int(v, "id");
    visit_says(v, 201, "amount_fen: 8880", "\"state\":\"waiting\"", "paid_fen: 0", "\"payments\":[]",
               text_printf("\"pay_url\":\"https://pay.example/now?shop=1\\u0026order=%" PRId64 "\\u0026amount=88.80"
                           "\\u0026currency=CNY\\u0026return=",
                           id));
    visit_says(order_of(&p, "88.80", "", "form-1"), 201, text_printf("id: %" PRId64, id));
    visit_says(html_of(topup_form_post, "/wallet/topup", "amount=88.80&request_key=form-1", p.cookie), 303,
               text_printf("Location: /wallet/topup/%" PRId64, id));
    assert_int_equal(order_count(p.id), 1);
    visit_says(shown(&p, id, false), 200, "等待付款", "Cards &amp; more", "88.80",
               text_printf("href=\"https://pay.example/now?shop=1&amp;order=%" PRId64 "&amp;amount=88.80", id));
    visit_says(html_of(topup_form_get, "/wallet/topup", NULL, p.cookie), 200,
               text_printf("href=\"/wallet/topup/%" PRId64, id), "等待付款");
    assert_int_equal(balance_of(p.id), 0);
}

TEST(an_order_is_shown_to_its_user_only)
{
    struct account p = person_new(), other = person_new();
    pages_remove();
    page_set(channel_new(""), "https://pay.example/");
    const int64_t id = order_new(&p, "5");
    visit_says(shown(&p, id, true), 200);
    visit_says(shown(&other, id, true), 404);
    visit_says(shown(&p, id + 1000000, true), 404);
    EACH_TEXT (text, "", "0", "-1", "x", "01", "9223372036854775808", "99999999999999999999999") {
        (void)snprintf(asked, sizeof asked, "%s", text);
        visit_says(json_of(order_asked, "/wallet/topup/x", NULL, p.cookie), 404);
    }
}

TEST(an_order_shows_what_was_paid)
{
    struct account p = person_new();
    pages_remove();
    const char *channel = channel_new("");
    page_set(channel, "https://pay.example/");
    const int64_t whole = order_new(&p, "50"), other = order_new(&p, "50"), twice = order_new(&p, "50");
    paid(whole, "a", 5000);
    paid(other, "b", 4000);
    paid(twice, "c", 5000);
    paid(twice, "d", 1000);
    sql_run(app,
            "CALL ledger_reverse((SELECT transfer_id FROM external_transfer AS x JOIN channel AS c ON c.id ="
            " x.channel_id WHERE c.name = ? AND x.reference = 'd'), 'e', '', 'boss', 'command', ?)",
            DB_TEXT(str_from(channel)), DB_I64(clock_now_ms()));
    visit_says(shown(&p, whole, false), 200, "已到账", "50.00", LACKS, "实际付款", "去支付", "被撤回");
    visit_says(shown(&p, other, false), 200, "订单金额为50.00\u2060元，实际付款40.00\u2060元");
    visit_says(shown(&p, other, true), 200, "\"state\":\"paid\"", "paid_fen: 4000", "\"pay_url\":null",
               "\"reference\":\"b\",\"reversed\":false");
    visit_says(shown(&p, twice, true), 200, "paid_fen: 6000", "\"reference\":\"c\",\"reversed\":false",
               "\"reference\":\"d\",\"reversed\":true");
    visit_says(shown(&p, twice, false), 200, "已撤回", "其中10.00\u2060元后来被撤回");
    assert_int_equal(balance_of(p.id), 14000);
    visit_says(html_of(statement_show, "/wallet", NULL, p.cookie), 200, "<b>充值", channel, LACKS, "top-up ",
               "<b>入账");
}

TEST(an_order_that_waits_too_long_or_whose_channel_has_no_page_has_no_link)
{
    struct account p = person_new();
    pages_remove();
    const char *channel = channel_new("");
    page_set(channel, "https://pay.example/");
    const int64_t late = order_new(&p, "50"), closed = order_new(&p, "60");
    sql_run(app, "UPDATE topup SET expires_ms = created_ms - 1 WHERE id = ?", DB_I64(late));
    visit_says(shown(&p, late, true), 200, "\"state\":\"expired\"", "\"pay_url\":null");
    visit_says(shown(&p, late, false), 200, "付款链接已过期", "晚到的款项仍会入账",
               text_printf("href=\"/wallet/topup?amount=50.00&amp;channel=%s\"", channel), LACKS, "去支付");
    page_set(channel, "");
    visit_says(shown(&p, closed, true), 200, "\"state\":\"waiting\"", "\"pay_url\":null");
    visit_says(shown(&p, closed, false), 200, "目前暂停收款", LACKS, "去支付");
    paid(late, "late", 5000);
    visit_says(shown(&p, late, true), 200, "\"state\":\"paid\"");
}

TEST(a_refused_order_gets_a_message_and_is_not_made)
{
    struct account p = person_new();
    pages_remove();
    const char *one = channel_new("One"), *two = channel_new("Two");
    page_set(one, "https://pay.example/1");
    page_set(two, "https://pay.example/2");
    visit_says(html_of(topup_form_get, text_printf("/wallet/topup?channel=%s", two), NULL, p.cookie), 200, "<select",
               text_printf("<option value=\"%s\" selected", two));
    const struct {
        const char *amount, *channel, *key, *field;
    } refused[] = {
        { "", one, "k", "amount" },         { "0", one, "k", "amount" },
        { "1.234", one, "k", "amount" },    { "1000000.01", one, "k", "amount" },
        { "5", "", "k", "channel" },        { "5", "none", "k", "channel" },
        { "5", "demo", "k", "channel" },    { "5", "a-name-that-is-longer-than-32-chars", "k", "channel" },
        { "5", one, "a+b", "request_key" },
    };
    EACH (c, refused)
        visit_says(order_of(&p, c->amount, c->channel, c->key), 422, text_printf("\"field\":\"%s\"", c->field));
    assert_int_equal(order_count(p.id), 0);
    visit_says(order_of(&p, "5", one, "same"), 201);
    visit_says(order_of(&p, "6", one, "same"), 422, "\"field\":\"request_key\"");
    visit_says(order_of(&p, "5", two, "same"), 422, "\"field\":\"request_key\"");
    visit_says(
        html_of(topup_form_post, "/wallet/topup", text_printf("amount=x&channel=%s&request_key=my-key", two), p.cookie),
        422, "<title>错误：", "金额格式不正确", "value=\"my-key\"", text_printf("<option value=\"%s\" selected", two));
    for (int i = 1; i < 20; i++)
        visit_says(order_of(&p, "5", one, text_printf("many-%d", i)), 201);
    visit_says(order_of(&p, "5", one, "one-more"), 422, "\"field\":\"amount\"");
    assert_int_equal(order_count(p.id), 20);
}

TEST(without_a_database_the_pages_are_busy)
{
    struct account p = person_new();
    struct services *lacking = services_without(app, "mysql");
    visit_says(visit_json_new(lacking, topup_form_get, "/wallet/topup", NULL, p.cookie), 503);
    visit_says(visit_json_new(lacking, topup_form_post, "/wallet/topup", "amount=1", p.cookie), 503);
    (void)snprintf(asked, sizeof asked, "1");
    visit_says(visit_json_new(lacking, order_asked, "/wallet/topup/1", NULL, p.cookie), 503);
    services_without_free(lacking);
}

static int teardown(void **state)
{
    pages_remove();
    return wallet_teardown(state);
}

TESTS(app_setup, teardown)

/* wallet/: a request key deposits once, and the statement shows every entry once. */
#include <inttypes.h>

#include "base/clock.h"
#include "base/random.h"
#include "ledger/channel.h"
#include "ledger/ledger.h"
#include "support/test.h"
#include "test_wallet_app.h"
#include "wallet/deposit.h"
#include "wallet/statement.h"
#include "web/origin.h"

static int setup(void **state)
{
    if (app_setup(state) != 0)
        return 1;
    config->demo = true;
    config->deposit_fen_max = 1000000;
    return 0;
}

static int teardown(void **state)
{
    accounts_forget(app, accounts, account_count);
    for (size_t i = 0; i < account_count; i++)
        sql_run(app, "DELETE FROM packet WHERE sender_id = ?", DB_U64(accounts[i]));
    return app_teardown(state);
}

static struct account person_new(void)
{
    struct account p = account_new(app);
    (void)account_kept(p.id);
    return p;
}

/* The answer to a deposit. */
static struct visit *deposit_of(const struct account *p, const char *amount, const char *request_key)
{
    return json_of(deposit_submit, "/wallet/deposit", text_printf("amount=%s&request_key=%s", amount, request_key),
                   p->cookie);
}

static int64_t entry_count(uint64_t id)
{
    return sql_number(app, "SELECT COUNT(*) FROM transfer WHERE ? IN (credit_id, debit_id)", id);
}

/* ---- deposit ---- */

TEST(a_deposit_fills_the_wallet_from_the_bank)
{
    struct account p = person_new();
    int64_t bank_fen = balance_of(CHANNEL_DEMO_ID);
    visit_says(deposit_of(&p, "88.88", ""), 201, "balance_fen: 8888");
    assert_ints({ balance_of(p.id), 8888 }, { balance_of(CHANNEL_DEMO_ID), bank_fen - 8888 });
}

TEST(a_repeated_deposit_gets_the_same_answer_and_changes_nothing)
{
    struct account p = person_new();
    for (int i = 0; i < 2; i++)
        visit_says(deposit_of(&p, "10", "form-1"), 201, "balance_fen: 1000");
    /* With another amount it is no repeat. */
    visit_says(deposit_of(&p, "99", "form-1"), 422, "\"field\":\"request_key\"");
    assert_ints({ balance_of(p.id), 1000 }, { entry_count(p.id), 1 });
    visit_says(deposit_of(&p, "10", "form-2"), 201, "balance_fen: 2000");
}

TEST(a_key_belongs_to_one_user)
{
    struct account first = person_new(), second = person_new();
    visit_says(deposit_of(&first, "10", "same"), 201);
    visit_says(deposit_of(&second, "20", "same"), 201, "balance_fen: 2000");
    assert_int_equal(balance_of(first.id), 1000);
}

TEST(deposits_without_a_key_are_all_made)
{
    struct account p = person_new();
    for (int i = 0; i < 2; i++)
        visit_says(deposit_of(&p, "1", ""), 201);
    assert_int_equal(balance_of(p.id), 200);
}

/* 0: it made the deposit; 1: it was made before. */
static int deposit_racer(void *ctx)
{
    struct db *db = db_new(app->stores.config);
    struct deposit d = { .user_id = *(uint64_t *)ctx, .amount_fen = 500, .request_key = STR("race") };
    bool right = deposit_make(db, arena, &d, clock_now_ms()) == ST_OK && d.amount_fen == 500;
    return !right ? 2 : d.repeated ? 1 : 0;
}

TEST(one_form_posted_concurrently_deposits_once)
{
    enum { RACERS = 8 };
    struct account p = person_new();
    unsigned results[RACE_RESULTS];
    race_run(RACERS, deposit_racer, &p.id, results);
    assert_ints({ results[0], 1 }, { results[1], RACERS - 1 });
    assert_ints({ balance_of(p.id), 500 }, { entry_count(p.id), 1 });
}

TEST(a_refused_deposit_gets_a_message_and_changes_nothing)
{
    static const char *const refused[][2] = { { "10000.01", "" }, { "1", "not+a+key" } };
    struct account p = person_new();
    for (size_t i = 0; i < ARRAY_LEN(refused); i++)
        visit_says(deposit_of(&p, refused[i][0], refused[i][1]), 422);
    visit_says(html_of(deposit_submit, "/wallet/deposit", "amount=1.234&request_key=my-key", p.cookie), 422,
               "<title>错误：", "金额格式不正确", "value=\"1.234\"", "value=\"my-key\"");
    config->demo = false;
    struct visit *v = deposit_of(&p, "1", "");
    config->demo = true;
    visit_says(v, 404); /* without demo there is none */
    assert_int_equal(entry_count(p.id), 0);
}

TEST(a_browser_is_redirected_to_the_wallet)
{
    struct account p = person_new();
    /* ５。５ */
    visit_says(html_of(deposit_submit, "/wallet/deposit", "amount=%EF%BC%95%E3%80%82%EF%BC%95", p.cookie), 303,
               "Location: /wallet?deposited=1");
    assert_int_equal(balance_of(p.id), 550);
}

static enum step deposited_a_minute_later(struct exchange *x)
{
    x->now_ms += 60 * 1000;
    return deposit_submit(x);
}

TEST(an_address_that_would_become_too_long_does_not_say_that_a_deposit_was_made)
{
    static const char told[] = "&deposited=1";
    struct account p = person_new();
    for (int extra = 0; extra <= 1; extra++) {
        const char *next = text_printf("/send?to=%0*d", NEXT_BYTES_MAX - 9 - (int)strlen(told) + extra, 0);
        const char *fields = text_printf("amount=5&request_key=long%d&next=%s", extra, next);
        visit_says(html_of(deposit_submit, "/wallet/deposit", fields, p.cookie), 303,
                   text_printf("Location: %s%s", next, extra == 0 ? told : ""));
    }
}

TEST(a_form_that_is_sent_again_later_says_that_its_deposit_was_made_before)
{
    struct account p = person_new();
    const struct {
        handler_fn *handler;
        const char *fields, *location;
    } cases[] = {
        { deposit_submit, "amount=5&request_key=back", "/wallet?deposited=1" },
        { deposit_submit, "amount=5&request_key=back", "/wallet?deposited=1" }, /* pressed twice */
        { deposited_a_minute_later, "amount=5&request_key=back", "/wallet?deposited=2" },
        { deposited_a_minute_later, "amount=5&request_key=back&next=/send?to=bob", "/send?to=bob&deposited=2" },
        { deposited_a_minute_later, "amount=5&request_key=new", "/wallet?deposited=1" },
    };
    EACH (row, cases) {
        visit_says(html_of(row->handler, "/wallet/deposit", row->fields, p.cookie), 303,
                   text_printf("Location: %s", row->location));
    }
    assert_int_equal(balance_of(p.id), 1000);
    visit_says(html_of(statement_show, "/wallet?deposited=2", NULL, p.cookie), 200, "没有重复充值");
}

TEST(without_a_database_the_wallet_is_busy)
{
    struct account p = person_new();
    struct services *lacking = services_without(app, "mysql");
    struct visit *v = visit_json_new(lacking, deposit_submit, "/wallet/deposit", "amount=1", p.cookie);
    assert_non_null(visit_header(v, "Retry-After").ptr);
    visit_says(v, 503, "problem:busy");
    visit_says(visit_json_new(lacking, statement_show, "/wallet", NULL, p.cookie), 503);
    services_without_free(lacking);
    assert_int_equal(balance_of(p.id), 0);
}

/* ---- statement ---- */

static enum status transfer_body(struct db *db, void *ctx)
{
    return transfer_make(db, ctx);
}

static const int64_t NOON_MS = 1700000000000;

enum { MANY = 1000 };
#define NUMBERS                                                                                                        \
    "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9), "                                   \
    "numbers (no) AS (SELECT a.i * 100 + b.i * 10 + c.i FROM n AS a CROSS JOIN n AS b CROSS JOIN n AS c) "

static void moved_at(int64_t ms, enum transfer_kind kind, uint64_t from, uint64_t to, int64_t fen, uint64_t packet_id)
{
    struct transfer t = {
        .kind = kind, .debit_id = from, .credit_id = to, .amount_fen = fen, .packet_id = packet_id, .created_ms = ms
    };
    assert_int_equal(db_transaction(app->stores.db, transfer_body, &t), ST_OK);
}

static void moved(enum transfer_kind kind, uint64_t from, uint64_t to, int64_t fen, uint64_t packet_id)
{
    moved_at(NOON_MS, kind, from, to, fen, packet_id);
}

static uint64_t packet_id_random(void)
{
    return (uint64_t)1 << 60 | random_u64() >> 8;
}

/* A settled grab of the person, of a packet without escrow, which the same person sent. */
static void grabbed_at(int64_t ms, uint64_t packet_id, const struct account *p, int64_t fen)
{
    const struct db_param id = DB_U64(packet_id), user = DB_U64(p->id), amount = DB_I64(fen), at = DB_I64(ms);
    sql_run(app,
            "INSERT INTO packet (id, sender_id, sender_name, kind, split, amount_fen, count, greeting,"
            " seed, commitment, state, created_ms, expires_ms, request_key) VALUES (?, ?, 'x', 'even',"
            " 'even', ?, 1, '', REPEAT('s', 32), REPEAT('c', 32), 'open', ?, ?, ?)",
            id, user, amount, at, at, id);
    sql_run(app, "INSERT INTO grab VALUES (?, 0, ?, 'x', ?, ?)", id, user, amount, at);
    sql_run(app, "UPDATE account SET balance_fen = balance_fen + ? WHERE id = ?", amount, user);
}

TEST(a_new_wallet_is_empty)
{
    struct account p = person_new();
    visit_says(json_of(statement_show, "/wallet", NULL, p.cookie), 200,
               "{\"balance_fen\":0,\"entries\":[],\"withdraws\":false,\"can_topup\":false,\"pending\":[],"
               "\"receive_day\":null,\"next\":null}");
}

/* The shares are of tomorrow, so a midnight in between does not matter. */
TEST(who_is_near_the_cap_of_receiving_sees_what_is_left_and_who_has_reached_it_that_too)
{
    enum { DAY_MS = 86400000 };
    static const struct {
        int64_t share_fen, left_fen;
        const char *says, *lacks;
    } rows[] = { { 800, 200, "</html>", "上限" },
                 { 1, 199, "今天再收1.99\u2060元就达上限", "已达上限" },
                 { 199, 0, "今天领的红包已达上限", "今天再收" },
                 { 1, 0, "今天领的红包已达上限", "今天再收" } };
    struct account p = person_new();
    const int64_t now_ms = clock_now_ms();
    config->user_receive_day_fen = 1000;
    grabbed_at(now_ms - 2 * (int64_t)DAY_MS, packet_id_random(), &p, 5000);
    EACH (row, rows) {
        grabbed_at(now_ms + DAY_MS, packet_id_random(), &p, row->share_fen);
        visit_says(json_of(statement_show, "/wallet", NULL, p.cookie), 200,
                   text_printf("\"receive_day\":{\"left_fen\":%lld,\"ends_at\":\"", (long long)row->left_fen));
        visit_says(html_of(statement_show, "/wallet", NULL, p.cookie), 200, row->says, LACKS, row->lacks);
    }
    config->user_receive_day_fen = 0;
    visit_says(json_of(statement_show, "/wallet", NULL, p.cookie), 200, "\"receive_day\":null");
}

TEST(the_form_offers_usual_amounts_up_to_its_limit)
{
    static const struct {
        int64_t max_fen;
        const char *says, *lacks;
    } rows[] = { { 1000000, "href=\"/wallet?amount=500\" data-amount=\"500\"", "data-amount=\"1000\"" },
                 { 49999, "data-amount=\"200\"", "data-amount=\"500\"" },
                 { 5000, "data-amount=\"50\"", "data-amount=\"100\"" },
                 { 4999, "name=\"amount\"", "class=\"chips\"" } };
    struct account p = person_new();
    const int64_t before_fen = config->deposit_fen_max;
    EACH (row, rows) {
        config->deposit_fen_max = row->max_fen;
        visit_says(html_of(statement_show, "/wallet", NULL, p.cookie), 200, row->says, LACKS, row->lacks);
    }
    config->deposit_fen_max = before_fen;
}

/* The first transfer of the account; those that a test makes have the next numbers. */
static unsigned long long first_transfer(const struct account *p)
{
    return (unsigned long long)sql_number(app, "SELECT MIN(id) FROM transfer WHERE ? IN (debit_id, credit_id)", p->id);
}

TEST(entries_show_signed_amounts_and_packets)
{
    struct account p = person_new();
    const uint64_t escrow = account_kept(packet_id_random());
    account_make(app, escrow, "escrow");
    moved(TRANSFER_DEPOSIT, CHANNEL_DEMO_ID, p.id, 1000, 0);
    moved(TRANSFER_SEND, p.id, escrow, 700, escrow);
    grabbed_at(NOON_MS + 1, escrow, &p, 200);
    moved_at(NOON_MS + 2, TRANSFER_REFUND, escrow, p.id, 500, escrow);

    char id[PUBLIC_ID_TEXT_MAX];
    public_id_encode(&app->id_key, escrow, id);
    const unsigned long long first = first_transfer(&p);
    static const char day[] = "2023-11-14T22:13:20";
    visit_says(
        json_of(statement_show, "/wallet", NULL, p.cookie), 200,
        text_printf(
            "{\"balance_fen\":1000,\"entries\":["
            "{\"kind\":\"refund\",\"amount_fen\":500,\"packet\":\"%s\",\"transfer\":%llu,\"created_at\":\"%s.002Z\"},"
            "{\"kind\":\"grab\",\"amount_fen\":200,\"packet\":\"%s\",\"transfer\":null,\"created_at\":\"%s.001Z\"},"
            "{\"kind\":\"send\",\"amount_fen\":-700,\"packet\":\"%s\",\"transfer\":%llu,\"created_at\":\"%s.000Z\"},"
            "{\"kind\":\"deposit\",\"amount_fen\":1000,\"packet\":null,\"transfer\":%llu,\"created_at\":\"%s.000Z\"}],"
            "\"withdraws\":",
            id, first + 2, day, id, day, id, first + 1, day, first, day));
    visit_says(html_of(statement_show, "/wallet", NULL, p.cookie), 200, "红包退款", "来自", "发红包", "充值", "+10.00",
               "\u22127.00", "name=\"request_key\"");
}

static void page_says(const struct account *p, const char *text)
{
    visit_says(html_of(statement_show, "/wallet", NULL, p->cookie), 200, text);
}

TEST(an_entry_says_whom_it_is_about)
{
    struct account sender = person_new(), giver = person_new();
    uint64_t packet_id = packet_id_random();
    moved(TRANSFER_DEPOSIT, CHANNEL_DEMO_ID, giver.id, 1000, 0);
    moved(TRANSFER_DEPOSIT, CHANNEL_DEMO_ID, sender.id, 1000, 0);
    grabbed_at(NOON_MS + 1, packet_id, &sender, 300); /* of a packet that this user sent, by the name x */
    moved_at(NOON_MS + 2, TRANSFER_SEND, sender.id, CHANNEL_DEMO_ID, 300, packet_id);
    page_says(&sender, "<small>1个 · <time");
    moved_at(NOON_MS + 3, TRANSFER_RETURN, giver.id, sender.id, 150, packet_id);
    page_says(&giver, "退还给<bdi translate=\"no\">x</bdi>");
    page_says(&sender, "<bdi translate=\"no\">Ming</bdi>退还");
    sql_run(app, "UPDATE packet SET kind = 'exclusive', receiver_name = 'y' WHERE id = ?", DB_U64(packet_id));
    page_says(&sender, "给<bdi translate=\"no\">y</bdi>的专属红包");
    moved_at(NOON_MS + 4, TRANSFER_REFUND, CHANNEL_DEMO_ID, sender.id, 300, packet_id);
    page_says(&sender, "退款：给<bdi translate=\"no\">y</bdi>的红包");
}

/* A channel that no other test has, and what people read of it. */
static uint64_t channel_new(const char *note)
{
    const struct db_param name = DB_TEXT(arena_printf(arena, "c%016" PRIx64, random_u64()));
    sql_run(app, "CALL channel_open(?, ?, 'boss', ?)", name, DB_TEXT(str_from(note)), DB_I64(NOON_MS));
    sql_run(app, "UPDATE channel SET withdraws = TRUE WHERE name = ?", name);
    return (uint64_t)sql_number(app, "SELECT MAX(id) FROM channel WHERE created_ms = ?", NOON_MS);
}

/* As hongbao money does: a credit, a debit and its reversal, a withdrawal that is voided and one that is posted. */
static void paid_in_and_out(const struct account *p, uint64_t channel)
{
    const struct db_param user = DB_U64(p->id), via = DB_U64(channel), now = DB_I64(NOON_MS);
    sql_run(app,
            "CALL ledger_external('credit', ?, JSON_ARRAY(JSON_ARRAY(?, 5000, 'r-1', 'May & June')), 'boss', 'import',"
            " ? + 1)",
            via, user, now);
    sql_run(app,
            "CALL ledger_external('debit', ?, JSON_ARRAY(JSON_ARRAY(?, 700, 'r-2', '')), 'boss', 'command', ? + 2)",
            via, user, now);
    for (int i = 0; i < 2; i++)
        sql_run(app, "CALL withdrawal_hold(?, ?, ?, 'account 1', ?, ? + ?)", user, via, DB_I64(300 + i),
                DB_TEXT(i == 0 ? STR("k-1") : STR("k-2")), now, DB_I64(3 + i));
    sql_run(app,
            "CALL withdrawal_end((SELECT id FROM withdrawal WHERE user_id = ? AND request_key = 'k-1'), FALSE, NULL,"
            " 'no such account', 'boss', 'command', ? + 5)",
            user, now);
    sql_run(app,
            "CALL withdrawal_end((SELECT id FROM withdrawal WHERE user_id = ? AND request_key = 'k-2'), TRUE, 'p-1',"
            " NULL, 'boss', 'command', ? + 6)",
            user, now);
    sql_run(
        app,
        "CALL ledger_reverse((SELECT transfer_id FROM external_transfer WHERE channel_id = ? AND reference = 'r-2'),"
        " 'r-3', 'wrong person', 'boss', 'command', ? + 7)",
        via, now);
}

TEST(entries_of_channels_show_the_channel_the_memo_and_the_reference)
{
    struct account p = person_new();
    const uint64_t channel = channel_new("ACME <payroll>");
    paid_in_and_out(&p, channel);
    struct db_rows rows;
    assert_int_equal(
        db_query(app->stores.db, arena, &rows, "SELECT name FROM channel WHERE id = ?", DB_PARAMS(DB_U64(channel))),
        ST_OK);
    const char *name = arena_cstr(arena, db_cell(&rows, 0, 0));
    const unsigned long long first = first_transfer(&p);
#define DAY "2023-11-14T22:13:20.00"
    visit_says(json_of(statement_show, "/wallet", NULL, p.cookie), 200,
               text_printf("{\"balance_fen\":4699,\"entries\":["
                           "{\"kind\":\"reverse\",\"amount_fen\":700,\"packet\":null,\"transfer\":%llu,"
                           "\"channel\":\"%s\",\"memo\":\"wrong person\",\"reference\":\"r-3\","
                           "\"created_at\":\"" DAY "7Z\"},"
                           "{\"kind\":\"void\",\"amount_fen\":300,\"packet\":null,\"transfer\":%llu,"
                           "\"channel\":\"%s\",\"memo\":\"no such account\","
                           "\"created_at\":\"" DAY "5Z\"},"
                           "{\"kind\":\"withdraw\",\"amount_fen\":-301,\"packet\":null,\"transfer\":%llu,"
                           "\"channel\":\"%s\",\"memo\":\"\",\"state\":\"posted\",\"created_at\":\"" DAY "4Z\"},"
                           "{\"kind\":\"withdraw\",\"amount_fen\":-300,\"packet\":null,\"transfer\":%llu,"
                           "\"channel\":\"%s\",\"memo\":\"\",\"state\":\"voided\",\"created_at\":\"" DAY "3Z\"},"
                           "{\"kind\":\"debit\",\"amount_fen\":-700,\"packet\":null,\"transfer\":%llu,"
                           "\"channel\":\"%s\",\"memo\":\"\",\"reference\":\"r-2\","
                           "\"created_at\":\"" DAY "2Z\"},"
                           "{\"kind\":\"credit\",\"amount_fen\":5000,\"packet\":null,\"transfer\":%llu,"
                           "\"channel\":\"%s\",\"memo\":\"May \\u0026 June\",\"reference\":\"r-1\","
                           "\"created_at\":\"" DAY "1Z\"}],\"withdraws\":true,"
                           "\"can_topup\":false,\"pending\":[],\"receive_day\":null,\"next\":null}",
                           first + 6, name, first + 4, name, first + 3, name, first + 2, name, first + 1, name, first,
                           name));
    visit_says(html_of(statement_show, "/wallet", NULL, p.cookie), 200, "入账", "扣款", "提现", "提现退回", "更正",
               "May &amp; June", "wrong person", "no such account", "ACME &lt;payroll&gt;</bdi> · <time");
    sql_run(app, "CALL channel_note(?, '')", DB_U64(channel));
    sql_run(app, "UPDATE channel SET withdraws = FALSE WHERE id = ?", DB_U64(channel));
    visit_says(html_of(statement_show, "/wallet", NULL, p.cookie), 200, text_printf("%s</bdi> · <time", name), LACKS,
               "ACME");
}

/* A program that is rolled back finds entries of kinds that only the later version knows. */
TEST(an_entry_of_an_unknown_kind_is_shown_by_its_amount)
{
    struct account p = person_new();
    moved(TRANSFER_DEPOSIT, CHANNEL_DEMO_ID, p.id, 1000, 0);
    sql_run(app,
            "SET STATEMENT sql_mode = '' FOR INSERT INTO transfer (kind, debit_id, credit_id, amount_fen, created_ms)"
            " VALUES ('later', ?, 1, 250, ?)",
            DB_U64(p.id), DB_I64(NOON_MS + 1));
    visit_says(json_of(statement_show, "/wallet", NULL, p.cookie), 200,
               "{\"kind\":\"other\",\"amount_fen\":-250,\"packet\":null,", "\"kind\":\"deposit\"");
    visit_says(html_of(statement_show, "/wallet", NULL, p.cookie), 200, "其他变动", "\u22122.50", "+10.00");
}

/* True when the entry has a lower key than the one before. */
static bool is_older(const struct statement_entry *entry, const struct list_key *before)
{
    return !before->given || entry->created_ms < before->ms ||
           (entry->created_ms == before->ms && entry->id < before->id);
}

static void page_read(const struct account *p, struct list_key below, struct statement *out)
{
    const struct statement_query query = { p->id, below, STATEMENT_PAGE_ENTRIES, { 0 } };
    assert_int_equal(statement_read(app->stores.db, arena, &query, out), ST_OK);
}

TEST(pages_show_every_entry_once_newest_first)
{
    enum { ENTRIES = 2 * STATEMENT_PAGE_ENTRIES + 7, ENTRIES_PER_MS = 15 };
    struct account p = person_new(), other = person_new();
    bool seen[ENTRIES] = { false };
    struct list_key last = { 0 };
    size_t pages = 0, count = 0;
    struct statement s;

    /* Transfers in both directions and grabs, with transfers of others in between. The amount identifies the entry;
     * pages end in the middle of a millisecond. */
    moved(TRANSFER_DEPOSIT, CHANNEL_DEMO_ID, p.id, 100000, 0);
    moved(TRANSFER_DEPOSIT, CHANNEL_DEMO_ID, other.id, 100000, 0);
    for (int i = 1; i < ENTRIES; i++) {
        int64_t ms = NOON_MS + i / ENTRIES_PER_MS;
        if (i % 3 == 0)
            moved_at(ms, TRANSFER_SEND, other.id, p.id, i, 0);
        else if (i % 3 == 1)
            moved_at(ms, TRANSFER_SEND, p.id, other.id, i, 0);
        else
            grabbed_at(ms, packet_id_random(), &p, i);
        moved_at(ms, TRANSFER_SEND, other.id, CHANNEL_DEMO_ID, 1, 0);
        grabbed_at(ms, packet_id_random(), &other, 1);
    }
    do {
        page_read(&p, last, &s);
        for (size_t i = 0; i < s.count; i++) {
            const struct statement_entry *entry = &s.entries[i];
            int64_t fen = entry->amount_fen;
            size_t which = fen == 100000 ? 0 : (size_t)(fen < 0 ? -fen : fen);
            assert_true(is_older(entry, &last));
            last = (struct list_key){ .given = true, .ms = entry->created_ms, .id = entry->id };
            assert_true(which < ENTRIES && !seen[which]);
            assert_ints({ fen < 0, which % 3 == 1 }, { entry->kind == TRANSFER_GRAB, which % 3 == 2 });
            seen[which] = true;
            count++;
        }
        if (pages == 0) /* a newer entry that is added between two pages is not on the later ones */
            moved_at(NOON_MS + ENTRIES, TRANSFER_DEPOSIT, CHANNEL_DEMO_ID, p.id, 5, 0);
        assert_int_equal(s.more, s.count == STATEMENT_PAGE_ENTRIES && count < ENTRIES);
        pages++;
    } while (s.more);
    assert_ints({ pages, 3 }, { count, ENTRIES });
}

TEST(a_full_last_page_has_no_next)
{
    struct account p = person_new();
    struct statement s;
    for (int i = 0; i < STATEMENT_PAGE_ENTRIES; i++)
        moved(TRANSFER_DEPOSIT, CHANNEL_DEMO_ID, p.id, 1, 0);
    page_read(&p, (struct list_key){ 0 }, &s);
    assert_int_equal(s.count, STATEMENT_PAGE_ENTRIES);
    assert_false(s.more);
}

TEST(a_page_links_to_the_next_one)
{
    struct account p = person_new();
    char next[VISIT_TEXT_MAX];
    for (int i = 0; i <= STATEMENT_PAGE_ENTRIES; i++)
        moved(TRANSFER_DEPOSIT, CHANNEL_DEMO_ID, p.id, i + 1, 0);
    struct visit *v = json_of(statement_show, "/wallet", NULL, p.cookie);
    visit_json_text(v, "next", next, sizeof next);
    visit_says(v, 200);
    const char *uri = text_printf("/wallet?before=%s", next);
    visit_says(html_of(statement_show, "/wallet", NULL, p.cookie), 200, text_printf("href=\"%s\"", uri));
    visit_says(json_of(statement_show, uri, NULL, p.cookie), 200, "amount_fen: 1", "\"next\":null");
}

TEST(the_first_page_has_the_sums_of_this_month)
{
    struct account p = person_new();
    const struct clock_date now = clock_zone_date(clock_now_ms());
    for (int i = 0; i <= STATEMENT_PAGE_ENTRIES; i++)
        moved(TRANSFER_DEPOSIT, CHANNEL_DEMO_ID, p.id, i + 1, 0);
    visit_says(html_of(statement_show, "/wallet", NULL, p.cookie), 200, LACKS, "本月");
    for (int past = 0; past < 2; past++)
        sql_run(app, "INSERT INTO user_month (user_id, year, month, received_fen, sent_fen) VALUES (?, ?, ?, ?, ?)",
                DB_U64(p.id), DB_I64(now.year - past), DB_I64(now.month), DB_I64(past ? 77 : 1234),
                DB_I64(past ? 88 : 5600));
    visit_says(html_of(statement_show, "/wallet", NULL, p.cookie), 200, "12.34", "56.00", LACKS, "0.77", "0.88");
    char next[VISIT_TEXT_MAX];
    struct visit *v = json_of(statement_show, "/wallet", NULL, p.cookie);
    visit_json_text(v, "next", next, sizeof next);
    visit_says(v, 200);
    visit_says(html_of(statement_show, text_printf("/wallet?before=%s", next), NULL, p.cookie), 200, LACKS, "12.34");
    sql_run(app, "DELETE FROM user_month WHERE user_id = ?", DB_U64(p.id));
}

/* Transfers of the person with the bank, as many in each direction as MANY, and as many grabs, a minute apart. */
static void moved_often(const struct account *p)
{
    const uint64_t debits[] = { CHANNEL_DEMO_ID, p->id }, credits[] = { p->id, CHANNEL_DEMO_ID };
    for (size_t i = 0; i < ARRAY_LEN(debits); i++)
        sql_run(app,
                "INSERT INTO transfer (kind, debit_id, credit_id, amount_fen, created_ms) " NUMBERS
                "SELECT ?, ?, ?, 1, ? + 60000 * no FROM numbers",
                DB_TEXT(i == 0 ? STR("deposit") : STR("send")), DB_U64(debits[i]), DB_U64(credits[i]), DB_I64(NOON_MS));
    sql_do(app->stores.db, "SET FOREIGN_KEY_CHECKS = 0");
    sql_run(app,
            "INSERT INTO grab (packet_id, share_no, user_id, nickname, amount_fen, grabbed_ms) " NUMBERS
            "SELECT ? + no, 0, ?, 'x', 1, ? + 60000 * no FROM numbers",
            DB_U64(packet_id_random()), DB_U64(p->id), DB_I64(NOON_MS));
    sql_do(app->stores.db, "SET FOREIGN_KEY_CHECKS = 1");
}

/* A page reads each index at its place: the rows that it shows of this index, and one more. */
TEST(a_page_deep_in_the_statement_reads_what_it_shows)
{
    struct account p = person_new();
    struct statement s;
    moved_often(&p);
    for (int64_t tenth = 0; tenth <= 10; tenth++) {
        const struct list_key before = { true, NOON_MS + tenth * MANY / 10 * 60000, 1 };
        int64_t rows = sql_rows_read(app);
        page_read(&p, before, &s);
        rows = sql_rows_read(app) - rows;
        assert_int_equal(s.count, tenth == 0 ? 0 : STATEMENT_PAGE_ENTRIES);
        if (rows > 4 * (STATEMENT_PAGE_ENTRIES + 2))
            fail_msg("a page after %" PRId64 " tenths reads %" PRId64 " rows", tenth, rows);
    }
}

/* test_records has more cases. */
TEST(a_malformed_key_is_a_bad_request)
{
    struct account p = person_new();
    visit_says(json_of(statement_show, "/wallet?before=", NULL, p.cookie), 400);
    visit_says(json_of(statement_show, "/wallet?before=17", NULL, p.cookie), 400); /* a key of the program before */
}

TESTS(setup, teardown)

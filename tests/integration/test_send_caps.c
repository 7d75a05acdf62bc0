/* pages/send where the operator has set caps of a day, or has paused sending. The clock is noon, two days ago; a test
 * moves it. */
#include <mysql.h>

#include "base/clock.h"
#include "packet/caps.h"
#include "pages/send.h"
#include "support/test.h"
#include "support/test_services.h"
#include "support/wait_until.h"
#include "test_packet_app.h"

enum { HOUR_MS = 3600000, RACERS = 8, WAITS_MS = 200 };

/* The linker replaces clock_now_ms by the function below. */
static int64_t now_ms;

int64_t __real_clock_now_ms(void);
int64_t __wrap_clock_now_ms(void);

int64_t __wrap_clock_now_ms(void)
{
    return now_ms;
}

/* The options of the last send (db_exec_retried is wrapped, too). */
static char options_text[256];

enum status __real_db_exec_retried(struct db *db, const char *sql, const struct db_param *params, size_t count);
enum status __wrap_db_exec_retried(struct db *db, const char *sql, const struct db_param *params, size_t count);

enum status __wrap_db_exec_retried(struct db *db, const char *sql, const struct db_param *params, size_t count)
{
    const struct db_param *last = &params[count - 1];
    (void)snprintf(options_text, sizeof options_text, "%.*s", last->type == DB_PARAM_TEXT ? (int)last->as.text.len : 4,
                   last->type == DB_PARAM_TEXT ? last->as.text.ptr : "NULL");
    return __real_db_exec_retried(db, sql, params, count);
}

static void settings_set(struct services *of, int64_t fen, int64_t count, bool sending)
{
    struct config *c = test_services_config(of);
    c->user_send_day_fen = fen;
    c->user_send_day_count = count;
    c->sending = sending;
}

static int noon_begin(void **state)
{
    (void)state;
    int64_t from_ms, to_ms;
    clock_zone_day(__real_clock_now_ms(), &from_ms, &to_ms);
    now_ms = from_ms - 36 * HOUR_MS;
    return 0;
}

static int caps_end(void **state)
{
    (void)state;
    settings_set(app, 0, 0, true);
    return 0;
}

#define CAPS_TEST(name) TEST_WITH(name, noon_begin, caps_end)

/* Posts an even packet of one share. key NULL: a new one. */
static struct visit *posted(const struct person *p, const char *amount, const char *key, bool json)
{
    char fresh[PERSON_KEY_MAX];
    fresh_key(fresh);
    return person_visit_new(
        app, p, send_form_post, "/send",
        text_printf("kind=even&count=1&amount=%s&request_key=%s", amount, key != NULL ? key : fresh), 0, json);
}

/* The status of the answer, as JSON. */
static int sent(const struct person *p, const char *amount)
{
    return visit_close(posted(p, amount, NULL, true));
}

static int64_t transfers_of(const struct person *p)
{
    return sql_number(app, "SELECT COUNT(*) FROM transfer WHERE kind = 'send' AND debit_id = ?", p->id);
}

CAPS_TEST(a_send_over_a_cap_of_the_day_is_refused_and_changes_nothing)
{
    static const struct {
        int64_t fen, count;
        struct {
            const char *amount;
            int status;
        } sends[4];
    } rows[] = {
        { 1000, 0, { { "6", 201 }, { "4", 201 }, { "0.01", 422 } } }, /* exactly at the cap */
        { 1000, 0, { { "10.01", 422 }, { "9.99", 201 }, { "0.02", 422 }, { "0.01", 201 } } },
        { 0, 2, { { "100", 201 }, { "0.01", 201 }, { "0.01", 422 } } },
        { 1000, 2, { { "9", 201 }, { "1.01", 422 }, { "0.5", 201 }, { "0.01", 422 } } },
        { 0, 0, { { "100", 201 }, { "100", 201 }, { "100", 201 } } },
    };
    EACH (row, rows) {
        struct person p = person_with(100000);
        int64_t made = 0, fen = 0;
        settings_set(app, row->fen, row->count, true);
        for (size_t i = 0; i < ARRAY_LEN(row->sends) && row->sends[i].amount != NULL; i++) {
            assert_int_equal(sent(&p, row->sends[i].amount), row->sends[i].status);
            made += row->sends[i].status == 201;
            fen = sql_number(app, "SELECT COALESCE(SUM(amount_fen), 0) FROM packet WHERE sender_id = ?", p.id);
            assert_ints(
                { transfers_of(&p), made }, { person_balance(app, &p), 100000 - fen },
                { sql_number(app, "SELECT COALESCE(SUM(sent_fen), 0) FROM user_month WHERE user_id = ?", p.id), fen });
        }
    }
}

CAPS_TEST(the_refusal_says_what_may_still_be_sent_and_when_the_next_day_begins)
{
    struct person p = person_with(100000);
    int64_t from_ms, to_ms;
    clock_zone_day(now_ms, &from_ms, &to_ms);
    const char *again = text_printf("\"again_at\":\"%.*s\"", STR_ARG(clock_rfc3339(arena, to_ms)));
    settings_set(app, 1000, 2, true);
    assert_int_equal(sent(&p, "6"), 201);
    visit_says(posted(&p, "4.01", NULL, true), 422, "\"type\":\"urn:hongbao:problem:invalid-form\"",
               "\"cap\":\"user_send_day_fen\"", "left_fen: 400", again, "\"field\":\"amount\"");
    visit_says(posted(&p, "4.01", NULL, false), 422, "id=\"amount_error\">今天最多还能发4.00\u2060元<");
    /* A wallet that can't pay is the first reason. */
    struct person poor = person_with(1);
    visit_says(posted(&poor, "11", NULL, true), 422, LACKS, "\"cap\"");
    assert_int_equal(sent(&p, "4"), 201);
    visit_says(posted(&p, "1", NULL, true), 422, "\"cap\":\"user_send_day_count\"", "left_fen: 0", again);
    settings_set(app, 1000, 0, true);
    visit_says(posted(&p, "1", NULL, false), 422, "今天能发的金额已经用完，请明天再发");
}

CAPS_TEST(the_form_says_what_is_left_where_it_may_refuse)
{
    enum { PACKET_FEN_MAX = 2000000 };
    static const struct {
        int64_t fen, count;
        const char *amount, *json, *says, *lacks;
    } rows[] = {
        { 0, 0, "6", "\"send_day\":null", "amount_hint", "今天" },
        { 1000, 0, "8", "\"left_fen\":200,\"left_count\":null", "今天最多还能发2.00\u2060元", "起可以再发" },
        { 1000, 0, "8", "\"left_fen\":200,\"left_count\":null", " data-rest=\"200\" data-ms=\"43200000\"",
          "起可以再发" },
        { 1000, 9, "10", "\"left_fen\":0,\"left_count\":8", "今天能发的金额已经用完，<time datetime=", "今天最多" },
        { 0, 1, "1", "\"left_fen\":null,\"left_count\":0", "今天能发的红包已经发完，<time datetime=", "今天最多" },
        { 0, 1, "1", "\"left_fen\":null,\"left_count\":0", " data-rest=\"0\" data-ms=\"43200000\"", "今天最多" },
        { 1000, 10, "1", "\"left_fen\":900,\"left_count\":9", "今天最多还能发9.00\u2060元", "今天最多还能发9个" },
        /* A packet can't be larger than what is left, and much is left. */
        { 100 + PACKET_FEN_MAX, 0, "1", "\"left_fen\":2000000,\"left_count\":null", "amount_hint", "今天" },
        { 99 + PACKET_FEN_MAX, 0, "1", "\"left_fen\":1999999,\"left_count\":null", "今天最多还能发19,999.99\u2060元",
          "起可以再发" },
    };
    EACH (row, rows) {
        struct person p = person_with(100000);
        settings_set(app, row->fen, row->count, true);
        assert_int_equal(sent(&p, row->amount), 201);
        visit_says(person_json(&p, send_form_get, "/send", NULL, 0), 200, row->json);
        visit_says(person_html(&p, send_form_get, "/send", NULL, 0), 200, row->says, LACKS, row->lacks);
    }
    struct person p = person_with(100000);
    settings_set(app, 0, 10, true);
    for (int i = 0; i < 9; i++)
        assert_int_equal(sent(&p, "1"), 201);
    visit_says(person_html(&p, send_form_get, "/send", NULL, 0), 200, "今天最多还能发1个红包");
}

CAPS_TEST(the_form_that_was_refused_says_when_it_is_possible_again)
{
    struct person p = person_with(100000);
    settings_set(app, 1000, 0, true);
    assert_int_equal(sent(&p, "10"), 201);
    visit_says(posted(&p, "1", NULL, false), 422, "今天能发的金额已经用完，请明天再发", "北京时间</span>起可以再发。");
    settings_set(app, 1001, 0, true);
    visit_says(posted(&p, "1", NULL, false), 422, "id=\"amount_error\">今天最多还能发0.01\u2060元<",
               " hidden>今天最多还能发");
}

CAPS_TEST(a_day_is_the_day_of_the_site)
{
    struct person p = person_with(100000);
    int64_t from_ms, to_ms;
    clock_zone_day(now_ms, &from_ms, &to_ms);
    settings_set(app, 1000, 0, true);
    now_ms = from_ms - 1;
    assert_int_equal(sent(&p, "10"), 201);
    now_ms = from_ms;
    assert_int_equal(sent(&p, "10"), 201);
    now_ms = to_ms - 1;
    assert_int_equal(sent(&p, "0.01"), 422);
    now_ms = to_ms;
    assert_int_equal(sent(&p, "10"), 201);
    assert_int_equal(sent(&p, "0.01"), 422);
}

CAPS_TEST(what_was_sent_counts_also_when_the_packet_was_ended)
{
    struct person p = person_with(100000);
    settings_set(app, 1000, 0, true);
    const uint64_t id = person_send(app, &p, "kind=even&count=1&amount=10");
    sql_run(app, "CALL ledger_refund(?, 1000, ?)", DB_U64(id), DB_I64(now_ms));
    assert_int_equal(person_balance(app, &p), 100000);
    assert_int_equal(sent(&p, "0.01"), 422);
    sql_run(app, "UPDATE packet SET state = 'closed', refund_fen = 1000, closed_ms = ? WHERE id = ?", DB_I64(now_ms),
            DB_U64(id));
}

CAPS_TEST(without_caps_a_send_is_the_statement_of_before)
{
    struct person p = person_with(100000);
    int64_t from_ms, to_ms;
    clock_zone_day(now_ms, &from_ms, &to_ms);
    assert_int_equal(sent(&p, "10"), 201);
    assert_string_equal(options_text, "NULL");
    settings_set(app, 0, 7, true);
    assert_int_equal(sent(&p, "10"), 201);
    assert_string_equal(options_text, text_printf("{\"caps\":{\"from_ms\":%lld,\"to_ms\":%lld,\"fen\":0,\"count\":7}}",
                                                  (long long)from_ms, (long long)to_ms));
}

CAPS_TEST(what_others_send_and_what_an_operator_takes_out_does_not_count)
{
    struct person p = person_with(100000), other = person_with(100000);
    const unsigned long long id = p.id;
    settings_set(app, 1000, 1, true);
    assert_int_equal(sent(&other, "10"), 201);
    sql_run(app, "CALL channel_open(CONCAT('c', ?), '', 'anna', ?)", DB_U64(id), DB_I64(now_ms));
    sql_run(app,
            text_printf("CALL ledger_external('debit', (SELECT id FROM channel WHERE name = 'c%llu'),"
                        " '[[%llu,500,\"r\",\"\"]]', 'anna', 'command', ?)",
                        id, id),
            DB_I64(now_ms));
    assert_int_equal(sent(&p, "10"), 201);
}

CAPS_TEST(a_repeat_is_no_new_send)
{
    struct person p = person_with(100000);
    char key[PERSON_KEY_MAX], id[64], again[64];
    fresh_key(key);
    settings_set(app, 1000, 0, true);
    struct visit *v = posted(&p, "10", key, true);
    visit_json_text(v, "id", id, sizeof id);
    assert_int_equal(visit_close(v), 201);
    settings_set(app, 1, 0, false); /* and a lower cap, and sending paused */
    v = posted(&p, "10", key, true);
    visit_json_text(v, "id", again, sizeof again);
    assert_int_equal(visit_close(v), 201);
    assert_string_equal(again, id);
    assert_int_equal(transfers_of(&p), 1);
}

struct race {
    const struct person *p;
    int64_t fen, count;
    MYSQL *lock; /* has the lock on the sender's wallet, until the first process commits */
};

/* 0: sent; 1: refused; 2: lets the others go, when all of them wait for the wallet. */
static int racer(void *ctx)
{
    const struct race *race = ctx;
    struct services *own = packet_services_open();
    struct visit v;
    if (own == NULL)
        return 4;
    if (race_number() == 0) {
        WAIT_UNTIL(sql_number(own,
                              "SELECT COUNT(*) FROM information_schema.processlist"
                              " WHERE command = 'Query' AND time_ms > ? AND id <> CONNECTION_ID()",
                              WAITS_MS) == RACERS - 1);
        return mysql_query(race->lock, "COMMIT") == 0 ? 2 : 4;
    }
    settings_set(own, race->fen, race->count, true);
    int status = person_request(&v, own, race->p, send_form_post, "/send", "kind=even&count=1&amount=6", 0, true);
    return status == 201 ? 0 : status == 422 ? 1 : 3;
}

CAPS_TEST(of_sends_at_the_same_time_as_many_pass_as_the_cap_allows)
{
    static const struct {
        int64_t fen, count;
        unsigned passed;
    } rows[] = { { 1000, 0, 1 }, { 0, 3, 3 } };
    EACH (row, rows) {
        struct person p = person_with(100000);
        struct race race = { &p, row->fen, row->count, test_services_mysql(app) };
        unsigned results[RACE_RESULTS];
        assert_int_equal(mysql_query(race.lock, "BEGIN"), 0);
        assert_int_equal(mysql_query(race.lock, text_printf("UPDATE account SET kind = kind WHERE id = %llu",
                                                            (unsigned long long)p.id)),
                         0);
        race_run(RACERS, racer, &race, results);
        mysql_close(race.lock);
        assert_ints({ results[2], 1 }, { results[0], row->passed }, { results[1], RACERS - 1 - row->passed },
                    { transfers_of(&p), row->passed });
    }
}

CAPS_TEST(while_sending_is_paused_the_page_says_so_and_a_form_is_refused)
{
    struct person p = person_with(100000);
    settings_set(app, 0, 0, false);
    visit_says(person_html(&p, send_form_get, "/send", NULL, 0), 200, "暂停发红包", LACKS, "<form id=\"kept\"");
    visit_says(person_json(&p, send_form_get, "/send", NULL, 0), 200, "\"sending\":false");
    visit_says(posted(&p, "1", NULL, false), 403, "暂停发红包", "href=\"/\"");
    visit_says(posted(&p, "1", NULL, true), 403, "\"type\":\"urn:hongbao:problem:sending-paused\"", LACKS,
               "Retry-After");
    visit_says(posted(&p, "x", "?", true), 403);
    assert_ints({ transfers_of(&p), 0 }, { person_balance(app, &p), 100000 });
    settings_set(app, 0, 0, true);
    visit_says(person_html(&p, send_form_get, "/send", NULL, 0), 200, "<form id=\"kept\"", LACKS, "暂停发红包");
}

TESTS(app_setup, app_teardown)

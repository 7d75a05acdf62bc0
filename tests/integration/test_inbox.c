/* The inbox of the home page, and the number of its new items. */
#include <inttypes.h>

#include "base/clock.h"
#include "base/random.h"
#include "packet/inbox.h"
#include "records/home.h"
#include "records/inbox.h"
#include "redis/reply.h"
#include "support/test.h"
#include "test_packet_app.h"
#include "web/respond.h"

enum { MANY = 1500 };

static struct person first, me; /* first: the first user of this test */
static uint64_t first_id, next_id;
static int64_t now;
static const int64_t HOUR_MS = 3600000;

static int setup(void **state)
{
    if (app_setup(state) != 0)
        return 1;
    person_new(app, &first, 0);
    first_id = next_id = (UINT64_C(1) << 61) + (random_u64() >> 4);
    now = clock_now_ms();
    return 0;
}

static int fresh(void **state)
{
    (void)state;
    person_new(app, &me, 0);
    return 0;
}

#define INBOX_TEST(name) TEST_WITH(name, fresh, NULL)

static int teardown(void **state)
{
    int failed = db_exec(app->stores.db, NULL, "DELETE FROM transfer WHERE packet_id >= ? AND packet_id < ?",
                         DB_PARAMS(DB_U64(first_id), DB_U64(next_id))) != ST_OK;
    failed |= !packets_forget(app, &first);
    return app_teardown(state) != 0 || failed;
}

static uint64_t packet_add(const struct person *sender, const char *state, int64_t created_ms, int64_t expires_ms)
{
    const struct packet_row row = { .sender = sender,
                                    .state = state,
                                    .greeting = "给你",
                                    .amount_fen = 200,
                                    .count = 2,
                                    .created_ms = created_ms,
                                    .expires_ms = expires_ms };
    packet_row_add(app, next_id, &row);
    return next_id++;
}

static uint64_t packet_for_me(const char *state, int64_t created_ms, int64_t expires_ms)
{
    uint64_t id = packet_add(&first, state, created_ms, expires_ms);
    sql_run(app, "INSERT INTO packet_receiver (packet_id, user_id, name, expires_ms) VALUES (?, ?, 'me', ?)",
            DB_U64(id), DB_U64(me.id), DB_I64(expires_ms));
    return id;
}

static void grab_add(uint64_t packet_id, const struct person *by)
{
    grab_row_add(app, packet_id, 0, by, 100, now);
}

static void thanks_add(uint64_t packet_id, unsigned share_no, const struct person *by, const char *text)
{
    sql_run(app,
            "INSERT INTO thanks (packet_id, share_no, user_id, text, created_ms) "
            "VALUES (?, ?, ?, ?, ?)",
            DB_U64(packet_id), DB_U64(share_no), DB_U64(by->id), DB_TEXT(str_from(text)), DB_I64(now - share_no));
}

/* The money is only the bank's here; this test runs no audit. */
static void refund_add(const struct person *sender, const char *kind, int64_t fen, int64_t ms)
{
    uint64_t id = packet_add(sender, "closed", ms - HOUR_MS, ms);
    sql_run(app,
            "INSERT INTO transfer (kind, debit_id, credit_id, amount_fen, packet_id, seq, created_ms) "
            "VALUES (?, 1, ?, ?, ?, 0, ?)",
            DB_TEXT(str_from(kind)), DB_U64(sender->id), DB_I64(fen), DB_U64(id), DB_I64(ms));
}

static struct visit *home(bool json)
{
    return person_visit_new(app, &me, home_show, "/", NULL, 0, json);
}

INBOX_TEST(a_packet_waits_until_it_is_opened_or_over)
{
    uint64_t opened = packet_for_me("open", now - 3, now + HOUR_MS);
    (void)packet_for_me("open", now - 2, now + HOUR_MS);
    (void)packet_for_me("open", now - HOUR_MS, now - 1); /* expired */
    (void)packet_for_me("closed", now - 4, now + HOUR_MS);
    (void)packet_add(&first, "open", now, now + HOUR_MS); /* for everybody */
    visit_says(home(true), 200, "2 × \"kind\":\"waiting\"", "2 × \"greeting\":\"给你\"", "\"opens_at\":null");
    grab_add(opened, &me);
    visit_says(home(true), 200, "1 × \"kind\":\"waiting\"");
}

/* Packets for named receivers are found by the name alone. */
INBOX_TEST(a_packet_that_was_looked_at_waits_if_it_is_for_everybody)
{
    struct inbox inbox;
    const uint64_t mine = packet_add(&me, "open", now, now + HOUR_MS), over = packet_add(&first, "open", now, now - 1);
    const uint64_t open = packet_add(&first, "open", now - 1, now + HOUR_MS);
    const uint64_t named = packet_add(&first, "open", now, now + HOUR_MS);
    sql_run(app, "UPDATE packet SET receiver_count = 1 WHERE id = ?", DB_U64(named));
    const struct inbox_looked looked = { { mine, over, open, named }, 4 };
    assert_int_equal(inbox_find(app->stores.db, arena, me.id, now, &looked, &inbox), ST_OK);
    assert_ints({ inbox.count, 1 }, { inbox.items[0].kind, INBOX_WAITING }, { inbox.items[0].packet_id, open });
    grab_add(open, &me);
    assert_int_equal(inbox_find(app->stores.db, arena, me.id, now, &looked, &inbox), ST_OK);
    assert_int_equal(inbox.count, 0);
}

static void opens_at(uint64_t packet_id, int64_t ms)
{
    sql_run(app, "UPDATE packet SET opens_ms = ? WHERE id = ?", DB_I64(ms), DB_U64(packet_id));
}

INBOX_TEST(what_opens_later_comes_last_and_what_was_looked_at_is_not_new)
{
    struct inbox inbox;
    const uint64_t last = packet_for_me("open", now, now + HOUR_MS), next = packet_for_me("open", now, now + HOUR_MS);
    opens_at(last, now + 2000000);
    opens_at(next, now + 1000000);
    visit_says(home(false), 200, "2个红包即将开抢");
    const uint64_t open = packet_for_me("open", now - 2, now + HOUR_MS);
    const uint64_t seen = packet_add(&first, "open", now - 1, now + HOUR_MS);
    opens_at(open, now - 1); /* has passed */
    const struct inbox_looked looked = { { seen }, 1 };
    assert_int_equal(inbox_find(app->stores.db, arena, me.id, now, &looked, &inbox), ST_OK);
    const uint64_t ids[] = { seen, open, next, last };
    assert_int_equal(inbox.count, ARRAY_LEN(ids));
    for (size_t i = 0; i < inbox.count; i++) {
        assert_ints({ inbox.items[i].packet_id, ids[i] }, { inbox.items[i].not_yet, i > 1 },
                    { inbox.items[i].looked, i == 0 });
    }
    visit_says(home(false), 200, "3个红包等你打开");
}

INBOX_TEST(a_packet_waits_again_when_a_share_was_given_back)
{
    uint64_t id = packet_for_me("open", now, now + HOUR_MS);
    sql_run(app, "UPDATE packet SET grabbed_count = 2 WHERE id = ?", DB_U64(id));
    visit_says(home(true), 200, "0 × \"kind\":\"waiting\"");
    sql_run(app, "UPDATE packet SET returned_count = 1, returned_fen = 100 WHERE id = ?", DB_U64(id));
    visit_says(home(true), 200, "1 × \"kind\":\"waiting\"");
}

INBOX_TEST(money_that_came_back_is_shown_for_a_week)
{
    refund_add(&me, "refund", 123, now - HOUR_MS);
    refund_add(&me, "refund", 456, now - INBOX_SHOWN_MS - HOUR_MS);
    refund_add(&me, "deposit", 789, now - HOUR_MS);
    refund_add(&me, "return", 321, now - HOUR_MS); /* its own part shows it */
    visit_says(home(true), 200, "1 × \"kind\":\"refund\"", "\"amount_fen\":123");
}

INBOX_TEST(thanks_for_own_packets_are_shown)
{
    uint64_t mine = packet_add(&me, "open", now - HOUR_MS, now + HOUR_MS);
    uint64_t other = packet_add(&first, "open", now - HOUR_MS, now + HOUR_MS);
    grab_add(mine, &first);
    grab_row_add(app, mine, 1, &me, 100, now); /* a share without thanks */
    grab_add(other, &me);
    thanks_add(mine, 0, &first, "<谢谢>");
    thanks_add(other, 0, &me, "own");
    visit_says(home(true), 200, "1 × \"kind\":\"thanks\"", LACKS, "own");
    visit_says(home(false), 200, "&lt;谢谢&gt;", "答谢了你");
}

INBOX_TEST(thanks_are_one_row_however_many)
{
    enum { THANKERS = INBOX_ITEMS_MAX + 2 };
    struct person by;
    uint64_t id = packet_add(&me, "open", now - HOUR_MS, now + HOUR_MS);
    for (unsigned i = 0; i < THANKERS; i++) {
        person_new(app, &by, 0);
        grab_row_add(app, id, i, &by, 100, now);
        thanks_add(id, i, &by, "谢谢");
    }
    visit_says(home(true), 200, text_printf("%d × \"kind\":\"thanks\"", INBOX_ITEMS_MAX));
    visit_says(home(false), 200, "1 × <summary>", "1 × 答谢了你", text_printf("%d × >谢谢</q>", INBOX_ITEMS_MAX),
               "12人答谢了你", "更多的答谢");
}

INBOX_TEST(several_thanks_of_one_person_name_the_person)
{
    for (int i = 0; i < 2; i++) {
        uint64_t id = packet_add(&me, "open", now - HOUR_MS - i, now + HOUR_MS);
        grab_add(id, &first);
        thanks_add(id, 0, &first, "谢谢");
    }
    visit_says(home(false), 200, text_printf("1 × >%s</bdi>答谢了你", first.nickname), "2 × >谢谢</q>", LACKS,
               "更多的答谢");
}

INBOX_TEST(what_waits_is_an_envelope_above_the_balance)
{
    (void)packet_for_me("open", now - 1, now + HOUR_MS);
    uint64_t dear = packet_for_me("open", now, now + HOUR_MS);
    sql_run(app,
            "UPDATE packet SET kind = 'exclusive', count = 1, cover = 'birthday', opens_ms = ? "
            "WHERE id = ?",
            DB_I64(now + HOUR_MS / 2), DB_U64(dear));
    visit_says(home(true), 200, "1 × \"cover\":\"birthday\"", "1 × \"cover\":\"plain\"");
    struct visit *v = home(false);
    struct str body = buf_view(&v->x.body);
    assert_true(str_find(body, STR("class=\"mini")) < str_find(body, STR("class=\"money")));
    /* One of them can't be opened yet. */
    visit_says(v, 200, "2个红包等你打开", "1 × class=\"mini cover-birthday\"", "1 × class=\"mini cover-plain\"",
               "1 × >開</span>", "1 ×  开抢");
}

INBOX_TEST(the_home_of_a_new_user_offers_amounts_to_send)
{
    visit_says(home(false), 200, "href=\"/send?amount=6.66\"");
    (void)packet_for_me("open", now, now + HOUR_MS);
    visit_says(home(false), 200, LACKS, "href=\"/send?amount=6.66\"");
}

/* position < 0: the money goes to the sender. */
static void return_add(uint64_t packet_id, const struct person *by, int position, int64_t ms)
{
    grab_add(packet_id, by);
    sql_run(app,
            "INSERT INTO share_return (packet_id, share_no, user_id, amount_fen, position, "
            "returned_ms, applied_ms) VALUES (?, 0, ?, 100, ?, ?, ?)",
            DB_U64(packet_id), DB_U64(by->id), position < 0 ? DB_NULL : DB_I64(position), DB_I64(ms), DB_I64(ms));
}

INBOX_TEST(shares_given_back_are_shown)
{
    uint64_t id = packet_add(&me, "open", now - HOUR_MS, now + HOUR_MS);
    return_add(id, &first, 2, now);
    grab_row_add(app, id, 1, &me, 100, now); /* a share that is kept */
    return_add(packet_add(&me, "closed", now - HOUR_MS, now - 2), &first, -1, now - 1);
    return_add(packet_add(&me, "closed", now - HOUR_MS, now), &first, -1, now - INBOX_SHOWN_MS - HOUR_MS);
    return_add(packet_add(&me, "open", now - HOUR_MS, now + HOUR_MS), &me, 2, now);    /* the sender's own share */
    return_add(packet_add(&first, "open", now - HOUR_MS, now + HOUR_MS), &me, 2, now); /* of another sender */
    visit_says(home(true), 200, "2 × \"kind\":\"return\"", "1 × \"amount_fen\":100,\"to\":\"packet\"",
               "1 × \"amount_fen\":100,\"to\":\"sender\"");
    /* A share that others can open is no income. */
    visit_says(home(false), 200, "1 × class=\"income\"", "退还了一份，其他人可领", "把领的红包退给了你");
}

static int64_t counted(int64_t now_ms)
{
    struct visit v;
    visit_begin(&v, app, "/wallet", NULL, NULL);
    v.x.visitor.user_id = me.id;
    v.x.now_ms = now_ms;
    int64_t count = inbox_news_count(&v.x);
    visit_end(&v);
    return count;
}

INBOX_TEST(news_are_counted_until_home_is_looked_at)
{
    assert_int_equal(counted(now), 0);
    (void)packet_for_me("open", now - 10, now + HOUR_MS);
    refund_add(&me, "refund", 1, now - 10);
    assert_int_equal(counted(now + NEWS_AGE_MS - 1), 0); /* the number in Redis from before */
    assert_int_equal(counted(now + NEWS_AGE_MS), 2);
    /* A program's request does not mark items as seen. */
    visit_says(home(true), 200, "2 × \"new\":true");
    assert_int_equal(counted(now + 2 * NEWS_AGE_MS), 2);
    visit_says(home(false), 200, "2 × >新</span>");
    /* It is still there, but not new. */
    visit_says(home(false), 200, "0 × >新</span>", "1个红包等你打开");
    assert_int_equal(counted(clock_now_ms() + 2 * NEWS_AGE_MS), 0);
    (void)packet_for_me("open", clock_now_ms() + 1, now + HOUR_MS);
    assert_int_equal(counted(clock_now_ms() + 4 * NEWS_AGE_MS), 1);
}

/* Begins a page for `me`, so much later. */
static void page_begin(struct visit *v, const char *uri, int64_t later_ms)
{
    visit_begin(v, app, uri, NULL, NULL);
    v->x.wants_json = false;
    v->x.visitor.user_id = me.id;
    v->x.visitor.nickname = str_from(me.nickname);
    v->x.now_ms += later_ms;
}

/* The value in Redis for `me`: "COUNT,COUNTED_MS,SEEN_MS"; empty: none. */
static struct str news_kept(void)
{
    struct redis_call call;
    const struct str args[] = { STR("GET"), arena_printf(arena, "hb:news:%" PRIu64, me.id) };
    assert_int_equal(redis_do(app->stores.redis, &call, args, ARRAY_LEN(args)), ST_OK);
    struct str kept = arena_str(arena, str_or_empty(redis_reply_str(call.reply)));
    redis_call_free(&call);
    return kept;
}

/* Whether a visit of home, so much later, changes the value in Redis. */
static bool home_writes(int64_t later_ms)
{
    struct visit v;
    struct str before = news_kept();
    page_begin(&v, "/", later_ms);
    assert_int_equal(home_show(&v.x), STEP_DONE);
    visit_end(&v);
    return !str_equal(before, news_kept());
}

/* A write of Redis is an fsync. */
INBOX_TEST(home_writes_only_when_something_is_new)
{
    enum { DAY_MS = 86400000 };
    assert_true(home_writes(0)); /* never looked before */
    assert_false(home_writes(1000));
    const uint64_t packet = packet_for_me("open", clock_now_ms() + 2000, now + HOUR_MS);
    assert_true(home_writes(3000));
    assert_false(home_writes(4000)); /* it is still there */
    assert_int_equal(counted(clock_now_ms() + 4000 + NEWS_AGE_MS), 0);
    const uint64_t later = packet_for_me("open", clock_now_ms() + 20000, now + HOUR_MS);
    assert_int_equal(counted(clock_now_ms() + 30000), 1);
    sql_run(app, "UPDATE packet SET state = 'closed' WHERE id IN (?, ?)", DB_U64(packet), DB_U64(later));
    assert_true(home_writes(30001)); /* otherwise other pages would count an item that is gone */
    assert_int_equal(counted(clock_now_ms() + 30002), 0);
    assert_false(home_writes(HOUR_MS));
    assert_true(home_writes(DAY_MS + 40000)); /* otherwise the value would expire one day, and all items be new */
}

INBOX_TEST(every_page_shows_the_number)
{
    struct visit v;
    struct model m;
    (void)packet_for_me("open", now, now + HOUR_MS);
    app->news_count = inbox_news_count;
    page_begin(&v, "/", 0);
    assert_int_equal(home_show(&v.x), STEP_DONE); /* looked at: nothing is new any more */
    assert_false(visit_body_has(&v, "class=\"news\""));
    visit_end(&v);
    (void)packet_for_me("open", clock_now_ms() + 1, now + HOUR_MS);
    page_begin(&v, "/?other", 2 * NEWS_AGE_MS);
    model_init(&m, v.x.arena);
    value_null(&m, &m.root, "user");
    respond_model(&v.x, 200, "pages/home", &m);
    assert_true(visit_body_has(&v, "<b class=\"news\">1<span>"));
    visit_end(&v);
    app->news_count = NULL;
}

INBOX_TEST(a_user_with_many_packets_reads_as_few_rows)
{
    struct inbox inbox;
    records_many(app, &first, &me, clock_zone_year_start_ms(2025), MANY);
    sql_run(app,
            "INSERT INTO packet_receiver (packet_id, user_id, name, expires_ms) "
            "SELECT packet_id, user_id, 'me', grabbed_ms FROM grab WHERE user_id = ?",
            DB_U64(me.id));
    for (int i = 0; i < 300; i++)
        (void)packet_for_me("closed", now - i, now + HOUR_MS);
    (void)packet_for_me("open", now, now + 2 * HOUR_MS);
    int64_t before = sql_rows_read(app);
    assert_int_equal(inbox_find(app->stores.db, arena, me.id, now, NULL, &inbox), ST_OK);
    int64_t rows = sql_rows_read(app) - before;
    assert_int_equal(inbox.count, 1);
    if (rows > 600)
        fail_msg("%lld rows", (long long)rows);
}

TESTS(setup, teardown)

/* The inbox of the home page, and the number of what is new in it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/random.h"
#include "packet/inbox.h"
#include "pages/home.h"
#include "pages/inbox.h"
#include "test_packet_fixture.h"
#include "web/respond.h"

enum { MANY = 3000 };

static struct services *app;
static struct arena *arena;
static struct person first, me; /* first: the first user of this test */
static uint64_t first_id, next_id;
static int64_t now;
static const int64_t HOUR_MS = 3600000;

static int setup(void **state)
{
    (void)state;
    app = packet_services_open();
    arena = arena_new(65536, 64 << 20);
    if (app == NULL || arena == NULL)
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

static int teardown(void **state)
{
    (void)state;
    int failed = db_exec(app->stores.db, NULL, "DELETE FROM transfer WHERE packet_id >= ? AND packet_id < ?",
                         DB_PARAMS(DB_U64(first_id), DB_U64(next_id))) != ST_OK;
    failed |= !packets_forget(app, &first);
    arena_free(arena);
    packet_services_close(app);
    return failed;
}

static uint64_t packet_add(const struct person *sender, const char *state, int64_t created_ms, int64_t expires_ms)
{
    char key[PERSON_KEY_MAX];
    fresh_key(key);
    assert_int_equal(
        db_exec(app->stores.db, NULL,
                "INSERT INTO packet (id, sender_id, sender_name, kind, split, amount_fen, count, greeting, "
                "seed, commitment, state, created_ms, expires_ms, request_key) VALUES (?, ?, ?, 'even', "
                "'even', 200, 2, '给你', REPEAT('s', 32), REPEAT('c', 32), ?, ?, ?, ?)",
                DB_PARAMS(DB_U64(next_id), DB_U64(sender->id), DB_TEXT(str_from(sender->nickname)),
                          DB_TEXT(str_from(state)), DB_I64(created_ms), DB_I64(expires_ms), DB_TEXT(str_from(key)))),
        ST_OK);
    return next_id++;
}

static uint64_t packet_for_me(const char *state, int64_t created_ms, int64_t expires_ms)
{
    uint64_t id = packet_add(&first, state, created_ms, expires_ms);
    assert_int_equal(
        db_exec(app->stores.db, NULL,
                "INSERT INTO packet_receiver (packet_id, user_id, name, expires_ms) VALUES (?, ?, 'me', ?)",
                DB_PARAMS(DB_U64(id), DB_U64(me.id), DB_I64(expires_ms))),
        ST_OK);
    return id;
}

static void share_add(uint64_t packet_id, unsigned share_no, const struct person *by)
{
    assert_int_equal(db_exec(app->stores.db, NULL,
                             "INSERT INTO grab (packet_id, share_no, user_id, nickname, amount_fen, grabbed_ms) "
                             "VALUES (?, ?, ?, 'x', 100, ?)",
                             DB_PARAMS(DB_U64(packet_id), DB_U64(share_no), DB_U64(by->id), DB_I64(now))),
                     ST_OK);
}

static void grab_add(uint64_t packet_id, const struct person *by)
{
    share_add(packet_id, 0, by);
}

static void thanks_add(uint64_t packet_id, unsigned share_no, const struct person *by, const char *text)
{
    assert_int_equal(db_exec(app->stores.db, NULL,
                             "INSERT INTO thanks (packet_id, share_no, user_id, text, created_ms) "
                             "VALUES (?, ?, ?, ?, ?)",
                             DB_PARAMS(DB_U64(packet_id), DB_U64(share_no), DB_U64(by->id), DB_TEXT(str_from(text)),
                                       DB_I64(now - share_no))),
                     ST_OK);
}

/* The money is the bank's here; the test has no audit. */
static void refund_add(const struct person *sender, const char *kind, int64_t fen, int64_t ms)
{
    uint64_t id = packet_add(sender, "closed", ms - HOUR_MS, ms);
    assert_int_equal(
        db_exec(app->stores.db, NULL,
                "INSERT INTO transfer (kind, debit_id, credit_id, amount_fen, packet_id, seq, created_ms) "
                "VALUES (?, 1, ?, ?, ?, 0, ?)",
                DB_PARAMS(DB_TEXT(str_from(kind)), DB_U64(sender->id), DB_I64(fen), DB_U64(id), DB_I64(ms))),
        ST_OK);
}

static void home(struct visit *v, bool json)
{
    assert_int_equal(person_request(v, app, &me, home_show, "/", NULL, 0, json), 200);
}

static void a_packet_waits_until_it_is_opened_or_over(void **state)
{
    (void)state;
    struct visit v;
    struct person other;
    person_new(app, &other, 0);
    uint64_t opened = packet_for_me("open", now - 3, now + HOUR_MS);
    (void)packet_for_me("open", now - 2, now + HOUR_MS);
    (void)packet_for_me("open", now - HOUR_MS, now - 1); /* expired */
    (void)packet_for_me("closed", now - 4, now + HOUR_MS);
    (void)packet_add(&first, "open", now, now + HOUR_MS); /* for everybody */
    home(&v, true);
    assert_int_equal(visit_body_count(&v, "\"kind\":\"waiting\""), 2);
    assert_int_equal(visit_body_count(&v, "\"greeting\":\"给你\""), 2);
    assert_true(visit_body_has(&v, "\"opens_at\":null"));
    visit_end(&v);
    grab_add(opened, &me);
    home(&v, true);
    assert_int_equal(visit_body_count(&v, "\"kind\":\"waiting\""), 1);
    visit_end(&v);
}

/* Those of named receivers are found by the name alone. */
static void a_packet_that_was_looked_at_waits_if_it_is_for_everybody(void **state)
{
    (void)state;
    struct inbox inbox;
    const uint64_t mine = packet_add(&me, "open", now, now + HOUR_MS), over = packet_add(&first, "open", now, now - 1);
    const uint64_t open = packet_add(&first, "open", now - 1, now + HOUR_MS);
    const uint64_t named = packet_add(&first, "open", now, now + HOUR_MS);
    assert_int_equal(
        db_exec(app->stores.db, NULL, "UPDATE packet SET receiver_count = 1 WHERE id = ?", DB_PARAMS(DB_U64(named))),
        ST_OK);
    const struct inbox_looked looked = { { mine, over, open, named }, 4 };
    assert_int_equal(inbox_find(app->stores.db, arena, me.id, now, &looked, &inbox), ST_OK);
    assert_int_equal(inbox.count, 1);
    assert_int_equal(inbox.items[0].kind, INBOX_WAITING);
    assert_true(inbox.items[0].packet_id == open);
    grab_add(open, &me);
    assert_int_equal(inbox_find(app->stores.db, arena, me.id, now, &looked, &inbox), ST_OK);
    assert_int_equal(inbox.count, 0);
}

static void opens_at(uint64_t packet_id, int64_t ms)
{
    assert_int_equal(db_exec(app->stores.db, NULL, "UPDATE packet SET opens_ms = ? WHERE id = ?",
                             DB_PARAMS(DB_I64(ms), DB_U64(packet_id))),
                     ST_OK);
}

static void what_opens_later_comes_last_and_what_was_looked_at_is_not_new(void **state)
{
    (void)state;
    struct inbox inbox;
    struct visit v;
    const uint64_t last = packet_for_me("open", now, now + HOUR_MS), next = packet_for_me("open", now, now + HOUR_MS);
    opens_at(last, now + 2000000);
    opens_at(next, now + 1000000);
    home(&v, false);
    assert_true(visit_body_has(&v, "2个红包即将开抢"));
    visit_end(&v);
    const uint64_t open = packet_for_me("open", now - 2, now + HOUR_MS);
    const uint64_t seen = packet_add(&first, "open", now - 1, now + HOUR_MS);
    opens_at(open, now - 1); /* has passed */
    const struct inbox_looked looked = { { seen }, 1 };
    assert_int_equal(inbox_find(app->stores.db, arena, me.id, now, &looked, &inbox), ST_OK);
    const uint64_t ids[] = { seen, open, next, last };
    assert_int_equal(inbox.count, ARRAY_LEN(ids));
    for (size_t i = 0; i < inbox.count; i++) {
        assert_true(inbox.items[i].packet_id == ids[i]);
        assert_int_equal(inbox.items[i].not_yet, i > 1);
        assert_int_equal(inbox.items[i].looked, i == 0);
    }
    home(&v, false);
    assert_true(visit_body_has(&v, "3个红包等你打开"));
    visit_end(&v);
}

static void a_packet_waits_again_when_a_share_was_given_back(void **state)
{
    (void)state;
    struct visit v;
    uint64_t id = packet_for_me("open", now, now + HOUR_MS);
    assert_int_equal(
        db_exec(app->stores.db, NULL, "UPDATE packet SET grabbed_count = 2 WHERE id = ?", DB_PARAMS(DB_U64(id))),
        ST_OK);
    home(&v, true);
    assert_int_equal(visit_body_count(&v, "\"kind\":\"waiting\""), 0);
    visit_end(&v);
    assert_int_equal(db_exec(app->stores.db, NULL,
                             "UPDATE packet SET returned_count = 1, returned_fen = 100 WHERE id = ?",
                             DB_PARAMS(DB_U64(id))),
                     ST_OK);
    home(&v, true);
    assert_int_equal(visit_body_count(&v, "\"kind\":\"waiting\""), 1);
    visit_end(&v);
}

static void money_that_came_back_is_shown_for_a_week(void **state)
{
    (void)state;
    struct visit v;
    refund_add(&me, "refund", 123, now - HOUR_MS);
    refund_add(&me, "refund", 456, now - INBOX_SHOWN_MS - HOUR_MS);
    refund_add(&me, "deposit", 789, now - HOUR_MS);
    refund_add(&me, "return", 321, now - HOUR_MS); /* shown as what it is, by its own part */
    home(&v, true);
    assert_int_equal(visit_body_count(&v, "\"kind\":\"refund\""), 1);
    assert_true(visit_body_has(&v, "\"amount_fen\":123"));
    visit_end(&v);
}

static void thanks_for_own_packets_are_shown(void **state)
{
    (void)state;
    struct visit v;
    uint64_t mine = packet_add(&me, "open", now - HOUR_MS, now + HOUR_MS);
    uint64_t other = packet_add(&first, "open", now - HOUR_MS, now + HOUR_MS);
    grab_add(mine, &first);
    grab_add(other, &me);
    thanks_add(mine, 0, &first, "<谢谢>");
    thanks_add(other, 0, &me, "own");
    home(&v, true);
    assert_int_equal(visit_body_count(&v, "\"kind\":\"thanks\""), 1);
    assert_false(visit_body_has(&v, "own"));
    visit_end(&v);
    home(&v, false);
    assert_true(visit_body_has(&v, "&lt;谢谢&gt;"));
    assert_true(visit_body_has(&v, "答谢了你"));
    visit_end(&v);
}

static void thanks_are_one_row_however_many(void **state)
{
    (void)state;
    enum { THANKERS = INBOX_ITEMS_MAX + 2 };
    struct visit v;
    struct person by;
    uint64_t id = packet_add(&me, "open", now - HOUR_MS, now + HOUR_MS);
    for (unsigned i = 0; i < THANKERS; i++) {
        person_new(app, &by, 0);
        share_add(id, i, &by);
        thanks_add(id, i, &by, "谢谢");
    }
    home(&v, true);
    assert_int_equal(visit_body_count(&v, "\"kind\":\"thanks\""), INBOX_ITEMS_MAX);
    visit_end(&v);
    home(&v, false);
    assert_int_equal(visit_body_count(&v, "<summary>"), 1);
    assert_int_equal(visit_body_count(&v, "答谢了你"), 1);
    assert_true(visit_body_has(&v, "12人答谢了你"));
    assert_int_equal(visit_body_count(&v, ">谢谢</q>"), INBOX_ITEMS_MAX);
    assert_true(visit_body_has(&v, "更多的答谢"));
    visit_end(&v);
}

static void several_thanks_of_one_person_name_the_person(void **state)
{
    (void)state;
    struct visit v;
    for (int i = 0; i < 2; i++) {
        uint64_t id = packet_add(&me, "open", now - HOUR_MS - i, now + HOUR_MS);
        grab_add(id, &first);
        thanks_add(id, 0, &first, "谢谢");
    }
    home(&v, false);
    assert_int_equal(visit_body_count(&v, ">x</bdi>答谢了你"), 1);
    assert_int_equal(visit_body_count(&v, ">谢谢</q>"), 2);
    assert_false(visit_body_has(&v, "更多的答谢"));
    visit_end(&v);
}

static void what_waits_is_an_envelope_above_the_balance(void **state)
{
    (void)state;
    struct visit v;
    (void)packet_for_me("open", now - 1, now + HOUR_MS);
    uint64_t dear = packet_for_me("open", now, now + HOUR_MS);
    assert_int_equal(db_exec(app->stores.db, NULL,
                             "UPDATE packet SET kind = 'exclusive', count = 1, cover = 'birthday', opens_ms = ? "
                             "WHERE id = ?",
                             DB_PARAMS(DB_I64(now + HOUR_MS / 2), DB_U64(dear))),
                     ST_OK);
    home(&v, true);
    assert_int_equal(visit_body_count(&v, "\"cover\":\"birthday\""), 1);
    assert_int_equal(visit_body_count(&v, "\"cover\":\"plain\""), 1);
    visit_end(&v);
    home(&v, false);
    assert_true(visit_body_has(&v, "2个红包等你打开"));
    assert_int_equal(visit_body_count(&v, "class=\"mini cover-birthday\""), 1);
    assert_int_equal(visit_body_count(&v, "class=\"mini cover-plain\""), 1);
    assert_int_equal(visit_body_count(&v, ">開</span>"), 1); /* the other one can't be opened yet */
    assert_int_equal(visit_body_count(&v, " 开抢"), 1);
    struct str body = buf_view(&v.x.body);
    assert_true(str_find(body, STR("class=\"mini")) < str_find(body, STR("class=\"money")));
    visit_end(&v);
}

static void the_home_of_a_new_user_offers_amounts_to_send(void **state)
{
    (void)state;
    struct visit v;
    home(&v, false);
    assert_true(visit_body_has(&v, "href=\"/send?amount=6.66\""));
    visit_end(&v);
    (void)packet_for_me("open", now, now + HOUR_MS);
    home(&v, false);
    assert_false(visit_body_has(&v, "href=\"/send?amount=6.66\""));
    visit_end(&v);
}

/* position < 0: the money went to the sender. */
static void return_add(uint64_t packet_id, const struct person *by, int position, int64_t ms)
{
    grab_add(packet_id, by);
    assert_int_equal(db_exec(app->stores.db, NULL,
                             "INSERT INTO share_return (packet_id, share_no, user_id, amount_fen, position, "
                             "returned_ms, applied_ms) VALUES (?, 0, ?, 100, ?, ?, ?)",
                             DB_PARAMS(DB_U64(packet_id), DB_U64(by->id), position < 0 ? DB_NULL : DB_I64(position),
                                       DB_I64(ms), DB_I64(ms))),
                     ST_OK);
}

static void shares_given_back_are_shown(void **state)
{
    (void)state;
    struct visit v;
    return_add(packet_add(&me, "open", now - HOUR_MS, now + HOUR_MS), &first, 2, now);
    return_add(packet_add(&me, "closed", now - HOUR_MS, now - 2), &first, -1, now - 1);
    return_add(packet_add(&me, "closed", now - HOUR_MS, now), &first, -1, now - INBOX_SHOWN_MS - HOUR_MS);
    return_add(packet_add(&me, "open", now - HOUR_MS, now + HOUR_MS), &me, 2, now);    /* the sender's own share */
    return_add(packet_add(&first, "open", now - HOUR_MS, now + HOUR_MS), &me, 2, now); /* of another sender */
    home(&v, true);
    assert_int_equal(visit_body_count(&v, "\"kind\":\"return\""), 2);
    assert_int_equal(visit_body_count(&v, "\"amount_fen\":100,\"to\":\"packet\""), 1);
    assert_int_equal(visit_body_count(&v, "\"amount_fen\":100,\"to\":\"sender\""), 1);
    visit_end(&v);
    home(&v, false);
    assert_true(visit_body_has(&v, "退还了一份，其他人可领"));
    assert_true(visit_body_has(&v, "把领的红包退给了你"));
    assert_int_equal(visit_body_count(&v, "class=\"income\""), 1); /* what others can open is no income */
    visit_end(&v);
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

static void news_are_counted_until_home_is_looked_at(void **state)
{
    (void)state;
    struct visit v;
    assert_int_equal(counted(now), 0);
    (void)packet_for_me("open", now - 10, now + HOUR_MS);
    refund_add(&me, "refund", 1, now - 10);
    assert_int_equal(counted(now + NEWS_AGE_MS - 1), 0); /* kept from before */
    assert_int_equal(counted(now + NEWS_AGE_MS), 2);
    home(&v, true); /* a program does not look */
    assert_int_equal(visit_body_count(&v, "\"new\":true"), 2);
    visit_end(&v);
    assert_int_equal(counted(now + 2 * NEWS_AGE_MS), 2);
    home(&v, false);
    assert_int_equal(visit_body_count(&v, ">新</span>"), 2);
    visit_end(&v);
    home(&v, false); /* still there, but not new */
    assert_int_equal(visit_body_count(&v, ">新</span>"), 0);
    assert_true(visit_body_has(&v, "1个红包等你打开"));
    visit_end(&v);
    assert_int_equal(counted(clock_now_ms() + 2 * NEWS_AGE_MS), 0);
    (void)packet_for_me("open", clock_now_ms() + 1, now + HOUR_MS);
    assert_int_equal(counted(clock_now_ms() + 4 * NEWS_AGE_MS), 1);
}

static void every_page_shows_the_number(void **state)
{
    (void)state;
    struct visit v;
    (void)packet_for_me("open", now, now + HOUR_MS);
    app->news_count = inbox_news_count;
    visit_begin(&v, app, "/", NULL, NULL);
    v.x.wants_json = false;
    v.x.visitor.user_id = me.id;
    v.x.visitor.nickname = str_from(me.nickname);
    assert_int_equal(home_show(&v.x), STEP_DONE); /* looked at: nothing is new any more */
    assert_false(visit_body_has(&v, "class=\"news\""));
    visit_end(&v);
    (void)packet_for_me("open", clock_now_ms() + 1, now + HOUR_MS);
    visit_begin(&v, app, "/?other", NULL, NULL);
    v.x.wants_json = false;
    v.x.visitor.user_id = me.id;
    v.x.visitor.nickname = str_from(me.nickname);
    v.x.now_ms += 2 * NEWS_AGE_MS;
    struct model m;
    model_init(&m, v.x.arena);
    value_null(&m, &m.root, "user");
    respond_model(&v.x, 200, "pages/home", &m);
    assert_true(visit_body_has(&v, "<b class=\"news\">1<span>"));
    visit_end(&v);
    app->news_count = NULL;
}

static void a_user_with_many_packets_reads_as_few_rows(void **state)
{
    (void)state;
    struct inbox inbox;
    records_many(app, &first, &me, clock_zone_year_start_ms(2025), MANY);
    assert_int_equal(db_exec(app->stores.db, NULL,
                             "INSERT INTO packet_receiver (packet_id, user_id, name, expires_ms) "
                             "SELECT packet_id, user_id, 'me', grabbed_ms FROM grab WHERE user_id = ?",
                             DB_PARAMS(DB_U64(me.id))),
                     ST_OK);
    for (int i = 0; i < 300; i++)
        (void)packet_for_me("closed", now - i, now + HOUR_MS);
    (void)packet_for_me("open", now, now + 2 * HOUR_MS);
    int64_t before = sql_rows_read(app), looked = sql_rows_read(app);
    assert_int_equal(inbox_find(app->stores.db, arena, me.id, now, NULL, &inbox), ST_OK);
    int64_t rows = sql_rows_read(app) - looked - (looked - before);
    assert_int_equal(inbox.count, 1);
    if (rows > 600)
        fail_msg("%lld rows", (long long)rows);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_packet_waits_until_it_is_opened_or_over, fresh),
        cmocka_unit_test_setup(a_packet_that_was_looked_at_waits_if_it_is_for_everybody, fresh),
        cmocka_unit_test_setup(what_opens_later_comes_last_and_what_was_looked_at_is_not_new, fresh),
        cmocka_unit_test_setup(a_packet_waits_again_when_a_share_was_given_back, fresh),
        cmocka_unit_test_setup(money_that_came_back_is_shown_for_a_week, fresh),
        cmocka_unit_test_setup(thanks_for_own_packets_are_shown, fresh),
        cmocka_unit_test_setup(thanks_are_one_row_however_many, fresh),
        cmocka_unit_test_setup(several_thanks_of_one_person_name_the_person, fresh),
        cmocka_unit_test_setup(what_waits_is_an_envelope_above_the_balance, fresh),
        cmocka_unit_test_setup(the_home_of_a_new_user_offers_amounts_to_send, fresh),
        cmocka_unit_test_setup(shares_given_back_are_shown, fresh),
        cmocka_unit_test_setup(news_are_counted_until_home_is_looked_at, fresh),
        cmocka_unit_test_setup(every_page_shows_the_number, fresh),
        cmocka_unit_test_setup(a_user_with_many_packets_reads_as_few_rows, fresh),
    };
    return random_init() ? cmocka_run_group_tests(tests, setup, teardown) : 1;
}

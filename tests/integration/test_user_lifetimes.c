/* user/session on a real Redis: the stored value, its lifetime, and its renewal. */
#include "base/array.h"
#include "base/clock.h"
#include "io/db.h"
#include "io/redis_reply.h"
#include "support/test.h"
#include "test_user_app.h"
#include "user/session.h"
#include "user/session_list.h"
#include "web/router.h"

enum { HOUR_MS = 3600 * 1000 };
static const int64_t DAY_MS = 24 * (int64_t)HOUR_MS;

static const char USER_SQL[] =
    "INSERT INTO user (id, username, nickname, created_ms) VALUES (10001, 'xiaoming', '小,明', 1)";

static int setup(void **state)
{
    if (app_setup(state) != 0)
        return 1;
    return db_exec(app->stores.db, NULL, "DELETE FROM user WHERE id = 10001", NULL, 0) == ST_OK &&
                   db_exec(app->stores.db, NULL, USER_SQL, NULL, 0) == ST_OK
               ? 0
               : 1;
}

/* Runs a Redis command of two or three words and returns its integer reply. */
static int64_t redis_int(const char *word, const char *name, const char *argument)
{
    struct redis_call call = { 0 };
    const struct str args[] = { str_from(word), str_from(name), str_from(argument) };
    int64_t n = -99;
    assert_int_equal(redis_do(app->stores.redis, &call, args, argument != NULL ? 3 : 2), ST_OK);
    assert_true(redis_reply_i64(call.reply, &n));
    redis_call_free(&call);
    return n;
}

static char cookie[VISIT_TEXT_MAX], key[SESSION_KEY_MAX]; /* of the session of each test, of user 10001 */

static int session_begin(void **state)
{
    struct visit v;
    (void)state;
    visit_begin(&v, app, "/login", "", NULL);
    assert_int_equal(session_start(&v.x, 10001, STR("xiaoming"), STR("小,明")), ST_OK);
    assert_true(visit_cookie(&v, cookie));
    session_key_write((struct str){ cookie + 4, strlen(cookie) - 4 }, key);
    visit_end(&v);
    return 0;
}

static void session_value_set(const char *value)
{
    struct redis_call call = { 0 };
    const struct str args[] = { STR("SET"), str_from(key), str_from(value), STR("KEEPTTL") };
    assert_int_equal(redis_do(app->stores.redis, &call, args, 4), ST_OK);
    redis_call_free(&call);
}

/* The user id of the session at later_ms from now; 0: a guest. */
static uint64_t visitor_later(int64_t later_ms)
{
    struct visit v;
    visit_begin(&v, app, "/", NULL, cookie);
    v.x.now_ms += later_ms;
    assert_int_equal(visit_look_up(&v), ST_OK);
    uint64_t id = v.x.visitor.user_id;
    if (id != 0)
        assert_true(str_equal(v.x.visitor.nickname, STR("小,明")));
    visit_end(&v);
    return id;
}

TEST_WITH(a_session_is_stored_by_hash_for_the_idle_time, session_begin, NULL)
{
    int64_t ttl_ms = redis_int("PTTL", key, NULL);
    assert_true(ttl_ms > 7 * DAY_MS - HOUR_MS && ttl_ms <= 7 * DAY_MS);
    assert_null(strstr(key, cookie + 4));
    assert_int_equal(visitor_later(0), 10001);
}

TEST_WITH(a_visit_within_the_hour_writes_nothing, session_begin, NULL)
{
    redis_int("PEXPIRE", key, "60000");
    assert_int_equal(visitor_later(HOUR_MS / 2), 10001);
    assert_true(redis_int("PTTL", key, NULL) <= 60000);
}

TEST_WITH(a_later_visit_renews_the_idle_time, session_begin, NULL)
{
    redis_int("PEXPIRE", key, "60000");
    assert_int_equal(visitor_later(2 * HOUR_MS), 10001);
    assert_true(redis_int("PTTL", key, NULL) > 7 * DAY_MS - HOUR_MS);
    assert_int_equal(visitor_later(7 * DAY_MS + HOUR_MS), 10001); /* the idle time starts at that visit */
}

/* What is planted beside the list, or was forgotten there, is believed until it is due for a renewal. */
TEST_WITH(a_session_that_is_not_in_the_list_ends_when_it_is_due, session_begin, NULL)
{
    assert_int_equal(redis_int("HDEL", "hb:sessions:10001", key + sizeof SESSION_KEY_PREFIX - 1), 1);
    assert_int_equal(visitor_later(HOUR_MS / 2), 10001);
    assert_int_equal(visitor_later(2 * HOUR_MS), 0);
    assert_int_equal(redis_int("EXISTS", key, NULL), 0);
}

/* The same without a time to live, after its user has ended all sessions. */
TEST_WITH(a_planted_session_does_not_outlive_the_end_of_all_sessions, session_begin, NULL)
{
    struct visit v;
    assert_int_equal(redis_int("PERSIST", key, NULL), 1);
    assert_int_equal(redis_int("HDEL", "hb:sessions:10001", key + sizeof SESSION_KEY_PREFIX - 1), 1);
    visit_begin(&v, app, "/", NULL, cookie);
    assert_int_equal(session_list_end_others(&app->stores, v.x.arena, 10001, STR(""), clock_now_ms()), ST_OK);
    visit_end(&v);
    assert_int_equal(visitor_later(HOUR_MS), 0);
    assert_int_equal(redis_int("EXISTS", key, NULL), 0);
}

static void user_set(const char *sql)
{
    assert_int_equal(db_exec(app->stores.db, NULL, sql, NULL, 0), ST_OK);
}

/* Whatever the list says: a pool could write it. */
TEST(a_listed_session_of_a_user_who_may_have_none_ends_when_it_is_due)
{
    static const char *const STATES[] = { "UPDATE user SET disabled_ms = 1 WHERE id = 10001",
                                          "UPDATE user SET deleting_ms = 1 WHERE id = 10001",
                                          "DELETE FROM user WHERE id = 10001" };
    for (size_t i = 0; i < 2 * ARRAY_LEN(STATES); i++) {
        const bool older = i >= ARRAY_LEN(STATES); /* of the version before: it is entered at its first use */
        char value[128];
        (void)session_begin(NULL);
        (void)snprintf(value, sizeof value, "10001,%lld,%lld,xiaoming,小,明", (long long)clock_now_ms(),
                       (long long)clock_now_ms());
        if (older)
            session_value_set(value);
        user_set(STATES[i % ARRAY_LEN(STATES)]);
        assert_int_equal(visitor_later(older ? 0 : 2 * HOUR_MS), 0);
        assert_int_equal(redis_int("EXISTS", key, NULL), 0);
        user_set("DELETE FROM user WHERE id = 10001");
        user_set(USER_SQL);
    }
}

/* So no list ends before its sessions, whatever session_absolute_s was when they began. */
TEST_WITH(a_renewal_extends_the_time_to_live_of_the_list, session_begin, NULL)
{
    assert_int_equal(redis_int("PEXPIRE", "hb:sessions:10001", "600000"), 1);
    assert_int_equal(visitor_later(2 * HOUR_MS), 10001);
    assert_true(redis_int("PTTL", "hb:sessions:10001", NULL) > 29 * DAY_MS);
}

TEST_WITH(visits_do_not_extend_the_absolute_lifetime, session_begin, NULL)
{
    for (int64_t day = 5; day < 30; day += 5)
        assert_int_equal(visitor_later(day * DAY_MS), 10001);
    assert_int_equal(visitor_later(29 * DAY_MS), 10001);
    assert_true(redis_int("PTTL", key, NULL) <= DAY_MS);
    assert_int_equal(visitor_later(30 * DAY_MS + 1000), 0);
}

TEST_WITH(an_idle_session_is_over_even_while_redis_still_has_it, session_begin, NULL)
{
    assert_int_equal(visitor_later(7 * DAY_MS + 1000), 0);
}

TEST_WITH(a_renewal_does_not_restore_a_session_that_was_ended, session_begin, NULL)
{
    struct visit v;
    visit_begin(&v, app, "/", NULL, cookie);
    v.x.now_ms += 2 * HOUR_MS;
    assert_true(session_visitor_queue(&v.x));
    redis_round(app->stores.redis);
    assert_int_equal(redis_int("DEL", key, NULL), 1); /* logged out between the GET and its refresh */
    assert_int_equal(session_visitor_read(&v.x), ST_OK);
    redis_round(app->stores.redis);
    visit_end(&v);
    assert_int_equal(redis_int("EXISTS", key, NULL), 0);
}

TEST_WITH(a_renewal_is_sent_with_the_next_round, session_begin, NULL)
{
    struct visit v;
    visit_begin(&v, app, "/", NULL, cookie);
    v.x.now_ms += 2 * HOUR_MS;
    assert_true(session_visitor_queue(&v.x));
    redis_round(app->stores.redis);
    assert_int_equal(session_visitor_read(&v.x), ST_OK);
    assert_int_equal(v.x.visitor.user_id, 10001);
    assert_true(v.x.renewal_queued && redis_queued(app->stores.redis));
    redis_round(app->stores.redis);
    assert_int_equal(v.x.renewal_call.status, ST_OK);
    visit_end(&v);
}

/* The status of a visit to the hot pool; env: another parameter of the request, or NULL. */
static enum status hot_visit_later(int64_t later_ms, const char *fields, const char *env)
{
    struct services hot = *app;
    struct visit v;
    char param[VISIT_TEXT_MAX];
    hot.stores.db = NULL;
    visit_begin(&v, &hot, "/p/x", fields, cookie);
    (void)snprintf(param, sizeof param, "%s", env == NULL ? "" : env);
    v.envp[1] = param;
    v.x.now_ms += later_ms;
    enum status st = visit_look_up(&v);
    assert_false(v.x.renewal_queued);
    if (st == ST_OK)
        assert_int_equal(v.x.visitor.user_id, 10001);
    visit_end(&v);
    return st;
}

TEST_WITH(the_hot_pool_hands_a_session_that_is_due_to_the_page_pool, session_begin, NULL)
{
    assert_int_equal(hot_visit_later(HOUR_MS / 2, NULL, NULL), ST_OK);
    assert_int_equal(hot_visit_later(2 * HOUR_MS, NULL, NULL), ST_NOT_FOUND);
    assert_int_equal(hot_visit_later(2 * HOUR_MS, NULL, "TOKEN_LOADED=1"), ST_OK); /* it was handed back */
    /* A grab does not wait for it, unless the session would end soon. */
    assert_int_equal(hot_visit_later(2 * HOUR_MS, "", NULL), ST_OK);
    assert_int_equal(hot_visit_later(4 * DAY_MS, "", NULL), ST_NOT_FOUND);
}

TEST(malformed_cookies_cause_no_io)
{
    static const char *const cookies[] = { "",
                                           "sid",
                                           "sid=",
                                           "sid=short",
                                           "sid=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
                                           "sid=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA*",
                                           "__Host-sid=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
                                           "other=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" };
    for (size_t i = 0; i < ARRAY_LEN(cookies); i++) {
        struct visit v;
        visit_begin(&v, app, "/", NULL, cookies[i]);
        assert_false(session_visitor_queue(&v.x));
        assert_false(redis_queued(app->stores.redis));
        assert_int_equal(v.x.visitor.user_id, 0);
        visit_end(&v);
    }
}

TEST_WITH(an_unknown_token_is_a_guest, session_begin, NULL)
{
    cookie[4] = cookie[4] == 'A' ? 'B' : 'A';
    assert_int_equal(visitor_later(0), 0);
}

/* Nor is it one for a process whose clock is behind: it says that it can't tell, and the cookie stays. */
TEST_WITH(a_session_in_the_future_is_neither_believed_nor_lost, session_begin, NULL)
{
    struct visit v;
    for (int i = 0; i < 2; i++) {
        visit_begin(&v, app, "/", NULL, cookie);
        v.x.now_ms -= CLOCKS_DIFFER_MS + (i == 0 ? -60000 : 60000);
        assert_int_equal(visit_look_up(&v), i == 0 ? ST_OK : ST_UNAVAILABLE);
        assert_int_equal(v.x.visitor.user_id, i == 0 ? 10001 : 0);
        assert_null(visit_header(&v, "Set-Cookie").ptr);
        visit_end(&v);
    }
    assert_int_equal(visitor_later(0), 10001);
    /* Nobody is kept from logging in again, or out. */
    const struct route logout = { "POST", "/logout", WANT_VISITOR | NO_TOKEN, POOL_AUTH, NULL };
    visit_begin(&v, app, "/logout", "", cookie);
    v.x.route = &logout;
    v.x.now_ms -= CLOCKS_DIFFER_MS + 60000;
    assert_int_equal(visit_look_up(&v), ST_OK);
    assert_int_equal(v.x.visitor.user_id, 0);
    assert_int_equal(session_end(&v.x), ST_OK);
    visit_end(&v);
    assert_int_equal(redis_int("EXISTS", key, NULL), 0);
}

TEST_WITH(a_malformed_session_value_is_a_guest, session_begin, NULL)
{
    session_value_set("10001,x,y,xiaoming,小明");
    assert_int_equal(visitor_later(0), 0);
}

TEST_WITH(without_redis_a_visitor_is_not_treated_as_a_guest, session_begin, NULL)
{
    struct visit v;
    struct services *lacking = services_without(app, "redis");
    visit_begin(&v, lacking, "/", NULL, cookie);
    assert_int_equal(visit_look_up(&v), ST_UNAVAILABLE);
    assert_int_equal(session_end(&v.x), ST_UNAVAILABLE);
    assert_int_equal(session_start(&v.x, 10001, STR("xiaoming"), STR("小明")), ST_UNAVAILABLE);
    assert_null(visit_header(&v, "Set-Cookie").ptr);
    visit_end(&v);
    services_without_free(lacking);
    assert_int_equal(visitor_later(0), 10001);
}

/* The next test may have a user with this id. */
static int teardown(void **state)
{
    (void)redis_int("DEL", "hb:sessions:10001", NULL);
    return app_teardown(state);
}

TESTS(setup, teardown)

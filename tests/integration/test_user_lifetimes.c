/* user/session on a real Redis: the stored value, its lifetime, and its renewal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/clock.h"
#include "io/db.h"
#include "io/redis_reply.h"
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
static int64_t redis_int(struct str word, struct str key, const char *argument)
{
    struct redis_call call = { 0 };
    const struct str args[] = { word, key, str_from(argument) };
    int64_t n = -99;
    assert_int_equal(redis_do(app->stores.redis, &call, args, argument != NULL ? 3 : 2), ST_OK);
    assert_true(redis_reply_i64(call.reply, &n));
    redis_call_free(&call);
    return n;
}

static void redis_set(struct str key, struct str value)
{
    struct redis_call call = { 0 };
    const struct str args[] = { STR("SET"), key, value, STR("KEEPTTL") };
    assert_int_equal(redis_do(app->stores.redis, &call, args, 4), ST_OK);
    redis_call_free(&call);
}

/* Starts a session for user 10001. Sets cookie (VISIT_TEXT_MAX) and key (SESSION_KEY_MAX). */
static void session_begin(char *cookie, char *key)
{
    struct visit v;
    visit_begin(&v, app, "/login", "", NULL);
    assert_int_equal(session_start(&v.x, 10001, STR("xiaoming"), STR("小,明")), ST_OK);
    assert_true(visit_cookie(&v, cookie));
    session_key_write((struct str){ cookie + 4, strlen(cookie) - 4 }, key);
    visit_end(&v);
}

/* The user id of this cookie at later_ms from now; 0: a guest. */
static uint64_t visitor_later(const char *cookie, int64_t later_ms)
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

static void a_session_is_stored_by_hash_for_the_idle_time(void **state)
{
    (void)state;
    char cookie[VISIT_TEXT_MAX], key[SESSION_KEY_MAX];
    session_begin(cookie, key);
    int64_t ttl_ms = redis_int(STR("PTTL"), str_from(key), NULL);
    assert_true(ttl_ms > 7 * DAY_MS - HOUR_MS && ttl_ms <= 7 * DAY_MS);
    assert_null(strstr(key, cookie + 4));
    assert_int_equal(visitor_later(cookie, 0), 10001);
}

static void a_visit_within_the_hour_writes_nothing(void **state)
{
    (void)state;
    char cookie[VISIT_TEXT_MAX], key[SESSION_KEY_MAX];
    session_begin(cookie, key);
    redis_int(STR("PEXPIRE"), str_from(key), "60000");
    assert_int_equal(visitor_later(cookie, HOUR_MS / 2), 10001);
    assert_true(redis_int(STR("PTTL"), str_from(key), NULL) <= 60000);
}

static void a_later_visit_renews_the_idle_time(void **state)
{
    (void)state;
    char cookie[VISIT_TEXT_MAX], key[SESSION_KEY_MAX];
    session_begin(cookie, key);
    redis_int(STR("PEXPIRE"), str_from(key), "60000");
    assert_int_equal(visitor_later(cookie, 2 * HOUR_MS), 10001);
    assert_true(redis_int(STR("PTTL"), str_from(key), NULL) > 7 * DAY_MS - HOUR_MS);
    assert_int_equal(visitor_later(cookie, 7 * DAY_MS + HOUR_MS), 10001); /* the idle time starts at that visit */
}

/* What is planted beside the list, or was forgotten there, is believed until it is due for a renewal. */
static void a_session_that_is_not_in_the_list_ends_when_it_is_due(void **state)
{
    (void)state;
    char cookie[VISIT_TEXT_MAX], key[SESSION_KEY_MAX];
    session_begin(cookie, key);
    assert_int_equal(redis_int(STR("HDEL"), STR("hb:sessions:10001"), key + sizeof SESSION_KEY_PREFIX - 1), 1);
    assert_int_equal(visitor_later(cookie, HOUR_MS / 2), 10001);
    assert_int_equal(visitor_later(cookie, 2 * HOUR_MS), 0);
    assert_int_equal(redis_int(STR("EXISTS"), str_from(key), NULL), 0);
}

/* The same without a time to live, after its user has ended all sessions. */
static void a_planted_session_does_not_outlive_the_end_of_all_sessions(void **state)
{
    (void)state;
    char cookie[VISIT_TEXT_MAX], key[SESSION_KEY_MAX];
    struct visit v;
    session_begin(cookie, key);
    assert_int_equal(redis_int(STR("PERSIST"), str_from(key), NULL), 1);
    assert_int_equal(redis_int(STR("HDEL"), STR("hb:sessions:10001"), key + sizeof SESSION_KEY_PREFIX - 1), 1);
    visit_begin(&v, app, "/", NULL, cookie);
    assert_int_equal(session_list_end_others(&app->stores, v.x.arena, 10001, STR(""), clock_now_ms()), ST_OK);
    visit_end(&v);
    assert_int_equal(visitor_later(cookie, HOUR_MS), 0);
    assert_int_equal(redis_int(STR("EXISTS"), str_from(key), NULL), 0);
}

static void user_set(const char *sql)
{
    assert_int_equal(db_exec(app->stores.db, NULL, sql, NULL, 0), ST_OK);
}

/* Whatever the list says: a pool could write it. */
static void a_listed_session_of_a_user_who_may_have_none_ends_when_it_is_due(void **state)
{
    static const char *const STATES[] = { "UPDATE user SET disabled_ms = 1 WHERE id = 10001",
                                          "UPDATE user SET deleting_ms = 1 WHERE id = 10001",
                                          "DELETE FROM user WHERE id = 10001" };
    (void)state;
    for (size_t i = 0; i < 2 * ARRAY_LEN(STATES); i++) {
        char cookie[VISIT_TEXT_MAX], key[SESSION_KEY_MAX];
        const bool older = i >= ARRAY_LEN(STATES); /* of the version before: it is entered at its first use */
        char value[128];
        session_begin(cookie, key);
        (void)snprintf(value, sizeof value, "10001,%lld,%lld,xiaoming,小,明", (long long)clock_now_ms(),
                       (long long)clock_now_ms());
        if (older)
            redis_set(str_from(key), str_from(value));
        user_set(STATES[i % ARRAY_LEN(STATES)]);
        assert_int_equal(visitor_later(cookie, older ? 0 : 2 * HOUR_MS), 0);
        assert_int_equal(redis_int(STR("EXISTS"), str_from(key), NULL), 0);
        user_set("DELETE FROM user WHERE id = 10001");
        user_set(USER_SQL);
    }
}

/* So no list ends before its sessions, whatever session_absolute_s was when they began. */
static void a_renewal_extends_the_time_to_live_of_the_list(void **state)
{
    (void)state;
    char cookie[VISIT_TEXT_MAX], key[SESSION_KEY_MAX];
    session_begin(cookie, key);
    assert_int_equal(redis_int(STR("PEXPIRE"), STR("hb:sessions:10001"), "600000"), 1);
    assert_int_equal(visitor_later(cookie, 2 * HOUR_MS), 10001);
    assert_true(redis_int(STR("PTTL"), STR("hb:sessions:10001"), NULL) > 29 * DAY_MS);
}

static void visits_do_not_extend_the_absolute_lifetime(void **state)
{
    (void)state;
    char cookie[VISIT_TEXT_MAX], key[SESSION_KEY_MAX];
    session_begin(cookie, key);
    for (int64_t day = 5; day < 30; day += 5)
        assert_int_equal(visitor_later(cookie, day * DAY_MS), 10001);
    assert_int_equal(visitor_later(cookie, 29 * DAY_MS), 10001);
    assert_true(redis_int(STR("PTTL"), str_from(key), NULL) <= DAY_MS);
    assert_int_equal(visitor_later(cookie, 30 * DAY_MS + 1000), 0);
}

static void an_idle_session_is_over_even_while_redis_still_has_it(void **state)
{
    (void)state;
    char cookie[VISIT_TEXT_MAX], key[SESSION_KEY_MAX];
    session_begin(cookie, key);
    assert_int_equal(visitor_later(cookie, 7 * DAY_MS + 1000), 0);
}

static void a_renewal_does_not_restore_a_session_that_was_ended(void **state)
{
    (void)state;
    char cookie[VISIT_TEXT_MAX], key[SESSION_KEY_MAX];
    struct visit v;
    session_begin(cookie, key);
    visit_begin(&v, app, "/", NULL, cookie);
    v.x.now_ms += 2 * HOUR_MS;
    assert_true(session_visitor_queue(&v.x));
    redis_round(app->stores.redis);
    assert_int_equal(redis_int(STR("DEL"), str_from(key), NULL), 1); /* logged out between the GET and its refresh */
    assert_int_equal(session_visitor_read(&v.x), ST_OK);
    redis_round(app->stores.redis);
    visit_end(&v);
    assert_int_equal(redis_int(STR("EXISTS"), str_from(key), NULL), 0);
}

static void a_renewal_is_sent_with_the_next_round(void **state)
{
    (void)state;
    char cookie[VISIT_TEXT_MAX], key[SESSION_KEY_MAX];
    struct visit v;
    session_begin(cookie, key);
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
static enum status hot_visit_later(const char *cookie, int64_t later_ms, const char *fields, const char *env)
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

static void the_hot_pool_hands_a_session_that_is_due_to_the_page_pool(void **state)
{
    (void)state;
    char cookie[VISIT_TEXT_MAX], key[SESSION_KEY_MAX];
    session_begin(cookie, key);
    assert_int_equal(hot_visit_later(cookie, HOUR_MS / 2, NULL, NULL), ST_OK);
    assert_int_equal(hot_visit_later(cookie, 2 * HOUR_MS, NULL, NULL), ST_NOT_FOUND);
    assert_int_equal(hot_visit_later(cookie, 2 * HOUR_MS, NULL, "TOKEN_LOADED=1"), ST_OK); /* it was handed back */
    /* A grab does not wait for it, unless the session would end soon. */
    assert_int_equal(hot_visit_later(cookie, 2 * HOUR_MS, "", NULL), ST_OK);
    assert_int_equal(hot_visit_later(cookie, 4 * DAY_MS, "", NULL), ST_NOT_FOUND);
}

static void malformed_cookies_cause_no_io(void **state)
{
    (void)state;
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

static void an_unknown_token_is_a_guest(void **state)
{
    (void)state;
    char cookie[VISIT_TEXT_MAX], key[SESSION_KEY_MAX];
    session_begin(cookie, key);
    cookie[4] = cookie[4] == 'A' ? 'B' : 'A';
    assert_int_equal(visitor_later(cookie, 0), 0);
}

/* Nor is it one for a process whose clock is behind: it says that it can't tell, and the cookie stays. */
static void a_session_in_the_future_is_neither_believed_nor_lost(void **state)
{
    (void)state;
    char cookie[VISIT_TEXT_MAX], key[SESSION_KEY_MAX];
    struct visit v;
    session_begin(cookie, key);
    for (int i = 0; i < 2; i++) {
        visit_begin(&v, app, "/", NULL, cookie);
        v.x.now_ms -= CLOCKS_DIFFER_MS + (i == 0 ? -60000 : 60000);
        assert_int_equal(visit_look_up(&v), i == 0 ? ST_OK : ST_UNAVAILABLE);
        assert_int_equal(v.x.visitor.user_id, i == 0 ? 10001 : 0);
        assert_null(visit_header(&v, "Set-Cookie").ptr);
        visit_end(&v);
    }
    assert_int_equal(visitor_later(cookie, 0), 10001);
    /* Nobody is kept from logging in again, or out. */
    const struct route logout = { "POST", "/logout", WANT_VISITOR | NO_TOKEN, POOL_AUTH, NULL };
    visit_begin(&v, app, "/logout", "", cookie);
    v.x.route = &logout;
    v.x.now_ms -= CLOCKS_DIFFER_MS + 60000;
    assert_int_equal(visit_look_up(&v), ST_OK);
    assert_int_equal(v.x.visitor.user_id, 0);
    assert_int_equal(session_end(&v.x), ST_OK);
    visit_end(&v);
    assert_int_equal(redis_int(STR("EXISTS"), str_from(key), NULL), 0);
}

static void a_malformed_session_value_is_a_guest(void **state)
{
    (void)state;
    char cookie[VISIT_TEXT_MAX], key[SESSION_KEY_MAX];
    session_begin(cookie, key);
    redis_set(str_from(key), STR("10001,x,y,xiaoming,小明"));
    assert_int_equal(visitor_later(cookie, 0), 0);
}

static void without_redis_a_visitor_is_not_treated_as_a_guest(void **state)
{
    (void)state;
    char cookie[VISIT_TEXT_MAX], key[SESSION_KEY_MAX];
    struct config nowhere = *app->stores.config;
    struct services without_redis = *app;
    struct visit v;
    session_begin(cookie, key);
    snprintf(nowhere.redis, sizeof nowhere.redis, "unix:/nonexistent/redis.sock");
    without_redis.stores.config = &nowhere;
    without_redis.stores.redis = redis_new(&nowhere);
    visit_begin(&v, &without_redis, "/", NULL, cookie);
    assert_int_equal(visit_look_up(&v), ST_UNAVAILABLE);
    assert_int_equal(session_end(&v.x), ST_UNAVAILABLE);
    assert_int_equal(session_start(&v.x, 10001, STR("xiaoming"), STR("小明")), ST_UNAVAILABLE);
    assert_null(visit_header(&v, "Set-Cookie").ptr);
    visit_end(&v);
    redis_free(without_redis.stores.redis);
    assert_int_equal(visitor_later(cookie, 0), 10001);
}

/* The next test may have a user with this id. */
static int teardown(void **state)
{
    (void)redis_int(STR("DEL"), STR("hb:sessions:10001"), NULL);
    return app_teardown(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_session_is_stored_by_hash_for_the_idle_time),
        cmocka_unit_test(a_visit_within_the_hour_writes_nothing),
        cmocka_unit_test(a_later_visit_renews_the_idle_time),
        cmocka_unit_test(visits_do_not_extend_the_absolute_lifetime),
        cmocka_unit_test(a_session_that_is_not_in_the_list_ends_when_it_is_due),
        cmocka_unit_test(a_planted_session_does_not_outlive_the_end_of_all_sessions),
        cmocka_unit_test(a_listed_session_of_a_user_who_may_have_none_ends_when_it_is_due),
        cmocka_unit_test(a_renewal_extends_the_time_to_live_of_the_list),
        cmocka_unit_test(an_idle_session_is_over_even_while_redis_still_has_it),
        cmocka_unit_test(a_renewal_does_not_restore_a_session_that_was_ended),
        cmocka_unit_test(a_renewal_is_sent_with_the_next_round),
        cmocka_unit_test(the_hot_pool_hands_a_session_that_is_due_to_the_page_pool),
        cmocka_unit_test(malformed_cookies_cause_no_io),
        cmocka_unit_test(an_unknown_token_is_a_guest),
        cmocka_unit_test(a_session_in_the_future_is_neither_believed_nor_lost),
        cmocka_unit_test(a_malformed_session_value_is_a_guest),
        cmocka_unit_test(without_redis_a_visitor_is_not_treated_as_a_guest),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}

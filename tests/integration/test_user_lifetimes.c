/* user/session on a real Redis: the stored value, its lifetime, and its renewal. */
#include "base/clock.h"
#include "test_user_app.h"
#include "user/session.h"
#include "user/session_list.h"
#include "web/router.h"

enum { HOUR_MS = 3600 * 1000 };
static const int64_t DAY_MS = 24 * (int64_t)HOUR_MS;

static int user_make(void)
{
    sql_do(app->stores.db, "DELETE FROM user WHERE id = 7001");
    sql_do(app->stores.db,
           "INSERT INTO user (id, username, nickname, created_ms) VALUES (7001, 'xiaoming', '小,明', 1)");
    return 0;
}

static int setup(void **state)
{
    return app_setup(state) != 0 || user_make() != 0;
}

static char cookie[VISIT_TEXT_MAX], key[SESSION_KEY_MAX]; /* of the session of each test */

static int session_begin(void **state)
{
    struct visit v;
    (void)state;
    visit_begin(&v, app, "/login", "", NULL);
    assert_int_equal(session_start(&v.x, 7001, STR("xiaoming"), STR("小,明")), ST_OK);
    assert_true(visit_cookie(&v, cookie));
    (void)session_key_of(cookie, key);
    visit_end(&v);
    return 0;
}

#define SESSION_TEST(name) TEST_WITH(name, session_begin, NULL)

static bool is_stored(void)
{
    return REDIS("EXISTS %s", key) == 1;
}

static void unlist(void)
{
    assert_int_equal(REDIS("HDEL hb:sessions:7001 %s", key + sizeof SESSION_KEY_PREFIX - 1), 1);
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

SESSION_TEST(a_session_is_stored_by_hash_for_the_idle_time)
{
    int64_t ttl_ms = REDIS("PTTL %s", key);
    assert_true(ttl_ms > 7 * DAY_MS - HOUR_MS && ttl_ms <= 7 * DAY_MS);
    assert_null(strstr(key, cookie + 4));
    assert_int_equal(visitor_later(0), 7001);
}

SESSION_TEST(a_visit_renews_the_idle_time_once_an_hour)
{
    (void)REDIS("PEXPIRE %s 60000", key);
    assert_int_equal(visitor_later(HOUR_MS / 2), 7001);
    assert_true(REDIS("PTTL %s", key) <= 60000);
    assert_int_equal(visitor_later(2 * HOUR_MS), 7001);
    assert_true(REDIS("PTTL %s", key) > 7 * DAY_MS - HOUR_MS);
    assert_int_equal(visitor_later(7 * DAY_MS + HOUR_MS), 7001); /* the idle time starts at that visit */
}

/* A session that is not in the list was planted, or is a leftover: it is valid until it is due for a renewal. */
SESSION_TEST(a_session_that_is_not_in_the_list_ends_when_it_is_due)
{
    unlist();
    assert_int_equal(visitor_later(HOUR_MS / 2), 7001);
    assert_int_equal(visitor_later(2 * HOUR_MS), 0);
    assert_false(is_stored());
}

/* The same for a session without a time to live, after its user has ended all sessions. */
SESSION_TEST(a_planted_session_does_not_outlive_the_end_of_all_sessions)
{
    assert_int_equal(REDIS("PERSIST %s", key), 1);
    unlist();
    assert_int_equal(session_list_end_others(&app->stores, arena, 7001, STR(""), clock_now_ms()), ST_OK);
    assert_int_equal(visitor_later(HOUR_MS), 0);
    assert_false(is_stored());
}

/* The list does not matter: a pool could have written it. */
TEST(a_listed_session_of_a_user_who_may_have_none_ends_when_it_is_due)
{
    static const char *const STATES[] = { "UPDATE user SET disabled_ms = 1 WHERE id = 7001",
                                          "UPDATE user SET deleting_ms = 1 WHERE id = 7001",
                                          "DELETE FROM user WHERE id = 7001" };
    for (size_t i = 0; i < 2 * ARRAY_LEN(STATES); i++) {
        const bool older = i >= ARRAY_LEN(STATES); /* a session of the version before: it is entered at its first use */
        const long long now_ms = clock_now_ms();
        (void)session_begin(NULL);
        if (older)
            (void)REDIS("SET %s 7001,%lld,%lld,xiaoming,小,明 KEEPTTL", key, now_ms, now_ms);
        sql_do(app->stores.db, STATES[i % ARRAY_LEN(STATES)]);
        assert_int_equal(visitor_later(older ? 0 : 2 * HOUR_MS), 0);
        assert_false(is_stored());
        (void)user_make();
    }
}

/* So no list ends before its sessions, whatever session_absolute_s was at their start. */
SESSION_TEST(a_renewal_extends_the_time_to_live_of_the_list)
{
    assert_int_equal(REDIS("PEXPIRE hb:sessions:7001 600000"), 1);
    assert_int_equal(visitor_later(2 * HOUR_MS), 7001);
    assert_true(REDIS("PTTL hb:sessions:7001") > 29 * DAY_MS);
}

/* Begins a visit at which the session is due for a renewal, and reads what is stored. */
static void due_visit_begin(struct visit *v)
{
    visit_begin(v, app, "/", NULL, cookie);
    v->x.now_ms += 2 * HOUR_MS;
    assert_true(session_visitor_queue(&v->x));
    redis_round(app->stores.redis);
}

SESSION_TEST(a_renewal_does_not_restore_a_session_that_was_ended)
{
    struct visit v;
    due_visit_begin(&v);
    assert_int_equal(REDIS("DEL %s", key), 1); /* logged out between the GET and its refresh */
    assert_int_equal(session_visitor_read(&v.x), ST_OK);
    redis_round(app->stores.redis);
    visit_end(&v);
    assert_false(is_stored());
}

SESSION_TEST(a_renewal_is_sent_with_the_next_round)
{
    struct visit v;
    due_visit_begin(&v);
    assert_int_equal(session_visitor_read(&v.x), ST_OK);
    assert_int_equal(v.x.visitor.user_id, 7001);
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
        assert_int_equal(v.x.visitor.user_id, 7001);
    visit_end(&v);
    return st;
}

SESSION_TEST(the_hot_pool_hands_a_session_that_is_due_to_the_page_pool)
{
    assert_int_equal(hot_visit_later(HOUR_MS / 2, NULL, NULL), ST_OK);
    assert_int_equal(hot_visit_later(2 * HOUR_MS, NULL, NULL), ST_NOT_FOUND);
    assert_int_equal(hot_visit_later(2 * HOUR_MS, NULL, "TOKEN_LOADED=1"), ST_OK); /* it was handed back */
    /* A grab is handed over for a renewal only if the session would end soon. */
    assert_int_equal(hot_visit_later(2 * HOUR_MS, "", NULL), ST_OK);
    assert_int_equal(hot_visit_later(4 * DAY_MS, "", NULL), ST_NOT_FOUND);
}

TEST(a_malformed_cookie_causes_no_io)
{
    struct visit v;
    visit_begin(&v, app, "/", NULL, "sid=short");
    assert_false(session_visitor_queue(&v.x));
    assert_false(redis_queued(app->stores.redis));
    visit_end(&v);
}

SESSION_TEST(an_unknown_token_or_a_malformed_value_is_a_guest)
{
    (void)REDIS("SET %s 7001,x,y,xiaoming,小明 KEEPTTL", key);
    assert_int_equal(visitor_later(0), 0);
    cookie[4] = cookie[4] == 'A' ? 'B' : 'A';
    assert_int_equal(visitor_later(0), 0);
}

/* A process whose clock is behind does not accept it either: it answers that it can't tell, and the cookie stays. */
SESSION_TEST(a_session_in_the_future_is_neither_believed_nor_lost)
{
    struct visit v;
    for (int i = 0; i < 2; i++) {
        visit_begin(&v, app, "/", NULL, cookie);
        v.x.now_ms -= CLOCKS_DIFFER_MS + (i == 0 ? -60000 : 60000);
        assert_int_equal(visit_look_up(&v), i == 0 ? ST_OK : ST_UNAVAILABLE);
        assert_int_equal(v.x.visitor.user_id, i == 0 ? 7001 : 0);
        assert_null(visit_header(&v, "Set-Cookie").ptr);
        visit_end(&v);
    }
    assert_int_equal(visitor_later(0), 7001);
    /* Nobody is kept from logging in again, or out. */
    const struct route logout = { "POST", "/logout", WANT_VISITOR | NO_TOKEN, POOL_AUTH, NULL, NULL };
    visit_begin(&v, app, "/logout", "", cookie);
    v.x.route = &logout;
    v.x.now_ms -= CLOCKS_DIFFER_MS + 60000;
    assert_int_equal(visit_look_up(&v), ST_OK);
    assert_int_equal(v.x.visitor.user_id, 0);
    assert_int_equal(session_end(&v.x), ST_OK);
    visit_end(&v);
    assert_false(is_stored());
}

SESSION_TEST(without_redis_a_visitor_is_not_treated_as_a_guest)
{
    struct visit v;
    struct services *lacking = services_without(app, "redis");
    visit_begin(&v, lacking, "/", NULL, cookie);
    assert_int_equal(visit_look_up(&v), ST_UNAVAILABLE);
    assert_int_equal(session_end(&v.x), ST_UNAVAILABLE);
    assert_int_equal(session_start(&v.x, 7001, STR("xiaoming"), STR("小明")), ST_UNAVAILABLE);
    assert_null(visit_header(&v, "Set-Cookie").ptr);
    visit_end(&v);
    services_without_free(lacking);
    assert_int_equal(visitor_later(0), 7001);
}

/* The next test may have a user with this id. */
static int teardown(void **state)
{
    (void)REDIS("DEL hb:sessions:7001");
    return app_teardown(state);
}

TESTS(setup, teardown)

/* The list of a user's sessions, the pages that end them, and changing nickname and password, on real stores. */
#include <inttypes.h>

#include "account/account_page.h"
#include "account/logout.h"
#include "account/nickname_page.h"
#include "account/password_page.h"
#include "account/register.h"
#include "account/session_page.h"
#include "base/clock.h"
#include "test_user_app.h"
#include "user/session.h"
#include "user/session_list.h"
#include "user/store.h"

enum { HOUR_MS = 3600 * 1000 };

/* Starts a further session of the user, as a login from a browser with this HTTP_USER_AGENT does. */
static void session_new(const struct account *user, const char *agent, char *cookie)
{
    struct visit v;
    char env[VISIT_TEXT_MAX];
    snprintf(env, sizeof env, "HTTP_USER_AGENT=%s", agent);
    visit_begin(&v, app, "/login", "", NULL);
    v.envp[0] = env;
    assert_int_equal(session_start(&v.x, user->id, str_from(user->name), STR("Ming")), ST_OK);
    assert_true(visit_cookie(&v, cookie));
    visit_end(&v);
}

static const char CURL[] = "curl/7.88";

/* The people of each test: a user on two devices. */
static struct {
    struct account user;
    char *phone, curl[VISIT_TEXT_MAX]; /* phone: the cookie of the user */
} p;

static int on_two_devices(void **state)
{
    (void)state;
    p.user = account_new(app);
    p.phone = p.user.cookie;
    session_new(&p.user, CURL, p.curl);
    return 0;
}

#define DEVICES_TEST(name) TEST_WITH(name, on_two_devices, NULL)

/* The user id of the cookie's session in these services; 0: a guest. nickname (64 bytes) may be NULL. */
static uint64_t visitor_in(struct services *services, const char *cookie, char *nickname)
{
    struct visit v;
    visit_begin(&v, services, "/", NULL, cookie);
    assert_int_equal(visit_look_up(&v), ST_OK);
    uint64_t id = v.x.visitor.user_id;
    if (nickname != NULL)
        snprintf(nickname, 64, "%.*s", STR_ARG(v.x.visitor.nickname));
    visit_end(&v);
    return id;
}

/* Sessions in the list of the user, as it is read so much later. */
static size_t sessions_later(uint64_t user_id, int64_t ms)
{
    struct session_entry *entries;
    size_t count;
    arena_reset(arena);
    assert_int_equal(session_list_read(&app->stores, arena, user_id, clock_now_ms() + ms, &entries, &count), ST_OK);
    return count;
}

static size_t session_count(uint64_t user_id)
{
    return sessions_later(user_id, 0);
}

static int64_t list_len(uint64_t user_id)
{
    return REDIS("HLEN hb:sessions:%" PRIu64, user_id);
}

static int end_sessions(const char *fields, const char *cookie)
{
    return visit_close(json_of(session_end_submit, "/account/sessions/end", fields, cookie));
}

/* ---- the list ---- */

TEST(the_account_page_lists_devices_and_marks_the_own_one)
{
    struct account user = account_new(app);
    char phone[VISIT_TEXT_MAX], curl[VISIT_TEXT_MAX];
    session_new(&user, "Mozilla/5.0 (Linux; Android 14) Chrome/126.0 Mobile Safari/537.36", phone);
    session_new(&user, CURL, curl);
    struct visit *v = json_of(account_show, "/account", NULL, curl);
    struct str rest = str_after(buf_view(&v->x.body), STR("\"sessions\":["));
    const struct str first = str_cut(rest, '}', &rest), second = str_cut(rest, '}', &rest);
    assert_true(str_after(first, STR("\"device\":\"curl\"")).ptr != NULL);
    assert_true(str_after(first, STR("\"current\":true")).ptr != NULL);
    assert_true(str_after(second, STR("\"device\":\"Chrome · Android\"")).ptr != NULL);
    assert_true(str_after(second, STR("\"current\":false")).ptr != NULL);
    visit_says(v, 200);
    visit_says(html_of(account_show, "/account", NULL, phone), 200, "Chrome · Android", "href=\"/account/devices\"");
    visit_says(html_of(devices_show, "/account/devices", NULL, phone), 200, "Chrome · Android", "退出其他所有设备",
               LACKS, phone + 4);
}

DEVICES_TEST(a_logout_leaves_the_list)
{
    assert_int_equal(session_count(p.user.id), 2);
    visit_says(json_of(logout_submit, "/logout", "", p.curl), 204);
    assert_int_equal(session_count(p.user.id), 1);
    assert_int_equal(list_len(p.user.id), 1);
}

DEVICES_TEST(a_session_that_is_over_leaves_the_list)
{
    char key[SESSION_KEY_MAX];
    assert_int_equal(REDIS("DEL %s", session_key_of(p.curl, key)), 1); /* as when it expires */
    assert_int_equal(session_count(p.user.id), 1);
    assert_int_equal(list_len(p.user.id), 2); /* a young entry stays: its session could be about to be stored */
    assert_int_equal(sessions_later(p.user.id, 61 * 1000), 1);
    assert_int_equal(list_len(p.user.id), 1);
    assert_true(REDIS("PTTL hb:sessions:%" PRIu64, p.user.id) > 29 * 24 * (int64_t)HOUR_MS);
}

TEST(a_further_login_ends_the_oldest_session)
{
    enum { MAX = 3 };
    char cookies[MAX + 2][VISIT_TEXT_MAX];
    const int64_t before = config->sessions_max;
    config->sessions_max = MAX;
    struct account user = account_new(app);
    memcpy(cookies[0], user.cookie, sizeof user.cookie);
    for (int i = 1; i < MAX + 2; i++)
        session_new(&user, CURL, cookies[i]);
    for (int i = 0; i < MAX + 2; i++)
        assert_int_equal(visit_user(app, cookies[i]), i < 2 ? 0 : user.id);
    assert_int_equal(session_count(user.id), MAX);
    config->sessions_max = before;
}

DEVICES_TEST(one_session_is_ended_by_its_id)
{
    char key[SESSION_KEY_MAX];
    struct account stranger = account_new(app);
    const char *fields = text_printf("session=%.16s", session_key_of(p.curl, key) + SESSION_KEY_LEN - 64);
    assert_int_equal(end_sessions(fields, stranger.cookie), 404);
    assert_int_equal(visit_user(app, p.curl), p.user.id);
    assert_int_equal(end_sessions(fields, p.phone), 204);
    assert_int_equal(visit_user(app, p.curl), 0);
    assert_int_equal(visit_user(app, p.phone), p.user.id);
    assert_int_equal(end_sessions(fields, p.phone), 404);
    assert_int_equal(end_sessions("session=ended", p.phone), 404);
    assert_int_equal(end_sessions("", p.phone), 422);
}

DEVICES_TEST(all_others_are_ended_and_the_own_one_stays)
{
    char other[VISIT_TEXT_MAX];
    session_new(&p.user, CURL, other);
    assert_int_equal(end_sessions("others=1", p.curl), 204);
    assert_int_equal(visit_user(app, p.curl), p.user.id);
    assert_int_equal(visit_user(app, other), 0);
    assert_int_equal(visit_user(app, p.phone), 0);
    for (int64_t now_ms = clock_now_ms(); clock_now_ms() <= now_ms;) /* a login of the same millisecond is refused */
        continue;
    session_new(&p.user, CURL, other); /* later logins are not affected */
    assert_int_equal(visit_user(app, other), p.user.id);
}

/* The request of the login was read, and its password verified, before the sessions were ended. */
TEST(a_login_that_overlaps_gets_no_session)
{
    struct visit v;
    struct account user = account_new(app);
    /* A mark of the far future is from before the clock was set back. */
    const int64_t marks_ms[] = { 5, HOUR_MS };
    for (size_t i = 0; i < ARRAY_LEN(marks_ms); i++) {
        visit_begin(&v, app, "/login", "", NULL);
        assert_int_equal(session_list_end_others(&app->stores, arena, user.id, STR(""), v.x.now_ms + marks_ms[i]),
                         ST_OK);
        assert_int_equal(session_start(&v.x, user.id, str_from(user.name), STR("Ming")), i == 0 ? ST_CONFLICT : ST_OK);
        assert_int_equal(visit_header(&v, "Set-Cookie").ptr != NULL, i);
        assert_int_equal(session_count(user.id), i);
        visit_end(&v);
    }
}

/* ---- sessions of the version before ---- */

/* Makes the user's row as if the user had registered then. */
static void born_at(uint64_t user_id, int64_t created_ms)
{
    sql_run(app, "UPDATE user SET created_ms = ? WHERE id = ?", DB_I64(created_ms), DB_U64(user_id));
}

/* Stores a session as the version before did, started at created_ms. cookie: VISIT_TEXT_MAX bytes. */
static void older_session(uint64_t user_id, int64_t created_ms, char *cookie, char *key)
{
    char token[SESSION_TOKEN_MAX];
    born_at(user_id, created_ms - 1);
    session_token_new(token);
    snprintf(cookie, VISIT_TEXT_MAX, "sid=%s", token);
    (void)REDIS("SET %s %" PRIu64 ",%" PRId64 ",%" PRId64 ",someone,Some,one PX 60000", session_key_of(cookie, key),
                user_id, created_ms, clock_now_ms());
}

TEST(a_session_of_the_version_before_works_and_is_entered)
{
    char older[VISIT_TEXT_MAX], key[SESSION_KEY_MAX], nickname[64];
    struct services hot = *app;
    struct visit v;
    struct account user = account_new(app);
    older_session(user.id, clock_now_ms() - HOUR_MS / 2, older, key);
    hot.stores.db = NULL;
    visit_begin(&v, &hot, "/p/x", "", older);
    assert_int_equal(visit_look_up(&v), ST_NOT_FOUND); /* handed to the page pool */
    visit_end(&v);
    assert_int_equal(session_count(user.id), 1);
    assert_int_equal(visitor_in(app, older, nickname), user.id);
    assert_string_equal(nickname, "Some,one");
    assert_int_equal(session_count(user.id), 2);
    assert_int_equal(visitor_in(&hot, older, nickname), user.id);
    assert_int_equal(end_sessions("others=1", user.cookie), 204);
    assert_int_equal(visit_user(app, older), 0);
}

TEST(a_session_of_the_version_before_ends_with_all_others)
{
    char older[VISIT_TEXT_MAX], key[SESSION_KEY_MAX];
    struct account user = account_new(app);
    older_session(user.id, clock_now_ms() - HOUR_MS / 2, older, key);
    assert_int_equal(end_sessions("others=1", user.cookie), 204); /* not entered yet */
    assert_int_equal(visit_user(app, older), 0);
    assert_ints({ REDIS("EXISTS %s", key), 0 }, { session_count(user.id), 1 });
}

/* ---- nickname and password ---- */

static struct visit *renamed(const char *fields, const char *cookie)
{
    return json_of(nickname_submit, "/account/nickname", fields, cookie);
}

DEVICES_TEST(a_new_nickname_is_in_all_sessions)
{
    char nickname[64], key[SESSION_KEY_MAX];
    struct user found;
    int64_t ttl_ms = REDIS("PTTL %s", session_key_of(p.phone, key));
    visit_says(renamed("nickname=+A,+%F0%9F%A7%A7+", p.curl), 200, "\"nickname\":\"A, 🧧\"");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(visitor_in(app, i == 0 ? p.phone : p.curl, nickname), p.user.id);
        assert_string_equal(nickname, "A, 🧧");
    }
    assert_true(REDIS("PTTL %s", key) <= ttl_ms);
    assert_int_equal(user_find_by_name(app->stores.db, arena, str_from(p.user.name), &found), ST_OK);
    assert_true(str_equal(found.nickname, STR("A, 🧧")));
    visit_says(renamed("nickname=++", p.curl), 422);
    visit_says(renamed("nickname=A&face=initial+", p.curl), 200);
    visit_says(renamed("nickname=A&face=unicorn", p.curl), 422);
    visit_says(html_of(nickname_submit, "/account/nickname", "nickname=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", p.curl), 422,
               "昵称最多32个字", "value=\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"");
}

/* The face in the session of a cookie, and in the row of its user. */
static void assert_face(const char *cookie, const char *word)
{
    char key[SESSION_KEY_MAX];
    struct session s;
    struct face face;
    struct redis_call call;
    const struct str args[] = { STR("GET"), str_from(session_key_of(cookie, key)) };
    assert_int_equal(redis_do(app->stores.redis, &call, args, ARRAY_LEN(args)), ST_OK);
    assert_true(session_value_read(redis_reply_str(call.reply), &s));
    assert_true(str_equal(face_word(&s.face), str_from(word)));
    assert_true(str_equal(s.nickname, STR("小明")));
    assert_int_equal(user_face_find(app->stores.db, arena, s.user_id, &face), ST_OK);
    assert_true(str_equal(face_word(&face), str_from(word)));
    redis_call_free(&call);
}

DEVICES_TEST(a_new_face_is_in_all_sessions_and_in_later_ones)
{
    char later[VISIT_TEXT_MAX];
    visit_says(renamed("nickname=%E5%B0%8F%E6%98%8E&face=rabbit", p.curl), 200);
    struct visit *v = login_of(p.user.name, "long+enough");
    assert_true(visit_cookie(v, later));
    visit_says(v, 200);
    assert_face(p.phone, "rabbit");
    assert_face(p.curl, "rabbit");
    assert_face(later, "rabbit");
    visit_says(renamed("nickname=%E5%B0%8F%E6%98%8E", p.phone), 200);
    assert_face(p.curl, "rabbit"); /* a program that knows no faces */
    visit_says(renamed("nickname=%E5%B0%8F%E6%98%8E&face=initial", p.phone), 200);
    assert_face(p.curl, "");
}

#define NEW_PASSWORD "old_password=long+enough&new_password=longer+than+that"

DEVICES_TEST(changing_the_password_ends_all_other_sessions)
{
    visit_says(json_of(password_submit, "/account/password", NEW_PASSWORD, p.phone), 204);
    assert_int_equal(visit_user(app, p.phone), p.user.id);
    assert_int_equal(visit_user(app, p.curl), 0);
    visit_says(login_of(p.user.name, "long+enough"), 422);
    visit_says(login_of(p.user.name, "longer+than+that"), 200);
}

DEVICES_TEST(a_password_is_changed_only_with_the_old_one_and_to_a_good_one)
{
    const char *const fields[][2] = {
        { "old_password=long+enougH&new_password=longer+than+that", "密码不正确" },
        { "old_password=&new_password=longer+than+that", "请填写密码" },
        { "old_password=long+enough&new_password=", "请填写新密码" },
        { "old_password=long+enough&new_password=PassWord", "这个密码太常见" },
        { "old_password=long+enough&new_password=short", "密码至少8个字符" },
        { text_printf("old_password=long+enough&new_password=%s99", p.user.name), "密码和用户名太像" },
    };
    for (size_t i = 0; i < ARRAY_LEN(fields); i++)
        visit_says(html_of(password_submit, "/account/password", fields[i][0], p.phone), 422, fields[i][1], LACKS,
                   "longer than that");
    assert_int_equal(visit_user(app, p.curl), p.user.id);
    visit_says(login_of(p.user.name, "long+enough"), 200);
}

TEST(without_redis_the_password_stays)
{
    struct services *lacking = services_without(app, "redis");
    struct account user = account_new(app);
    struct visit *v = visit_new(app, "/account/password", NEW_PASSWORD, user.cookie);
    assert_int_equal(visit_look_up(v), ST_OK);
    v->x.app = lacking;
    visit_handle(v, password_submit);
    v->x.app = app;
    visit_says(v, 503);
    services_without_free(lacking);
    visit_says(login_of(user.name, "long+enough"), 200);
}

TEST(of_two_changes_at_once_one_is_refused)
{
    struct str old_hash, now;
    const uint64_t id = account_new(app).id;
    assert_int_equal(user_hash_find(app->stores.db, arena, id, &old_hash), ST_OK);
    assert_int_equal(user_password_change(app->stores.db, arena, id, old_hash, STR("first")), ST_OK);
    assert_int_equal(user_password_change(app->stores.db, arena, id, old_hash, STR("second")), ST_CONFLICT);
    assert_int_equal(user_hash_find(app->stores.db, arena, id, &now), ST_OK);
    assert_true(str_equal(now, STR("first")));
    assert_int_equal(user_hash_find(app->stores.db, arena, 1, &now), ST_NOT_FOUND);
}

/* ---- ids that are given anew, after tables were lost ---- */

TEST(a_session_that_is_older_than_its_user_is_refused)
{
    char older[VISIT_TEXT_MAX], key[SESSION_KEY_MAX];
    const uint64_t id = account_new(app).id;
    const int64_t started_ms = clock_now_ms() - HOUR_MS / 2;
    older_session(id, started_ms, older, key);
    born_at(id, started_ms + CLOCKS_DIFFER_MS + 1);
    assert_int_equal(visit_user(app, older), 0);
    assert_int_equal(REDIS("EXISTS %s", key), 0);
    older_session(id, started_ms, older, key);
    born_at(id, started_ms + CLOCKS_DIFFER_MS); /* on a machine whose clock is ahead */
    assert_int_equal(visit_user(app, older), id);
}

TEST(a_registration_ends_what_somebody_else_had_under_its_number)
{
    char stranger[VISIT_TEXT_MAX], cookie[VISIT_TEXT_MAX];
    struct services hot = *app;
    struct account next = { .id = account_new(app).id + 1 };
    fresh_username(next.name);
    session_new(&next, CURL, stranger);
    hot.stores.db = NULL;
    assert_int_equal(visit_user(&hot, stranger), next.id);
    struct visit *v = json_of(register_submit, "/register",
                              text_printf("username=%s&nickname=Ming&password=long+enough", next.name), NULL);
    assert_int_equal(visit_json_int(v, "id"), next.id);
    assert_true(visit_cookie(v, cookie));
    visit_says(v, 201);
    assert_int_equal(visit_user(&hot, stranger), 0);
    assert_int_equal(visit_user(app, cookie), next.id);
    assert_int_equal(session_count(next.id), 1);
}

TESTS(app_setup, app_teardown)

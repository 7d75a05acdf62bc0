/* The list of a user's sessions, the pages that end them, and changing nickname and password, on real stores. */
#include <inttypes.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/random.h"
#include "io/redis_reply.h"
#include "support/test.h"
#include "support/test_services.h"
#include "test_user_app.h"
#include "user/account_page.h"
#include "user/login.h"
#include "user/logout.h"
#include "user/nickname_page.h"
#include "user/password_page.h"
#include "user/register.h"
#include "user/session.h"
#include "user/session_list.h"
#include "user/session_page.h"
#include "user/store.h"

enum { HOUR_MS = 3600 * 1000 };

/* A user, and the cookies of two devices. */
struct person {
    char name[VISIT_NAME_MAX];
    uint64_t id;
    char phone[VISIT_TEXT_MAX], curl[VISIT_TEXT_MAX];
};

/* A request from this device; cookie may be NULL. Returns the status. */
static int post_from(struct visit *v, handler_fn *handler, const char *uri, const char *fields, const char *cookie,
                     char *agent)
{
    visit_begin(v, app, uri, fields, cookie);
    v->envp[cookie == NULL ? 0 : 1] = agent;
    assert_int_equal(visit_look_up(v), ST_OK);
    assert_int_equal(handler(&v->x), STEP_DONE);
    return v->x.status;
}

/* Registers a user with the password "long enough" on an Android phone. */
static struct person registered(void)
{
    static char agent[] = "HTTP_USER_AGENT=Mozilla/5.0 (Linux; Android 14) Chrome/126.0 Mobile Safari/537.36";
    struct person p;
    struct visit v;
    fresh_username(p.name);
    assert_int_equal(post_from(&v, register_submit, "/register",
                               text_printf("username=%s&nickname=Ming&password=long+enough", p.name), NULL, agent),
                     201);
    p.id = (uint64_t)visit_json_int(&v, "id");
    assert_true(visit_cookie(&v, p.phone));
    visit_end(&v);
    return p;
}

/* Logs in with this password from curl. cookie: VISIT_TEXT_MAX bytes, or NULL. Returns the status. */
static int logged_in(const struct person *p, const char *password, char *cookie)
{
    static char agent[] = "HTTP_USER_AGENT=curl/7.88";
    struct visit v;
    int status =
        post_from(&v, login_submit, "/login", text_printf("username=%s&password=%s", p->name, password), NULL, agent);
    if (cookie != NULL)
        assert_true(visit_cookie(&v, cookie));
    visit_end(&v);
    return status;
}

/* The same, who then has logged in from curl. */
static struct person on_two_devices(void)
{
    struct person p = registered();
    assert_int_equal(logged_in(&p, "long+enough", p.curl), 200);
    return p;
}

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

static uint64_t visitor_of(const char *cookie)
{
    return visitor_in(app, cookie, NULL);
}

static size_t session_count(uint64_t user_id)
{
    struct session_entry *entries;
    size_t count;
    arena_reset(arena);
    assert_int_equal(session_list_read(&app->stores, arena, user_id, clock_now_ms(), &entries, &count), ST_OK);
    return count;
}

static struct str key_of(const char *cookie, char *key)
{
    session_key_write((struct str){ cookie + 4, strlen(cookie) - 4 }, key);
    return str_from(key);
}

/* The reply to a command as a number; a text counts as 1, nil as 0. */
static int64_t redis_number(const struct str *words, size_t count)
{
    struct redis_call call = { 0 };
    int64_t n = 0;
    assert_int_equal(redis_do(app->stores.redis, &call, words, count), ST_OK);
    if (!redis_reply_i64(call.reply, &n))
        n = !redis_reply_is_nil(call.reply);
    redis_call_free(&call);
    return n;
}
#define REDIS(...) redis_number((const struct str[]){ __VA_ARGS__ }, ARRAY_LEN(((const struct str[]){ __VA_ARGS__ })))

static struct str list_of(uint64_t user_id)
{
    return str_from(text_printf("hb:sessions:%" PRIu64, user_id));
}

/* ---- the list ---- */

TEST(the_account_page_lists_devices_and_marks_the_own_one)
{
    struct person p = on_two_devices();
    struct visit *v = json_of(account_show, "/account", NULL, p.curl);
    struct str first, rest = str_after(buf_view(&v->x.body), STR("\"sessions\":["));
    first = str_cut(rest, '}', &rest);
    struct str second = str_cut(rest, '}', &rest);
    assert_true(str_after(first, STR("\"device\":\"curl\"")).ptr != NULL);
    assert_true(str_after(first, STR("\"current\":true")).ptr != NULL);
    assert_true(str_after(second, STR("\"device\":\"Chrome · Android\"")).ptr != NULL);
    assert_true(str_after(second, STR("\"current\":false")).ptr != NULL);
    visit_says(v, 200);
    visit_says(html_of(account_show, "/account", NULL, p.phone), 200, "Chrome · Android", "href=\"/account/devices\"");
    visit_says(html_of(devices_show, "/account/devices", NULL, p.phone), 200, "Chrome · Android", "退出其他所有设备",
               LACKS, p.phone + 4);
}

TEST(a_logout_leaves_the_list)
{
    struct person p = on_two_devices();
    assert_int_equal(session_count(p.id), 2);
    visit_says(json_of(logout_submit, "/logout", "", p.curl), 204);
    assert_int_equal(session_count(p.id), 1);
    assert_int_equal(REDIS(STR("HLEN"), list_of(p.id)), 1);
}

TEST(a_session_that_is_over_leaves_the_list)
{
    char key[SESSION_KEY_MAX];
    struct person p = on_two_devices();
    assert_int_equal(REDIS(STR("DEL"), key_of(p.curl, key)), 1); /* as when it expires */
    assert_int_equal(session_count(p.id), 1);
    assert_int_equal(REDIS(STR("HLEN"), list_of(p.id)), 2); /* a young one could be on its way */
    struct session_entry *entries;
    size_t count;
    assert_int_equal(session_list_read(&app->stores, arena, p.id, clock_now_ms() + 61 * 1000, &entries, &count), ST_OK);
    assert_int_equal(count, 1);
    assert_int_equal(REDIS(STR("HLEN"), list_of(p.id)), 1);
    assert_true(REDIS(STR("PTTL"), list_of(p.id)) > 29 * 24 * (int64_t)HOUR_MS);
}

TEST(a_further_login_ends_the_oldest_session)
{
    enum { MAX = 3 };
    char cookies[MAX + 2][VISIT_TEXT_MAX];
    int64_t before = app->stores.config->sessions_max;
    test_services_config(app)->sessions_max = MAX;
    struct person p = registered();
    memcpy(cookies[0], p.phone, sizeof p.phone);
    for (int i = 1; i < MAX + 2; i++)
        assert_int_equal(logged_in(&p, "long+enough", cookies[i]), 200);
    for (int i = 0; i < MAX + 2; i++)
        assert_int_equal(visitor_of(cookies[i]), i < 2 ? 0 : p.id);
    assert_int_equal(session_count(p.id), MAX);
    test_services_config(app)->sessions_max = before;
}

TEST(one_session_is_ended_by_its_id)
{
    char key[SESSION_KEY_MAX];
    struct person p = on_two_devices(), stranger = registered();
    const char *fields = text_printf("session=%.16s", key_of(p.curl, key).ptr + SESSION_KEY_LEN - 64);
    visit_says(json_of(session_end_submit, "/account/sessions/end", fields, stranger.phone), 404);
    assert_int_equal(visitor_of(p.curl), p.id);
    visit_says(json_of(session_end_submit, "/account/sessions/end", fields, p.phone), 204);
    assert_int_equal(visitor_of(p.curl), 0);
    assert_int_equal(visitor_of(p.phone), p.id);
    visit_says(json_of(session_end_submit, "/account/sessions/end", fields, p.phone), 404);
    visit_says(json_of(session_end_submit, "/account/sessions/end", "session=ended", p.phone), 404);
    visit_says(json_of(session_end_submit, "/account/sessions/end", "", p.phone), 422);
}

TEST(all_others_are_ended_and_the_own_one_stays)
{
    char curl[2][VISIT_TEXT_MAX];
    struct person p = registered();
    for (int i = 0; i < 2; i++)
        assert_int_equal(logged_in(&p, "long+enough", curl[i]), 200);
    visit_says(json_of(session_end_submit, "/account/sessions/end", "others=1", curl[0]), 204);
    assert_int_equal(visitor_of(curl[0]), p.id);
    assert_int_equal(visitor_of(curl[1]), 0);
    assert_int_equal(visitor_of(p.phone), 0);
    for (int64_t now_ms = clock_now_ms(); clock_now_ms() <= now_ms;) /* a login of the same millisecond is refused */
        continue;
    assert_int_equal(logged_in(&p, "long+enough", curl[1]), 200); /* later logins are not concerned */
    assert_int_equal(visitor_of(curl[1]), p.id);
}

/* The request of the login was read, and its password verified, before the sessions were ended. */
TEST(a_login_that_overlaps_gets_no_session)
{
    struct visit v;
    struct person p = registered();
    visit_begin(&v, app, "/login", "", NULL);
    assert_int_equal(session_list_end_others(&app->stores, arena, p.id, STR(""), v.x.now_ms + 5), ST_OK);
    assert_int_equal(session_start(&v.x, p.id, str_from(p.name), STR("Ming")), ST_CONFLICT);
    assert_null(visit_header(&v, "Set-Cookie").ptr);
    visit_end(&v);
    assert_int_equal(session_count(p.id), 0);
    /* A mark of the far future is from before the clock was set back. */
    visit_begin(&v, app, "/login", "", NULL);
    assert_int_equal(session_list_end_others(&app->stores, arena, p.id, STR(""), v.x.now_ms + HOUR_MS), ST_OK);
    assert_int_equal(session_start(&v.x, p.id, str_from(p.name), STR("Ming")), ST_OK);
    visit_end(&v);
}

/* ---- sessions of the version before ---- */

/* As if the user had registered then. */
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
    (void)REDIS(STR("SET"), key_of(cookie, key),
                str_from(text_printf("%" PRIu64 ",%" PRId64 ",%" PRId64 ",someone,Some,one", user_id, created_ms,
                                     clock_now_ms())),
                STR("PX"), STR("60000"));
}

TEST(a_session_of_the_version_before_works_and_is_entered)
{
    char older[VISIT_TEXT_MAX], key[SESSION_KEY_MAX], nickname[64];
    struct services hot = *app;
    struct visit v;
    struct person p = registered();
    older_session(p.id, clock_now_ms() - HOUR_MS / 2, older, key);
    hot.stores.db = NULL;
    visit_begin(&v, &hot, "/p/x", "", older);
    assert_int_equal(visit_look_up(&v), ST_NOT_FOUND); /* handed to the page pool */
    visit_end(&v);
    assert_int_equal(session_count(p.id), 1);
    assert_int_equal(visitor_in(app, older, nickname), p.id);
    assert_string_equal(nickname, "Some,one");
    assert_int_equal(session_count(p.id), 2);
    assert_int_equal(visitor_in(&hot, older, nickname), p.id);
    visit_says(json_of(session_end_submit, "/account/sessions/end", "others=1", p.phone), 204);
    assert_int_equal(visitor_of(older), 0);
}

TEST(a_session_of_the_version_before_ends_with_all_others)
{
    char older[VISIT_TEXT_MAX], key[SESSION_KEY_MAX];
    struct person p = registered();
    older_session(p.id, clock_now_ms() - HOUR_MS / 2, older, key);
    visit_says(json_of(session_end_submit, "/account/sessions/end", "others=1", p.phone), 204); /* not entered yet */
    assert_int_equal(visitor_of(older), 0);
    assert_int_equal(REDIS(STR("EXISTS"), str_from(key)), 0);
    assert_int_equal(session_count(p.id), 1);
}

/* ---- nickname and password ---- */

TEST(a_new_nickname_is_in_all_sessions)
{
    char nickname[64], key[SESSION_KEY_MAX];
    struct user found;
    struct person p = on_two_devices();
    int64_t ttl_ms = REDIS(STR("PTTL"), key_of(p.phone, key));
    visit_says(json_of(nickname_submit, "/account/nickname", "nickname=+A,+%F0%9F%A7%A7+", p.curl), 200,
               "\"nickname\":\"A, 🧧\"");
    assert_int_equal(visitor_in(app, p.phone, nickname), p.id);
    assert_string_equal(nickname, "A, 🧧");
    (void)visitor_in(app, p.curl, nickname);
    assert_string_equal(nickname, "A, 🧧");
    assert_true(REDIS(STR("PTTL"), str_from(key)) <= ttl_ms);
    assert_int_equal(user_find_by_name(app->stores.db, arena, str_from(p.name), &found), ST_OK);
    assert_true(str_equal(found.nickname, STR("A, 🧧")));
    visit_says(json_of(nickname_submit, "/account/nickname", "nickname=++", p.curl), 422);
    visit_says(json_of(nickname_submit, "/account/nickname", "nickname=A&face=initial+", p.curl), 200);
    visit_says(json_of(nickname_submit, "/account/nickname", "nickname=A&face=unicorn", p.curl), 422);
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
    const struct str args[] = { STR("GET"), key_of(cookie, key) };
    assert_int_equal(redis_do(app->stores.redis, &call, args, ARRAY_LEN(args)), ST_OK);
    assert_true(session_value_read(redis_reply_str(call.reply), &s));
    assert_true(str_equal(face_word(&s.face), str_from(word)));
    assert_true(str_equal(s.nickname, STR("小明")));
    assert_int_equal(user_face_find(app->stores.db, arena, s.user_id, &face), ST_OK);
    assert_true(str_equal(face_word(&face), str_from(word)));
    redis_call_free(&call);
}

TEST(a_new_face_is_in_all_sessions_and_in_later_ones)
{
    char later[VISIT_TEXT_MAX];
    struct person p = on_two_devices();
    const char *form = "nickname=%E5%B0%8F%E6%98%8E&face=rabbit";
    visit_says(json_of(nickname_submit, "/account/nickname", form, p.curl), 200);
    assert_int_equal(logged_in(&p, "long+enough", later), 200);
    assert_face(p.phone, "rabbit");
    assert_face(p.curl, "rabbit");
    assert_face(later, "rabbit");
    visit_says(json_of(nickname_submit, "/account/nickname", "nickname=%E5%B0%8F%E6%98%8E", p.phone), 200);
    assert_face(p.curl, "rabbit"); /* a program that knows no faces */
    form = "nickname=%E5%B0%8F%E6%98%8E&face=initial";
    visit_says(json_of(nickname_submit, "/account/nickname", form, p.phone), 200);
    assert_face(p.curl, "");
}

TEST(changing_the_password_ends_all_other_sessions)
{
    struct person p = on_two_devices();
    visit_says(json_of(password_submit, "/account/password", "old_password=long+enough&new_password=longer+than+that",
                       p.phone),
               204);
    assert_int_equal(visitor_of(p.phone), p.id);
    assert_int_equal(visitor_of(p.curl), 0);
    assert_int_equal(logged_in(&p, "long+enough", NULL), 422);
    assert_int_equal(logged_in(&p, "longer+than+that", NULL), 200);
}

TEST(a_password_is_changed_only_with_the_old_one_and_to_a_good_one)
{
    static const char *const fields[][2] = {
        { "old_password=long+enougH&new_password=longer+than+that", "旧密码不正确" },
        { "old_password=&new_password=longer+than+that", "请填写密码" },
        { "old_password=long+enough&new_password=", "请填写新密码" },
        { "old_password=long+enough&new_password=PassWord", "这个密码太常见" },
        { "old_password=long+enough&new_password=short", "密码至少8个字符" },
    };
    struct person p = on_two_devices();
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        visit_says(html_of(password_submit, "/account/password", fields[i][0], p.phone), 422, fields[i][1], LACKS,
                   "longer than that");
    }
    visit_says(html_of(password_submit, "/account/password",
                       text_printf("old_password=long+enough&new_password=%s99", p.name), p.phone),
               422, "密码和用户名太像");
    assert_int_equal(visitor_of(p.curl), p.id);
    assert_int_equal(logged_in(&p, "long+enough", NULL), 200);
}

TEST(without_redis_the_password_stays)
{
    struct services *lacking = services_without(app, "redis");
    struct visit v;
    struct person p = registered();
    visit_begin(&v, app, "/account/password", "old_password=long+enough&new_password=longer+than+that", p.phone);
    assert_int_equal(visit_look_up(&v), ST_OK);
    v.x.app = lacking;
    assert_int_equal(password_submit(&v.x), STEP_DONE);
    assert_int_equal(v.x.status, 503);
    v.x.app = app;
    visit_end(&v);
    services_without_free(lacking);
    assert_int_equal(logged_in(&p, "long+enough", NULL), 200);
}

TEST(of_two_changes_at_once_one_is_refused)
{
    struct str old_hash, now;
    struct person p = registered();
    assert_int_equal(user_hash_find(app->stores.db, arena, p.id, &old_hash), ST_OK);
    assert_int_equal(user_password_change(app->stores.db, arena, p.id, old_hash, STR("first")), ST_OK);
    assert_int_equal(user_password_change(app->stores.db, arena, p.id, old_hash, STR("second")), ST_CONFLICT);
    assert_int_equal(user_hash_find(app->stores.db, arena, p.id, &now), ST_OK);
    assert_true(str_equal(now, STR("first")));
    assert_int_equal(user_hash_find(app->stores.db, arena, 1, &now), ST_NOT_FOUND);
}

/* ---- ids that are given anew, after tables were lost ---- */

TEST(a_session_that_is_older_than_its_user_is_refused)
{
    char older[VISIT_TEXT_MAX], key[SESSION_KEY_MAX];
    struct person p = registered();
    const int64_t started_ms = clock_now_ms() - HOUR_MS / 2;
    older_session(p.id, started_ms, older, key);
    born_at(p.id, started_ms + CLOCKS_DIFFER_MS + 1);
    assert_int_equal(visitor_of(older), 0);
    assert_int_equal(REDIS(STR("EXISTS"), str_from(key)), 0);
    older_session(p.id, started_ms, older, key);
    born_at(p.id, started_ms + CLOCKS_DIFFER_MS); /* on a machine whose clock is ahead */
    assert_int_equal(visitor_of(older), p.id);
}

TEST(a_registration_ends_what_somebody_else_had_under_its_number)
{
    char stranger[VISIT_TEXT_MAX];
    struct visit v;
    struct services hot = *app;
    const uint64_t next = registered().id + 1;
    visit_begin(&v, app, "/login", "", NULL);
    assert_int_equal(session_start(&v.x, next, STR("stranger"), STR("Stranger")), ST_OK);
    assert_true(visit_cookie(&v, stranger));
    visit_end(&v);
    hot.stores.db = NULL;
    assert_int_equal(visitor_in(&hot, stranger, NULL), next);
    const struct person fresh = registered();
    assert_int_equal(fresh.id, next);
    assert_int_equal(visitor_in(&hot, stranger, NULL), 0);
    assert_int_equal(visitor_of(fresh.phone), next);
    assert_int_equal(session_count(next), 1);
}

TESTS(app_setup, app_teardown)

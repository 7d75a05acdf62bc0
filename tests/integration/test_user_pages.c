/* user/: register, login and logout on real stores. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <sodium.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/random.h"
#include "test_user_app.h"
#include "user/account.h"
#include "user/deletion_page.h"
#include "user/language.h"
#include "user/login.h"
#include "user/logout.h"
#include "user/password.h"
#include "user/password_page.h"
#include "user/register.h"
#include "user/session.h"
#include "user/store.h"
#include "user/token_page.h"
#include "web/origin.h"

/* Registers a new user. name: VISIT_NAME_MAX bytes; cookie may be NULL. Returns the id. */
static int64_t registered(char *name, char *cookie)
{
    fresh_username(name);
    return (int64_t)visit_register(app, name, cookie);
}

/* Posts a login. new_cookie (VISIT_TEXT_MAX bytes) is set unless NULL. Returns the status. */
static int logged_in(const char *name, const char *password, const char *old_cookie, char *new_cookie)
{
    struct visit v;
    char fields[VISIT_TEXT_MAX];
    snprintf(fields, sizeof fields, "username=%s&password=%s", name, password);
    int status = visit_post(&v, app, login_submit, "/login", fields, old_cookie);
    if (new_cookie != NULL && !visit_cookie(&v, new_cookie))
        fail_msg("the login of %s is answered %d", name, status);
    visit_end(&v);
    return status;
}

static int64_t rows_of(const char *sql, struct str name)
{
    struct arena *a = arena_new(4096, 1 << 20);
    struct db_rows rows;
    assert_int_equal(db_query(app->stores.db, a, &rows, sql, DB_PARAMS(DB_TEXT(name))), ST_OK);
    int64_t n = db_cell_i64(&rows, 0, 0);
    arena_free(a);
    return n;
}

static void registering_makes_a_user_with_an_empty_wallet_and_logs_in(void **state)
{
    (void)state;
    char name[VISIT_NAME_MAX], cookie[VISIT_TEXT_MAX];
    struct visit v;
    int64_t id = registered(name, cookie);
    assert_true(id >= 10001);
    assert_int_equal(rows_of("SELECT a.balance_fen FROM account a JOIN user u ON u.id = a.id"
                             " WHERE u.username = ? AND a.kind = 'wallet'",
                             str_from(name)),
                     0);
    visit_begin(&v, app, "/", NULL, cookie);
    assert_int_equal(visit_look_up(&v), ST_OK);
    assert_int_equal(v.x.visitor.user_id, id);
    assert_true(str_equal(v.x.visitor.username, str_from(name)));
    assert_true(str_equal(v.x.visitor.nickname, STR("Ming")));
    visit_end(&v);
}

static void the_cookie_is_httponly_and_samesite(void **state)
{
    (void)state;
    char name[VISIT_NAME_MAX], fields[VISIT_TEXT_MAX];
    struct visit v;
    fresh_username(name);
    snprintf(fields, sizeof fields, "username=%s&nickname=Ming&password=long+enough", name);
    assert_int_equal(visit_post(&v, app, register_submit, "/register", fields, NULL), 201);
    struct str attributes;
    struct str pair = str_cut(visit_header(&v, "Set-Cookie"), ';', &attributes);
    assert_true(str_starts(pair, STR("sid=")));
    assert_true(session_token_valid((struct str){ pair.ptr + 4, pair.len - 4 }));
    assert_true(str_equal(attributes, STR(" Path=/; HttpOnly; SameSite=Lax; Max-Age=2592000")));
    visit_end(&v);
}

static void on_https_the_cookie_is_bound_to_the_host(void **state)
{
    (void)state;
    char name[VISIT_NAME_MAX], cookie[VISIT_TEXT_MAX], fields[VISIT_TEXT_MAX];
    struct visit v;
    struct config https = *app->stores.config;
    struct services secure = *app;
    snprintf(https.base_url, sizeof https.base_url, "https://hongbao.example");
    secure.stores.config = &https;
    registered(name, NULL);
    snprintf(fields, sizeof fields, "username=%s&password=long+enough", name);
    assert_int_equal(visit_post(&v, &secure, login_submit, "/login", fields, NULL), 200);
    struct str attributes;
    assert_true(str_starts(str_cut(visit_header(&v, "Set-Cookie"), ';', &attributes), STR("__Host-sid=")));
    assert_true(str_equal(attributes, STR(" Path=/; HttpOnly; SameSite=Lax; Max-Age=2592000; Secure")));
    assert_true(visit_cookie(&v, cookie));
    visit_end(&v);
    visit_begin(&v, &secure, "/", NULL, cookie);
    assert_int_equal(visit_look_up(&v), ST_OK);
    assert_true(v.x.visitor.user_id != 0);
    visit_end(&v);
    assert_int_equal(visit_user(app, cookie), 0); /* the cookie has another name on http */
}

static void a_taken_username_is_refused_in_any_case(void **state)
{
    (void)state;
    char name[VISIT_NAME_MAX], fields[VISIT_TEXT_MAX];
    struct visit v;
    registered(name, NULL);
    name[0] = 'U';
    snprintf(fields, sizeof fields, "username=%s&nickname=Ming&password=long+enough", name);
    assert_int_equal(visit_post(&v, app, register_submit, "/register", fields, NULL), 422);
    assert_true(visit_body_has(&v, "{\"field\":\"username\",\"message\":\"该用户名已被使用\"}"));
    assert_null(visit_header(&v, "Set-Cookie").ptr);
    visit_end(&v);
}

static void of_concurrent_registrations_of_one_username_one_succeeds(void **state)
{
    (void)state;
    enum { RACERS = 8 };
    char name[VISIT_NAME_MAX];
    pid_t racers[RACERS];
    unsigned made = 0, taken = 0;
    fresh_username(name);
    for (int i = 0; i < RACERS; i++) {
        racers[i] = fork();
        assert_true(racers[i] >= 0);
        if (racers[i] > 0)
            continue;
        struct db *db = db_new(app->stores.config);
        struct arena *a = arena_new(4096, 1 << 20);
        struct user user = { .username = str_from(name), .nickname = STR("racer") };
        _exit((int)user_insert(db, a, &app->stores.config->keys, &user, clock_now_ms()));
    }
    for (int i = 0; i < RACERS; i++) {
        int status;
        assert_int_equal(waitpid(racers[i], &status, 0), racers[i]);
        assert_true(WIFEXITED(status));
        made += WEXITSTATUS(status) == ST_OK;
        taken += WEXITSTATUS(status) == ST_EXISTS;
    }
    assert_int_equal(made, 1);
    assert_int_equal(taken, RACERS - 1);
    assert_int_equal(
        rows_of("SELECT COUNT(*) FROM user u JOIN account a ON a.id = u.id WHERE u.username = ?", str_from(name)), 1);
}

/* Posts the form of the page and copies the username that the refused page has. */
static void proposed_for(const char *fields, char *out, size_t size)
{
    struct visit v;
    assert_int_equal(visit_page(&v, app, register_submit, "/register", fields, NULL), 422);
    struct str rest = str_after(str_after(buf_view(&v.x.body), STR("id=\"username\"")), STR("value=\""));
    assert_non_null(rest.ptr);
    struct str value = str_cut(rest, '"', &rest);
    snprintf(out, size, "%.*s", STR_ARG(value));
    assert_true(visit_body_has(&v, "data-proposed"));
    visit_end(&v);
}

static void whoever_has_no_free_username_gets_a_free_one_proposed(void **state)
{
    (void)state;
    char name[VISIT_NAME_MAX], fields[VISIT_TEXT_MAX], proposed[VISIT_TEXT_MAX];
    struct visit v;
    registered(name, NULL);
    snprintf(fields, sizeof fields, "username=%s&nickname=Ming&password=long+enough", name);
    proposed_for(fields, proposed, sizeof proposed);
    assert_int_equal(strncmp(proposed, name, strlen(name)), 0);
    assert_string_not_equal(proposed, name);
    assert_int_equal(rows_of("SELECT COUNT(*) FROM user WHERE username = ?", str_from(proposed)), 0);
    proposed_for("username=%E5%B0%8F%E6%98%8E&nickname=Zoe+W&password=long+enough", proposed, sizeof proposed);
    assert_int_equal(strncmp(proposed, "zoew", 4), 0);
    proposed_for("username=&nickname=%E5%B0%8F%E6%98%8E&password=long+enough", proposed, sizeof proposed);
    assert_true(username_valid(str_from(proposed)));
    assert_int_equal(visit_page(&v, app, register_show, "/register", NULL, NULL), 200);
    assert_true(visit_body_has(&v, "data-proposed"));
    assert_false(visit_body_has(&v, "value=\"\" data-proposed"));
    visit_end(&v);
}

static void a_refused_registration_shows_the_typed_texts_except_the_password(void **state)
{
    (void)state;
    struct visit v;
    assert_int_equal(visit_page(&v, app, register_submit, "/register",
                                "username=No+Good&nickname=%3Cb%3E&password=s3cret&next=%2Fp%2Fx", NULL),
                     422);
    assert_true(visit_body_has(&v, "用户名里不能有空格"));
    assert_true(visit_body_has(&v, "value=\"nogood")); /* with digits once somebody has it */
    assert_true(visit_body_has(&v, "value=\"&lt;b&gt;\""));
    assert_true(visit_body_has(&v, "value=\"/p/x\""));
    assert_true(visit_body_has(&v, "密码至少8个字符"));
    assert_false(visit_body_has(&v, "s3cret"));
    visit_end(&v);
}

static void login_answers_with_the_user(void **state)
{
    (void)state;
    char name[VISIT_NAME_MAX], fields[VISIT_TEXT_MAX], cookie[VISIT_TEXT_MAX];
    struct visit v;
    int64_t id = registered(name, NULL);
    snprintf(fields, sizeof fields, "username=+%s+&password=long+enough", name);
    fields[10] = 'U'; /* blanks around it and capitals don't matter */
    assert_int_equal(visit_post(&v, app, login_submit, "/login", fields, NULL), 200);
    assert_int_equal(visit_json_int(&v, "id"), id);
    assert_true(visit_body_has(&v, "\"nickname\":\"Ming\""));
    assert_false(visit_body_has(&v, "argon2"));
    assert_true(visit_cookie(&v, cookie));
    visit_end(&v);
    assert_int_equal(visit_user(app, cookie), id);
}

/* Writes the body of a refused login to out. */
static void refused_login(const char *name, const char *password, char *out, size_t out_size)
{
    struct visit v;
    char fields[VISIT_TEXT_MAX];
    snprintf(fields, sizeof fields, "username=%s&password=%s", name, password);
    assert_int_equal(visit_post(&v, app, login_submit, "/login", fields, NULL), 422);
    assert_null(visit_header(&v, "Set-Cookie").ptr);
    snprintf(out, out_size, "%.*s", STR_ARG(buf_view(&v.x.body)));
    visit_end(&v);
}

static void unknown_name_and_wrong_password_get_the_same_answer(void **state)
{
    (void)state;
    char name[VISIT_NAME_MAX], stranger[VISIT_NAME_MAX], wrong[2048], unknown[2048], impossible[2048];
    registered(name, NULL);
    fresh_username(stranger);
    refused_login(name, "long+enougH", wrong, sizeof wrong);
    refused_login(stranger, "long+enough", unknown, sizeof unknown);
    refused_login("No+Name+At+All", "long+enough", impossible, sizeof impossible);
    assert_non_null(strstr(wrong, "用户名或密码错误"));
    assert_string_equal(wrong, unknown);
    assert_null(strstr(impossible, "用户名或密码错误"));
    assert_non_null(strstr(impossible, "\"field\":\"username\",\"message\":\"这里填用户名"));
}

static void a_user_without_a_password_cannot_log_in(void **state)
{
    (void)state;
    char name[VISIT_NAME_MAX], body[2048];
    struct arena *a = arena_new(4096, 1 << 20);
    fresh_username(name);
    struct user user = { .username = str_from(name), .nickname = STR("demo") };
    assert_int_equal(user_insert(app->stores.db, a, &app->stores.config->keys, &user, clock_now_ms()), ST_OK);
    refused_login(name, "long+enough", body, sizeof body);
    arena_free(a);
}

static void login_replaces_a_hash_of_lower_cost(void **state)
{
    (void)state;
    char name[VISIT_NAME_MAX], cheap[crypto_pwhash_STRBYTES], cookie[VISIT_TEXT_MAX];
    struct arena *a = arena_new(4096, 1 << 20);
    struct user found;
    assert_int_equal(crypto_pwhash_str(cheap, "long enough", 11, 1, 8192 * 1024), 0);
    fresh_username(name);
    struct user user = { .username = str_from(name), .nickname = STR("old"), .password_hash = str_from(cheap) };
    assert_int_equal(user_insert(app->stores.db, a, &app->stores.config->keys, &user, clock_now_ms()), ST_OK);
    assert_int_equal(logged_in(name, "long+enough", NULL, cookie), 200);
    assert_int_equal(user_find_for_login(app->stores.db, a, user.username, &found), ST_OK);
    assert_false(password_needs_rehash(found.password_hash));
    assert_int_equal(password_verify(&(struct hash_permit){ 1 }, found.password_hash, STR("long enough")), ST_OK);
    arena_free(a);
}

/* The hash of the version before is of the bytes that were typed. */
static void login_replaces_a_hash_of_a_text_that_was_not_normalized(void **state)
{
    (void)state;
    static const char *const typed = "cafe%CC%81+au%C2%A0lait", *const composed = "caf%C3%A9+au+lait";
    char name[VISIT_NAME_MAX], old[PASSWORD_HASH_MAX], cookie[VISIT_TEXT_MAX];
    struct arena *a = arena_new(4096, 1 << 20);
    struct user found;
    assert_int_equal(password_hash(&(struct hash_permit){ 1 }, STR("cafe\u0301 au\u00a0lait"), old), ST_OK);
    fresh_username(name);
    struct user user = { .username = str_from(name), .nickname = STR("old"), .password_hash = str_from(old) };
    assert_int_equal(user_insert(app->stores.db, a, &app->stores.config->keys, &user, clock_now_ms()), ST_OK);
    assert_int_equal(logged_in(name, "cafe%CC%81+au%C2%A0laiT", NULL, NULL), 422);
    assert_int_equal(logged_in(name, typed, NULL, cookie), 200);
    assert_int_equal(user_find_for_login(app->stores.db, a, user.username, &found), ST_OK);
    assert_int_equal(password_verify(&(struct hash_permit){ 1 }, found.password_hash, STR("caf\u00e9 au lait")), ST_OK);
    assert_int_equal(logged_in(name, composed, NULL, cookie), 200); /* as another device types it */
    assert_int_equal(logged_in(name, typed, NULL, cookie), 200);
    arena_free(a);
}

/* Posts to a page that a session needs; returns the status. */
static int posted(handler_fn *handler, const char *uri, const char *fields, const char *cookie)
{
    struct visit v;
    visit_begin(&v, app, uri, fields, cookie);
    assert_int_equal(visit_look_up(&v), ST_OK);
    assert_int_equal(handler(&v.x), STEP_DONE);
    int status = v.x.status;
    visit_end(&v);
    return status;
}

/* Wherever a password is set or confirmed, letters may be composed or not, and blanks of any kind. */
static void one_device_sets_a_password_and_another_types_it(void **state)
{
    (void)state;
    static const char *const decomposed = "cafe%CC%81+au%C2%A0lait", *const composed = "caf%C3%A9+au+lait";
    char name[VISIT_NAME_MAX], fields[VISIT_TEXT_MAX], cookie[VISIT_TEXT_MAX];
    struct visit v;
    fresh_username(name);
    snprintf(fields, sizeof fields, "username=%s&nickname=Ming&password=%s", name, decomposed);
    assert_int_equal(visit_post(&v, app, register_submit, "/register", fields, NULL), 201);
    visit_end(&v);
    assert_int_equal(logged_in(name, composed, NULL, cookie), 200);
    assert_int_equal(
        posted(token_submit, "/account/tokens", "name=t&scopes=read&days=1&password=cafe%CC%81+au+lait", cookie), 201);
    snprintf(fields, sizeof fields, "old_password=%s&new_password=%s+2", decomposed, decomposed);
    assert_int_equal(posted(password_submit, "/account/password", fields, cookie), 204);
    snprintf(fields, sizeof fields, "%s+2", composed);
    assert_int_equal(logged_in(name, fields, NULL, cookie), 200);
    snprintf(fields, sizeof fields, "username=%s&password=%s%%E3%%80%%802", name, composed);
    assert_int_equal(posted(deletion_submit, "/account/delete", fields, cookie), 204);
}

static void login_rotates_the_session(void **state)
{
    (void)state;
    char name[VISIT_NAME_MAX], first[VISIT_TEXT_MAX], second[VISIT_TEXT_MAX];
    uint64_t id = (uint64_t)registered(name, first);
    assert_int_equal(logged_in(name, "long+enough", first, second), 200);
    assert_string_not_equal(first, second);
    assert_int_equal(visit_user(app, first), 0);
    assert_int_equal(visit_user(app, second), id);
}

static void login_never_adopts_a_presented_token(void **state)
{
    (void)state;
    char name[VISIT_NAME_MAX], chosen[] = "sid=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", cookie[VISIT_TEXT_MAX];
    registered(name, NULL);
    assert_int_equal(logged_in(name, "long+enough", chosen, cookie), 200);
    assert_string_not_equal(cookie, chosen);
    assert_int_equal(visit_user(app, chosen), 0);
}

static void a_refused_login_does_not_end_the_presented_session(void **state)
{
    (void)state;
    char name[VISIT_NAME_MAX], cookie[VISIT_TEXT_MAX];
    uint64_t id = (uint64_t)registered(name, cookie);
    assert_int_equal(logged_in(name, "wrong+password", cookie, NULL), 422);
    assert_int_equal(visit_user(app, cookie), id);
}

/* Of a browser that keeps cookies. */
#define OTHER_COOKIE "language=zh-CN"

static void next_is_followed_to_local_paths_only(void **state)
{
    (void)state;
    static const struct {
        const char *next, *location;
    } cases[] = {
        { "%2Fp%2Fabc%3Fafter%3D1", "/p/abc?after=1" },
        { "", "/" },
        { "https%3A%2F%2Fevil.example%2F", "/" },
        { "%2F%2Fevil.example", "/" },
        { "%2F%5Cevil.example", "/" },
        { "%2F%09%2Fevil.example", "/" },
        { "evil", "/" },
    };
    char name[VISIT_NAME_MAX], fields[VISIT_TEXT_MAX];
    struct visit v;
    registered(name, NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        snprintf(fields, sizeof fields, "username=%s&password=long+enough&next=%s", name, cases[i].next);
        assert_int_equal(visit_page(&v, app, login_submit, "/login", fields, OTHER_COOKIE), 303);
        assert_true(str_equal(visit_header(&v, "Location"), str_from(cases[i].location)));
        visit_end(&v);
    }
}

/* nginx does not accept a longer Location. */
static void a_next_that_is_too_long_is_replaced_by_home(void **state)
{
    (void)state;
    static const struct {
        size_t len;
        bool followed;
    } cases[] = { { NEXT_BYTES_MAX, true }, { NEXT_BYTES_MAX + 1, false }, { 6 << 10, false } };
    static char name[VISIT_NAME_MAX], fields[8192], next[7168];
    struct visit v;
    registered(name, NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        memset(next, 'a', cases[i].len);
        next[0] = '/';
        next[cases[i].len] = '\0';
        const char *location = cases[i].followed ? next : "/";
        snprintf(fields, sizeof fields, "username=%s&password=long+enough&next=%s", name, next);
        assert_int_equal(visit_page(&v, app, login_submit, "/login", fields, OTHER_COOKIE), 303);
        assert_true(str_equal(visit_header(&v, "Location"), str_from(location)));
        visit_end(&v);
        snprintf(fields, sizeof fields, "language=en&next=%s", next);
        assert_int_equal(visit_page(&v, app, language_submit, "/language", fields, NULL), 303);
        assert_true(str_equal(visit_header(&v, "Location"), str_from(location)));
        visit_end(&v);
        snprintf(fields, sizeof fields, "/login?next=%s", next);
        assert_int_equal(visit_page(&v, app, login_show, fields, NULL, NULL), 200);
        assert_true(visit_body_has(&v, cases[i].followed ? "href=\"/register?next=/aaa" : "href=\"/register\""));
        visit_end(&v);
    }
}

/* A browser that has sent no cookie may keep none: the login page finds out. */
static void the_first_login_of_a_browser_asks_whether_it_keeps_cookies(void **state)
{
    (void)state;
    char name[VISIT_NAME_MAX], cookie[VISIT_TEXT_MAX], fields[VISIT_TEXT_MAX];
    struct visit v;
    registered(name, cookie);
    snprintf(fields, sizeof fields, "username=%s&password=long+enough&next=%%2Fwallet", name);
    assert_int_equal(visit_page(&v, app, login_submit, "/login", fields, NULL), 303);
    assert_true(str_equal(visit_header(&v, "Location"), STR("/login?cookie=1&next=/wallet")));
    visit_end(&v);
    assert_int_equal(visit_page(&v, app, login_show, "/login?cookie=1&next=/wallet", NULL, cookie), 303);
    assert_true(str_equal(visit_header(&v, "Location"), STR("/wallet")));
    visit_end(&v);
    assert_int_equal(visit_page(&v, app, login_show, "/login?cookie=1&next=/wallet", NULL, NULL), 200);
    assert_true(visit_body_has(&v, "没有保存本站的Cookie"));
    visit_end(&v);
}

static void the_login_page_passes_next_on_to_register(void **state)
{
    (void)state;
    struct visit v;
    assert_int_equal(visit_page(&v, app, login_show, "/login?next=%2Fp%2Fabc%3Fx%3D%26", NULL, NULL), 200);
    assert_true(visit_body_has(&v, "value=\"/p/abc?x=&amp;\""));
    assert_true(visit_body_has(&v, "href=\"/register?next=/p/abc%3Fx%3D%26\""));
    visit_end(&v);
}

static void a_logged_in_visitor_is_redirected_from_login_and_register(void **state)
{
    (void)state;
    char name[VISIT_NAME_MAX], cookie[VISIT_TEXT_MAX];
    struct visit v;
    registered(name, cookie);
    assert_int_equal(visit_get(&v, app, login_show, "/login", cookie), 303);
    assert_true(str_equal(visit_header(&v, "Location"), STR("/")));
    visit_end(&v);
    assert_int_equal(visit_get(&v, app, register_show, "/register", cookie), 303);
    visit_end(&v);
}

static void the_session_cookie_is_found_among_cookies_of_similar_names(void **state)
{
    (void)state;
    char name[VISIT_NAME_MAX], cookie[VISIT_TEXT_MAX], header[2 * VISIT_TEXT_MAX];
    uint64_t id = (uint64_t)registered(name, cookie);
    snprintf(header, sizeof header, "sidebar=1; sid2=x; s=y; xsid=z; %s; sid3=w", cookie);
    assert_int_equal(visit_user(app, header), id);
    snprintf(header, sizeof header, "x%s", cookie);
    assert_int_equal(visit_user(app, header), 0);
}

static void logout_ends_the_session_and_clears_the_cookie(void **state)
{
    (void)state;
    char name[VISIT_NAME_MAX], cookie[VISIT_TEXT_MAX];
    struct visit v;
    registered(name, cookie);
    assert_int_equal(visit_post(&v, app, logout_submit, "/logout", "", cookie), 204);
    assert_true(str_equal(visit_header(&v, "Set-Cookie"), STR("sid=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0")));
    assert_true(str_equal(visit_header(&v, "Clear-Site-Data"), STR("\"storage\"")));
    assert_int_equal(v.x.body.len, 0);
    visit_end(&v);
    assert_int_equal(visit_user(app, cookie), 0);
}

static void logout_without_a_session_succeeds(void **state)
{
    (void)state;
    struct visit v;
    assert_int_equal(visit_page(&v, app, logout_submit, "/logout", "", "sid=nonsense"), 303);
    assert_true(str_equal(visit_header(&v, "Location"), STR("/")));
    visit_end(&v);
}

/* Expects 503 from register and login, and no new account. */
static void assert_both_refused(struct services *lacking, const char *known)
{
    struct visit v;
    char name[VISIT_NAME_MAX], fields[VISIT_TEXT_MAX];
    fresh_username(name);
    snprintf(fields, sizeof fields, "username=%s&nickname=n&password=long+enough", name);
    assert_int_equal(visit_post(&v, lacking, register_submit, "/register", fields, NULL), 503);
    assert_true(visit_header(&v, "Retry-After").len > 0);
    assert_null(visit_header(&v, "Set-Cookie").ptr);
    visit_end(&v);
    assert_int_equal(rows_of("SELECT COUNT(*) FROM user WHERE username = ?", str_from(name)), 0);
    snprintf(fields, sizeof fields, "username=%s&password=long+enough", known);
    assert_int_equal(visit_post(&v, lacking, login_submit, "/login", fields, NULL), 503);
    assert_true(visit_header(&v, "Retry-After").len > 0);
    visit_end(&v);
}

static void register_and_login_are_503_while_a_store_is_unreachable(void **state)
{
    (void)state;
    char name[VISIT_NAME_MAX];
    struct config nowhere = *app->stores.config;
    snprintf(nowhere.redis, sizeof nowhere.redis, "unix:/nonexistent/redis.sock");
    snprintf(nowhere.mysql, sizeof nowhere.mysql, "unix:/nonexistent/mysql.sock");
    (void)registered(name, NULL);
    struct services without_redis = *app, without_mysql = *app;
    without_redis.stores.redis = redis_new(&nowhere);
    without_mysql.stores.db = db_new(&nowhere);
    assert_both_refused(&without_redis, name);
    assert_both_refused(&without_mysql, name);
    redis_free(without_redis.stores.redis);
    db_free(without_mysql.stores.db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registering_makes_a_user_with_an_empty_wallet_and_logs_in),
        cmocka_unit_test(the_cookie_is_httponly_and_samesite),
        cmocka_unit_test(on_https_the_cookie_is_bound_to_the_host),
        cmocka_unit_test(a_taken_username_is_refused_in_any_case),
        cmocka_unit_test(of_concurrent_registrations_of_one_username_one_succeeds),
        cmocka_unit_test(whoever_has_no_free_username_gets_a_free_one_proposed),
        cmocka_unit_test(a_refused_registration_shows_the_typed_texts_except_the_password),
        cmocka_unit_test(login_answers_with_the_user),
        cmocka_unit_test(unknown_name_and_wrong_password_get_the_same_answer),
        cmocka_unit_test(a_user_without_a_password_cannot_log_in),
        cmocka_unit_test(login_replaces_a_hash_of_lower_cost),
        cmocka_unit_test(login_replaces_a_hash_of_a_text_that_was_not_normalized),
        cmocka_unit_test(one_device_sets_a_password_and_another_types_it),
        cmocka_unit_test(login_rotates_the_session),
        cmocka_unit_test(login_never_adopts_a_presented_token),
        cmocka_unit_test(a_refused_login_does_not_end_the_presented_session),
        cmocka_unit_test(next_is_followed_to_local_paths_only),
        cmocka_unit_test(a_next_that_is_too_long_is_replaced_by_home),
        cmocka_unit_test(the_first_login_of_a_browser_asks_whether_it_keeps_cookies),
        cmocka_unit_test(the_login_page_passes_next_on_to_register),
        cmocka_unit_test(a_logged_in_visitor_is_redirected_from_login_and_register),
        cmocka_unit_test(the_session_cookie_is_found_among_cookies_of_similar_names),
        cmocka_unit_test(logout_ends_the_session_and_clears_the_cookie),
        cmocka_unit_test(logout_without_a_session_succeeds),
        cmocka_unit_test(register_and_login_are_503_while_a_store_is_unreachable),
    };
    return cmocka_run_group_tests(tests, app_setup, app_teardown);
}

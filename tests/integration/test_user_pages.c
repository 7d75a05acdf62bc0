/* user/: register, login and logout on real stores. */
#include <sodium.h>

#include "account/deletion_page.h"
#include "account/language.h"
#include "account/login.h"
#include "account/logout.h"
#include "account/password_page.h"
#include "account/register.h"
#include "account/token_page.h"
#include "base/clock.h"
#include "test_user_app.h"
#include "user/account.h"
#include "user/password.h"
#include "user/store.h"
#include "web/origin.h"

/* The answer to a login with this cookie. */
static struct visit *login_with(const char *name, const char *password, const char *cookie)
{
    return json_of(login_submit, "/login", text_printf("username=%s&password=%s", name, password), cookie);
}

static struct visit *registration_of(const char *name, const char *password)
{
    return json_of(register_submit, "/register", text_printf("username=%s&nickname=Ming&password=%s", name, password),
                   NULL);
}

static int64_t rows_of(const char *sql, struct str name)
{
    struct db_rows rows;
    assert_int_equal(db_query(app->stores.db, arena, &rows, sql, DB_PARAMS(DB_TEXT(name))), ST_OK);
    return db_cell_i64(&rows, 0, 0);
}

static const char COOKIE[] = " Path=/; HttpOnly; SameSite=Lax; Max-Age=2592000";

TEST(registering_makes_a_user_with_an_empty_wallet_and_logs_in)
{
    char name[VISIT_NAME_MAX], cookie[VISIT_TEXT_MAX];
    struct visit visit;
    fresh_username(name);
    struct visit *v = registration_of(name, "long+enough");
    const uint64_t id = (uint64_t)visit_json_int(v, "id");
    struct str attributes, pair = str_cut(visit_header(v, "Set-Cookie"), ';', &attributes);
    assert_true(str_skip_prefix(&pair, STR("sid=")) && session_token_valid(pair));
    assert_true(str_equal(attributes, str_from(COOKIE)));
    assert_true(visit_cookie(v, cookie));
    visit_says(v, 201);
    assert_true(id >= 10001);
    assert_int_equal(rows_of("SELECT a.balance_fen FROM account a JOIN user u ON u.id = a.id"
                             " WHERE u.username = ? AND a.kind = 'wallet'",
                             str_from(name)),
                     0);
    visit_begin(&visit, app, "/", NULL, cookie);
    assert_int_equal(visit_look_up(&visit), ST_OK);
    assert_int_equal(visit.x.visitor.user_id, id);
    assert_true(str_equal(visit.x.visitor.username, str_from(name)));
    assert_true(str_equal(visit.x.visitor.nickname, STR("Ming")));
    visit_end(&visit);
}

TEST(on_https_the_cookie_is_bound_to_the_host)
{
    char cookie[VISIT_TEXT_MAX];
    struct config https = *app->stores.config;
    struct services secure = *app;
    snprintf(https.base_url, sizeof https.base_url, "https://hongbao.example");
    secure.stores.config = &https;
    struct account user = account_new(app);
    struct visit *v = visit_json_new(&secure, login_submit, "/login",
                                     text_printf("username=%s&password=long+enough", user.name), NULL);
    struct str attributes;
    assert_true(str_starts(str_cut(visit_header(v, "Set-Cookie"), ';', &attributes), STR("__Host-sid=")));
    assert_true(str_equal(attributes, str_from(text_printf("%s; Secure", COOKIE))));
    assert_true(visit_cookie(v, cookie));
    visit_says(v, 200);
    assert_int_equal(visit_user(&secure, cookie), user.id);
    assert_int_equal(visit_user(app, cookie), 0); /* the cookie has another name on http */
}

TEST(a_taken_username_is_refused_in_any_case)
{
    struct account user = account_new(app);
    user.name[0] = 'U';
    struct visit *v = registration_of(user.name, "long+enough");
    assert_null(visit_header(v, "Set-Cookie").ptr);
    visit_says(v, 422, "{\"field\":\"username\",\"message\":\"该用户名已被使用\"}");
}

static int registration_racer(void *ctx)
{
    struct user user = { .username = str_from(ctx), .nickname = STR("racer") };
    return (int)user_insert(db_new(config), arena, &config->keys, &user, clock_now_ms());
}

TEST(of_concurrent_registrations_of_one_username_one_succeeds)
{
    enum { RACERS = 8 };
    char name[VISIT_NAME_MAX];
    unsigned results[RACE_RESULTS];
    fresh_username(name);
    race_run(RACERS, registration_racer, name, results);
    assert_ints({ results[ST_OK], 1 }, { results[ST_EXISTS], RACERS - 1 });
    assert_int_equal(
        rows_of("SELECT COUNT(*) FROM user u JOIN account a ON a.id = u.id WHERE u.username = ?", str_from(name)), 1);
}

/* Posts the form of the page; returns the username in the form that is shown again. */
static const char *proposed_for(const char *fields)
{
    struct visit *v = html_of(register_submit, "/register", fields, NULL);
    struct str rest = str_after(str_after(buf_view(&v->x.body), STR("id=\"username\"")), STR("value=\""));
    assert_non_null(rest.ptr);
    const struct str value = str_cut(rest, '"', &rest);
    const char *proposed = text_printf("%.*s", STR_ARG(value));
    visit_says(v, 422, "data-proposed");
    return proposed;
}

TEST(whoever_has_no_free_username_gets_a_free_one_proposed)
{
    struct account user = account_new(app);
    const char *proposed = proposed_for(text_printf("username=%s&nickname=Ming&password=long+enough", user.name));
    assert_int_equal(strncmp(proposed, user.name, strlen(user.name)), 0);
    assert_string_not_equal(proposed, user.name);
    assert_int_equal(rows_of("SELECT COUNT(*) FROM user WHERE username = ?", str_from(proposed)), 0);
    proposed = proposed_for("username=%E5%B0%8F%E6%98%8E&nickname=Zoe+W&password=long+enough");
    assert_int_equal(strncmp(proposed, "zoew", 4), 0);
    proposed = proposed_for("username=&nickname=%E5%B0%8F%E6%98%8E&password=long+enough");
    assert_true(username_valid(str_from(proposed)));
    visit_says(html_of(register_show, "/register", NULL, NULL), 200, "data-proposed", LACKS,
               "value=\"\" data-proposed");
}

TEST(a_refused_registration_shows_the_typed_texts_except_the_password)
{
    /* When the proposed name is taken, the next proposal has digits. */
    visit_says(
        html_of(register_submit, "/register", "username=No+Good&nickname=%3Cb%3E&password=s3cret&next=%2Fp%2Fx", NULL),
        422, "用户名里不能有空格", "value=\"nogood", "value=\"&lt;b&gt;\"", "value=\"/p/x\"", "密码至少8个字符", LACKS,
        "s3cret");
}

TEST(login_answers_with_the_user)
{
    char fields[VISIT_TEXT_MAX], cookie[VISIT_TEXT_MAX];
    struct account user = account_new(app);
    snprintf(fields, sizeof fields, "username=+%s+&password=long+enough", user.name);
    fields[10] = 'U'; /* blanks around it and capitals don't matter */
    struct visit *v = json_of(login_submit, "/login", fields, NULL);
    assert_int_equal(visit_json_int(v, "id"), user.id);
    assert_true(visit_cookie(v, cookie));
    visit_says(v, 200, "\"nickname\":\"Ming\"", LACKS, "argon2");
    assert_int_equal(visit_user(app, cookie), user.id);
}

/* The body of a refused login. */
static const char *refused_login(const char *name, const char *password)
{
    struct visit *v = login_with(name, password, NULL);
    assert_null(visit_header(v, "Set-Cookie").ptr);
    const char *body = text_printf("%.*s", STR_ARG(buf_view(&v->x.body)));
    visit_says(v, 422);
    return body;
}

TEST(unknown_name_and_wrong_password_get_the_same_answer)
{
    char stranger[VISIT_NAME_MAX];
    fresh_username(stranger);
    const char *wrong = refused_login(account_new(app).name, "long+enougH");
    assert_non_null(strstr(wrong, "用户名或密码错误"));
    assert_string_equal(wrong, refused_login(stranger, "long+enough"));
    EACH_TEXT (impossible, "No+Name+At+All", "%E5%B0%8F%E6%98%8E" /* a nickname */, "%F0%9F%A7%A7") {
        const char *told = refused_login(impossible, "long+enough");
        assert_null(strstr(told, "用户名或密码错误"));
        assert_non_null(strstr(told, "\"field\":\"username\",\"message\":\"这里填用户名"));
    }
}

/* Makes a user with this hash. name: VISIT_NAME_MAX bytes. */
static void user_with(struct str password_hash, char *name)
{
    fresh_username(name);
    struct user user = { .username = str_from(name), .nickname = STR("old"), .password_hash = password_hash };
    assert_int_equal(user_insert(app->stores.db, arena, &config->keys, &user, clock_now_ms()), ST_OK);
}

/* After a login the hash has today's costs, and is of this password. */
static void assert_hash_of(const char *name, struct str password)
{
    struct user found;
    assert_int_equal(user_find_for_login(app->stores.db, arena, str_from(name), &found), ST_OK);
    assert_false(password_needs_rehash(found.password_hash));
    assert_int_equal(password_verify(&(struct hash_permit){ 1 }, found.password_hash, password), ST_OK);
}

TEST(a_user_without_a_password_cannot_log_in)
{
    char name[VISIT_NAME_MAX];
    user_with(STR_NONE, name);
    (void)refused_login(name, "long+enough");
}

TEST(login_replaces_a_hash_of_lower_cost)
{
    char name[VISIT_NAME_MAX], cheap[crypto_pwhash_STRBYTES];
    assert_int_equal(crypto_pwhash_str(cheap, "long enough", 11, 1, 8192 * 1024), 0);
    user_with(str_from(cheap), name);
    visit_says(login_of(name, "long+enough"), 200);
    assert_hash_of(name, STR("long enough"));
}

/* The hash of the version before is of the typed bytes. */
TEST(login_replaces_a_hash_of_a_text_that_was_not_normalized)
{
    static const char *const typed = "cafe%CC%81+au%C2%A0lait", *const composed = "caf%C3%A9+au+lait";
    char name[VISIT_NAME_MAX], old[PASSWORD_HASH_MAX];
    assert_int_equal(password_hash(&(struct hash_permit){ 1 }, STR("cafe\u0301 au\u00a0lait"), old), ST_OK);
    user_with(str_from(old), name);
    visit_says(login_of(name, "cafe%CC%81+au%C2%A0laiT"), 422);
    visit_says(login_of(name, typed), 200);
    assert_hash_of(name, STR("caf\u00e9 au lait"));
    visit_says(login_of(name, composed), 200); /* as another device types it */
    visit_says(login_of(name, typed), 200);
}

/* Wherever a password is set or confirmed, letters may be composed or decomposed, and blanks may be of any kind. */
TEST(one_device_sets_a_password_and_another_types_it)
{
    static const char *const decomposed = "cafe%CC%81+au%C2%A0lait", *const composed = "caf%C3%A9+au+lait";
    char name[VISIT_NAME_MAX], cookie[VISIT_TEXT_MAX];
    fresh_username(name);
    visit_says(registration_of(name, decomposed), 201);
    struct visit *v = login_of(name, composed);
    assert_true(visit_cookie(v, cookie));
    visit_says(v, 200);
    visit_says(
        json_of(token_submit, "/account/tokens", "name=t&scopes=read&days=1&password=cafe%CC%81+au+lait", cookie), 201);
    visit_says(json_of(password_submit, "/account/password",
                       text_printf("old_password=%s&new_password=%s+2", decomposed, decomposed), cookie),
               204);
    v = login_of(name, text_printf("%s+2", composed));
    assert_true(visit_cookie(v, cookie));
    visit_says(v, 200);
    visit_says(json_of(deletion_submit, "/account/delete",
                       text_printf("username=%s&password=%s%%E3%%80%%802", name, composed), cookie),
               204);
}

TEST(the_page_of_a_deletion_names_a_withdrawal_that_is_under_way)
{
    struct account user = account_new(app);
    const struct db_param id = DB_U64(user.id);
    const char *refused = text_printf("username=%s&password=long+enough", user.name);
    sql_run(app, "CALL channel_open('farewell', '', 'boss', 1)");
    sql_run(app, "UPDATE channel SET withdraws = TRUE WHERE name = 'farewell'");
    sql_run(app,
            "CALL ledger_external('credit', (SELECT id FROM channel WHERE name = 'farewell'),"
            " JSON_ARRAY(JSON_ARRAY(?, 700, 'r', '')), 'boss', 'command', 1)",
            id);
    sql_run(app, "CALL withdrawal_hold(?, (SELECT id FROM channel WHERE name = 'farewell'), 700, 'x', 'k', 1)", id);
    visit_says(json_of(deletion_show, "/account/delete", NULL, user.cookie), 200,
               "{\"proofs\":[{\"way\":\"password\"}],\"balance_fen\":0,\"packets_fen\":0,\"packet_count\":0,"
               "\"withdrawals_fen\":700,\"withdrawal_count\":1}");
    visit_says(html_of(deletion_show, "/account/delete", NULL, user.cookie), 200, "处理中的1笔提现：7.00\u2060元",
               "name=\"give_up\"");
    visit_says(html_of(deletion_submit, "/account/delete", refused, user.cookie), 422, "还有提现在处理中", LACKS,
               "还有钱没处理");
    sql_run(
        app,
        "CALL withdrawal_end((SELECT id FROM withdrawal WHERE user_id = ?), FALSE, NULL, 'x', 'boss', 'command', 1)",
        id);
    visit_says(html_of(deletion_submit, "/account/delete", refused, user.cookie), 422, "还有钱没处理", LACKS,
               "处理中的1笔提现");
}

TEST(login_rotates_the_session_and_never_adopts_a_presented_token)
{
    static const char chosen[] = "sid=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    struct account user = account_new(app);
    const char *const presented[] = { user.cookie, chosen };
    for (size_t i = 0; i < ARRAY_LEN(presented); i++) {
        char cookie[VISIT_TEXT_MAX];
        struct visit *v = login_with(user.name, "long+enough", presented[i]);
        assert_true(visit_cookie(v, cookie));
        visit_says(v, 200);
        assert_string_not_equal(presented[i], cookie);
        assert_int_equal(visit_user(app, presented[i]), 0);
        assert_int_equal(visit_user(app, cookie), user.id);
    }
}

TEST(a_refused_login_does_not_end_the_presented_session)
{
    struct account user = account_new(app);
    visit_says(login_with(user.name, "wrong+password", user.cookie), 422);
    assert_int_equal(visit_user(app, user.cookie), user.id);
}

/* The cookie of a browser that keeps cookies. */
#define OTHER_COOKIE "language=zh-CN"

TEST(next_is_followed_to_local_paths_only)
{
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
    struct account user = account_new(app);
    EACH (row, cases) {
        visit_says(html_of(login_submit, "/login",
                           text_printf("username=%s&password=long+enough&next=%s", user.name, row->next), OTHER_COOKIE),
                   303, text_printf("Location: %s", row->location));
    }
}

/* nginx does not accept a longer Location. */
TEST(a_next_that_is_too_long_is_replaced_by_home)
{
    static const struct {
        size_t len;
        bool followed;
    } cases[] = { { NEXT_BYTES_MAX, true }, { NEXT_BYTES_MAX + 1, false }, { 6 << 10, false } };
    static char fields[8192], next[7168];
    struct account user = account_new(app);
    EACH (row, cases) {
        memset(next, 'a', row->len);
        next[0] = '/';
        next[row->len] = '\0';
        const char *location = row->followed ? next : "/";
        snprintf(fields, sizeof fields, "username=%s&password=long+enough&next=%s", user.name, next);
        visit_says(html_of(login_submit, "/login", fields, OTHER_COOKIE), 303, text_printf("Location: %s", location));
        snprintf(fields, sizeof fields, "language=en&next=%s", next);
        visit_says(html_of(language_submit, "/language", fields, NULL), 303, text_printf("Location: %s", location));
        snprintf(fields, sizeof fields, "/login?next=%s", next);
        visit_says(html_of(login_show, fields, NULL, NULL), 200,
                   row->followed ? "href=\"/register?next=/aaa" : "href=\"/register\"");
    }
}

/* A browser that has sent no cookie may not keep cookies: the login page finds out. */
TEST(the_first_login_of_a_browser_asks_whether_it_keeps_cookies)
{
    struct account user = account_new(app);
    visit_says(html_of(login_submit, "/login",
                       text_printf("username=%s&password=long+enough&next=%%2Fwallet", user.name), NULL),
               303, "Location: /login?cookie=1&next=/wallet");
    visit_says(html_of(login_show, "/login?cookie=1&next=/wallet", NULL, user.cookie), 303, "Location: /wallet");
    visit_says(html_of(login_show, "/login?cookie=1&next=/wallet", NULL, NULL), 200, "没有保存本站的Cookie");
}

TEST(the_login_page_passes_next_on_to_register)
{
    visit_says(html_of(login_show, "/login?next=%2Fp%2Fabc%3Fx%3D%26", NULL, NULL), 200, "value=\"/p/abc?x=&amp;\"",
               "href=\"/register?next=/p/abc%3Fx%3D%26\"");
}

TEST(a_logged_in_visitor_is_redirected_from_login_and_register)
{
    struct account user = account_new(app);
    visit_says(json_of(login_show, "/login", NULL, user.cookie), 303, "Location: /");
    visit_says(json_of(register_show, "/register", NULL, user.cookie), 303);
}

TEST(the_session_cookie_is_found_among_cookies_of_similar_names)
{
    struct account user = account_new(app);
    assert_int_equal(visit_user(app, text_printf("sidebar=1; sid2=x; s=y; xsid=z; %s; sid3=w", user.cookie)), user.id);
    assert_int_equal(visit_user(app, text_printf("x%s", user.cookie)), 0);
}

TEST(logout_ends_the_session_and_clears_the_cookie)
{
    struct account user = account_new(app);
    struct visit *v = json_of(logout_submit, "/logout", "", user.cookie);
    assert_int_equal(v->x.body.len, 0);
    visit_says(v, 204, "Set-Cookie: sid=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0", "Clear-Site-Data: \"storage\"");
    assert_int_equal(visit_user(app, user.cookie), 0);
}

TEST(logout_without_a_session_succeeds)
{
    visit_says(html_of(logout_submit, "/logout", "", "sid=nonsense"), 303, "Location: /");
}

TEST(register_and_login_are_503_while_a_store_is_unreachable)
{
    char name[VISIT_NAME_MAX];
    struct account user = account_new(app);
    fresh_username(name);
    const struct {
        handler_fn *handler;
        const char *uri, *fields;
    } forms[] = { { register_submit, "/register", text_printf("username=%s&nickname=n&password=long+enough", name) },
                  { login_submit, "/login", text_printf("username=%s&password=long+enough", user.name) } };
    EACH_TEXT (store, "redis", "mysql") {
        struct services *lacking = services_without(app, store);
        for (size_t k = 0; k < ARRAY_LEN(forms); k++) {
            struct visit *v = visit_json_new(lacking, forms[k].handler, forms[k].uri, forms[k].fields, NULL);
            assert_true(visit_header(v, "Retry-After").len > 0);
            assert_null(visit_header(v, "Set-Cookie").ptr);
            visit_says(v, 503);
        }
        services_without_free(lacking);
    }
    assert_int_equal(rows_of("SELECT COUNT(*) FROM user WHERE username = ?", str_from(name)), 0);
}

TESTS(app_setup, app_teardown)

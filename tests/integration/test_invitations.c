/* Who may register: invitations of users and operators, closed registration, a site without passwords, terms. */
#include "account/invitations_page.h"
#include "account/password_page.h"
#include "account/recovery_login.h"
#include "account/register.h"
#include "account/terms_page.h"
#include "base/clock.h"
#include "base/public_id.h"
#include "commands/user.h"
#include "test_user_app.h"
#include "user/deletion.h"
#include "user/invitation_code.h"
#include "user/invitation_store.h"
#include "user/store.h"

static const int64_t DAY_MS = 24 * 3600 * 1000;

/* Each test begins with open registration, users who may invite two, and no terms. */
static int rules(void **state)
{
    (void)state;
    strcpy(config->registration, "open");
    config->user_invitations_max = 2;
    config->invitation_days = 14;
    config->password_login = true;
    config->terms_url[0] = config->terms_version[0] = '\0';
    return no_limits(state);
}

static int by_invitation(void **state)
{
    const int failed = rules(state);
    strcpy(config->registration, "invite");
    return failed;
}

static const struct key *key(void)
{
    return keys_get(&config->keys, KEY_INVITATIONS);
}

static struct invitation_code code_of(const struct invitation *i)
{
    struct invitation_code code;
    assert_true(invitation_code_of(arena, key(), i->seed, &code));
    return code;
}

/* One invitation of an operator. */
static struct invitation invited(void)
{
    struct invitation model = { .author = STR("root"),
                                .note = STR(""),
                                .created_ms = clock_now_ms(),
                                .expires_ms = clock_now_ms() + DAY_MS },
                      out;
    assert_int_equal(invitations_make(app->stores.db, arena, key(), &model, &out, 1), ST_OK);
    return out;
}

static const char *registration_fields(const char *name, const char *code)
{
    return text_printf("username=%s&nickname=Ming&password=long+enough&invitation=%s", name, code);
}

static struct visit *registration_of(const char *name, struct str code)
{
    return json_of(register_submit, "/register", registration_fields(name, text_printf("%.*s", STR_ARG(code))), NULL);
}

/* The row, as `state used_by`. */
static void assert_used(const struct invitation *i, bool used)
{
    assert_int_equal(sql_number(app, "SELECT COUNT(*) FROM invitation WHERE id = ? AND used_ms IS NOT NULL", i->id),
                     used);
}

static int64_t users_named(const char *name)
{
    struct db_rows rows;
    assert_int_equal(db_query(app->stores.db, arena, &rows, "SELECT COUNT(*) FROM user WHERE username = ?",
                              DB_PARAMS(DB_TEXT(str_from(name)))),
                     ST_OK);
    return db_cell_i64(&rows, 0, 0);
}

TEST_WITH(an_invitation_lets_one_person_in_and_names_who_came, by_invitation, NULL)
{
    const struct invitation i = invited();
    const struct invitation_code code = code_of(&i);
    char name[VISIT_NAME_MAX], other[VISIT_NAME_MAX];
    fresh_username(name);
    fresh_username(other);
    struct visit *v = registration_of(name, code.text);
    const int64_t id = visit_json_int(v, "id");
    visit_says(v, 201);
    assert_int_equal(sql_number(app, "SELECT used_by FROM invitation WHERE id = ?", i.id), id);
    visit_says(registration_of(other, code.text), 422, "{\"field\":\"invitation\",\"message\":\"这张邀请已经用过了");
    assert_int_equal(users_named(other), 0);
}

TEST_WITH(a_code_is_read_as_people_type_and_paste_it, by_invitation, NULL)
{
    const struct invitation i = invited();
    const struct invitation_code code = code_of(&i);
    const char *text = text_printf("%.*s", STR_ARG(code.text));
    char bare[INVITATION_CODE_CHARS + 1], *to = bare;
    for (const char *c = text; *c != '\0'; c++)
        if (*c != '-')
            *to++ = (char)(*c >= 'A' ? *c + ('a' - 'A') : *c);
    *to = '\0';
    struct invitation_code read;
    EACH_TEXT (typed, text, bare, text_printf(" %s ", text), text_printf("%s。", text),
               text_printf("https://hongbao.example/register?invitation=%s&next=/p/1", text),
               text_printf("来吧 http://x/register?next=%%2F&invitation=%s，快来", bare)) {
        assert_true(invitation_code_read(arena, key(), str_from(typed), &read));
        assert_true(str_equal(read.hash, code.hash));
    }
    EACH_TEXT (typed, "", "7K3M-9QXT-2B8D-C4RZ", "x", text_printf("%.15s", text), text_printf("%s0", text))
        assert_false(invitation_code_read(arena, key(), str_from(typed), &read));
    const struct key another = key_derive(STR("another secret of at least 32 bytes, of a site"), KEY_INVITATIONS);
    assert_false(invitation_code_read(arena, &another, code.text, &read));
}

/* Each refusal keeps what was typed, makes no user, and leaves the invitation as it was. */
TEST_WITH(what_lets_nobody_in_is_refused_beside_the_field, by_invitation, NULL)
{
    static const struct {
        const char *change, *message;
    } cases[] = {
        { "UPDATE invitation SET expires_ms = 1 WHERE id = ?", "这张邀请已过期" },
        { "UPDATE invitation SET revoked_ms = 1 WHERE id = ?", "邀请码不对，或已失效" },
        { "UPDATE invitation SET used_ms = 1 WHERE id = ?", "这张邀请已经用过了" },
        { "DELETE FROM invitation WHERE id = ?", "邀请码不对，或已失效" },
    };
    char name[VISIT_NAME_MAX];
    EACH (one, cases) {
        const struct invitation i = invited();
        fresh_username(name);
        sql_run(app, one->change, DB_U64(i.id));
        visit_says(html_of(register_submit, "/register",
                           registration_fields(name, text_printf("%.*s", STR_ARG(code_of(&i).text))), NULL),
                   422, one->message, "id=\"invitation_error\"", "value=\"Ming\"", text_printf("value=\"%s\"", name));
        assert_int_equal(users_named(name), 0);
    }
    fresh_username(name);
    visit_says(registration_of(name, STR("")), 422, "{\"field\":\"invitation\",\"message\":\"请填写邀请码\"}");
    visit_says(registration_of(name, STR("7K3M-9QXT-2B8D-C4RZ")), 422, "邀请码不对");
    assert_int_equal(users_named(name), 0);
}

/* A wrong code is not looked up, so only these limits count it; a right one takes nothing from them. */
TEST_WITH(wrong_codes_are_limited_and_right_ones_are_not, by_invitation, NULL)
{
    char name[VISIT_NAME_MAX];
    strcpy(config->limit_invitation_address, "2 1/d");
    for (int i = 0; i < 3; i++) {
        const struct invitation right = invited();
        fresh_username(name);
        visit_says(registration_of(name, code_of(&right).text), 201);
    }
    fresh_username(name);
    visit_says(registration_of(name, STR("7K3M-9QXT-2B8D-C4RZ")), 422);
    visit_says(registration_of(name, STR("7K3M-9QXT-2B8D-C4RZ")), 422);
    visit_says(registration_of(name, STR("7K3M-9QXT-2B8D-C4RZ")), 429);
}

static int registration_racer(void *ctx)
{
    struct admission admission = { .invitation = code_of(ctx).hash, .terms_version = STR("") };
    char name[VISIT_NAME_MAX];
    fresh_username(name);
    struct user user = { .username = str_from(name), .nickname = STR("racer"), .admission = &admission };
    return (int)user_insert(db_new(config), arena, &config->keys, &user, clock_now_ms());
}

TEST_WITH(of_fifty_registrations_with_one_code_one_succeeds, by_invitation, NULL)
{
    enum { RACERS = 50 };
    unsigned results[RACE_RESULTS];
    struct invitation i = invited();
    const int64_t before = sql_number(app, "SELECT COUNT(*) FROM user WHERE id > ?", 0);
    race_run(RACERS, registration_racer, &i, results);
    assert_ints({ results[ST_OK], 1 }, { results[ST_NOT_FOUND], RACERS - 1 });
    assert_int_equal(sql_number(app, "SELECT COUNT(*) FROM user WHERE id > ?", 0), before + 1);
    assert_used(&i, true);
}

TEST_WITH(open_registration_needs_no_code_and_uses_one_that_is_there, rules, NULL)
{
    const struct invitation i = invited();
    char name[VISIT_NAME_MAX];
    EACH_TEXT (typed, "", "wrong", text_printf("%.*s", STR_ARG(code_of(&i).text)),
               text_printf("%.*s", STR_ARG(code_of(&i).text))) {
        fresh_username(name);
        visit_says(registration_of(name, str_from(typed)), 201);
    }
    assert_used(&i, true);
    visit_says(html_of(register_show, "/register", NULL, NULL), 200, LACKS, "name=\"invitation\"");
}

TEST_WITH(closed_registration_says_so_and_refuses, rules, NULL)
{
    const struct invitation i = invited();
    char name[VISIT_NAME_MAX];
    strcpy(config->registration, "closed");
    fresh_username(name);
    visit_says(html_of(register_show, "/register?next=/p/x", NULL, NULL), 200, "暂不开放注册",
               "href=\"/login?next=/p/x\"", LACKS, "<form id=\"kept\"");
    visit_says(registration_of(name, code_of(&i).text), 403, "registration-closed");
    assert_int_equal(users_named(name), 0);
    assert_used(&i, false);
    visit_says(html_of(login_show, "/login", NULL, NULL), 200, "暂不开放注册", LACKS, "href=\"/register");
}

TEST_WITH(the_link_fills_in_the_code_and_a_packet_is_no_invitation, by_invitation, NULL)
{
    visit_says(html_of(register_show, "/register?invitation=7K3M-9QXT-2B8D-C4RZ&next=/wallet", NULL, NULL), 200,
               "value=\"7K3M-9QXT-2B8D-C4RZ\"", "name=\"next\" value=\"/wallet\"", LACKS, "红包链接不是邀请");
    visit_says(html_of(register_show, "/register?next=/p/x", NULL, NULL), 200, "红包链接不是邀请");
}

/* ---- of users ---- */

static struct visit *invitation_of(const struct account *user, const char *request_key)
{
    return json_of(invitation_submit, "/account/invitations", text_printf("note=Anna&request_key=%s", request_key),
                   user->cookie);
}

static struct str made_code(const struct account *user, const char *request_key)
{
    char code[VISIT_TEXT_MAX];
    struct visit *v = invitation_of(user, request_key);
    visit_json_text(v, "code", code, sizeof code);
    visit_says(v, 201, "\"state\":\"open\"", "\"note\":\"Anna\"");
    return str_from(text_printf("%s", code));
}

TEST_WITH(a_user_makes_as_many_as_the_operator_allows, by_invitation, NULL)
{
    const struct account user = account_new(app);
    char name[VISIT_NAME_MAX], id[VISIT_TEXT_MAX];
    fresh_username(name);
    const struct str first = made_code(&user, "a");
    assert_true(str_equal(made_code(&user, "a"), first)); /* a repeat */
    visit_says(registration_of(name, first), 201);
    (void)made_code(&user, "b");
    visit_says(invitation_of(&user, "c"), 422, "{\"field\":\"invitations\",\"message\":\"最多可以邀请2人");
    struct visit *v = json_of(invitations_show, "/account/invitations", NULL, user.cookie);
    visit_json_text(v, "id", id, sizeof id);
    visit_says(v, 200, "left: 0", "max: 2", "\"used_by\":\"Ming\"", "\"state\":\"used\"", "\"state\":\"open\"");
    const char *uri = text_printf("/account/invitations/%s/revoke", id);
    const struct account stranger = account_new(app);
    v = visit_new(app, uri, "", stranger.cookie);
    assert_int_equal(visit_look_up(v), ST_OK);
    uint64_t number;
    assert_true(public_id_decode(&app->id_key, str_from(id), &number));
    v->x.id = number;
    visit_handle(v, invitation_revoke_submit);
    visit_says(v, 404);
    v = visit_new(app, uri, "", user.cookie);
    assert_int_equal(visit_look_up(v), ST_OK);
    v->x.id = number;
    visit_handle(v, invitation_revoke_submit);
    visit_says(v, 204);
    (void)made_code(&user, "c"); /* its place is free */
}

static uint64_t racer_user;

static int making_racer(void *ctx)
{
    struct invitation i = {
        .user_id = racer_user, .note = STR(""), .created_ms = clock_now_ms(), .expires_ms = clock_now_ms() + DAY_MS
    };
    (void)ctx;
    return (int)invitation_make(db_new(config), arena, key(), &i, str_from(text_printf("r%u", race_number())), 2);
}

TEST_WITH(of_many_that_are_made_at_once_no_more_than_allowed_are, by_invitation, NULL)
{
    enum { RACERS = 12 };
    unsigned results[RACE_RESULTS];
    racer_user = account_new(app).id;
    race_run(RACERS, making_racer, NULL, results);
    assert_ints({ results[ST_OK], 2 }, { results[ST_INVALID], RACERS - 2 });
}

TEST_WITH(where_users_make_none_there_is_no_page, by_invitation, NULL)
{
    const struct account user = account_new(app);
    config->user_invitations_max = 0;
    visit_says(json_of(invitations_show, "/account/invitations", NULL, user.cookie), 404);
    visit_says(invitation_of(&user, "a"), 404);
    config->user_invitations_max = 2;
    strcpy(config->registration, "closed");
    visit_says(json_of(invitations_show, "/account/invitations", NULL, user.cookie), 404);
}

TEST_WITH(who_is_shut_out_or_leaves_lets_nobody_in, by_invitation, NULL)
{
    struct account user = account_new(app), leaver = account_new(app), friend;
    char name[VISIT_NAME_MAX];
    fresh_username(name);
    const struct str code = made_code(&user, "a"), left = made_code(&leaver, "a"), used = made_code(&leaver, "b");
    visit_says(registration_of(name, used), 201);
    assert_int_equal(user_disable(app->stores.db, user.id, clock_now_ms()), ST_OK);
    fresh_username(friend.name);
    visit_says(registration_of(friend.name, code), 422, "邀请码不对");
    assert_int_equal(user_enable(app->stores.db, user.id), ST_OK);
    visit_says(registration_of(friend.name, code), 201);

    sql_run(app, "UPDATE user SET deleting_ms = 1 WHERE id = ?", DB_U64(leaver.id));
    fresh_username(friend.name);
    visit_says(registration_of(friend.name, left), 422, "邀请码不对");
    sql_run(app, "CALL user_deleted(?, 1)", DB_U64(leaver.id));
    assert_int_equal(sql_number(app, "SELECT COUNT(*) FROM invitation WHERE user_id = ?", leaver.id), 0);
    assert_int_equal(users_named(name), 1); /* who was invited stays */
}

/* ---- passwords ---- */

TEST_WITH(a_site_without_passwords_refuses_them_everywhere, rules, NULL)
{
    const struct account user = account_new(app);
    char name[VISIT_NAME_MAX];
    config->password_login = false;
    fresh_username(name);
    visit_says(registration_of(name, STR("")), 403, "password-login-off");
    visit_says(login_of(user.name, "long+enough"), 403, "password-login-off");
    visit_says(json_of(password_submit, "/account/password", "old_password=long+enough&new_password=battery-staple",
                       user.cookie),
               403, "password-login-off");
    visit_says(html_of(password_show, "/account/password", NULL, user.cookie), 403);
    EACH_TEXT (path, "/login", "/register", "/login/recovery")
        visit_says(html_of(strcmp(path, "/login") == 0      ? login_show
                           : strcmp(path, "/register") == 0 ? register_show
                                                            : recovery_login_show,
                           path, NULL, NULL),
                   200, LACKS, "type=\"password\"");
    assert_int_equal(users_named(name), 0);
}

/* ---- terms ---- */

static void terms_are(const char *version)
{
    strcpy(config->terms_url, "https://example.com/terms");
    strcpy(config->terms_version, version);
}

TEST_WITH(a_new_user_accepts_the_terms_and_version_and_time_are_kept, rules, NULL)
{
    char name[VISIT_NAME_MAX];
    terms_are("2026-12");
    fresh_username(name);
    visit_says(html_of(register_show, "/register", NULL, NULL), 200, "https://example.com/terms", "name=\"terms\"");
    visit_says(registration_of(name, STR("")), 422, "{\"field\":\"terms\",\"message\":\"请先同意用户条款\"}");
    struct visit *v =
        json_of(register_submit, "/register", text_printf("%s&terms=1", registration_fields(name, "")), NULL);
    const uint64_t id = (uint64_t)visit_json_int(v, "id");
    visit_says(v, 201);
    struct terms_row *rows;
    size_t count;
    assert_int_equal(terms_of_user(app->stores.db, arena, id, &rows, &count), ST_OK);
    assert_int_equal(count, 1);
    assert_true(str_equal(rows[0].version, STR("2026-12")) && rows[0].accepted_ms > 0);
}

TEST_WITH(another_version_is_asked_for_once_at_the_next_login, rules, NULL)
{
    const struct account user = account_new(app);
    const char *login = text_printf("username=%s&password=long+enough&next=/wallet", user.name);
    visit_says(html_of(login_submit, "/login", login, user.device), 303, "Location: /wallet");
    terms_are("2026-12");
    visit_says(html_of(login_submit, "/login", login, user.device), 303, "Location: /terms?next=/wallet");
    visit_says(html_of(login_show, "/login?next=/wallet", NULL, user.cookie), 303, "Location: /terms?next=/wallet");
    visit_says(html_of(terms_show, "/terms?next=/wallet", NULL, user.cookie), 200, "value=\"2026-12\"",
               "href=\"https://example.com/terms\"");
    visit_says(html_of(terms_submit, "/terms", "version=2025-01&next=/wallet", user.cookie), 422, "条款刚刚更新过");
    for (int i = 0; i < 2; i++) /* a repeat */
        visit_says(html_of(terms_submit, "/terms", "version=2026-12&next=/wallet", user.cookie), 303,
                   "Location: /wallet");
    visit_says(html_of(login_submit, "/login", login, user.device), 303, "Location: /wallet");
    visit_says(html_of(terms_show, "/terms?next=/wallet", NULL, user.cookie), 303, "Location: /wallet");
    visit_says(json_of(terms_show, "/terms", NULL, user.cookie), 200, "\"due\":false", "\"version\":\"2026-12\"");
    sql_run(app, "UPDATE user SET deleting_ms = 1 WHERE id = ?", DB_U64(user.id));
    sql_run(app, "CALL user_deleted(?, 1)", DB_U64(user.id));
    assert_int_equal(sql_number(app, "SELECT COUNT(*) FROM user_terms WHERE user_id = ?", user.id), 0);
}

TESTS(app_setup, app_teardown)

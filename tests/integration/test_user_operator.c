/* `hongbao user` with the rights of the role support: find, show, disable, enable, end-sessions, reset. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/public_id.h"
#include "base/random.h"
#include "ops/user.h"
#include "ops/user_find.h"
#include "support/test_services.h"
#include "test_packet_fixture.h"
#include "test_user_app.h"
#include "user/known_device.h"
#include "user/login.h"
#include "user/recovery_page.h"
#include "user/register.h"
#include "user/session.h"
#include "user/store.h"
#include "user/token.h"
#include "user/token_page.h"
#include "user/visitor.h"

static struct services *support;

static int setup(void **state)
{
    support = test_services_open_as("support");
    return app_setup(state) != 0 || support == NULL;
}

static int teardown(void **state)
{
    test_services_close(support);
    return app_teardown(state);
}

/* Registers a user. name: VISIT_NAME_MAX bytes; cookie: VISIT_TEXT_MAX bytes. */
static void registered(char *name, char *cookie)
{
    fresh_username(name);
    (void)visit_register(app, name, cookie);
}

/* The status of a login. message may be NULL: a text that the answer has. */
static int login_with(const char *name, const char *password, const char *message)
{
    struct visit v;
    char fields[VISIT_TEXT_MAX];
    snprintf(fields, sizeof fields, "username=%s&password=%s", name, password);
    int status = visit_post(&v, app, login_submit, "/login", fields, NULL);
    if (message != NULL)
        assert_true(visit_body_has(&v, message));
    visit_end(&v);
    return status;
}

enum { PRINTED_MAX = 8192 };

static const char *why; /* of the last operate */

/* Runs the action. printed (PRINTED_MAX bytes) may be NULL. */
static enum status operate(const char *action, const char *name, char *printed)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    assert_non_null(out);
    enum status st = user_operate(&support->stores, action, str_from(name), out, &why);
    assert_int_equal(fclose(out), 0);
    if (printed != NULL)
        snprintf(printed, PRINTED_MAX, "%s", text);
    free(text);
    return st;
}

/* Makes an access token. token: TOKEN_MAX bytes. */
static void token_made(const char *cookie, char *token)
{
    struct visit v;
    assert_int_equal(visit_post(&v, app, token_submit, "/account/tokens",
                                "name=bot&scopes=read&days=1&password=long+enough", cookie),
                     201);
    visit_json_text(&v, "token", token, TOKEN_MAX);
    visit_end(&v);
}

static void codes_made(const char *cookie)
{
    struct visit v;
    assert_int_equal(visit_post(&v, app, recovery_submit, "/account/recovery", "password=long+enough", cookie), 201);
    visit_end(&v);
}

static bool token_works(const char *token)
{
    struct visit v;
    visit_begin(&v, app, "/wallet", NULL, NULL);
    v.x.bearer = str_from(token);
    assert_true(visitor_queue(&v.x));
    redis_round(app->stores.redis);
    assert_int_equal(visitor_read(&v.x), ST_OK);
    bool works = v.x.visitor.user_id != 0;
    visit_end(&v);
    return works;
}

static void a_disabled_user_is_out_at_once_and_told_only_after_the_right_password(void **state)
{
    (void)state;
    char name[VISIT_NAME_MAX], cookie[VISIT_TEXT_MAX], used[TOKEN_MAX], unused[TOKEN_MAX];
    registered(name, cookie);
    token_made(cookie, used);
    token_made(cookie, unused);
    assert_true(token_works(used));
    assert_int_equal(operate("disable", name, NULL), ST_OK);
    assert_int_equal(visit_user(app, cookie), 0);
    assert_false(token_works(used));
    assert_false(token_works(unused));
    assert_int_equal(login_with(name, "wrong+password", "用户名或密码错误"), 422);
    assert_int_equal(login_with(name, "long+enough", "该账号已停用"), 422);
    assert_int_equal(operate("disable", name, NULL), ST_OK);
    assert_int_equal(operate("enable", name, NULL), ST_OK);
    assert_int_equal(login_with(name, "long+enough", NULL), 200);
    assert_false(token_works(used));
    assert_int_equal(visit_user(app, cookie), 0);
}

static void end_sessions_keeps_password_and_tokens(void **state)
{
    (void)state;
    char name[VISIT_NAME_MAX], cookie[VISIT_TEXT_MAX], token[TOKEN_MAX];
    registered(name, cookie);
    token_made(cookie, token);
    assert_int_equal(operate("end-sessions", name, NULL), ST_OK);
    assert_int_equal(visit_user(app, cookie), 0);
    assert_true(token_works(token));
    assert_int_equal(login_with(name, "long+enough", NULL), 200);
}

/* Somebody else may have made them. */
static void a_reset_ends_recovery_codes(void **state)
{
    (void)state;
    char name[VISIT_NAME_MAX], cookie[VISIT_TEXT_MAX], printed[PRINTED_MAX];
    registered(name, cookie);
    codes_made(cookie);
    assert_int_equal(operate("reset", name, NULL), ST_OK);
    assert_int_equal(operate("show", name, printed), ST_OK);
    assert_non_null(strstr(printed, "recovery codes 0\n"));
}

static void end_sessions_makes_devices_unknown(void **state)
{
    (void)state;
    char name[VISIT_NAME_MAX], cookie[VISIT_TEXT_MAX], device[VISIT_TEXT_MAX];
    struct visit v;
    registered(name, cookie);
    visit_begin(&v, app, "/", NULL, NULL);
    known_device_remember(&v.x, str_from(name));
    struct str rest;
    struct str value = str_cut(str_after(buf_view(&v.x.headers), STR("Set-Cookie: device=")), ';', &rest);
    snprintf(device, sizeof device, "device=%.*s", STR_ARG(value));
    visit_end(&v);
    visit_begin(&v, app, "/", NULL, device);
    assert_non_null(known_device_number(&v.x, str_from(name)).ptr);
    int64_t now_ms = clock_now_ms();
    while (clock_now_ms() == now_ms) /* the device was made known in an earlier millisecond */
        continue;
    assert_int_equal(operate("end-sessions", name, NULL), ST_OK);
    assert_null(known_device_number(&v.x, str_from(name)).ptr);
    visit_end(&v);
}

static void a_reset_prints_a_password_that_works(void **state)
{
    (void)state;
    char name[VISIT_NAME_MAX], cookie[VISIT_TEXT_MAX], token[TOKEN_MAX], printed[PRINTED_MAX], password[64],
        again[PRINTED_MAX];
    registered(name, cookie);
    token_made(cookie, token);
    assert_int_equal(operate("reset", name, printed), ST_OK);
    assert_int_equal(sscanf(printed, "new password %63s", password), 1);
    assert_int_equal(strlen(password), 23);
    assert_int_equal(visit_user(app, cookie), 0);
    assert_false(token_works(token));
    assert_int_equal(login_with(name, "long+enough", NULL), 422);
    assert_int_equal(login_with(name, password, NULL), 200);
    assert_int_equal(operate("reset", name, again), ST_OK);
    assert_string_not_equal(printed, again);
}

static void show_tells_names_sessions_and_tokens_and_no_secret(void **state)
{
    (void)state;
    char name[VISIT_NAME_MAX], cookie[VISIT_TEXT_MAX], token[TOKEN_MAX], printed[PRINTED_MAX], wanted[64];
    registered(name, cookie);
    token_made(cookie, token);
    codes_made(cookie);
    assert_int_equal(operate("show", name, printed), ST_OK);
    snprintf(wanted, sizeof wanted, "username %s\n", name);
    assert_non_null(strstr(printed, wanted));
    assert_non_null(strstr(printed, "nickname Ming\n"));
    assert_non_null(strstr(printed, "tokens 1\npasskeys 0\nrecovery codes 10\nsessions 1\n"));
    assert_null(strstr(printed, "disabled"));
    assert_null(strstr(printed, "argon2"));
    assert_null(strstr(printed, cookie + 4));
    assert_int_equal(operate("disable", name, NULL), ST_OK);
    assert_int_equal(operate("show", name, printed), ST_OK);
    assert_non_null(strstr(printed, "disabled 20"));
    assert_non_null(strstr(printed, "tokens 0\npasskeys 0\nrecovery codes 10\nsessions 0\n"));
}

/* A user with a nickname that no other test uses. */
static uint64_t nicknamed(char *name, const char *nickname)
{
    char cookie[VISIT_TEXT_MAX], printed[PRINTED_MAX];
    uint64_t id;
    registered(name, cookie);
    assert_int_equal(operate("show", name, printed), ST_OK);
    assert_int_equal(sscanf(printed, "id %" SCNu64, &id), 1);
    assert_int_equal(user_rename(app->stores.db, id, &(struct str){ nickname, strlen(nickname) }, NULL), ST_OK);
    return id;
}

static size_t lines(const char *text)
{
    size_t count = 0;
    for (; *text != '\0'; text++)
        count += *text == '\n';
    return count;
}

static void every_action_takes_the_id_of_any_user(void **state)
{
    static const char *const actions[] = { "find", "show", "disable", "enable", "end-sessions", "reset" };
    (void)state;
    char name[VISIT_NAME_MAX], printed[PRINTED_MAX], id[32], wanted[64];
    snprintf(id, sizeof id, "~%" PRIu64, nicknamed(name, "Ming"));
    for (size_t i = 0; i < ARRAY_LEN(actions); i++)
        assert_int_equal(operate(actions[i], id, printed), ST_OK);
    assert_non_null(strstr(printed, name));
    snprintf(id, sizeof id, "～%" PRIu64, nicknamed(name, "Ming"));
    assert_int_equal(operate("show", id, printed), ST_OK);
    snprintf(wanted, sizeof wanted, "username %s\n", name);
    assert_non_null(strstr(printed, wanted));
    assert_int_equal(operate("show", "~1", NULL), ST_NOT_FOUND);
}

static void a_user_is_found_by_id_username_and_nickname(void **state)
{
    (void)state;
    char name[VISIT_NAME_MAX], other[VISIT_NAME_MAX], printed[PRINTED_MAX], nickname[64], text[96], wanted[96];
    snprintf(nickname, sizeof nickname, "Émile 😀 %" PRIu64, random_u64());
    const uint64_t id = nicknamed(name, nickname), other_id = nicknamed(other, nickname);
    snprintf(wanted, sizeof wanted, "id %" PRIu64 "  username %s  active  registered 20", id, name);
    snprintf(text, sizeof text, "user_id=%" PRIu64, id);
    const char *words[] = { text, name, text + strlen("user_id=") };
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        assert_int_equal(operate("find", words[i], printed), ST_OK);
        assert_ptr_equal(strstr(printed, wanted), printed);
        assert_non_null(strstr(printed, nickname));
        assert_int_equal(lines(printed), 1);
    }
    assert_int_equal(operate("disable", name, NULL), ST_OK);
    snprintf(text, sizeof text, " émile  😀 %s\n", nickname + strlen("Émile 😀 "));
    const char *nicknames[] = { nickname, text };
    for (size_t i = 0; i < ARRAY_LEN(nicknames); i++) {
        assert_int_equal(operate("find", nicknames[i], printed), ST_OK);
        assert_int_equal(lines(printed), 2); /* the newer one first */
        snprintf(wanted, sizeof wanted, "id %" PRIu64 "  username %s  active  ", other_id, other);
        assert_ptr_equal(strstr(printed, wanted), printed);
        snprintf(wanted, sizeof wanted, "\nid %" PRIu64 "  username %s  disabled  ", id, name);
        assert_non_null(strstr(printed, wanted));
    }
    snprintf(text, sizeof text, "Émile 🎉 %s", nickname + strlen("Émile 😀 "));
    assert_int_equal(operate("find", text, NULL), ST_NOT_FOUND);
}

static void of_one_nickname_the_newest_users_are_listed(void **state)
{
    (void)state;
    char name[VISIT_NAME_MAX], printed[PRINTED_MAX], nickname[64], wanted[64];
    snprintf(nickname, sizeof nickname, "小明 %" PRIu64, random_u64());
    struct user user = { .nickname = str_from(nickname) };
    struct arena *a = arena_new(16 << 10, 4 << 20);
    assert_non_null(a);
    for (int i = 0; i <= USER_FIND_MAX; i++) {
        fresh_username(name);
        user.username = str_from(name);
        assert_int_equal(user_insert(app->stores.db, a, &config->keys, &user, clock_now_ms()), ST_OK);
    }
    arena_free(a);
    assert_int_equal(operate("find", nickname, printed), ST_OK);
    assert_int_equal(lines(printed), USER_FIND_MAX + 1);
    snprintf(wanted, sizeof wanted, "id %" PRIu64 " ", user.id);
    assert_ptr_equal(strstr(printed, wanted), printed);
    assert_non_null(strstr(printed, "more users have this nickname"));
}

static void the_sender_of_a_packet_is_found_by_its_address_and_number(void **state)
{
    (void)state;
    struct person sender;
    char printed[PRINTED_MAX], packet[PUBLIC_ID_TEXT_MAX], text[256], wanted[256];
    struct public_id_key key;
    person_new(app, &sender, 1000);
    const uint64_t id = person_send(app, &sender, "kind=even&amount=1&count=3");
    public_id_key_set(&key, keys_get(&config->keys, KEY_IDS));
    public_id_encode(&key, id, packet);
    for (int i = 0; i < 3; i++) {
        if (i == 0)
            snprintf(text, sizeof text, "https://hongbao.example/p/%s?from=chat。快来", packet);
        else if (i == 1)
            snprintf(text, sizeof text, "%s", packet);
        else
            snprintf(text, sizeof text, "packet=%" PRIu64, id);
        assert_int_equal(operate("find", text, printed), ST_OK);
        snprintf(wanted, sizeof wanted, "packet %" PRIu64 "  ", id);
        assert_ptr_equal(strstr(printed, wanted), printed);
        snprintf(wanted, sizeof wanted, "  grabbed 0 of 3  sender id %" PRIu64 "\nid %" PRIu64 "  username %s  ",
                 sender.id, sender.id, sender.username);
        assert_non_null(strstr(printed, wanted));
        assert_null(strstr(printed, packet)); /* whoever has the address can grab */
    }
}

/* No text reaches a column whose character set does not have it, and the store logs no error. */
static void whatever_is_pasted_gets_a_clear_answer(void **state)
{
    static const char *const texts[] = { "小明不在这里",
                                         "Ａｌｉｃｅ－ｎｏｂｏｄｙ",
                                         "nobody 🧧",
                                         "no\xa0"
                                         "break",
                                         "Andr\xe9",
                                         "",
                                         " ",
                                         "' OR '1'='1",
                                         "\\",
                                         "%_%",
                                         "https://hongbao.example/p/00005kmwye5zsc4yqkbbkvv7pj?key=1&x='#y",
                                         "~abc",
                                         "~99999999999999999999999999",
                                         "~",
                                         "99999999999999999999999999",
                                         "\x1b[31m" };
    static const char *const actions[] = { "find", "show", "disable", "enable", "end-sessions", "reset" };
    static char longest[100001];
    (void)state;
    for (size_t a = 0; a < ARRAY_LEN(actions); a++) {
        for (size_t i = 0; i <= ARRAY_LEN(texts); i++) {
            if (i == ARRAY_LEN(texts))
                memset(longest, 'a', sizeof longest - 1);
            enum status st = operate(actions[a], i < ARRAY_LEN(texts) ? texts[i] : longest, NULL);
            assert_true(st == ST_NOT_FOUND || (a == 0 && st == ST_INVALID));
            assert_true(why != NULL && strlen(why) > 10);
        }
    }
}

static void a_nickname_in_place_of_the_username_is_a_wrong_login(void **state)
{
    (void)state;
    assert_int_equal(login_with("%E5%B0%8F%E6%98%8E", "long+enough", "这里填用户名"), 422);
    assert_int_equal(login_with("%F0%9F%A7%A7", "long+enough", "这里填用户名"), 422);
}

static void unknown_users_and_actions_are_told_apart(void **state)
{
    (void)state;
    assert_int_equal(operate("show", "nobody-here", NULL), ST_NOT_FOUND);
    assert_int_equal(operate("delete", "nobody-here", NULL), ST_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_disabled_user_is_out_at_once_and_told_only_after_the_right_password),
        cmocka_unit_test(end_sessions_keeps_password_and_tokens),
        cmocka_unit_test(end_sessions_makes_devices_unknown),
        cmocka_unit_test(a_reset_prints_a_password_that_works),
        cmocka_unit_test(a_reset_ends_recovery_codes),
        cmocka_unit_test(show_tells_names_sessions_and_tokens_and_no_secret),
        cmocka_unit_test(every_action_takes_the_id_of_any_user),
        cmocka_unit_test(a_user_is_found_by_id_username_and_nickname),
        cmocka_unit_test(of_one_nickname_the_newest_users_are_listed),
        cmocka_unit_test(the_sender_of_a_packet_is_found_by_its_address_and_number),
        cmocka_unit_test(whatever_is_pasted_gets_a_clear_answer),
        cmocka_unit_test(a_nickname_in_place_of_the_username_is_a_wrong_login),
        cmocka_unit_test(unknown_users_and_actions_are_told_apart),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}

/* `hongbao user` with the rights of the role support: disable, enable, end-sessions, reset, show. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/random.h"
#include "ops/user.h"
#include "support/test_services.h"
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

/* Runs the action. printed (1024 bytes) may be NULL. */
static enum status operate(const char *action, const char *name, char *printed)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    assert_non_null(out);
    enum status st = user_operate(&support->stores, action, str_from(name), out);
    assert_int_equal(fclose(out), 0);
    if (printed != NULL)
        snprintf(printed, 1024, "%s", text);
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
    char name[VISIT_NAME_MAX], cookie[VISIT_TEXT_MAX], printed[1024];
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
    char name[VISIT_NAME_MAX], cookie[VISIT_TEXT_MAX], token[TOKEN_MAX], printed[1024], password[64], again[1024];
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
    char name[VISIT_NAME_MAX], cookie[VISIT_TEXT_MAX], token[TOKEN_MAX], printed[1024], wanted[64];
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
        cmocka_unit_test(unknown_users_and_actions_are_told_apart),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}

/* `hongbao user` with the rights of the role support: find, show, disable, enable, end-sessions, reset. */
#include <inttypes.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/public_id.h"
#include "base/random.h"
#include "ops/user.h"
#include "ops/user_find.h"
#include "support/test.h"
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

/* The status of a login. message may be NULL: a text that the answer has. */
static int login_with(const char *name, const char *password, const char *message)
{
    struct visit v;
    int status =
        visit_post(&v, app, login_submit, "/login", text_printf("username=%s&password=%s", name, password), NULL);
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
    struct visit *v =
        json_of(token_submit, "/account/tokens", "name=bot&scopes=read&days=1&password=long+enough", cookie);
    visit_json_text(v, "token", token, TOKEN_MAX);
    visit_says(v, 201);
}

static void codes_made(const char *cookie)
{
    visit_says(json_of(recovery_submit, "/account/recovery", "password=long+enough", cookie), 201);
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

TEST(a_disabled_user_is_out_at_once_and_told_only_after_the_right_password)
{
    char used[TOKEN_MAX], unused[TOKEN_MAX];
    struct account user = account_new(app);
    token_made(user.cookie, used);
    token_made(user.cookie, unused);
    assert_true(token_works(used));
    assert_int_equal(operate("disable", user.name, NULL), ST_OK);
    assert_int_equal(visit_user(app, user.cookie), 0);
    assert_false(token_works(used));
    assert_false(token_works(unused));
    assert_int_equal(login_with(user.name, "wrong+password", "用户名或密码错误"), 422);
    assert_int_equal(login_with(user.name, "long+enough", "该账号已停用"), 422);
    assert_int_equal(operate("disable", user.name, NULL), ST_OK);
    assert_int_equal(operate("enable", user.name, NULL), ST_OK);
    assert_int_equal(login_with(user.name, "long+enough", NULL), 200);
    assert_false(token_works(used));
    assert_int_equal(visit_user(app, user.cookie), 0);
}

TEST(end_sessions_keeps_password_and_tokens)
{
    char token[TOKEN_MAX];
    struct account user = account_new(app);
    token_made(user.cookie, token);
    assert_int_equal(operate("end-sessions", user.name, NULL), ST_OK);
    assert_int_equal(visit_user(app, user.cookie), 0);
    assert_true(token_works(token));
    assert_int_equal(login_with(user.name, "long+enough", NULL), 200);
}

/* Somebody else may have made them. */
TEST(a_reset_ends_recovery_codes)
{
    char printed[PRINTED_MAX];
    struct account user = account_new(app);
    codes_made(user.cookie);
    assert_int_equal(operate("reset", user.name, NULL), ST_OK);
    assert_int_equal(operate("show", user.name, printed), ST_OK);
    assert_non_null(strstr(printed, "recovery codes 0\n"));
}

TEST(end_sessions_makes_devices_unknown)
{
    char device[VISIT_TEXT_MAX];
    struct visit v;
    struct account user = account_new(app);
    visit_begin(&v, app, "/", NULL, NULL);
    known_device_remember(&v.x, str_from(user.name));
    struct str rest;
    struct str value = str_cut(str_after(buf_view(&v.x.headers), STR("Set-Cookie: device=")), ';', &rest);
    snprintf(device, sizeof device, "device=%.*s", STR_ARG(value));
    visit_end(&v);
    visit_begin(&v, app, "/", NULL, device);
    assert_non_null(known_device_number(&v.x, str_from(user.name)).ptr);
    int64_t now_ms = clock_now_ms();
    while (clock_now_ms() == now_ms) /* the device was made known in an earlier millisecond */
        continue;
    assert_int_equal(operate("end-sessions", user.name, NULL), ST_OK);
    assert_null(known_device_number(&v.x, str_from(user.name)).ptr);
    visit_end(&v);
}

TEST(a_reset_prints_a_password_that_works)
{
    char token[TOKEN_MAX], printed[PRINTED_MAX], password[64], again[PRINTED_MAX];
    struct account user = account_new(app);
    token_made(user.cookie, token);
    assert_int_equal(operate("reset", user.name, printed), ST_OK);
    assert_int_equal(sscanf(printed, "new password %63s", password), 1);
    assert_int_equal(strlen(password), 23);
    assert_int_equal(visit_user(app, user.cookie), 0);
    assert_false(token_works(token));
    assert_int_equal(login_with(user.name, "long+enough", NULL), 422);
    assert_int_equal(login_with(user.name, password, NULL), 200);
    assert_int_equal(operate("reset", user.name, again), ST_OK);
    assert_string_not_equal(printed, again);
}

TEST(show_tells_names_sessions_and_tokens_and_no_secret)
{
    char token[TOKEN_MAX], printed[PRINTED_MAX];
    struct account user = account_new(app);
    token_made(user.cookie, token);
    codes_made(user.cookie);
    assert_int_equal(operate("show", user.name, printed), ST_OK);
    assert_ptr_equal(strstr(printed, text_printf("id %" PRIu64 "\n", user.id)), printed);
    assert_non_null(strstr(printed, text_printf("username %s\n", user.name)));
    assert_non_null(strstr(printed, "nickname Ming\n"));
    assert_non_null(strstr(printed, "tokens 1\npasskeys 0\nrecovery codes 10\nsessions 1\n"));
    assert_null(strstr(printed, "disabled"));
    assert_null(strstr(printed, "argon2"));
    assert_null(strstr(printed, user.cookie + 4));
    assert_int_equal(operate("disable", user.name, NULL), ST_OK);
    assert_int_equal(operate("show", user.name, printed), ST_OK);
    assert_non_null(strstr(printed, "disabled 20"));
    assert_non_null(strstr(printed, "tokens 0\npasskeys 0\nrecovery codes 10\nsessions 0\n"));
}

/* A user with a nickname that no other test uses. */
static uint64_t nicknamed(char *name, const char *nickname)
{
    struct account user = account_new(app);
    const struct str renamed = str_from(nickname);
    assert_int_equal(user_rename(app->stores.db, user.id, &renamed, NULL), ST_OK);
    memcpy(name, user.name, sizeof user.name);
    return user.id;
}

static size_t lines(const char *text)
{
    size_t count = 0;
    for (; *text != '\0'; text++)
        count += *text == '\n';
    return count;
}

TEST(every_action_takes_the_id_of_any_user)
{
    static const char *const actions[] = { "find", "show", "disable", "enable", "end-sessions", "reset" };
    char name[VISIT_NAME_MAX], printed[PRINTED_MAX];
    const char *id = text_printf("~%" PRIu64, nicknamed(name, "Ming"));
    for (size_t i = 0; i < ARRAY_LEN(actions); i++)
        assert_int_equal(operate(actions[i], id, printed), ST_OK);
    assert_non_null(strstr(printed, name));
    assert_int_equal(operate("show", text_printf("～%" PRIu64, nicknamed(name, "Ming")), printed), ST_OK);
    assert_non_null(strstr(printed, text_printf("username %s\n", name)));
    assert_int_equal(operate("show", "~1", NULL), ST_NOT_FOUND);
}

TEST(a_user_is_found_by_id_username_and_nickname)
{
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
    const char *nicknames[] = { nickname, text_printf(" émile  😀 %s\n", nickname + strlen("Émile 😀 ")) };
    for (size_t i = 0; i < ARRAY_LEN(nicknames); i++) {
        assert_int_equal(operate("find", nicknames[i], printed), ST_OK);
        assert_int_equal(lines(printed), 2); /* the newer one first */
        assert_ptr_equal(strstr(printed, text_printf("id %" PRIu64 "  username %s  active  ", other_id, other)),
                         printed);
        assert_non_null(strstr(printed, text_printf("\nid %" PRIu64 "  username %s  disabled  ", id, name)));
    }
    assert_int_equal(operate("find", text_printf("Émile 🎉 %s", nickname + strlen("Émile 😀 ")), NULL), ST_NOT_FOUND);
}

TEST(of_one_nickname_the_newest_users_are_listed)
{
    char name[VISIT_NAME_MAX], printed[PRINTED_MAX], nickname[64];
    snprintf(nickname, sizeof nickname, "小明 %" PRIu64, random_u64());
    struct user user = { .nickname = str_from(nickname) };
    for (int i = 0; i <= USER_FIND_MAX; i++) {
        fresh_username(name);
        user.username = str_from(name);
        assert_int_equal(user_insert(app->stores.db, arena, &config->keys, &user, clock_now_ms()), ST_OK);
    }
    assert_int_equal(operate("find", nickname, printed), ST_OK);
    assert_int_equal(lines(printed), USER_FIND_MAX + 1);
    assert_ptr_equal(strstr(printed, text_printf("id %" PRIu64 " ", user.id)), printed);
    assert_non_null(strstr(printed, "more users have this nickname"));
}

TEST(the_sender_of_a_packet_is_found_by_its_address_and_number)
{
    struct person sender;
    char printed[PRINTED_MAX], packet[PUBLIC_ID_TEXT_MAX];
    struct public_id_key key;
    person_new(app, &sender, 1000);
    const uint64_t id = person_send(app, &sender, "kind=even&amount=1&count=3");
    public_id_key_set(&key, keys_get(&config->keys, KEY_IDS));
    public_id_encode(&key, id, packet);
    const char *const texts[] = { text_printf("https://hongbao.example/p/%s?from=chat。快来", packet), packet,
                                  text_printf("packet=%" PRIu64, id) };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        assert_int_equal(operate("find", texts[i], printed), ST_OK);
        assert_ptr_equal(strstr(printed, text_printf("packet %" PRIu64 "  ", id)), printed);
        assert_non_null(
            strstr(printed, text_printf("  grabbed 0 of 3  sender id %" PRIu64 "\nid %" PRIu64 "  username %s  ",
                                        sender.id, sender.id, sender.username)));
        assert_null(strstr(printed, packet)); /* whoever has the address can grab */
    }
}

/* No text reaches a column whose character set does not have it, and the store logs no error. */
TEST(whatever_is_pasted_gets_a_clear_answer)
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

TEST(a_nickname_in_place_of_the_username_is_a_wrong_login)
{
    assert_int_equal(login_with("%E5%B0%8F%E6%98%8E", "long+enough", "这里填用户名"), 422);
    assert_int_equal(login_with("%F0%9F%A7%A7", "long+enough", "这里填用户名"), 422);
}

TEST(unknown_users_and_actions_are_told_apart)
{
    assert_int_equal(operate("show", "nobody-here", NULL), ST_NOT_FOUND);
    assert_int_equal(operate("delete", "nobody-here", NULL), ST_INVALID);
}

TESTS(setup, teardown)

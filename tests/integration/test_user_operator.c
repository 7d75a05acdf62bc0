/* `hongbao user` with the rights of the role support: find, show, disable, enable, end-sessions, reset. */
#include <inttypes.h>

#include "account/recovery_page.h"
#include "account/token_page.h"
#include "base/clock.h"
#include "base/public_id.h"
#include "base/random.h"
#include "commands/user.h"
#include "commands/user_find.h"
#include "test_packet_fixture.h"
#include "test_user_app.h"
#include "user/known_device.h"
#include "user/store.h"
#include "user/token.h"
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

static const char *why; /* message of the last operate */

/* Runs the action, and asserts its status. Returns what it printed. */
static const char *operate(const char *action, const char *name, enum status wanted)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    assert_non_null(out);
    enum status st = user_operate(&support->stores, action, str_from(name), out, &why);
    assert_int_equal(fclose(out), 0);
    const char *printed = text_printf("%s", text);
    free(text);
    if (st != wanted)
        fail_msg("%s %.200s: status %d instead of %d: %s", action, name, st, wanted, printed);
    return printed;
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
    (void)operate("disable", user.name, ST_OK);
    assert_int_equal(visit_user(app, user.cookie), 0);
    assert_false(token_works(used));
    assert_false(token_works(unused));
    visit_says(login_of(user.name, "wrong+password"), 422, "用户名或密码错误");
    visit_says(login_of(user.name, "long+enough"), 422, "该账号已停用");
    (void)operate("disable", user.name, ST_OK);
    (void)operate("enable", user.name, ST_OK);
    visit_says(login_of(user.name, "long+enough"), 200);
    assert_false(token_works(used));
    assert_int_equal(visit_user(app, user.cookie), 0);
}

TEST(end_sessions_keeps_password_and_tokens_and_makes_devices_unknown)
{
    char token[TOKEN_MAX];
    struct visit v;
    struct account user = account_new(app);
    token_made(user.cookie, token);
    visit_begin(&v, app, "/", NULL, user.device);
    assert_non_null(known_device_number(&v.x, str_from(user.name)).ptr);
    int64_t now_ms = clock_now_ms();
    while (clock_now_ms() == now_ms) /* the device was made known in an earlier millisecond */
        continue;
    (void)operate("end-sessions", user.name, ST_OK);
    assert_null(known_device_number(&v.x, str_from(user.name)).ptr);
    visit_end(&v);
    assert_int_equal(visit_user(app, user.cookie), 0);
    assert_true(token_works(token));
    visit_says(login_of(user.name, "long+enough"), 200);
}

TEST(a_reset_prints_a_password_that_works_and_ends_recovery_codes)
{
    char token[TOKEN_MAX], password[64];
    struct account user = account_new(app);
    token_made(user.cookie, token);
    codes_made(user.cookie); /* an intruder may have made them */
    const char *printed = operate("reset", user.name, ST_OK);
    assert_int_equal(sscanf(printed, "new password %63s", password), 1);
    assert_int_equal(strlen(password), 23);
    assert_int_equal(visit_user(app, user.cookie), 0);
    assert_false(token_works(token));
    assert_non_null(strstr(operate("show", user.name, ST_OK), "recovery codes 0\n"));
    visit_says(login_of(user.name, "long+enough"), 422);
    visit_says(login_of(user.name, password), 200);
    assert_string_not_equal(printed, operate("reset", user.name, ST_OK));
}

TEST(show_tells_names_sessions_and_tokens_and_no_secret)
{
    char token[TOKEN_MAX];
    struct account user = account_new(app);
    token_made(user.cookie, token);
    codes_made(user.cookie);
    const char *printed = operate("show", user.name, ST_OK);
    assert_ptr_equal(strstr(printed, text_printf("id %" PRIu64 "\n", user.id)), printed);
    assert_non_null(strstr(printed, text_printf("username %s\n", user.name)));
    assert_non_null(strstr(printed, "nickname Ming\n"));
    assert_non_null(strstr(printed, "tokens 1\npasskeys 0\nrecovery codes 10\nsessions 1\n"));
    assert_null(strstr(printed, "disabled"));
    assert_null(strstr(printed, "argon2"));
    assert_null(strstr(printed, user.cookie + 4));
    (void)operate("disable", user.name, ST_OK);
    printed = operate("show", user.name, ST_OK);
    assert_non_null(strstr(printed, "disabled 20"));
    assert_non_null(strstr(printed, "tokens 0\npasskeys 0\nrecovery codes 10\nsessions 0\n"));
}

/* A user with a nickname that no other test uses. */
static struct account nicknamed(const char *nickname)
{
    struct account user = account_new(app);
    assert_int_equal(user_rename(app->stores.db, user.id, &(struct str){ nickname, strlen(nickname) }, NULL), ST_OK);
    return user;
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
    struct account user = account_new(app), other = account_new(app);
    const char *id = text_printf("~%" PRIu64, user.id), *printed = "";
    EACH_TEXT (action, "find", "show", "disable", "enable", "end-sessions", "reset")
        printed = operate(action, id, ST_OK);
    assert_non_null(strstr(printed, user.name));
    printed = operate("show", text_printf("～%" PRIu64, other.id), ST_OK);
    assert_non_null(strstr(printed, text_printf("username %s\n", other.name)));
    (void)operate("show", "~1", ST_NOT_FOUND);
}

TEST(a_user_is_found_by_id_username_and_nickname)
{
    const char *number = text_printf("%" PRIu64, random_u64()), *nickname = text_printf("Émile 😀 %s", number);
    const struct account user = nicknamed(nickname), other = nicknamed(nickname);
    const char *wanted = text_printf("id %" PRIu64 "  username %s  active  registered 20", user.id, user.name);
    const char *words[] = { text_printf("user_id=%" PRIu64, user.id), user.name, text_printf("%" PRIu64, user.id) };
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        const char *printed = operate("find", words[i], ST_OK);
        assert_ptr_equal(strstr(printed, wanted), printed);
        assert_non_null(strstr(printed, nickname));
        assert_int_equal(lines(printed), 1);
    }
    (void)operate("disable", user.name, ST_OK);
    const char *nicknames[] = { nickname, text_printf(" émile  😀 %s\n", number) };
    for (size_t i = 0; i < ARRAY_LEN(nicknames); i++) {
        const char *printed = operate("find", nicknames[i], ST_OK);
        assert_int_equal(lines(printed), 2); /* the newer one first */
        assert_ptr_equal(strstr(printed, text_printf("id %" PRIu64 "  username %s  active  ", other.id, other.name)),
                         printed);
        assert_non_null(strstr(printed, text_printf("\nid %" PRIu64 "  username %s  disabled  ", user.id, user.name)));
    }
    (void)operate("find", text_printf("Émile 🎉 %s", number), ST_NOT_FOUND);
}

TEST(of_one_nickname_the_newest_users_are_listed)
{
    char name[VISIT_NAME_MAX];
    const char *nickname = text_printf("小明 %" PRIu64, random_u64());
    struct user user = { .nickname = str_from(nickname) };
    for (int i = 0; i <= USER_FIND_MAX; i++) {
        fresh_username(name);
        user.username = str_from(name);
        assert_int_equal(user_insert(app->stores.db, arena, &config->keys, &user, clock_now_ms()), ST_OK);
    }
    const char *printed = operate("find", nickname, ST_OK);
    assert_int_equal(lines(printed), USER_FIND_MAX + 1);
    assert_ptr_equal(strstr(printed, text_printf("id %" PRIu64 " ", user.id)), printed);
    assert_non_null(strstr(printed, "more users have this nickname"));
}

TEST(the_sender_of_a_packet_is_found_by_its_address_and_number)
{
    struct person sender;
    char packet[PUBLIC_ID_TEXT_MAX];
    struct public_id_key key;
    person_new(app, &sender, 1000);
    const uint64_t id = person_send(app, &sender, "kind=even&amount=1&count=3");
    public_id_key_set(&key, keys_get(&config->keys, KEY_IDS));
    public_id_encode(&key, id, packet);
    const char *const texts[] = { text_printf("https://hongbao.example/p/%s?from=chat。快来", packet), packet,
                                  text_printf("packet=%" PRIu64, id) };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        const char *printed = operate("find", texts[i], ST_OK);
        assert_ptr_equal(strstr(printed, text_printf("packet %" PRIu64 "  ", id)), printed);
        assert_non_null(
            strstr(printed, text_printf("  grabbed 0 of 3  sender id %" PRIu64 "\nid %" PRIu64 "  username %s  ",
                                        sender.id, sender.id, sender.username)));
        assert_null(strstr(printed, packet)); /* everybody who has the address can grab */
    }
}

/* A text with characters that a column's character set lacks never reaches that column, and the store logs no error. */
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
    FILE *nowhere = fopen("/dev/null", "we");
    assert_non_null(nowhere);
    memset(longest, 'a', sizeof longest - 1);
    for (size_t a = 0; a < ARRAY_LEN(actions); a++) {
        for (size_t i = 0; i <= ARRAY_LEN(texts); i++) {
            const char *text = i < ARRAY_LEN(texts) ? texts[i] : longest;
            const enum status st = user_operate(&support->stores, actions[a], str_from(text), nowhere, &why);
            assert_true(st == ST_NOT_FOUND || (a == 0 && st == ST_INVALID));
            assert_true(why != NULL && strlen(why) > 10);
        }
    }
    (void)fclose(nowhere);
}

TEST(unknown_users_and_actions_are_told_apart)
{
    (void)operate("show", "nobody-here", ST_NOT_FOUND);
    (void)operate("delete", "nobody-here", ST_INVALID);
}

TESTS(setup, teardown)

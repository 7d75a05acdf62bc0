/* user/session, the parts without I/O: tokens, keys, stored values and lifetimes. user/device: the name of a device in
 * the list of sessions. */
#include "base/clock.h"
#include "support/test_arena.h"
#include "user/device.h"
#include "user/session.h"

enum { HOUR_MS = 3600 * 1000 };
#define DAY_MS (24 * (int64_t)HOUR_MS)
static const int64_t LOGIN_MS = 1800000000000;

static struct config seven_days(void)
{
    struct config c;
    memset(&c, 0, sizeof c);
    c.session_idle_s = 7 * DAY_MS / 1000;
    c.session_absolute_s = 30 * DAY_MS / 1000;
    return c;
}

static struct session session_at(int64_t created_ms, int64_t seen_ms)
{
    return (struct session){ .user_id = 10001,
                             .created_ms = created_ms,
                             .seen_ms = seen_ms,
                             .username = STR("xiaoming"),
                             .nickname = STR("小明"),
                             .listed = true };
}

TEST(tokens_are_well_formed_and_unique_and_a_key_is_the_hash_of_its_token)
{
    char first[SESSION_TOKEN_MAX], second[SESSION_TOKEN_MAX];
    session_token_new(first);
    session_token_new(second);
    assert_true(session_token_valid(str_from(first)) && session_token_valid(str_from(second)));
    assert_string_not_equal(first, second);
    char token[SESSION_TOKEN_MAX + 1];
    session_token_new(token);
    assert_false(session_token_valid((struct str){ token, SESSION_TOKEN_LEN - 1 }));
    token[SESSION_TOKEN_LEN] = 'a';
    assert_false(session_token_valid((struct str){ token, SESSION_TOKEN_LEN + 1 }));
    assert_false(session_token_valid(STR("")));
    assert_false(session_token_valid(STR_NONE));
    for (const char *c = "+/=. ,;\"*\r\n\x7f\xc3"; *c != '\0'; c++) {
        session_token_new(token);
        token[20] = *c;
        assert_false(session_token_valid(str_from(token)));
    }
    char key[SESSION_KEY_MAX];
    /* printf %s AAAA…A (43 times) | sha256sum */
    session_key_write(STR("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"), key);
    assert_string_equal(key, "hb:session:0f007385b6f9d4b7eeb2748605afe1a984a0a3bfa3f014d09e2a784ce9e5cd1a");
}

TEST(a_stored_value_is_read_back_one_of_the_version_before_is_in_no_list_others_are_refused)
{
    struct session s;
    EACH_TEXT (value, "", "v2,", "v2", "v3,10001,1800000000000,1800000000000,xiaoming,小明",
               "v2,v2,10001,1800000000000,1800000000000,xiaoming,小明", "10001", "10001,1800000000000,1800000000000",
               "10001,1800000000000,1800000000000,xiaoming", "10001,1800000000000,1800000000000,xiaoming,",
               "10001,1800000000000,1800000000000,,小明", "0,1800000000000,1800000000000,xiaoming,小明",
               "-1,1800000000000,1800000000000,xiaoming,小明", "x,1800000000000,1800000000000,xiaoming,小明",
               "10001,,1800000000000,xiaoming,小明", "10001,0,1800000000000,xiaoming,小明",
               "10001,-5,1800000000000,xiaoming,小明", "10001,1800000000001,1800000000000,xiaoming,小明",
               "10001,1800000000000,99999999999999999999,xiaoming,小明",
               "99999999999999999999,1800000000000,1800000000000,xiaoming,小明",
               "10001,1800000000000,1800000000000,xiaoming,\xe5\xb0")
        if (session_value_read(str_from(value), &s))
            fail_msg("%s is accepted", value);
    struct session written = session_at(LOGIN_MS, LOGIN_MS + 5), back;
    written.nickname = STR("小,明,🧧");
    struct str value = session_value_text(arena, &written);
    assert_true(str_equal(value, STR("v2,10001,1800000000000,1800000000005,xiaoming,小,明,🧧")));
    assert_true(session_value_read(value, &back));
    assert_ints({ back.user_id, written.user_id }, { back.created_ms, written.created_ms },
                { back.seen_ms, written.seen_ms });
    assert_true(str_equal(back.username, written.username));
    assert_true(str_equal(back.nickname, written.nickname));
    assert_true(back.listed);
    static const char before[] = "10001,1800000000000,1800000000005,xiaoming,小明";
    assert_true(session_value_read(str_from(before), &written));
    assert_false(written.listed);
    assert_int_equal(written.user_id, 10001);
    assert_true(str_equal(session_value_text(arena, &written), str_from(before)));
}

/* Times are counted from the login. */
TEST(a_session_is_renewed_once_an_hour_and_ends_after_its_idle_time_and_its_lifetime)
{
    static const struct {
        int64_t seen_ms, now_ms, left_ms;
    } rows[] = {
        { 0, 0, 7 * DAY_MS },
        { 0, 7 * DAY_MS - 1, 7 * DAY_MS },
        { 0, 7 * DAY_MS, 0 },
        { 29 * DAY_MS, 29 * DAY_MS, DAY_MS }, /* in spite of visits */
        { 29 * DAY_MS, 30 * DAY_MS - 1, 1 },
        { 29 * DAY_MS, 30 * DAY_MS, 0 },
        { 0, -CLOCKS_DIFFER_MS, 7 * DAY_MS },
        { 0, -CLOCKS_DIFFER_MS - 1, 0 }, /* a clock set back neither ends nor extends a session */
    };
    struct config c = seven_days();
    EACH (row, rows) {
        struct session s = session_at(LOGIN_MS, LOGIN_MS + row->seen_ms);
        if (session_ttl_ms(&c, &s, LOGIN_MS + row->now_ms) != row->left_ms)
            fail_msg("row %zu", (size_t)(row - rows));
    }
    struct session s = session_at(LOGIN_MS - DAY_MS, LOGIN_MS); /* a last visit in the future is not accepted either */
    assert_int_equal(session_ttl_ms(&c, &s, LOGIN_MS - CLOCKS_DIFFER_MS - 1), 0);
    assert_false(session_refresh_due(&c, &s, LOGIN_MS - 100 * DAY_MS));
    s = session_at(LOGIN_MS, LOGIN_MS);
    assert_false(session_refresh_due(&c, &s, LOGIN_MS));
    assert_false(session_refresh_due(&c, &s, LOGIN_MS + HOUR_MS - 1));
    assert_true(session_refresh_due(&c, &s, LOGIN_MS + HOUR_MS));
    c.session_idle_s = 100;
    assert_false(session_refresh_due(&c, &s, LOGIN_MS + 999));
    assert_true(session_refresh_due(&c, &s, LOGIN_MS + 1000));
}

TEST(without_memory_a_visitor_is_not_a_guest)
{
    static char sid[] = "HTTP_COOKIE=sid=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    char *envp[] = { sid, NULL };
    struct config c = seven_days();
    struct services app = { .stores.config = &c };
    struct fcgi_request request = { .fcgx.envp = envp, .arena = arena_new(16, 16) };
    struct exchange x = { .app = &app, .fcgi = &request, .arena = request.arena };
    assert_true(session_visitor_queue(&x));
    assert_int_equal(session_visitor_read(&x), ST_UNAVAILABLE);
    assert_int_equal(x.visitor.user_id, 0);
    arena_free(request.arena);
}

TEST(browsers_and_systems_are_named_in_our_words_or_by_a_plain_first_word)
{
    static const struct {
        const char *agent, *name;
    } cases[] = {
        { "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Mobile "
          "Safari/537.36",
          "Chrome · Android" },
        { "Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 Chrome/126.0 Mobile Safari/537.36 "
          "MicroMessenger/8.0.49",
          "WeChat · Android" },
        { "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
          "Version/17.5 Mobile/15E148 Safari/604.1",
          "Safari · iPhone" },
        { "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/126.0 Safari/537.36 Edg/126.0",
          "Edge · Windows" },
        { "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0", "Firefox · Linux" },
        { "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Version/17.4 Safari/605.1.15",
          "Safari · macOS" },
        { "curl/7.88.1", "curl" },
        { "party-bot_1.2 (hello)", "party-bot_1.2" },
        { "Dalvik (Linux; Android 9)", "Android" },
        { "", "" },
    };
    EACH (row, cases)
        assert_string_equal(device_name(arena, str_from(row->agent)).ptr, row->name);
    assert_int_equal(device_name(arena, STR_NONE).len, 0);
    char large[8192];
    EACH_TEXT (agent, "<script>alert(1)</script>", "\xff\xfe", "银行", "a\nb", "{{x}}", "%s%n", "\"")
        assert_int_equal(device_name(arena, str_from(agent)).len, 0);
    memset(large, 'x', sizeof large);
    assert_true(device_name(arena, (struct str){ large, sizeof large }).len <= DEVICE_BYTES_MAX);
    memcpy(large + sizeof large - 8, "Chrome/1", 8); /* beyond what is read */
    assert_int_equal(device_name(arena, (struct str){ large, sizeof large }).len, 32);
}

TESTS(arena_setup, arena_teardown)

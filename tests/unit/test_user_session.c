/* user/session, the parts without I/O: tokens, keys, stored values and lifetimes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/random.h"
#include "user/session.h"

enum { HOUR_MS = 3600 * 1000 };
static const int64_t DAY_MS = 24 * (int64_t)HOUR_MS;
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

static void tokens_are_well_formed_and_unique(void **state)
{
    (void)state;
    char first[SESSION_TOKEN_MAX], second[SESSION_TOKEN_MAX];
    session_token_new(first);
    session_token_new(second);
    assert_true(session_token_valid(str_from(first)));
    assert_true(session_token_valid(str_from(second)));
    assert_string_not_equal(first, second);
}

static void malformed_tokens_are_refused(void **state)
{
    (void)state;
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
}

static void a_key_is_the_hash_of_its_token(void **state)
{
    (void)state;
    char key[SESSION_KEY_MAX];
    /* printf %s AAAA…A (43 times) | sha256sum */
    session_key_write(STR("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"), key);
    assert_string_equal(key, "hb:session:0f007385b6f9d4b7eeb2748605afe1a984a0a3bfa3f014d09e2a784ce9e5cd1a");
}

static void a_stored_value_is_read_back(void **state)
{
    (void)state;
    struct arena *a = arena_new(1024, 1024);
    struct session s = session_at(LOGIN_MS, LOGIN_MS + 5), back;
    s.nickname = STR("小,明,🧧");
    struct str value = session_value_text(a, &s);
    assert_true(str_equal(value, STR("v2,10001,1800000000000,1800000000005,xiaoming,小,明,🧧")));
    assert_true(session_value_read(value, &back));
    assert_int_equal(back.user_id, s.user_id);
    assert_int_equal(back.created_ms, s.created_ms);
    assert_int_equal(back.seen_ms, s.seen_ms);
    assert_true(str_equal(back.username, s.username));
    assert_true(str_equal(back.nickname, s.nickname));
    assert_true(back.listed);
    arena_free(a);
}

static void a_value_of_the_version_before_is_in_no_list(void **state)
{
    (void)state;
    struct arena *a = arena_new(1024, 1024);
    struct session s;
    static const char before[] = "10001,1800000000000,1800000000005,xiaoming,小明";
    assert_true(session_value_read(str_from(before), &s));
    assert_false(s.listed);
    assert_int_equal(s.user_id, 10001);
    assert_true(str_equal(session_value_text(a, &s), str_from(before)));
    arena_free(a);
}

static void malformed_values_are_refused(void **state)
{
    (void)state;
    static const char *const values[] = {
        "",
        "v2,",
        "v2",
        "v3,10001,1800000000000,1800000000000,xiaoming,小明",
        "v2,v2,10001,1800000000000,1800000000000,xiaoming,小明",
        "10001",
        "10001,1800000000000,1800000000000",
        "10001,1800000000000,1800000000000,xiaoming",
        "10001,1800000000000,1800000000000,xiaoming,",
        "10001,1800000000000,1800000000000,,小明",
        "0,1800000000000,1800000000000,xiaoming,小明",
        "-1,1800000000000,1800000000000,xiaoming,小明",
        "x,1800000000000,1800000000000,xiaoming,小明",
        "10001,,1800000000000,xiaoming,小明",
        "10001,0,1800000000000,xiaoming,小明",
        "10001,-5,1800000000000,xiaoming,小明",
        "10001,1800000000001,1800000000000,xiaoming,小明",
        "10001,1800000000000,99999999999999999999,xiaoming,小明",
        "99999999999999999999,1800000000000,1800000000000,xiaoming,小明",
        "10001,1800000000000,1800000000000,xiaoming,\xe5\xb0",
    };
    struct session s;
    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        assert_false(session_value_read(str_from(values[i]), &s));
}

static void a_session_ends_after_the_idle_time(void **state)
{
    (void)state;
    struct config c = seven_days();
    struct session s = session_at(LOGIN_MS, LOGIN_MS);
    assert_int_equal(session_ttl_ms(&c, &s, LOGIN_MS), 7 * DAY_MS);
    assert_int_equal(session_ttl_ms(&c, &s, LOGIN_MS + 7 * DAY_MS - 1), 7 * DAY_MS);
    assert_int_equal(session_ttl_ms(&c, &s, LOGIN_MS + 7 * DAY_MS), 0);
}

static void a_session_ends_after_its_absolute_lifetime_in_spite_of_visits(void **state)
{
    (void)state;
    struct config c = seven_days();
    struct session s = session_at(LOGIN_MS, LOGIN_MS + 29 * DAY_MS);
    assert_int_equal(session_ttl_ms(&c, &s, LOGIN_MS + 29 * DAY_MS), DAY_MS);
    assert_int_equal(session_ttl_ms(&c, &s, LOGIN_MS + 30 * DAY_MS - 1), 1);
    assert_int_equal(session_ttl_ms(&c, &s, LOGIN_MS + 30 * DAY_MS), 0);
}

static void a_clock_set_back_neither_ends_nor_extends_a_session(void **state)
{
    (void)state;
    struct config c = seven_days();
    struct session s = session_at(LOGIN_MS, LOGIN_MS);
    assert_int_equal(session_ttl_ms(&c, &s, LOGIN_MS - CLOCKS_DIFFER_MS), 7 * DAY_MS); /* clocks differ */
    assert_int_equal(session_ttl_ms(&c, &s, LOGIN_MS - CLOCKS_DIFFER_MS - 1), 0);
    s.created_ms -= DAY_MS; /* a visit in the future is none, too */
    assert_int_equal(session_ttl_ms(&c, &s, LOGIN_MS - CLOCKS_DIFFER_MS - 1), 0);
    assert_false(session_refresh_due(&c, &s, LOGIN_MS - 100 * DAY_MS));
}

static void a_session_is_renewed_once_an_hour(void **state)
{
    (void)state;
    struct config c = seven_days();
    struct session s = session_at(LOGIN_MS, LOGIN_MS);
    assert_false(session_refresh_due(&c, &s, LOGIN_MS));
    assert_false(session_refresh_due(&c, &s, LOGIN_MS + HOUR_MS - 1));
    assert_true(session_refresh_due(&c, &s, LOGIN_MS + HOUR_MS));
}

static void a_session_with_a_short_idle_time_is_renewed_sooner(void **state)
{
    (void)state;
    struct config c = seven_days();
    struct session s = session_at(LOGIN_MS, LOGIN_MS);
    c.session_idle_s = 100;
    assert_false(session_refresh_due(&c, &s, LOGIN_MS + 999));
    assert_true(session_refresh_due(&c, &s, LOGIN_MS + 1000));
}

static void without_memory_a_visitor_is_not_a_guest(void **state)
{
    (void)state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_are_well_formed_and_unique),
        cmocka_unit_test(malformed_tokens_are_refused),
        cmocka_unit_test(a_key_is_the_hash_of_its_token),
        cmocka_unit_test(a_stored_value_is_read_back),
        cmocka_unit_test(a_value_of_the_version_before_is_in_no_list),
        cmocka_unit_test(malformed_values_are_refused),
        cmocka_unit_test(a_session_ends_after_the_idle_time),
        cmocka_unit_test(a_session_ends_after_its_absolute_lifetime_in_spite_of_visits),
        cmocka_unit_test(a_clock_set_back_neither_ends_nor_extends_a_session),
        cmocka_unit_test(a_session_is_renewed_once_an_hour),
        cmocka_unit_test(a_session_with_a_short_idle_time_is_renewed_sooner),
        cmocka_unit_test(without_memory_a_visitor_is_not_a_guest),
    };
    return random_init() ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}

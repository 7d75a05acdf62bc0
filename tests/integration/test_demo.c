/* `hongbao demo` creates the requested number of users with money and a session, at every run. */
#include "commands/demo.h"
#include "test_world.h"
#include "user/account.h"
#include "user/session.h"

struct line {
    unsigned long long id;
    char username[64], cookie[128];
};

static bool line_read(FILE *in, struct line *out)
{
    return fscanf(in, "%llu\t%63[^\t]\t%127[^\n]\n", &out->id, out->username, out->cookie) == 3;
}

/* Makes so many users; returns the file with their lines, for the caller to close. */
static FILE *made(uint32_t count, int64_t balance_fen)
{
    FILE *out = tmpfile();
    assert_non_null(out);
    assert_int_equal(demo_make(&w->app->stores, count, balance_fen, out), ST_OK);
    rewind(out);
    return out;
}

FAULTY_WORLD_TEST(every_user_has_a_thousand_yuan_and_a_session_that_ends_like_any_other, 0)
{
    struct line line;
    size_t count = 0;
    FILE *lines = made(1203, DEMO_MONEY_FEN);
    for (; line_read(lines, &line); count++) {
        char key[SESSION_KEY_MAX];
        struct session session;
        assert_true(username_valid(str_from(line.username)));
        assert_true(strncmp(line.cookie, "sid=", 4) == 0);
        assert_true(session_token_valid(str_from(line.cookie + 4)));
        session_key_write(str_from(line.cookie + 4), key);
        assert_true(session_value_read(world_redis_text(w, 0, arena_printf(w->arena, "GET %s", key).ptr), &session));
        assert_int_equal(session.user_id, line.id);
        assert_true(str_equal(session.username, str_from(line.username)));
        assert_int_equal(world_balance(w, line.id), DEMO_MONEY_FEN);
        if (count == 0)
            assert_in_range(world_redisf(w, 0, "TTL %s", key), 1, w->config->session_idle_s);
    }
    (void)fclose(lines);
    assert_ints({ count, 1203 }, { world_balance(w, 1), -1203 * (int64_t)DEMO_MONEY_FEN });
    world_audit_clean(w);
}

FAULTY_WORLD_TEST(a_second_run_makes_other_users, 600)
{
    (void)fclose(made(600, 0));
    assert_int_equal(world_number(w, "SELECT COUNT(DISTINCT username) FROM user", 0), 1200);
    assert_int_equal(world_number(w, "SELECT COUNT(*) FROM account WHERE kind = 'wallet' AND balance_fen = 0", 0), 600);
    assert_int_equal(world_balance(w, 1), -600 * (int64_t)DEMO_MONEY_FEN);
    world_audit_clean(w);
}

/* The call of session_value_text that lacks memory, from 1; 0: none. */
static unsigned lacks_memory_at;

struct str __real_session_value_text(struct arena *a, const struct session *s);
struct str __wrap_session_value_text(struct arena *a, const struct session *s);
struct str __wrap_session_value_text(struct arena *a, const struct session *s)
{
    return lacks_memory_at > 0 && --lacks_memory_at == 0 ? STR_NONE : __real_session_value_text(a, s);
}

FAULTY_WORLD_TEST(a_run_without_memory_for_a_session_fails_and_lists_no_user, 0)
{
    FILE *out = tmpfile();
    assert_non_null(out);
    lacks_memory_at = 2;
    assert_int_equal(demo_make(&w->app->stores, 3, 0, out), ST_NO_MEMORY);
    assert_int_equal(ftell(out), 0);
    (void)fclose(out);
}

FAULTY_WORLD_TEST(the_command_refuses_where_there_is_no_demo, 0)
{
    char *ok[] = { "demo", "--users", "3", "--out", "/dev/null" };
    char *rich[] = { "demo", "--users", "1", "--amount", "12.34", "--out", "/dev/null" };
    char *bare[] = { "demo", "--users", "1", "--amount", "much", "--out", "/dev/null" };
    char *none[] = { "demo", "--users", "0", "--out", "/dev/null" };
    char *half[] = { "demo", "--users", "3" };
    assert_int_equal(demo_command(w->config, 5, ok), 0);
    assert_int_equal(demo_command(w->config, 5, none), 2);
    assert_int_equal(demo_command(w->config, 3, half), 2);
    assert_int_equal(demo_command(w->config, 7, rich), 0);
    assert_int_equal(demo_command(w->config, 7, bare), 2);
    assert_int_equal(world_balance(w, 1), -3 * (int64_t)DEMO_MONEY_FEN - 1234);
    w->config->demo = false;
    assert_int_equal(demo_command(w->config, 5, ok), 1);
    assert_int_equal(world_number(w, "SELECT COUNT(*) FROM user", 0), 4);
}

TESTS(NULL, NULL)

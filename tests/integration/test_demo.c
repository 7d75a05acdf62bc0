/* `hongbao demo` creates the requested number of users with money and a session, at every run. */
#include "ops/demo.h"
#include "support/test.h"
#include "test_settle_fixture.h"
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

TEST(every_user_has_a_thousand_yuan_and_a_session)
{
    struct world w;
    struct line line;
    size_t count = 0;
    world_begin(&w, 0);
    FILE *out = tmpfile();
    assert_non_null(out);
    assert_int_equal(demo_make(&w.app->stores, 1203, DEMO_MONEY_FEN, out), ST_OK);
    rewind(out);
    for (; line_read(out, &line); count++) {
        char key[SESSION_KEY_MAX];
        struct session session;
        assert_true(username_valid(str_from(line.username)));
        assert_true(strncmp(line.cookie, "sid=", 4) == 0);
        assert_true(session_token_valid(str_from(line.cookie + 4)));
        session_key_write(str_from(line.cookie + 4), key);
        struct str get = arena_printf(w.arena, "GET %s", key);
        assert_true(session_value_read(world_redis_text(&w, 0, get.ptr), &session));
        assert_int_equal(session.user_id, line.id);
        assert_true(str_equal(session.username, str_from(line.username)));
        assert_int_equal(world_balance(&w, line.id), DEMO_MONEY_FEN);
    }
    (void)fclose(out);
    assert_int_equal(count, 1203);
    assert_int_equal(world_balance(&w, 1), -1203 * (int64_t)DEMO_MONEY_FEN);
    world_audit_clean(&w);
    world_end(&w);
}

TEST(a_second_run_makes_other_users)
{
    struct world w;
    world_begin(&w, 600);
    FILE *out = tmpfile();
    assert_non_null(out);
    assert_int_equal(demo_make(&w.app->stores, 600, 0, out), ST_OK);
    (void)fclose(out);
    assert_int_equal(world_number(&w, "SELECT COUNT(DISTINCT username) FROM user", 0), 1200);
    assert_int_equal(world_number(&w, "SELECT COUNT(*) FROM account WHERE kind = 'wallet' AND balance_fen = 0", 0),
                     600);
    assert_int_equal(world_balance(&w, 1), -600 * (int64_t)DEMO_MONEY_FEN);
    world_audit_clean(&w);
    world_end(&w);
}

TEST(a_demo_session_ends_like_any_other)
{
    struct world w;
    struct line line;
    char key[SESSION_KEY_MAX];
    world_begin(&w, 0);
    FILE *out = tmpfile();
    assert_non_null(out);
    assert_int_equal(demo_make(&w.app->stores, 1, DEMO_MONEY_FEN, out), ST_OK);
    rewind(out);
    assert_true(line_read(out, &line));
    (void)fclose(out);
    session_key_write(str_from(line.cookie + 4), key);
    struct str ttl = arena_printf(w.arena, "TTL %s", key);
    int64_t left_s = world_redis(&w, 0, ttl.ptr);
    assert_true(left_s > 0 && left_s <= w.config->session_idle_s);
    world_end(&w);
}

TEST(the_command_refuses_where_there_is_no_demo)
{
    struct world w;
    char *ok[] = { "demo", "--users", "3", "--out", "/dev/null" };
    char *rich[] = { "demo", "--users", "1", "--yuan", "12.34", "--out", "/dev/null" };
    char *bare[] = { "demo", "--users", "1", "--yuan", "much", "--out", "/dev/null" };
    char *none[] = { "demo", "--users", "0", "--out", "/dev/null" };
    char *half[] = { "demo", "--users", "3" };
    world_begin(&w, 0);
    assert_int_equal(demo_command(w.config, 5, ok), 0);
    assert_int_equal(demo_command(w.config, 5, none), 2);
    assert_int_equal(demo_command(w.config, 3, half), 2);
    assert_int_equal(demo_command(w.config, 7, rich), 0);
    assert_int_equal(demo_command(w.config, 7, bare), 2);
    assert_int_equal(world_balance(&w, 1), -3 * (int64_t)DEMO_MONEY_FEN - 1234);
    w.config->demo = false;
    assert_int_equal(demo_command(w.config, 5, ok), 1);
    assert_int_equal(world_number(&w, "SELECT COUNT(*) FROM user", 0), 4);
    world_end(&w);
}

TESTS(NULL, NULL)

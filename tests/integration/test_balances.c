/* What an operator reads over all wallets and transfers: the balances of all users, and the days of the report. */
#include "money/balances.h"
#include "money/report.h"
#include "support/test.h"
#include "test_money_world.h"

enum { MANY = 2500 }; /* more than two pages */

struct seen {
    uint64_t rows, last_id;
    int64_t sum_fen;
    const char *meanwhile; /* a statement that somebody else executes after the first page */
    enum status answer;
};

static enum status page_see(void *ctx, const struct balance *rows, size_t count)
{
    struct seen *seen = ctx;
    for (size_t i = 0; i < count; i++) {
        assert_true(rows[i].user.id > seen->last_id);
        seen->last_id = rows[i].user.id;
        seen->sum_fen += rows[i].fen;
    }
    seen->rows += count;
    if (seen->meanwhile != NULL) {
        MYSQL *other = test_services_mysql(w->app);
        assert_int_equal(mysql_query(other, seen->meanwhile), 0);
        mysql_close(other);
    }
    seen->meanwhile = NULL;
    return seen->answer;
}

static enum status balances_of(struct seen *seen, int64_t min_fen, struct balances *out)
{
    struct arena *a = arena_new(64 << 10, 16 << 20);
    *out = (struct balances){ .min_fen = min_fen, .page = page_see, .ctx = seen };
    enum status st = balances_read(money_db(), a, out);
    arena_free(a);
    return st;
}

/* Users without money, with higher ids than the users of the world. */
static void users_more(void)
{
    const char *insert = arena_printf(w->arena,
                                      "INSERT INTO user (username, nickname, created_ms) SELECT CONCAT('many', seq),"
                                      " seq, 1 FROM seq_1_to_%d",
                                      MANY)
                             .ptr;
    world_sql(w, insert);
    world_sql(w, "INSERT INTO account (id, kind) SELECT id, 'wallet' FROM user WHERE username LIKE 'many%'");
}

WORLD_TEST(all_pages_are_read_as_of_one_moment, 3)
{
    struct balances b;
    struct seen seen = { .meanwhile = "UPDATE account SET balance_fen = balance_fen + IF(kind = 'bank', -5, 5) WHERE"
                                      " kind = 'bank' OR id = (SELECT MAX(id) FROM user)" };
    users_more();
    assert_int_equal(balances_of(&seen, 0, &b), ST_OK);
    assert_ints({ b.users, MANY + 3 }, { seen.rows, MANY + 3 }, { b.sum_fen, 3 * FUNDED_FEN },
                { seen.sum_fen, 3 * FUNDED_FEN }, { b.wallets_fen, 3 * FUNDED_FEN });
    world_sql(w, "UPDATE account SET balance_fen = balance_fen + IF(kind = 'bank', 5, -5) WHERE"
                 " kind = 'bank' OR id = (SELECT MAX(id) FROM user)");
}

WORLD_TEST(who_has_less_is_left_out, 3)
{
    static const struct {
        int64_t min_fen, users;
    } cases[] = { { 0, MANY + 3 }, { 1, 3 }, { FUNDED_FEN, 3 }, { FUNDED_FEN + 1, 0 } };
    struct balances b;
    users_more();
    EACH (c, cases) {
        struct seen seen = { 0 };
        assert_int_equal(balances_of(&seen, c->min_fen, &b), ST_OK);
        assert_ints({ b.users, c->users }, { seen.rows, c->users }, { b.sum_fen, seen.sum_fen },
                    { b.wallets_fen, 3 * FUNDED_FEN });
    }
}

static enum status states_see(void *ctx, const struct balance *rows, size_t count)
{
    const char **states = ctx;
    for (size_t i = 0; i < count; i++)
        states[i] = user_state_word(&rows[i].user);
    return ST_OK;
}

WORLD_TEST(each_user_has_a_state, 4)
{
    static const char *const wanted[] = { "active", "disabled", "deleting", "deleted" };
    const char *states[ARRAY_LEN(wanted)] = { NULL };
    struct balances b = { .page = states_see, .ctx = states };
    world_sqlf(w, "UPDATE user SET disabled_ms = 1 WHERE id > %" PRIu64, w->users[0]);
    world_sqlf(w, "UPDATE user SET deleting_ms = 1 WHERE id > %" PRIu64, w->users[1]);
    world_sqlf(w, "UPDATE user SET deleted_ms = 1 WHERE id > %" PRIu64, w->users[2]);
    assert_int_equal(balances_read(money_db(), w->arena, &b), ST_OK);
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
        assert_string_equal(states[i], wanted[i]);
    world_sql(w, "UPDATE user SET disabled_ms = NULL, deleting_ms = NULL, deleted_ms = NULL");
}

WORLD_TEST(a_wallet_without_a_user_is_found, 1)
{
    struct balances b;
    struct seen seen = { 0 };
    world_sql(w, "INSERT INTO account (id, kind, balance_fen) VALUES (77777, 'wallet', 7)");
    assert_int_equal(balances_of(&seen, 1, &b), ST_CORRUPT);
    world_sql(w, "DELETE FROM account WHERE id = 77777");
}

WORLD_TEST(an_error_of_the_reader_ends_the_reading, 1)
{
    struct balances b;
    struct seen seen = { .answer = ST_NO_MEMORY };
    users_more();
    assert_int_equal(balances_of(&seen, 0, &b), ST_NO_MEMORY);
    assert_int_equal(seen.rows, 1000);
}

/* ---- the days of the report ---- */

enum { DAY_MS = 24 * HOUR_MS };

static void moved_at(enum transfer_kind kind, uint64_t channel, int64_t fen, int64_t at_ms)
{
    struct external_row row = row_of(0, fen, arena_printf(w->arena, "at %" PRId64, at_ms).ptr);
    assert_int_equal(external_move(money_db(), w->arena, kind, channel, &row, 1, &ANNA, at_ms), ST_OK);
}

WORLD_TEST(each_day_begins_with_the_balance_of_the_day_before, 1)
{
    const int64_t first = clock_now_ms() - 10 * (int64_t)DAY_MS;
    const int64_t starts[] = { first, first + DAY_MS, first + 2 * DAY_MS, first + 3 * DAY_MS };
    const uint64_t payroll = channel_new(STR("payroll")), bank = channel_new(STR("bank"));
    moved_at(TRANSFER_CREDIT, payroll, 1000, first - 1);
    moved_at(TRANSFER_CREDIT, payroll, 100, first);
    moved_at(TRANSFER_DEBIT, payroll, 30, first + DAY_MS - 1);
    moved_at(TRANSFER_CREDIT, bank, 7, first + 5);
    moved_at(TRANSFER_DEBIT, payroll, 5, first + 2 * DAY_MS);
    moved_at(TRANSFER_CREDIT, payroll, 2, first + 3 * DAY_MS - 1);
    moved_at(TRANSFER_CREDIT, payroll, 1, first + 3 * DAY_MS); /* behind the last day */
    static const struct {
        const char *channel;
        int64_t day, opening_fen, credits_fen, debits_fen, closing_fen;
    } days[] = {
        { "payroll", 0, -1000, 100, 30, -1070 },
        { "bank", 0, 0, 7, 0, -7 },
        { "payroll", 2, -1070, 2, 5, -1067 },
    };
    struct report r = {
        .from_ms = first, .until_ms = first + 3 * DAY_MS, .day_starts = starts, .day_count = ARRAY_LEN(starts) - 1
    };
    assert_int_equal(report_read(money_db(), w->arena, &r), ST_OK);
    const struct report_day *day = r.days;
    EACH (wanted, days) {
        assert_non_null(day);
        assert_true(str_equal(r.channels[day->channel].channel.name, str_from(wanted->channel)));
        assert_ints({ day->from_ms, starts[wanted->day] }, { day->flows.opening_fen, wanted->opening_fen },
                    { day->flows.credits_fen, wanted->credits_fen }, { day->flows.debits_fen, wanted->debits_fen },
                    { day->flows.closing_fen, wanted->closing_fen });
        day = day->next;
    }
    assert_null(day);
    assert_ints({ r.channels[2].flows.opening_fen, -1000 }, { r.channels[2].flows.credits_fen, 102 },
                { r.channels[2].flows.debits_fen, 35 }, { r.channels[2].flows.closing_fen, -1067 },
                { r.is_balanced, 1 });
}

TESTS(NULL, NULL)

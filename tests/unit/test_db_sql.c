/* mysql/db_sql: which numbers of a query become parameters of a prepared statement. */
#include "mysql/db_sql_internal.h"
#include "support/test.h"

static bool lift(struct buf *out, const char *sql, struct db_numbers *numbers)
{
    buf_reset(out);
    return db_sql_lift(out, str_from(sql), numbers);
}

TEST(whole_numbers_outside_of_quotes_are_lifted)
{
    static const struct {
        const char *sql, *lifted;
        size_t count;
        uint64_t first;
    } cases[] = {
        { "", "", 0, 0 },
        { "7", "?", 1, 7 },
        { "SELECT a FROM t WHERE id = 12 AND n > 3", "SELECT a FROM t WHERE id = ? AND n > ?", 2, 12 },
        { "id=5 AND n=-5", "id=? AND n=-?", 2, 5 },
        { "n-5 >= (7)", "n-? >= (?)", 2, 5 },
        { "id IN (3,4, 5)", "id IN (?,?, ?)", 3, 3 },
        { "id IN (3)", "id IN (?)", 1, 3 }, /* of another length: another statement */
        { "18446744073709551615", "?", 1, UINT64_MAX },
        { "-9223372036854775808", "-?", 1, (uint64_t)INT64_MAX + 1 },
        { "INTERVAL 3 DAY", "INTERVAL ? DAY", 1, 3 },
        /* no whole numbers */
        { "1.5 + .5 + 5. + 1e3 + 1E-2", "1.5 + .5 + 5. + 1e3 + 1E-?", 1, 2 }, /* the server refuses it */
        { "0x1F + X'41' + 0b11 + x'05'", "0x1F + X'41' + 0b11 + x'05'", 0, 0 },
        /* names */
        { "a1 + a_2 + t3.n4 + 5a + _6 + $7 + @8 + ä9", "a1 + a_2 + t3.n4 + 5a + _6 + $7 + @8 + ä9", 0, 0 },
        { "\"a 1\" + `b 2` + c", "\"a 1\" + `b 2` + c", 0, 0 },
        /* texts */
        { "'1' + 'it''s 2' + '\"3' + 4", "'1' + 'it''s 2' + '\"3' + ?", 1, 4 },
        { "'?' = 5", "'?' = ?", 1, 5 },
        { "DATE '2020-01-02'", "DATE '2020-01-02'", 0, 0 },
        /* LIMIT, and columns by their number */
        { "n = 1 LIMIT 20", "n = ? LIMIT 20", 1, 1 },
        { "(SELECT 1 LIMIT 20) UNION (SELECT 2 LIMIT 3)", "(SELECT ? LIMIT 20) UNION (SELECT ? LIMIT 3)", 2, 1 },
        { "n = 1 ORDER BY 1, 2 DESC LIMIT 3", "n = ? ORDER BY 1, 2 DESC LIMIT 3", 1, 1 },
        { "(SELECT 4 GROUP BY 1) UNION (SELECT 5)", "(SELECT ? GROUP BY 1) UNION (SELECT ?)", 2, 4 },
        { "n = 1 ORDER BY n LIMIT 3 OFFSET 4", "n = ? ORDER BY n LIMIT 3 OFFSET 4", 1, 1 },
    };
    struct buf out = BUF_EMPTY;
    struct db_numbers numbers;
    EACH (c, cases) {
        assert_true(lift(&out, c->sql, &numbers) || (printf("%s\n", c->sql), false));
        assert_true(str_equal(buf_view(&out), str_from(c->lifted)) || (printf("%s\n", c->sql), false));
        assert_int_equal(numbers.count, c->count);
        assert_true(c->count == 0 || numbers.values[0] == c->first);
    }
    buf_free(&out);
}

TEST(what_can_not_be_lifted_is_refused)
{
    static const char *const cases[] = {
        "18446744073709551616", "007", "n = ?", "'a\\'' = 5", "`\\` = 5", "'open = 5", "\"open 6", "5 -- don't 6\n + 7"
    };
    char many[2 * DB_NUMBERS_MAX + 2] = "";
    struct buf out = BUF_EMPTY;
    struct db_numbers numbers;
    EACH (sql, cases)
        assert_false(lift(&out, *sql, &numbers) && printf("%s\n", *sql) > 0);
    for (size_t i = 0; i < DB_NUMBERS_MAX; i++)
        memcpy(many + 2 * i, "1,", 3);
    assert_true(lift(&out, many, &numbers));
    assert_int_equal(numbers.count, DB_NUMBERS_MAX);
    many[2 * (size_t)DB_NUMBERS_MAX] = '1';
    assert_false(lift(&out, many, &numbers));
    buf_free(&out);
}

TESTS(NULL, NULL)

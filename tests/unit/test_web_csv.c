/* web/csv: spreadsheet programs read the cells as they were meant. */
#include "support/test.h"
#include "web/csv.h"

static void assert_row(const char *const *cells, size_t count, const char *wanted)
{
    struct buf out = BUF_EMPTY;
    for (size_t i = 0; i < count; i++)
        csv_cell(&out, str_from(cells[i]));
    csv_row_end(&out);
    if (!str_equal(buf_view(&out), str_from(wanted)))
        fail_msg("%.*s instead of %s", STR_ARG(buf_view(&out)), wanted);
    buf_free(&out);
}

#define ASSERT_ROW(wanted, ...)                                                                                        \
    assert_row((const char *const[]){ __VA_ARGS__ }, sizeof(const char *const[]){ __VA_ARGS__ } / sizeof(char *),      \
               wanted)

TEST(cells_are_separated_by_commas_and_quoted_where_they_have_a_mark_of_the_format)
{
    ASSERT_ROW("a,b,c\r\n", "a", "b", "c");
    ASSERT_ROW("恭喜发财\r\n", "恭喜发财");
    ASSERT_ROW(",,\r\n", "", "", "");
    ASSERT_ROW("\"a,b\",c\r\n", "a,b", "c");
    ASSERT_ROW("\"say \"\"hi\"\"\"\r\n", "say \"hi\"");
    ASSERT_ROW("\"a\nb\",\"a\rb\"\r\n", "a\nb", "a\rb");
    struct buf out = BUF_EMPTY;
    csv_begin(&out);
    csv_cell(&out, STR("a"));
    csv_row_end(&out);
    assert_true(str_equal(buf_view(&out), STR("\ufeffa\r\n")));
    buf_free(&out);
    struct buf small = { .limit = 1 };
    csv_cell(&small, STR("a long cell that does not fit"));
    csv_row_end(&small);
    assert_true(small.failed);
    buf_free(&small);
}

TEST(a_cell_that_looks_like_a_formula_is_defused_also_behind_blanks_quotes_and_separators)
{
    ASSERT_ROW("'=1+1\r\n", "=1+1");
    ASSERT_ROW("'+1,'-1,'@SUM\r\n", "+1", "-1", "@SUM");
    ASSERT_ROW("\"'\tx\",\"'\rx\",\"'\nx\"\r\n", "\tx", "\rx", "\nx");
    ASSERT_ROW("'＝1,'＋1,'－1,'＠1\r\n", "＝1", "＋1", "－1", "＠1");
    ASSERT_ROW("\"'=cmd|' /C calc'!A0,\"\"x\"\"\"\r\n", "=cmd|' /C calc'!A0,\"x\"");
    ASSERT_ROW("a=1,1-1\r\n", "a=1", "1-1");
    ASSERT_ROW("' =1,'  +1\r\n", " =1", "  +1");
    ASSERT_ROW("'\u3000=1,'\u00a0@1,'\u200b\ufeff－1\r\n", "\u3000=1", "\u00a0@1", "\u200b\ufeff－1");
    ASSERT_ROW("\"'\"\"=1\"\"\"\r\n", "\"=1\"");
    ASSERT_ROW(" a=1, \r\n", " a=1", " ");
    /* Programs that separate by semicolon or tab find other cells in a line. */
    ASSERT_ROW("\"a;'=1+1;b\"\r\n", "a;=1+1;b");
    ASSERT_ROW("\"a; b;c\"\r\n", "a; b;c");
    ASSERT_ROW("\";' =1;' ＝1;'\"\"@x\"\"\"\r\n", "; =1; ＝1;\"@x\"");
    ASSERT_ROW("\"a\t'-1\",\"a\n'=1\",\"a\r'\n'=1\"\r\n", "a\t-1", "a\n=1", "a\r\n=1");
    ASSERT_ROW("\"a,=1\"\r\n", "a,=1");
}

TESTS(NULL, NULL)

/* web/csv: cells that spreadsheet programs read as they were meant. */
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

TEST(cells_are_separated_by_commas_and_rows_end_with_cr_lf)
{
    ASSERT_ROW("a,b,c\r\n", "a", "b", "c");
    ASSERT_ROW("恭喜发财\r\n", "恭喜发财");
    ASSERT_ROW(",,\r\n", "", "", "");
}

TEST(a_cell_with_a_mark_of_the_format_is_quoted)
{
    ASSERT_ROW("\"a,b\",c\r\n", "a,b", "c");
    ASSERT_ROW("\"say \"\"hi\"\"\"\r\n", "say \"hi\"");
    ASSERT_ROW("\"a\nb\",\"a\rb\"\r\n", "a\nb", "a\rb");
}

TEST(a_cell_that_looks_like_a_formula_is_defused)
{
    ASSERT_ROW("'=1+1\r\n", "=1+1");
    ASSERT_ROW("'+1,'-1,'@SUM\r\n", "+1", "-1", "@SUM");
    ASSERT_ROW("\"'\tx\",\"'\rx\",\"'\nx\"\r\n", "\tx", "\rx", "\nx");
    ASSERT_ROW("'＝1,'＋1,'－1,'＠1\r\n", "＝1", "＋1", "－1", "＠1");
    ASSERT_ROW("\"'=cmd|' /C calc'!A0,\"\"x\"\"\"\r\n", "=cmd|' /C calc'!A0,\"x\"");
    ASSERT_ROW("a=1,1-1\r\n", "a=1", "1-1");
}

TEST(blanks_and_quotes_do_not_hide_a_formula)
{
    ASSERT_ROW("' =1,'  +1\r\n", " =1", "  +1");
    ASSERT_ROW("'\u3000=1,'\u00a0@1,'\u200b\ufeff－1\r\n", "\u3000=1", "\u00a0@1", "\u200b\ufeff－1");
    ASSERT_ROW("\"'\"\"=1\"\"\"\r\n", "\"=1\"");
    ASSERT_ROW(" a=1, \r\n", " a=1", " ");
}

/* Programs whose separator is the semicolon, or the tab, see the cells of a line elsewhere. */
TEST(a_formula_behind_another_separator_is_defused)
{
    ASSERT_ROW("\"a;'=1+1;b\"\r\n", "a;=1+1;b");
    ASSERT_ROW("\"a; b;c\"\r\n", "a; b;c");
    ASSERT_ROW("\";' =1;' ＝1;'\"\"@x\"\"\"\r\n", "; =1; ＝1;\"@x\"");
    ASSERT_ROW("\"a\t'-1\",\"a\n'=1\",\"a\r'\n'=1\"\r\n", "a\t-1", "a\n=1", "a\r\n=1");
    ASSERT_ROW("\"a,=1\"\r\n", "a,=1");
}

TEST(a_file_begins_with_the_byte_order_mark)
{
    struct buf out = BUF_EMPTY;
    csv_begin(&out);
    csv_cell(&out, STR("a"));
    csv_row_end(&out);
    assert_true(str_equal(buf_view(&out), STR("\ufeffa\r\n")));
    buf_free(&out);
}

TEST(without_memory_the_buffer_says_so)
{
    struct buf out = { .limit = 1 };
    csv_cell(&out, STR("a long cell that does not fit"));
    csv_row_end(&out);
    assert_true(out.failed);
    buf_free(&out);
}

TESTS(NULL, NULL)

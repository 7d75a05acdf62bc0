/* io/csv_reader, base/text_set, money/user_sums and money/payment: what a file of credits may look like. */
#include "base/money.h"
#include "base/random.h"
#include "base/text_set.h"
#include "io/csv_reader.h"
#include "money/payment.h"
#include "money/user_sums.h"
#include "support/test.h"

enum { ARENA_BYTES = 1 << 20, TEXT_MAX = 1024, MANY = 100000 };

/* The rows as "LINE:cell|cell/", or "LINE:!" for a row with a fault; then "LINE?" when the file is no CSV. */
static const char *rows_text(const char *bytes, size_t len)
{
    static char text[TEXT_MAX];
    struct csv_reader *r = NULL;
    struct csv_row row;
    const char *why = NULL;
    uint64_t line = 0;
    FILE *file = fmemopen((void *)(uintptr_t)bytes, len, "r"); /* only read */
    size_t at = 0;
    text[0] = '\0';
    assert_non_null(file);
    enum status st = csv_reader_new(file, &r, &why);
    while (st == ST_OK && (st = csv_reader_next(r, &row, &line, &why)) == ST_OK) {
        at += (size_t)snprintf(text + at, sizeof text - at, "%d:%s", (int)row.line, row.fault != NULL ? "!" : "");
        for (size_t i = 0; i < row.count; i++)
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%.*s", i > 0 ? "|" : "", STR_ARG(row.cells[i]));
        at += (size_t)snprintf(text + at, sizeof text - at, "/");
    }
    if (st != ST_NOT_FOUND) {
        assert_int_equal(st, ST_INVALID);
        assert_non_null(why);
        (void)snprintf(text + at, sizeof text - at, "%d?", (int)line);
    }
    csv_reader_free(r);
    (void)fclose(file);
    return text;
}

static void assert_rows(const char *file, const char *wanted)
{
    const char *found = rows_text(file, strlen(file));
    if (strcmp(found, wanted) != 0)
        fail_msg("\"%s\": %s instead of %s", file, found, wanted);
}

TEST(a_file_with_either_separator_and_any_line_end_is_read)
{
    static const struct {
        const char *file, *rows;
    } good[] = {
        { "a,b\n1,2\n3,4\n", "2:1|2/3:3|4/" },
        { "a,b\r\n1,2\r\n3,4\r\n", "2:1|2/3:3|4/" },
        { "a,b\r1,2\r3,4", "2:1|2/3:3|4/" },
        { "\xef\xbb\xbf"
          "a,b\n1,2",
          "2:1|2/" },
        { "a;b\n1,5;2\n", "2:1,5|2/" },
        { "\"a\";\"b\"\n\"1;5\";2\n", "2:1;5|2/" },
        { "a,b\n\n  \n1,2\n\n", "4:1|2/" },
        { "a,b\n\"say \"\"hi\"\"\",\"x,y\"\n", "2:say \"hi\"|x,y/" },
        { "a,b\n\"one\ntwo\",1\n3,4\n", "2:one\ntwo|1/4:3|4/" },
        { "a,b\r\n\"one\r\ntwo\",1\r\n3,4\r\n", "2:one\r\ntwo|1/4:3|4/" },
        { "a,b\n 1 ,\t2 \n\" 3 \",4\n", "2:1|2/3: 3 |4/" },
        { "a;b\r\n1;\r\n;;\r\n;\r\n2;\r\n \t;\r\n", "2:1|/5:2|/" },
        { "a,b\n1,2,\n1,2,,,\n", "2:1|2/3:1|2/" },
        { "a,b,\n1,2,\n", "2:1|2/" },
        { "a\n1\n", "2:1/" },
        { "a,b\n小明,恭喜\n", "2:小明|恭喜/" },
        { "a,b\n", "" },
    };
    EACH (row, good)
        assert_rows(row->file, row->rows);
}

TEST(a_wrong_row_has_its_line_and_the_rows_behind_it_are_read)
{
    assert_rows("a,b\n1\n1,2,3\n\xff,2\n3,4\n", "2:!/3:!/4:!/5:3|4/");
    assert_rows("a,b\n\xe5\xb0,\x8f\n3,4\n", "2:!/3:3|4/"); /* a character in two cells */
    assert_int_equal(strcmp(rows_text("a,b\n1\0,2\n3,4\n", 13), "2:!/3:3|4/"), 0);
}

TEST(a_file_that_is_no_csv_has_the_line_where_it_went_wrong)
{
    static char wide[CSV_ROW_BYTES_MAX + 100];
    assert_rows("a,b\n1,2\n\"3\" 4,5\n", "2:1|2/3?");
    assert_rows("a,b\n1,say \"hi\"\n", "2?");
    assert_rows("a,b\n1,2\n\"3,4\n5,6\n", "2:1|2/3?");
    (void)snprintf(wide, sizeof wide, "a,b\n1,2\n\"");
    memset(wide + strlen(wide), 'x', sizeof wide - 20);
    assert_rows(wide, "2:1|2/3?");
    EACH_TEXT (file, "\n", "\n\n", "\xff,b\n1,2\n", "\"a,b\n")
        assert_of(file, strchr(rows_text(file, strlen(file)), '?') != NULL);
}

TEST(a_column_is_found_by_its_name_in_any_case)
{
    char file[] = "Username;AMOUNT; reference \nx;1;2\n";
    const char *why = NULL;
    struct csv_reader *r = NULL;
    FILE *in = fmemopen(file, strlen(file), "r");
    assert_int_equal(csv_reader_new(in, &r, &why), ST_OK);
    assert_ints({ csv_reader_header(r)->count, 3 }, { csv_reader_column(r, STR("username")), 0 },
                { csv_reader_column(r, STR("amount")), 1 }, { csv_reader_column(r, STR("reference")), 2 },
                { csv_reader_column(r, STR("memo")), CSV_COLUMN_NONE });
    csv_reader_free(r);
    (void)fclose(in);
}

TEST(a_set_finds_every_reference_again_and_no_other)
{
    struct text_set set;
    char text[32];
    assert_true(random_init());
    text_set_begin(&set);
    assert_false(text_set_has(&set, STR("R-0")));
    for (int i = 0; i < MANY; i++) {
        (void)snprintf(text, sizeof text, "R-%d", i);
        assert_int_equal(text_set_add(&set, str_from(text)), ST_OK);
    }
    for (int i = 0; i < MANY; i += 997) {
        (void)snprintf(text, sizeof text, "R-%d", i);
        assert_int_equal(text_set_add(&set, str_from(text)), ST_EXISTS);
        assert_true(text_set_has(&set, str_from(text)));
        (void)snprintf(text, sizeof text, "S-%d", i);
        assert_false(text_set_has(&set, str_from(text)));
    }
    assert_int_equal(set.count, MANY);
    text_set_end(&set);
}

TEST(a_payment_is_read_as_forms_read_it_or_refused_with_a_reason)
{
    static const struct {
        const char *username, *amount, *reference, *memo;
        int64_t fen; /* 0: refused */
    } rows[] = {
        { "alice", "88", "R1", "", 8800 },
        { "@Alice ", "¥1,234.50", "R 1", "奖金", 123450 },
        { "alice", "0.01", "~", "x", 1 },
        { "alice", "9999999.99", "R1", "", 999999999 },
        { "alice", "10000000", "R1", "", 0 },
        { "alice", "0", "R1", "", 0 },
        { "alice", "-1", "R1", "", 0 },
        { "alice", "1.005", "R1", "", 0 },
        { "alice", "", "R1", "", 0 },
        { "alice", "1e3", "R1", "", 0 },
        { "", "1", "R1", "", 0 },
        { "alice", "1", "", "", 0 },
        { "alice", "1", " R1", "", 0 },
        { "alice", "1", "R\t1", "", 0 },
        { "alice", "1", "编号", "", 0 },
        { "alice", "1", "R1234567890123456789012345678901234567890123456789012345678901234", "", 0 },
        { "alice", "1", "R1", "\xff", 0 },
        { "\xff", "1", "R1", "", 0 },
        { "alice", "\xff", "R1", "", 0 },
    };
    struct arena *a = arena_new(ARENA_BYTES, ARENA_BYTES);
    EACH (row, rows) {
        const struct payment_typed typed = { str_from(row->username), str_from(row->amount), str_from(row->reference),
                                             str_from(row->memo) };
        struct payment p = { .amount_fen = 0 };
        const char *why = NULL;
        enum status st = payment_read(a, &typed, &p, &why);
        if ((st == ST_OK) != (row->fen > 0) || p.amount_fen != row->fen || (st == ST_INVALID) != (why != NULL))
            fail_msg("%s %s %s: %d %s", row->username, row->amount, row->reference, st, why);
        if (st == ST_OK)
            assert_true(str_equal(p.username, STR("alice")));
    }
    arena_free(a);
}

TEST(an_amount_has_at_most_the_decimals_of_the_unit)
{
    const struct money_unit yuan = *money_unit();
    static const struct {
        const char *code;
        int decimals;
        const char *typed;
        int64_t fen; /* 0: refused */
        const char *why;
    } rows[] = {
        { "POINT", 0, "88", 88, NULL },
        { "POINT", 0, "88 POINT", 88, NULL },
        { "POINT", 0, "999999999", 999999999, NULL },
        { "POINT", 0, "12.5", 0, "the amount is no amount of POINT without decimals, such as 88: 12.5" },
        { "POINT", 0, "88.00", 0, "the amount is no amount of POINT without decimals, such as 88: 88.00" },
        { "POINT", 0, "1000000000", 0, "the amount is more than 999999999: 1000000000" },
        { "HKD", 2, "88.5", 8850, NULL },
        { "HKD", 2, "HKD 88.50", 8850, NULL },
        { "HKD", 2, "88.505", 0, "the amount is no amount of HKD, such as 88 or 88.50: 88.505" },
        { "HKD", 2, "10000000", 0, "the amount is more than 9999999.99: 10000000" },
    };
    struct arena *a = arena_new(ARENA_BYTES, ARENA_BYTES);
    EACH (row, rows) {
        const char *why = NULL;
        int64_t fen = 0;
        struct money_unit unit = yuan;
        unit.code = row->code;
        unit.decimals = row->decimals;
        money_unit_set(&unit);
        const enum status st = payment_amount_read(a, str_from(row->typed), &fen, &why);
        money_unit_set(&yuan);
        assert_of(row->typed, st == (row->why == NULL ? ST_OK : ST_INVALID) && fen == row->fen);
        if (row->why != NULL)
            assert_string_equal(why, row->why);
    }
    arena_free(a);
}

TEST(sums_of_many_users_do_not_mix)
{
    struct user_sums sums = USER_SUMS_EMPTY;
    for (int turn = 0; turn < 2; turn++)
        for (uint64_t i = 1; i <= MANY; i++)
            *user_sums_of(&sums, 4096 * i) += (int64_t)i;
    for (uint64_t i = 1; i <= MANY; i++)
        assert_true(*user_sums_of(&sums, 4096 * i) == (int64_t)(2 * i));
    assert_true(*user_sums_of(&sums, 1) == 0);
    user_sums_free(&sums);
}

TESTS(NULL, NULL)

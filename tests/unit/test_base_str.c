/* Slices of bytes and the decimal numbers in them. */
#include "base/status.h"
#include "base/str.h"
#include "support/assert_text.h"

TEST(equal_means_every_byte_and_empty_slices_are_equal_whatever_they_point_at)
{
    static const struct {
        struct str a, b;
        bool equal, equal_fold;
    } rows[] = {
        { STR_NONE, STR(""), true, true },          { STR("a\0b"), STR("a\0b"), true, true },
        { STR("a\0b"), STR("a\0c"), false, false }, { STR("ab"), STR("abc"), false, false },
        { STR("ab"), STR("AB"), false, true },      { STR("Content-Type"), STR("CONTENT-tYPE"), false, true },
        { STR("@"), STR("`"), false, false }, /* 0x20 apart, no letters */
        { STR("["), STR("{"), false, false },       { STR("Ä"), STR("ä"), false, false },
    };
    EACH (row, rows)
        assert_ints({ str_equal(row->a, row->b), row->equal }, { str_equal_fold(row->a, row->b), row->equal_fold },
                    { str_equal_fold(row->b, row->a), row->equal_fold });
    assert_null(str_from(NULL).ptr);
    assert_true(str_starts(STR("x"), STR_NONE));
    assert_ints({ str_from(NULL).len, 0 }, { str_from("abc").len, 3 }, { str_index(STR_NONE, 'a'), 0 },
                { str_trim(STR_NONE).len, 0 });
}

TEST(texts_are_ordered_by_bytes_and_a_text_comes_before_longer_ones_that_it_begins)
{
    static const struct str sorted[] = {
        STR(""), STR("A"), STR("a"), STR("a\0"), STR("ab"), STR("b"), STR("\xc3\xa4")
    };
    for (size_t i = 0; i < ARRAY_LEN(sorted); i++)
        for (size_t j = 0; j < ARRAY_LEN(sorted); j++) {
            const int order = str_compare(sorted[i], sorted[j]);
            assert_ints({ order < 0, i < j }, { order > 0, i > j });
        }
    assert_int_equal(str_compare(STR_NONE, STR("")), 0);
    assert_true(str_compare(STR_NONE, STR("a")) < 0);
}

TEST(starts_compares_the_front_and_ends_the_back)
{
    struct str s = STR("https://a");
    assert_true(str_starts(STR("/static/a"), STR("/static/")));
    assert_false(str_starts(STR("/stat"), STR("/static/")));
    assert_true(str_ends(STR_NONE, STR_NONE));
    EACH_TEXT (text, "0001_user.sql", ".sql")
        assert_of(text, str_ends(str_from(text), STR(".sql")));
    EACH_TEXT (text, "sql", "a.sql~")
        assert_of(text, !str_ends(str_from(text), STR(".sql")));
    assert_false(str_skip_prefix(&s, STR("http://")));
    assert_text(s, "https://a");
    assert_true(str_skip_prefix(&s, STR("https://")));
    assert_text(s, "a");
}

TEST(parts_are_cut_by_position_or_at_the_first_byte)
{
    static const struct {
        const char *text, *first, *rest; /* NULL: there is none */
    } cuts[] = { { "a=b=c", "a", "b=c" }, { "a=", "a", "" }, { "abc", "abc", NULL }, { "=x", "", "x" } };
    EACH (cut, cuts) {
        struct str rest;
        assert_text(str_cut(str_from(cut->text), '=', &rest), cut->first);
        assert_true(cut->rest == NULL ? rest.ptr == NULL : rest.ptr != NULL && str_equal(rest, str_from(cut->rest)));
    }
    assert_text(str_slice(STR("abcd"), 1, 3), "bc");
    assert_text(str_slice(STR("abcd"), 4, 4), "");
    assert_text(str_skip(STR("abcd"), 1), "bcd");
    assert_text(str_skip(STR("abcd"), 4), "");
    assert_null(str_skip(STR_NONE, 0).ptr);
}

TEST(the_first_needle_is_found)
{
    assert_ints({ str_find(STR("a\r\nb\r\n"), STR("\r\n")), 1 }, { str_find(STR("a\0bc"), STR("bc")), 2 },
                { str_find(STR("abc"), STR("abc")), 0 }, { str_find(STR("abc"), STR("cd")), 3 },
                { str_find(STR_NONE, STR("a")), 0 });
    assert_text(str_after(STR("x: 1, x: 2"), STR("x: ")), "1, x: 2");
    assert_null(str_after(STR("abc"), STR("d")).ptr);
    assert_null(str_after(STR_NONE, STR("d")).ptr);
    struct str end = str_after(STR("abc"), STR("bc"));
    assert_true(end.ptr != NULL && end.len == 0); /* empty, but it is there */
}

TEST(a_word_is_letters_digits_underscores_and_hyphens_and_trim_takes_ascii_blanks)
{
    assert_true(str_is_word(STR("azAZ09_-")) && str_is_word(STR("")));
    assert_false(str_is_word(STR("a\0")));
    EACH_TEXT (text, "a b", "a+b", "a/b", "a=", "a:b", "\xc3\xa4", "@", "[", "`", "{")
        assert_of(text, !str_is_word(str_from(text)));
    assert_text(str_trim(STR(" \t\r\n\v\fa b\n ")), "a b");
    assert_text(str_trim(STR(" \n ")), "");
    assert_text(str_trim(STR("\xc2\xa0x")), "\xc2\xa0x");
}

TEST(plain_numbers_are_read_up_to_the_type_limits_and_written)
{
    static const struct {
        const char *text;
        whole_number number;
        bool is_u64, is_i64;
    } numbers[] = {
        { "0", 0, true, true },
        { "1000", 1000, true, true },
        { "9223372036854775807", INT64_MAX, true, true },
        { "9223372036854775808", (whole_number)INT64_MAX + 1, true, false },
        { "18446744073709551615", UINT64_MAX, true, false },
        { "-1", -1, false, true },
        { "-9223372036854775808", INT64_MIN, false, true },
    };
    EACH (row, numbers) {
        uint64_t u = 77;
        int64_t i = 77;
        char out[STR_U64_MAX];
        assert_ints({ str_to_u64(str_from(row->text), &u), row->is_u64 },
                    { str_to_i64(str_from(row->text), &i), row->is_i64 });
        assert_ints({ u, row->is_u64 ? row->number : 77 }, { i, row->is_i64 ? row->number : 77 });
        if (row->is_u64)
            assert_text(str_u64(out, u), row->text);
    }
    uint64_t u = 77;
    int64_t i = 77;
    EACH_TEXT (text, "", "-", "+1", " 1", "1 ", "01", "00", "0x1", "1e3", "1.0", "1,000", "１", "a", "--1", "-0", "-01",
               "18446744073709551616", "184467440737095516150", "99999999999999999999999", "-9223372036854775809")
        assert_of(text, !str_to_u64(str_from(text), &u) && !str_to_i64(str_from(text), &i));
    assert_false(str_to_u64(STR_NONE, &u) || str_to_u64(STR("1\0"), &u));
    assert_ints({ u, 77 }, { i, 77 });
}

TEST(every_status_has_a_word_and_a_lost_reply_is_only_unavailable_to_those_who_ask_again)
{
    for (int a = 0; a < ST_COUNT; a++) {
        assert_string_not_equal(status_name((enum status)a), "no-such-status");
        for (int b = 0; b < a; b++)
            assert_string_not_equal(status_name((enum status)a), status_name((enum status)b));
    }
    assert_string_equal(status_name(ST_COUNT), "no-such-status");
    assert_string_equal(status_name((enum status)99), "no-such-status");
    for (enum status st = ST_OK; st < ST_COUNT; st++) {
        enum status lost = st == ST_UNKNOWN ? ST_UNAVAILABLE : st;
        assert_int_equal(status_idempotent(st), lost);
        assert_int_equal(status_retry(st), st == ST_CONFLICT ? ST_UNAVAILABLE : lost);
    }
}

TESTS(NULL, NULL)

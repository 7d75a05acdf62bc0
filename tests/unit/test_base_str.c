/* Slices of bytes and the decimal numbers in them. */
#include "base/array.h"
#include "base/status.h"
#include "base/str.h"
#include "support/test.h"

TEST(equal_means_every_byte_and_empty_slices_are_equal_whatever_they_point_at)
{
    struct str s = str_from(NULL);
    assert_null(s.ptr);
    assert_int_equal(s.len, 0);
    assert_int_equal(str_from("abc").len, 3);
    assert_true(str_equal(STR_NONE, STR("")));
    assert_true(str_equal_fold(STR(""), STR_NONE));
    assert_true(str_starts(STR("x"), STR_NONE));
    assert_int_equal(str_index(STR_NONE, 'a'), 0);
    assert_int_equal(str_trim(STR_NONE).len, 0);
    assert_true(str_equal(STR("a\0b"), STR("a\0b")));
    assert_false(str_equal(STR("a\0b"), STR("a\0c")));
    assert_false(str_equal(STR("ab"), STR("abc")));
    assert_false(str_equal(STR("ab"), STR("AB")));
    assert_true(str_equal_fold(STR("Content-Type"), STR("CONTENT-tYPE")));
    assert_false(str_equal_fold(STR("@"), STR("`"))); /* 0x20 apart, no letters */
    assert_false(str_equal_fold(STR("["), STR("{")));
    assert_false(str_equal_fold(STR("Ä"), STR("ä")));
}

TEST(starts_compares_the_front_and_ends_the_back)
{
    assert_true(str_starts(STR("/static/a"), STR("/static/")));
    assert_false(str_starts(STR("/stat"), STR("/static/")));
    assert_true(str_ends(STR("0001_user.sql"), STR(".sql")));
    assert_true(str_ends(STR(".sql"), STR(".sql")));
    assert_true(str_ends(STR_NONE, STR_NONE));
    assert_false(str_ends(STR("sql"), STR(".sql")));
    assert_false(str_ends(STR("a.sql~"), STR(".sql")));
    struct str s = STR("https://a");
    assert_false(str_skip_prefix(&s, STR("http://")));
    assert_true(str_equal(s, STR("https://a")));
    assert_true(str_skip_prefix(&s, STR("https://")));
    assert_true(str_equal(s, STR("a")));
}

TEST(parts_are_cut_by_position_or_at_the_first_byte)
{
    assert_true(str_equal(str_slice(STR("abcd"), 1, 3), STR("bc")));
    assert_int_equal(str_slice(STR("abcd"), 4, 4).len, 0);
    assert_true(str_equal(str_skip(STR("abcd"), 1), STR("bcd")));
    assert_int_equal(str_skip(STR("abcd"), 4).len, 0);
    assert_null(str_skip(STR_NONE, 0).ptr);
    struct str rest;
    assert_true(str_equal(str_cut(STR("a=b=c"), '=', &rest), STR("a")));
    assert_true(str_equal(rest, STR("b=c")));
    assert_true(str_equal(str_cut(STR("a="), '=', &rest), STR("a")));
    assert_non_null(rest.ptr); /* empty, but it is there */
    assert_int_equal(rest.len, 0);
    assert_true(str_equal(str_cut(STR("abc"), '=', &rest), STR("abc")));
    assert_null(rest.ptr);
    assert_int_equal(str_cut(STR("=x"), '=', &rest).len, 0);
    assert_true(str_equal(rest, STR("x")));
}

TEST(the_first_needle_is_found)
{
    assert_int_equal(str_find(STR("a\r\nb\r\n"), STR("\r\n")), 1);
    assert_int_equal(str_find(STR("a\0bc"), STR("bc")), 2);
    assert_int_equal(str_find(STR("abc"), STR("abc")), 0);
    assert_int_equal(str_find(STR("abc"), STR("cd")), 3);
    assert_int_equal(str_find(STR_NONE, STR("a")), 0);
    assert_true(str_equal(str_after(STR("x: 1, x: 2"), STR("x: ")), STR("1, x: 2")));
    assert_null(str_after(STR("abc"), STR("d")).ptr);
    assert_null(str_after(STR_NONE, STR("d")).ptr);
    struct str end = str_after(STR("abc"), STR("bc"));
    assert_non_null(end.ptr); /* empty, but it is there */
    assert_int_equal(end.len, 0);
}

TEST(a_word_is_letters_digits_underscores_and_hyphens_and_trim_takes_ascii_blanks)
{
    assert_true(str_is_word(STR("azAZ09_-")));
    assert_true(str_is_word(STR("")));
    static const struct str others[] = { STR("a b"),      STR("a+b"), STR("a/b"), STR("a="), STR("a:b"), STR("a\0"),
                                         STR("\xc3\xa4"), STR("@"),   STR("["),   STR("`"),  STR("{") };
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        assert_false(str_is_word(others[i]));
    assert_true(str_equal(str_trim(STR(" \t\r\n\v\fa b\n ")), STR("a b")));
    assert_int_equal(str_trim(STR(" \n ")).len, 0);
    assert_true(str_equal(str_trim(STR("\xc2\xa0x")), STR("\xc2\xa0x")));
}

TEST(plain_numbers_are_read_up_to_the_type_limits_and_written)
{
    uint64_t u = 0;
    int64_t i = 0;
    assert_true(str_to_u64(STR("0"), &u));
    assert_int_equal(u, 0);
    assert_true(str_to_u64(STR("18446744073709551615"), &u));
    assert_true(u == UINT64_MAX);
    assert_true(str_to_i64(STR("9223372036854775807"), &i));
    assert_true(i == INT64_MAX);
    assert_true(str_to_i64(STR("-9223372036854775808"), &i));
    assert_true(i == INT64_MIN);
    assert_true(str_to_i64(STR("-1"), &i));
    assert_int_equal(i, -1);
    assert_true(str_to_i64(STR("0"), &i));
    assert_int_equal(i, 0);
    struct str bad = STR("|-|+1| 1|1 |01|00|0x1|1e3|1.0|1,000|１|a|--1|18446744073709551616|184467440737095516150|"
                         "99999999999999999999999");
    u = 77;
    i = 77;
    while (bad.ptr != NULL) {
        const struct str text = str_cut(bad, '|', &bad);
        if (str_to_u64(text, &u) || str_to_i64(text, &i))
            fail_msg("\"%.*s\" is a number", STR_ARG(text));
    }
    assert_false(str_to_u64(STR_NONE, &u));
    assert_false(str_to_u64(STR("1\0"), &u));
    assert_false(str_to_u64(STR("-1"), &u));
    assert_false(str_to_i64(STR("-0"), &i));
    assert_false(str_to_i64(STR("-01"), &i));
    assert_false(str_to_i64(STR("9223372036854775808"), &i));
    assert_false(str_to_i64(STR("-9223372036854775809"), &i));
    assert_int_equal(u, 77);
    assert_int_equal(i, 77);
    char out[STR_U64_MAX];
    assert_true(str_equal(str_u64(out, 0), STR("0")));
    assert_true(str_equal(str_u64(out, 1000), STR("1000")));
    assert_true(str_equal(str_u64(out, UINT64_MAX), STR("18446744073709551615")));
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

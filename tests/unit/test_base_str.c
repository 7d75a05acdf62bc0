/* Slices of bytes and the decimal numbers in them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above. */
#include <cmocka.h>

#include "base/array.h"
#include "base/status.h"
#include "base/str.h"

static void slice_of_null_is_none(void **state)
{
    (void)state;
    struct str s = str_from(NULL);

    assert_null(s.ptr);
    assert_int_equal(s.len, 0);
    assert_int_equal(str_from("abc").len, 3);
}

static void empty_slices_are_equal_whatever_they_point_at(void **state)
{
    (void)state;
    assert_true(str_equal(STR_NONE, STR("")));
    assert_true(str_equal_fold(STR(""), STR_NONE));
    assert_true(str_starts(STR("x"), STR_NONE));
    assert_int_equal(str_index(STR_NONE, 'a'), 0);
    assert_int_equal(str_trim(STR_NONE).len, 0);
}

static void equal_means_every_byte(void **state)
{
    (void)state;
    assert_true(str_equal(STR("a\0b"), STR("a\0b")));
    assert_false(str_equal(STR("a\0b"), STR("a\0c")));
    assert_false(str_equal(STR("ab"), STR("abc")));
    assert_false(str_equal(STR("ab"), STR("AB")));
}

static void fold_knows_ascii_letters_only(void **state)
{
    (void)state;
    assert_true(str_equal_fold(STR("Content-Type"), STR("CONTENT-tYPE")));
    assert_false(str_equal_fold(STR("@"), STR("`"))); /* 0x20 apart, no letters */
    assert_false(str_equal_fold(STR("["), STR("{")));
    assert_false(str_equal_fold(STR("Ä"), STR("ä")));
}

static void starts_compares_the_front(void **state)
{
    (void)state;
    assert_true(str_starts(STR("/static/a"), STR("/static/")));
    assert_false(str_starts(STR("/stat"), STR("/static/")));
}

static void ends_compares_the_back(void **state)
{
    (void)state;
    assert_true(str_ends(STR("0001_user.sql"), STR(".sql")));
    assert_true(str_ends(STR(".sql"), STR(".sql")));
    assert_true(str_ends(STR_NONE, STR_NONE));
    assert_false(str_ends(STR("sql"), STR(".sql")));
    assert_false(str_ends(STR("a.sql~"), STR(".sql")));
}

static void parts_are_cut_by_position(void **state)
{
    (void)state;
    assert_true(str_equal(str_slice(STR("abcd"), 1, 3), STR("bc")));
    assert_int_equal(str_slice(STR("abcd"), 4, 4).len, 0);
    assert_true(str_equal(str_skip(STR("abcd"), 1), STR("bcd")));
    assert_int_equal(str_skip(STR("abcd"), 4).len, 0);
    assert_null(str_skip(STR_NONE, 0).ptr);
}

static void a_prefix_is_skipped_only_when_it_is_there(void **state)
{
    (void)state;
    struct str s = STR("https://a");

    assert_false(str_skip_prefix(&s, STR("http://")));
    assert_true(str_equal(s, STR("https://a")));
    assert_true(str_skip_prefix(&s, STR("https://")));
    assert_true(str_equal(s, STR("a")));
}

static void the_first_needle_is_found(void **state)
{
    (void)state;
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

static void cut_splits_at_the_first_byte(void **state)
{
    (void)state;
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

static void a_word_is_letters_digits_underscores_and_hyphens(void **state)
{
    (void)state;
    assert_true(str_is_word(STR("azAZ09_-")));
    assert_true(str_is_word(STR("")));
    static const struct str others[] = { STR("a b"),      STR("a+b"), STR("a/b"), STR("a="), STR("a:b"), STR("a\0"),
                                         STR("\xc3\xa4"), STR("@"),   STR("["),   STR("`"),  STR("{") };
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        assert_false(str_is_word(others[i]));
}

static void trim_takes_ascii_blanks_from_both_ends(void **state)
{
    (void)state;
    assert_true(str_equal(str_trim(STR(" \t\r\n\v\fa b\n ")), STR("a b")));
    assert_int_equal(str_trim(STR(" \n ")).len, 0);
    assert_true(str_equal(str_trim(STR("\xc2\xa0x")), STR("\xc2\xa0x")));
}

static void numbers_are_read_up_to_the_type_limits(void **state)
{
    (void)state;
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
}

static void anything_but_a_plain_number_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = { "",
                                       "-",
                                       "+1",
                                       " 1",
                                       "1 ",
                                       "01",
                                       "00",
                                       "0x1",
                                       "1e3",
                                       "1.0",
                                       "1,000",
                                       "１",
                                       "a",
                                       "--1",
                                       "18446744073709551616",
                                       "184467440737095516150",
                                       "99999999999999999999999" };
    uint64_t u = 77;
    int64_t i = 77;

    for (size_t n = 0; n < ARRAY_LEN(bad); n++) {
        assert_false(str_to_u64(str_from(bad[n]), &u));
        assert_false(str_to_i64(str_from(bad[n]), &i));
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
}

static void numbers_are_written_in_decimal(void **state)
{
    (void)state;
    char out[STR_U64_MAX];

    assert_true(str_equal(str_u64(out, 0), STR("0")));
    assert_true(str_equal(str_u64(out, 1000), STR("1000")));
    assert_true(str_equal(str_u64(out, UINT64_MAX), STR("18446744073709551615")));
}

static void every_status_has_a_word_of_its_own(void **state)
{
    (void)state;
    for (int a = 0; a < ST_COUNT; a++) {
        assert_string_not_equal(status_name((enum status)a), "no-such-status");
        for (int b = 0; b < a; b++)
            assert_string_not_equal(status_name((enum status)a), status_name((enum status)b));
    }
    assert_string_equal(status_name(ST_COUNT), "no-such-status");
    assert_string_equal(status_name((enum status)99), "no-such-status");
}

static void a_lost_reply_is_only_unavailable_to_those_who_ask_again(void **state)
{
    (void)state;
    for (enum status st = ST_OK; st < ST_COUNT; st++) {
        enum status lost = st == ST_UNKNOWN ? ST_UNAVAILABLE : st;
        assert_int_equal(status_idempotent(st), lost);
        assert_int_equal(status_retry(st), st == ST_CONFLICT ? ST_UNAVAILABLE : lost);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slice_of_null_is_none),
        cmocka_unit_test(empty_slices_are_equal_whatever_they_point_at),
        cmocka_unit_test(equal_means_every_byte),
        cmocka_unit_test(fold_knows_ascii_letters_only),
        cmocka_unit_test(starts_compares_the_front),
        cmocka_unit_test(ends_compares_the_back),
        cmocka_unit_test(parts_are_cut_by_position),
        cmocka_unit_test(a_prefix_is_skipped_only_when_it_is_there),
        cmocka_unit_test(the_first_needle_is_found),
        cmocka_unit_test(cut_splits_at_the_first_byte),
        cmocka_unit_test(a_word_is_letters_digits_underscores_and_hyphens),
        cmocka_unit_test(trim_takes_ascii_blanks_from_both_ends),
        cmocka_unit_test(numbers_are_read_up_to_the_type_limits),
        cmocka_unit_test(anything_but_a_plain_number_is_refused),
        cmocka_unit_test(numbers_are_written_in_decimal),
        cmocka_unit_test(every_status_has_a_word_of_its_own),
        cmocka_unit_test(a_lost_reply_is_only_unavailable_to_those_who_ask_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

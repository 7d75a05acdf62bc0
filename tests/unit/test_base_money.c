/* Money: the text people type, the text they see, and sums that must not overflow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above. */
#include <cmocka.h>

#include <string.h>

#include "base/array.h"
#include "base/money.h"
#include "base/utf8.h"

static void amounts_as_people_write_them_become_fen(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t fen;
    } good[] = {
        { "0", 0 },
        { "0.0", 0 },
        { "0.00", 0 },
        { "0.01", 1 },
        { "0.1", 10 },
        { "0.10", 10 },
        { "1", 100 },
        { "1.5", 150 },
        { "9.09", 909 },
        { "12.34", 1234 },
        { "200", 20000 },
        { "200.00", 20000 },
        { "20000", 2000000 },
        { "1000000", 100000000 },
        { "9999999", 999999900 },
        { "9999999.99", 999999999 },
    };

    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        int64_t fen = -1;
        assert_int_equal(money_parse(str_from(good[i].text), &fen), ST_OK);
        assert_int_equal(fen, good[i].fen);
    }
}

static void every_other_spelling_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",      ".",        "1.",    ".5",    "-1",    "+1",       "-0.01",    "--1",
        " 1",    "1 ",       "1 2",   "\t1",   "1\n",   "1e3",      "1E3",      "1e-2",
        "0.001", "1.000",    "1.234", "00",    "01",    "00.10",    "007",      "0x10",
        "0b1",   "1,000",    "1,5",   "1_000", "1'000", "10000000", "12345678", "99999999999999999999999",
        "1..2",  "1.2.3",    "1.-1",  "1.+1",  "1. 1",  "1.1 ",     "inf",      "nan",
        "NaN",   "Infinity", "¥1",    "1元",   "$1",    "１",       "１．００", "1．00",
        "一",    "٣",        "१",     "1/2",   "1%",    "0.0a",     "1.a",      "a.1",
        "null",  "true",     "1;",    "'1'",   "1.0f",  "½",
    };

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        int64_t fen = 4711;
        assert_int_equal(money_parse(str_from(bad[i]), &fen), ST_INVALID);
        assert_int_equal(fen, 4711); /* untouched */
    }
    int64_t fen = 4711;
    assert_int_equal(money_parse(STR_NONE, &fen), ST_INVALID);
    assert_int_equal(money_parse(STR("1\0"), &fen), ST_INVALID);
    assert_int_equal(money_parse(STR("1\0.00"), &fen), ST_INVALID);
    assert_int_equal(money_parse(STR("1.0\0"), &fen), ST_INVALID);
    assert_int_equal(money_parse(STR("\0"), &fen), ST_INVALID);
    assert_int_equal(fen, 4711);
}

static void a_long_number_does_not_overflow(void **state)
{
    (void)state;
    char digits[100000];
    int64_t fen = 4711;

    memset(digits, '9', sizeof digits);
    assert_int_equal(money_parse((struct str){ digits, sizeof digits }, &fen), ST_INVALID);
    digits[1] = '.';
    assert_int_equal(money_parse((struct str){ digits, sizeof digits }, &fen), ST_INVALID);
    assert_int_equal(fen, 4711);
}

static void full_width_amounts_are_read_after_folding(void **state)
{
    (void)state;
    struct arena *a = arena_new(1024, 4096);
    struct str folded;
    int64_t fen = 0;

    assert_int_equal(utf8_fold_pasted(a, STR("８８．８８"), &folded), ST_OK);
    assert_int_equal(money_parse(folded, &fen), ST_OK);
    assert_int_equal(fen, 8888);
    assert_int_equal(utf8_fold_pasted(a, STR("８。５"), &folded), ST_OK);
    assert_int_equal(money_parse(folded, &fen), ST_OK);
    assert_int_equal(fen, 850);
    arena_free(a);
}

static void fen_are_shown_as_yuan(void **state)
{
    (void)state;
    static const struct {
        int64_t fen;
        const char *text;
    } shown[] = {
        { 0, "0.00" },
        { 1, "0.01" },
        { 9, "0.09" },
        { 10, "0.10" },
        { 99, "0.99" },
        { 100, "1.00" },
        { 1234, "12.34" },
        { -5, "-0.05" },
        { -100, "-1.00" },
        { 999999999, "9999999.99" },
        { INT64_MAX, "92233720368547758.07" },
        { INT64_MIN, "-92233720368547758.08" },
    };
    struct arena *a = arena_new(1024, 4096);

    for (size_t i = 0; i < ARRAY_LEN(shown); i++) {
        char text[MONEY_TEXT_MAX];
        assert_int_equal(money_format(shown[i].fen, text), strlen(shown[i].text));
        assert_string_equal(text, shown[i].text);
        assert_true(str_equal(money_text(a, shown[i].fen), str_from(shown[i].text)));
    }
    arena_free(a);
}

static void what_is_shown_is_read_back_to_the_same_fen(void **state)
{
    (void)state;
    for (int64_t fen = 0; fen <= 999999999; fen += fen < 100000 ? 1 : 99991) {
        char text[MONEY_TEXT_MAX];
        int64_t back = -1;
        size_t len = money_format(fen, text);
        assert_int_equal(money_parse((struct str){ text, len }, &back), ST_OK);
        assert_int_equal(back, fen);
    }
}

static void money_text_without_memory_is_none(void **state)
{
    (void)state;
    struct arena *a = arena_new(16, 16);

    (void)arena_alloc(a, 1);
    assert_null(money_text(a, 1234).ptr);
    arena_free(a);
}

static void overflow_is_reported_and_changes_nothing(void **state)
{
    (void)state;
    int64_t out = 4711;

    assert_false(money_add(INT64_MAX, 1, &out));
    assert_false(money_add(INT64_MIN, -1, &out));
    assert_int_equal(out, 4711);
    assert_true(money_add(INT64_MAX, INT64_MIN, &out));
    assert_int_equal(out, -1);
    assert_true(money_add(out, out, &out)); /* in and out may be one */
    assert_int_equal(out, -2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(amounts_as_people_write_them_become_fen),
        cmocka_unit_test(every_other_spelling_is_refused),
        cmocka_unit_test(a_long_number_does_not_overflow),
        cmocka_unit_test(full_width_amounts_are_read_after_folding),
        cmocka_unit_test(fen_are_shown_as_yuan),
        cmocka_unit_test(what_is_shown_is_read_back_to_the_same_fen),
        cmocka_unit_test(money_text_without_memory_is_none),
        cmocka_unit_test(overflow_is_reported_and_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

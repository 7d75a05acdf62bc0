/* Money: the text that people see, and sums that must not overflow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above. */
#include <cmocka.h>

#include <string.h>

#include "base/array.h"
#include "base/money.h"

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
        cmocka_unit_test(fen_are_shown_as_yuan),
        cmocka_unit_test(money_text_without_memory_is_none),
        cmocka_unit_test(overflow_is_reported_and_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

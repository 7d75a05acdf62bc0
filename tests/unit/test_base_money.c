/* Money: the text that people see, and sums that must not overflow. */
#include "base/money.h"
#include "support/test.h"

TEST(fen_are_shown_as_yuan_unless_there_is_no_memory)
{
    static const struct {
        int64_t fen;
        const char *text;
    } shown[] = { { 0, "0.00" },
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
                  { INT64_MIN, "-92233720368547758.08" } };
    struct arena *a = arena_new(1024, 4096);
    EACH (row, shown) {
        char text[MONEY_TEXT_MAX];
        assert_int_equal(money_format(row->fen, text), strlen(row->text));
        assert_string_equal(text, row->text);
        assert_true(str_equal(money_text(a, row->fen), str_from(row->text)));
    }
    arena_free(a);
    a = arena_new(16, 16);
    (void)arena_alloc(a, 1);
    assert_null(money_text(a, 1234).ptr);
    arena_free(a);
}

TEST(receipts_have_capitals)
{
    static const struct {
        int64_t fen;
        const char *text;
    } shown[] = { { 0, "零元整" },
                  { 1, "壹分" },
                  { 10, "壹角整" },
                  { 11, "壹角壹分" },
                  { 100, "壹元整" },
                  { 105, "壹元零伍分" },
                  { 888, "捌元捌角捌分" },
                  { 1000, "壹拾元整" },
                  { 1050, "壹拾元伍角整" },
                  { 10001, "壹佰元零壹分" },
                  { 12345, "壹佰贰拾叁元肆角伍分" },
                  { 10500, "壹佰零伍元整" },
                  { 100010, "壹仟元壹角整" },
                  { 140950, "壹仟肆佰零玖元伍角整" },
                  { 168032, "壹仟陆佰捌拾元叁角贰分" },
                  { 600714, "陆仟零柒元壹角肆分" },
                  { 1001000, "壹万零壹拾元整" },
                  { 1640902, "壹万陆仟肆佰零玖元零贰分" },
                  { 2000000, "贰万元整" },
                  { 10000050, "壹拾万元伍角整" },
                  { 10010000, "壹拾万零壹佰元整" },
                  { 10700053, "壹拾万柒仟元伍角叁分" },
                  { 101000000, "壹佰零壹万元整" },
                  { INT64_C(4294967295), "肆仟贰佰玖拾肆万玖仟陆佰柒拾贰元玖角伍分" },
                  { INT64_C(10000000001), "壹亿元零壹分" },
                  { INT64_C(10000000100), "壹亿零壹元整" },
                  { INT64_C(10001000000), "壹亿零壹万元整" },
                  { INT64_C(12000000000), "壹亿贰仟万元整" },
                  { INT64_C(100000000000), "壹拾亿元整" },
                  { INT64_C(90909090909090), "玖仟零玖拾亿玖仟零玖拾万玖仟零玖拾元玖角整" },
                  { INT64_C(99999999999999), "玖仟玖佰玖拾玖亿玖仟玖佰玖拾玖万玖仟玖佰玖拾玖元玖角玖分" } };
    struct arena *a = arena_new(1024, 65536), *small = arena_new(16, 16);
    EACH (row, shown) {
        struct str text = money_capitals(a, row->fen);
        if (!str_equal(text, str_from(row->text)))
            fail_msg("%lld: %.*s, not %s", (long long)row->fen, STR_ARG(text), row->text);
    }
    assert_null(money_capitals(a, -1).ptr);
    assert_null(money_capitals(a, INT64_C(100000000000000)).ptr);
    assert_null(money_capitals(a, INT64_MAX).ptr);
    (void)arena_alloc(small, 1);
    assert_null(money_capitals(small, 1234).ptr);
    arena_free(small);
    arena_free(a);
}

TEST(an_amount_has_the_decimals_of_the_unit_or_those_that_the_caller_names)
{
    const struct money_unit yuan = *money_unit();
    static const struct {
        const char *code;
        int decimals;
        const char *text, *limit, *says;
    } units[] = { { "CNY", 2, "12.00", "12", "CNY, such as 88 or 88.50" },
                  { "FRANC", 1, "120.0", "120", "FRANC, such as 88 or 88.5" },
                  { "POINT", 0, "1200", "1200", "POINT without decimals, such as 88" } };
    struct arena *a = arena_new(1024, 65536);
    EACH (row, units) {
        char text[MONEY_TEXT_MAX];
        struct money_unit unit = yuan;
        unit.code = row->code;
        unit.decimals = row->decimals;
        (void)money_format_as(1200, row->decimals, text);
        assert_string_equal(text, row->text);
        money_unit_set(&unit);
        assert_true(str_equal(money_text(a, 1200), str_from(row->text)));
        assert_true(str_equal(money_limit_text(a, 1200), str_from(row->limit)));
        assert_true(str_equal(money_unit_says(a), str_from(row->says)));
        assert_int_equal(money_capitals(a, 1200).ptr != NULL, row->decimals == 2);
        money_unit_set(&yuan);
    }
    arena_free(a);
}

TEST(overflow_is_reported_and_changes_nothing)
{
    int64_t out = 4711;
    assert_false(money_add(INT64_MAX, 1, &out));
    assert_false(money_add(INT64_MIN, -1, &out));
    assert_int_equal(out, 4711);
    assert_true(money_add(INT64_MAX, INT64_MIN, &out));
    assert_int_equal(out, -1);
    assert_true(money_add(out, out, &out)); /* in and out may be one */
    assert_int_equal(out, -2);
}

TESTS(NULL, NULL)

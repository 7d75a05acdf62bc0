/* base/text_fit: widths and lines of texts in pictures; base/link_key. */
#include "base/link_key.h"
#include "base/text_fit.h"
#include "support/assert_text.h"
#include "support/test_arena.h"

enum { LINES = 2 };

static struct str lines[LINES];

static size_t fit(const char *text, uint32_t width)
{
    return text_fit(arena, str_from(text), width, lines, LINES);
}

/* Expects these lines; second NULL: there is one. */
static void assert_fit(const char *text, uint32_t width, const char *first, const char *second)
{
    assert_int_equal(fit(text, width), second == NULL ? 1 : 2);
    assert_text(lines[0], first);
    if (second != NULL)
        assert_text(lines[1], second);
}

TEST(a_chinese_character_is_an_em_wide_and_a_cluster_as_wide_as_its_first)
{
    assert_int_equal(text_width(STR("红包")), 200);
    assert_int_equal(text_width(STR("👨‍👩‍👧")), 100);
    assert_true(text_width(STR("iiii")) < text_width(STR("WWWW")));
    assert_int_equal(text_width(STR("")), 0);
}

TEST(a_text_is_divided_and_ends_with_an_ellipsis_without_emoji)
{
    assert_fit("红包", 1000, "红包", NULL);
    assert_fit("一二三四五六七", 500, "一二三四五", "六七");
    assert_fit("good luck in it", 700, "good luck in", "it");
    assert_int_equal(fit("  ", 700), 0);
    assert_int_equal(fit("一二三四五六七八九十一", 500), 2);
    assert_text(lines[1], "六七八九…");
    static const char *const texts[] = { "WWWWWWWWWWWWWWWWWWWWWWWWW", "كل عام وأنتم بخير ٢٠٢٦!!!",
                                         "a b c d e f g h i j k l m", "🎉百年好合百年好合百年好合" };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        size_t count = fit(texts[i], 450);
        assert_true(count > 0);
        for (size_t k = 0; k < count; k++)
            assert_true(text_width(lines[k]) <= 450);
    }
    assert_fit("🎉👨‍👩‍👧 百年 🇨🇳 好合", 1000, "百年  好合", NULL);
    assert_int_equal(fit("👨‍👩‍👧🇨🇳", 1000), 0);
    assert_fit("a\xef\xbf\xbf"
               "b\xef\xbf\xbe",
               1000, "ab", NULL);
}

static void balance_check(const char *text, uint32_t width_max, const char *first, const char *second)
{
    struct str two[2] = { STR_NONE, STR_NONE };
    size_t count = text_balance(arena, str_from(text), width_max, two);
    assert_int_equal(count, second == NULL ? 1 : 2);
    assert_text(two[0], first);
    if (second != NULL)
        assert_text(two[1], second);
}

TEST(two_lines_are_balanced_and_end_at_a_mark_near_the_middle)
{
    balance_check("恭喜发财", 500, "恭喜发财", NULL);
    balance_check("恭喜发财大吉", 500, "恭喜发", "财大吉"); /* not one character alone */
    balance_check("恭喜发财大吉大", 500, "恭喜发财", "大吉大");
    balance_check("恭喜发财，大吉", 500, "恭喜发财，", "大吉"); /* no line begins with a mark */
    balance_check("新春快乐，万事如意", 600, "新春快乐，", "万事如意");
    balance_check("恭喜，新春快乐万事如意大吉", 1200, "恭喜，新春快乐", "万事如意大吉"); /* far from the middle */
    balance_check("a happy new year to all of you", 1200, "a happy new", "year to all of you");
    balance_check("恭喜发财大吉大利万事如意", 500, "恭喜发财大", "吉大利万…"); /* too long, as text_fit */
    assert_int_equal(text_balance(arena, STR("🎉"), 500, (struct str[2]){ STR_NONE, STR_NONE }), 0);
}

TEST(a_link_key_fits_one_secret_purpose_and_id_and_is_the_same_in_all_versions)
{
    const struct key one = key_derive(STR("a secret of more than thirty-two characters"), KEY_SCREENS);
    const struct key another = key_derive(STR("another secret of more than thirty-two characters"), KEY_SCREENS);
    struct str key = link_key(arena, &one, "a", 1);
    assert_int_equal(key.len, 32);
    assert_true(link_key_is(key, &one, "a", 1));
    assert_false(link_key_is(key, &one, "a", 2));
    assert_false(link_key_is(key, &one, "b", 1));
    assert_false(link_key_is(key, &another, "a", 1));
    assert_false(link_key_is(str_slice(key, 0, 31), &one, "a", 1));
    assert_false(link_key_is(STR(""), &one, "a", 1));
    /* Links stay valid as long as the data, so these are fixed. Computed with Python: hashlib.blake2b. */
    const struct key old = key_derive(STR("0123456789abcdef0123456789abcdef"), KEY_BEFORE);
    assert_text(link_key(arena, &old, "a", 1), "b5503f3054bcda2dd3c3062ec1a972b9");
}

TESTS(arena_setup, arena_teardown)

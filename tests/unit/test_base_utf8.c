/* Text from people: what is valid, how long it looks, and what is kept of it. */
#include <utf8proc.h>

#include "base/utf8.h"
#include "packet/draw.h"
#include "support/test_arena.h"

static void assert_clean(const char *dirty, const char *want)
{
    struct str out;
    assert_int_equal(utf8_clean(arena, str_from(dirty), &out), ST_OK);
    if (!str_equal(out, str_from(want)))
        fail_msg("\"%s\" became \"%.*s\", not \"%s\"", dirty, STR_ARG(out), want);
}

TEST(well_formed_text_is_valid_each_code_point_and_no_surrogate_or_nul)
{
    struct str good =
        STR("|hello, world, longer than a word|\x7f|\xc2\x80|\xdf\xbf|\xe0\xa0\x80|\xed\x9f\xbf|"
            "\xee\x80\x80|\xef\xbf\xbf|\xf0\x90\x80\x80|\xf4\x8f\xbf\xbf|恭喜发财，大吉大利|🧧|"
            "aaaaaaa恭|aaaaaaaa恭aaaaaaaa");
    while (good.ptr != NULL) {
        const struct str text = str_cut(good, '|', &good);
        if (!utf8_valid(text))
            fail_msg("\"%.*s\"", STR_ARG(text));
    }
    assert_true(utf8_valid(STR_NONE));
    for (size_t at = 0; at < 20; at++) {
        char text[20];
        memset(text, 'a', sizeof text);
        text[at] = '\0';
        assert_false(utf8_valid((struct str){ text, sizeof text }));
    }
    for (unsigned code = 1; code <= 0x10ffff; code++) {
        char text[4];
        const size_t n = (size_t)utf8proc_encode_char((utf8proc_int32_t)code, (utf8proc_uint8_t *)text);
        bool surrogate = code >= 0xd800 && code <= 0xdfff;
        if (utf8_valid((struct str){ text, n }) == surrogate)
            fail_msg("U+%04X", code);
    }
}

TEST(broken_text_is_refused_wherever_it_stands)
{
    struct str rest = STR("\x80|\xbf|\xc0\x80|\xc1\xbf|\xc2|\xc2\x41|\xc2\xc2|\xe0\x80\x80|\xe0\x9f\xbf|\xe1\x80|"
                          "\xe1\x80\x41|\xe1\x41\x80|\xed\xa0\x80|\xed\xbf\xbf|\xf0\x80\x80\x80|\xf0\x8f\xbf\xbf|"
                          "\xf1\x80\x80|\xf1\x80\x80\x41|\xf1\x80\x41\x80|\xf4\x90\x80\x80|\xf5\x80\x80\x80|\xfe|\xff|"
                          "\xf8\x88\x80\x80\x80");
    while (rest.ptr != NULL) {
        char text[64];
        struct str out;
        const struct str bad = str_cut(rest, '|', &rest);
        for (int before = 0; before < 18; before++) {
            int n = snprintf(text, sizeof text, "%.*s%.*s%s", before, "aaaaaaaaaaaaaaaaaa", STR_ARG(bad),
                             before % 2 ? "bbbbbbbbb" : "");
            assert_true(n > 0);
            assert_of(text, !utf8_valid(str_from(text)));
        }
        assert_int_equal(utf8_clean(arena, bad, &out), ST_INVALID);
        assert_int_equal(utf8_fold_pasted(arena, bad, &out), ST_INVALID);
        assert_int_equal(utf8_sequence(bad), 0);
    }
}

TEST(length_width_and_the_first_grapheme_are_what_people_see_and_columns_count_code_points)
{
    static const struct {
        const char *text;
        size_t graphemes, width, code_points;
        const char *first;
    } rows[] = {
        { "", 0, 0, 0, "" },
        { "恭喜发财，大吉大利", 9, 9, 9, "恭" },
        { "恭喜é", 3, 3, 3, "恭" },
        { "abc", 3, 2, 3, "a" },
        { "abcd", 4, 2, 4, "a" },
        { "福ab福c", 5, 4, 5, "福" },
        { "Привет", 6, 3, 6, "П" },
        { "e\u0301", 1, 1, 2, "e\u0301" },
        { "e\u0301e\u0301a", 3, 2, 5, "e\u0301" },
        { "e\u0301e\u0301", 2, 1, 4, "e\u0301" },
        { "🧧🧧", 2, 2, 2, "🧧" },
        { "👨‍👩‍👧‍👦🧧家", 3, 3, 9, "👨‍👩‍👧‍👦" },
        { "👍🏽x", 2, 2, 3, "👍🏽" },
        { "🇨🇳🇩🇪", 2, 2, 4, "🇨🇳" },
        { "❤️", 1, 1, 2, "❤️" },
        { "각", 1, 1, 1, "각" },
        { "\u1100\u1161\u11a8", 1, 1, 3, "\u1100\u1161\u11a8" },
        { "\u1100\u1161각", 2, 2, 3, "\u1100\u1161" },
        { "\u25ff\u2600", 2, 2, 2, "\u25ff" },
    };
    EACH (row, rows) {
        const struct str text = str_from(row->text), first = utf8_first_grapheme(text);
        if (utf8_graphemes(text) != row->graphemes || utf8_width(text) != row->width ||
            utf8_codepoints(text) != row->code_points || !str_equal(first, str_from(row->first)))
            fail_msg("\"%s\": %zu, %zu, %zu, \"%.*s\"", row->text, (size_t)utf8_graphemes(text),
                     (size_t)utf8_width(text), (size_t)utf8_codepoints(text), STR_ARG(first));
    }
    assert_int_equal(utf8_graphemes(STR_NONE) + utf8_width(STR_NONE) + utf8_codepoints(STR_NONE), 0);
    assert_int_equal(utf8_first_grapheme(STR_NONE).len, 0);
    static const char *const broken[][2] = { { "\xff!", "\xff" }, { "张\xe5\xbc", "张" }, { "\xe5\xbc", "\xe5" } };
    EACH (row, broken)
        assert_of((*row)[0], str_equal(utf8_first_grapheme(str_from((*row)[0])), str_from((*row)[1])));
}

TEST(decent_text_stays_as_it_is_but_composed)
{
    EACH_TEXT (text, "", "a", "🇨🇳", "né", "नमस्ते", "क्‍ष", "می‌خواهم", "각", "ＡＢＣ", "㊗")
        assert_clean(text, text);
    assert_clean("恭喜发财，大吉大利", "恭喜发财，大吉大利");
    assert_clean("100% {{x}} <b> & \"'", "100% {{x}} <b> & \"'");
    assert_clean("🧧👨‍👩‍👧‍👦❤️", "🧧👨‍👩‍👧‍👦❤️");
    assert_clean("e\u0301", "é");
    assert_clean("\u1100\u1161\u11a8", "각");
    assert_clean("a\u0323\u0307", "ạ\u0307");
    assert_clean("a\u0307\u0323", "ạ\u0307"); /* marks in canonical order */
    assert_clean("\u212b", "Å");
    assert_clean("\uf900", "豈");
    assert_clean("\u0344", "\u0308\u0301"); /* excluded from composition */
    assert_clean("\u0958", "\u0915\u093c");
}

TEST(blanks_become_one_and_invisible_characters_and_lone_joiners_are_removed)
{
    assert_clean("  a  b  ", "a b");
    assert_clean("a\r\nb\tc\vd", "a b c d");
    assert_clean("a\u00a0\u3000\u2003b", "a b");
    assert_clean("a\u2028b\u2029c\302\205d", "a b c d");
    assert_clean("\u3000恭喜\u3000发财\u3000", "恭喜 发财");
    assert_clean("\x1b[31mred", "[31mred");
    assert_clean("a\u202eb\u202cc", "abc");
    assert_clean("\u202aa\u202b\u202d\u2066b\u2067\u2068\u2069", "ab");
    assert_clean("\u200ea\u200fb\u061c", "ab");
    assert_clean("a\u200bb\ufeffc\u2060d\u00ade", "abcde");
    assert_clean("a\u034fb", "ab");
    assert_clean("x\U000e0041\U000e0042\U000e007f", "x"); /* tag characters */
    assert_clean("a \u202e b", "a b");                    /* the blanks around meet */
    assert_clean("\u0600١", "\u0600١");                   /* shown, although a format character */
    assert_clean("a\u200d", "a\u200d");
    EACH_TEXT (text, "\x01\x1f\x7f", " \n\u3000 ", "\u2800\u2800" /* Braille */,
               "\u3164" /* the well-known empty name */, "\u115f\u1160\uffa0", "\u200d", "\u200c\u200d\ufe0f",
               "\ufe0f \u200d")
        assert_clean(text, "");
    static const char *const shown[][2] = {
        { "\U0001d159\ufffc \U00013441", "" }, { "\ue000", "" },        { "\u0301\ufe0f", "" },  { "Bob\ufffc", "Bob" },
        { "\u0301Bob\ue000", "Bob\ue000" },    { "a \ufffc b", "a b" }, { "e\ufffc\u0301", "é" }
    };
    struct str out;
    for (size_t i = 0; i < ARRAY_LEN(shown); i++) {
        assert_int_equal(utf8_clean_shown(arena, str_from(shown[i][0]), &out), ST_OK);
        assert_true(str_equal(out, str_from(shown[i][1])));
        /* A passphrase may consist of them: packet/phrase.h. */
        assert_int_equal(utf8_clean(arena, str_from(shown[i][0]), &out), ST_OK);
        assert_false(str_equal(out, str_from(shown[i][1])));
    }
    assert_int_equal(utf8_clean_shown(arena, STR("\xff"), &out), ST_INVALID);
}

TEST(a_pile_of_accents_is_cut_and_what_follows_does_not_join_it)
{
    char text[8001] = "x";
    struct str out;
    for (size_t i = 1; i + 4 <= 8000; i += 4)
        memcpy(text + i, "\u0353\u0300", 4);
    assert_int_equal(utf8_clean(arena, str_from(text), &out), ST_OK);
    assert_int_equal(utf8_graphemes(out), 1);
    assert_in_range(out.len, 2, 1 + 2 * (UTF8_CLUSTER_MAX - 1));
    /* The same with joiners, which have no combining class. */
    for (size_t i = 1; i + 3 <= 8000; i += 3)
        memcpy(text + i, "\u200d", 3);
    text[7999] = '\0';
    assert_int_equal(utf8_clean(arena, (struct str){ text, 1 + 2666 * 3 }, &out), ST_OK);
    assert_int_equal(out.len, 1 + 3 * (UTF8_CLUSTER_MAX - 1));
    assert_clean("👨🏻‍👩🏻‍👧🏻‍👦🏻", "👨🏻‍👩🏻‍👧🏻‍👦🏻");
    static const char long_text[] =
        "👨\u200d👩🏻🏻\u200d👧🏻\u200d👦🏻🏻\u200d👍🏻\u200d👧🎍a"; /* cut behind its 16th code point */
    struct str once, twice;
    assert_int_equal(utf8_clean(arena, str_from(long_text), &once), ST_OK);
    assert_int_equal(utf8_clean(arena, once, &twice), ST_OK);
    assert_true(str_equal(once, twice));
    assert_int_equal(utf8_graphemes(once), 2);
    assert_true(str_ends(once, STR("a")));
}

TEST(cleaning_clean_text_changes_nothing)
{
    static const char *const pieces[] = { "a",      "恭",           " ",      "\u3000", "\n",         "e",
                                          "\u0301", "\u0323",       "\u200d", "\u202e", "🧧",       "👨",
                                          "🏽",   "\u1100",       "\u1161", "\u11a8", "\ufe0f",     "\u0344",
                                          "\u0958", "\ufb2c",       "\u0600", "\u3164", "\U000e0041", "🇨",
                                          "\u1100", "\u0f71\u0f73", "\u2126" };
    struct draw d;
    uint8_t seed[SEED_BYTES] = { 1 };
    draw_init(&d, seed);
    for (int round = 0; round < 20000; round++) {
        char text[400] = "";
        struct str once, twice;
        for (uint32_t n = draw_below(&d, 40); n > 0; n--)
            strcat(text, pieces[draw_below(&d, ARRAY_LEN(pieces))]);
        arena_reset(arena);
        assert_int_equal(utf8_clean(arena, str_from(text), &once), ST_OK);
        assert_true(utf8_valid(once));
        assert_int_equal(utf8_clean(arena, once, &twice), ST_OK);
        if (!str_equal(once, twice))
            fail_msg("\"%s\": \"%.*s\" became \"%.*s\"", text, STR_ARG(once), STR_ARG(twice));
    }
}

static void assert_pasted(const char *pasted, const char *want)
{
    struct str out = STR("");
    assert_int_equal(utf8_fold_pasted(arena, str_from(pasted), &out), ST_OK);
    if (!str_equal(out, str_from(want)))
        fail_msg("\"%s\" became \"%.*s\"", pasted, STR_ARG(out));
}

/* typed.json has full width and marks. */
TEST(pasted_text_has_no_blanks_around_it_nothing_invisible_and_no_full_width_ascii)
{
    static const char *const around[] = { " ",      "\t",     "\r\n",   "\u00a0", "\u2000", "\u200a",
                                          "\u2028", "\u202f", "\u3000", "\u2800", "\u200b", "\ufeff",
                                          "\u2060", "\u00ad", "\u200e", "\u200f", "\u202b", "\u2069",
                                          "\u061c", "\u200c", "\u200d", "\ufe0f", "\u034f" };
    for (size_t i = 0; i < ARRAY_LEN(around); i++) {
        const char *c = around[i];
        assert_pasted(c, "");
        assert_pasted(arena_printf(arena, "%s%s12%s", c, c, c).ptr, "12");
        assert_pasted(arena_printf(arena, "1%s2", c).ptr, i < 10 ? "1 2" : "12");
    }
    assert_pasted("新年\u3000快乐", "新年 快乐");
    struct str out;
    assert_int_equal(utf8_fold_pasted(arena, STR_NONE, &out), ST_OK);
    assert_int_equal(out.len, 0);
}

TEST(texts_that_people_read_as_the_same_fold_to_the_same)
{
    static const struct {
        const char *a, *b;
        bool same;
    } rows[] = { { "Happy NEW Year", "happy new year", true },
                 { "ｈａｐｐｙ", "happy", true },
                 { "STRASSE", "straße", true },
                 { "e\u0301", "\u00e9", true },
                 { "\ufb01", "fi", true },
                 { "新年快乐", "新年快乐", true },
                 { "", "", true },
                 { "a", "ä", false } };
    struct str a = STR("x"), b = STR("");
    EACH (row, rows) {
        assert_int_equal(utf8_fold_case(arena, str_from(row->a), &a), ST_OK);
        assert_int_equal(utf8_fold_case(arena, str_from(row->b), &b), ST_OK);
        assert_of(row->a, str_equal(a, b) == row->same);
    }
    assert_int_equal(utf8_fold_case(arena, STR(""), &a), ST_OK);
    assert_int_equal(a.len, 0);
    assert_int_equal(utf8_fold_case(arena, STR("\xff"), &a), ST_INVALID);
}

TEST(without_memory_it_says_so)
{
    struct str out = STR("untouched");
    for (size_t bytes = 16; bytes <= 64; bytes += 16) {
        struct arena *small = arena_new(bytes, bytes);
        assert_int_equal(utf8_clean(small, STR("e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301"), &out), ST_NO_MEMORY);
        arena_free(small);
    }
    struct arena *small = arena_new(16, 16);
    assert_int_equal(utf8_fold_pasted(small, STR("１2345678901234"), &out), ST_NO_MEMORY);
    assert_int_equal(utf8_fold_case(small, STR("12345678901234567"), &out), ST_NO_MEMORY);
    arena_free(small);
    assert_true(str_equal(out, STR("untouched")));
}

TESTS(arena_setup, arena_teardown)

/* base/badge: a nickname and a face as one text. */
#include "base/array.h"
#include "base/badge.h"
#include "base/utf8.h"
#include "support/test.h"
#include "support/test_arena.h"

#define MARK "\xf3\xa0\x80\x81"

static struct str badge_of(const char *nickname, const char *word)
{
    struct face face = face_from(str_from(word));
    return badge_text(arena, str_from(nickname), &face);
}

TEST(a_word_has_few_characters)
{
    static const char *const words[] = { "rabbit", "a", "@0f_-z", "0123456789012345678901234567890123456789" };
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        struct face face = face_from(str_from(words[i]));
        assert_true(str_equal(face_word(&face), str_from(words[i])));
    }
    static const char *const others[] = {
        "", "Rabbit", "a b", "a,b", "兔", "a\n", "01234567890123456789012345678901234567890", "a.b"
    };
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        assert_int_equal(face_from(str_from(others[i])).len, 0);
    assert_int_equal(face_from(STR_NONE).len, 0);
}

TEST(a_badge_is_read_back)
{
    static const char *const words[] = { "rabbit", "@0123456789abcdefghijklmn_-" };
    static const char *const nicknames[] = { "小明", "a,b g 1,2", "", "🧧" };
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        for (size_t k = 0; k < ARRAY_LEN(nicknames); k++) {
            struct face face;
            struct str badge = badge_of(nicknames[k], words[i]);
            assert_true(badge.len > strlen(nicknames[k]) && str_starts(badge, str_from(nicknames[k])));
            assert_true(str_equal(badge_parse(badge, &face), str_from(nicknames[k])));
            assert_true(str_equal(face_word(&face), str_from(words[i])));
            assert_true(str_equal(badge_parse(badge, NULL), str_from(nicknames[k])));
        }
}

TEST(without_a_face_the_badge_is_the_nickname)
{
    struct face face = face_from(STR("ox"));
    assert_true(str_equal(badge_of("小明", NULL), STR("小明")));
    assert_true(str_equal(badge_parse(STR("小明"), &face), STR("小明")));
    assert_int_equal(face.len, 0);
    assert_null(badge_parse(STR_NONE, &face).ptr);
}

/* The program before shows and settles it as a nickname: valid, no longer than the column, and drawn like one. */
TEST(an_older_program_takes_a_badge_for_a_nickname)
{
    struct str badge = badge_of("小明", "@0123456789abcdef"), clean;
    assert_true(utf8_valid(badge));
    for (size_t i = 0; i < badge.len; i++)
        assert_true((unsigned char)badge.ptr[i] >= ' ' && badge.ptr[i] != 0x7f);
    assert_int_equal(utf8_clean_shown(arena, badge, &clean), ST_OK);
    assert_true(str_equal(clean, STR("小明"))); /* so no nickname can contain a face */
}

TEST(a_face_that_has_no_room_is_left_out)
{
    char nickname[BADGE_CODEPOINTS_MAX + 1] = { 0 };
    memset(nickname, 'n', BADGE_CODEPOINTS_MAX - 7);
    struct str badge = badge_of(nickname, "rabbit");
    assert_int_equal(utf8_codepoints(badge), BADGE_CODEPOINTS_MAX);
    nickname[BADGE_CODEPOINTS_MAX - 7] = 'n';
    assert_true(str_equal(badge_of(nickname, "rabbit"), str_from(nickname)));
}

TEST(what_is_no_face_is_not_cut_off)
{
    static const char *const damaged[] = {
        "小明" MARK,
        "小明" MARK "rabbit",
        "小明" MARK "\xf3\xa0\x81\xb2 g 1,2,3,4,n",
        "小明" MARK "\xf3\xa0\x81\xb2\xf3\xa0", /* r, and half of a character */
        "小明" MARK "\xf3\xa0\x81\x92",         /* R */
        "小明" MARK "\xf3\xa0\x80\xac",         /* a comma */
        "小明" MARK "\xf3\xa0\x81\xb2" MARK,    /* r, and a second mark */
        "小明" MARK "\xf3\xa0\x82\xb2",         /* beyond the tag characters */
    };
    for (size_t i = 0; i < ARRAY_LEN(damaged); i++) {
        struct face face = face_from(STR("ox"));
        assert_true(str_equal(badge_parse(str_from(damaged[i]), &face), str_from(damaged[i])));
        assert_int_equal(face.len, 0);
    }
    char tags[4 * (FACE_MAX + 2) + 1] = MARK;
    for (size_t i = 1; i < FACE_MAX + 2; i++)
        memcpy(tags + 4 * i, "\xf3\xa0\x81\xb2", 4);
    struct face face;
    assert_int_equal(badge_parse(str_from(tags), &face).len, strlen(tags));
    assert_int_equal(face.len, 0);
}

TEST(without_memory_there_is_no_badge)
{
    struct arena *small = arena_new(16, 16);
    struct face face = face_from(STR("rabbit"));
    assert_null(badge_text(small, STR("小明"), &face).ptr);
    arena_free(small);
}

TESTS(arena_setup, arena_teardown)

/* base/badge: a nickname and a face as one text. */
#include "base/badge.h"
#include "base/utf8.h"
#include "support/test_arena.h"

#define MARK "\xf3\xa0\x80\x81"

static struct str badge_of(const char *nickname, const char *word)
{
    struct face face = face_from(str_from(word));
    return badge_text(arena, str_from(nickname), &face);
}

TEST(a_word_has_few_characters_and_an_older_program_takes_a_badge_for_a_nickname)
{
    EACH_TEXT (word, "rabbit", "a", "@0f_-z", "0123456789012345678901234567890123456789") {
        struct face face = face_from(str_from(word));
        assert_true(str_equal(face_word(&face), str_from(word)));
    }
    EACH_TEXT (text, "", "Rabbit", "a b", "a,b", "兔", "a\n", "01234567890123456789012345678901234567890", "a.b")
        assert_int_equal(face_from(str_from(text)).len, 0);
    assert_int_equal(face_from(STR_NONE).len, 0);
    /* An older program shows and settles a badge as a nickname: it is valid, fits the column, and looks like the
     * nickname. */
    struct str badge = badge_of("小明", "@0123456789abcdef"), clean;
    assert_true(utf8_valid(badge));
    for (size_t i = 0; i < badge.len; i++)
        assert_true((unsigned char)badge.ptr[i] >= ' ' && badge.ptr[i] != 0x7f);
    assert_int_equal(utf8_clean_shown(arena, badge, &clean), ST_OK);
    assert_true(str_equal(clean, STR("小明"))); /* so no nickname can contain a face */
}

TEST(a_badge_is_read_back_and_is_the_nickname_without_a_face)
{
    EACH_TEXT (word, "rabbit", "@0123456789abcdefghijklmn_-")
        EACH_TEXT (nickname, "小明", "a,b g 1,2", "", "🧧") {
            struct face face;
            struct str badge = badge_of(nickname, word);
            assert_true(badge.len > strlen(nickname) && str_starts(badge, str_from(nickname)));
            assert_true(str_equal(badge_parse(badge, &face), str_from(nickname)));
            assert_true(str_equal(face_word(&face), str_from(word)));
            assert_true(str_equal(badge_parse(badge, NULL), str_from(nickname)));
        }
    struct face face = face_from(STR("ox"));
    assert_true(str_equal(badge_of("小明", NULL), STR("小明")));
    assert_true(str_equal(badge_parse(STR("小明"), &face), STR("小明")));
    assert_int_equal(face.len, 0);
    assert_null(badge_parse(STR_NONE, &face).ptr);
}

TEST(a_face_that_has_no_room_is_left_out_and_without_memory_there_is_no_badge)
{
    char nickname[BADGE_CODEPOINTS_MAX + 1] = { 0 };
    memset(nickname, 'n', BADGE_CODEPOINTS_MAX - 7);
    struct str badge = badge_of(nickname, "rabbit");
    assert_int_equal(utf8_codepoints(badge), BADGE_CODEPOINTS_MAX);
    nickname[BADGE_CODEPOINTS_MAX - 7] = 'n';
    assert_true(str_equal(badge_of(nickname, "rabbit"), str_from(nickname)));
    struct arena *small = arena_new(16, 16);
    struct face face = face_from(STR("rabbit"));
    assert_null(badge_text(small, STR("小明"), &face).ptr);
    arena_free(small);
}

TEST(what_is_no_face_is_not_cut_off)
{
    EACH_TEXT (text, "小明" MARK, "小明" MARK "rabbit", "小明" MARK "\xf3\xa0\x81\xb2 g 1,2,3,4,n",
               "小明" MARK "\xf3\xa0\x81\xb2\xf3\xa0", /* r, and a half character */
               "小明" MARK "\xf3\xa0\x81\x92",         /* R */
               "小明" MARK "\xf3\xa0\x80\xac",         /* a comma */
               "小明" MARK "\xf3\xa0\x81\xb2" MARK,    /* r, and a second mark */
               "小明" MARK "\xf3\xa0\x82\xb2" /* beyond the tag characters */) {
        struct face face = face_from(STR("ox"));
        assert_true(str_equal(badge_parse(str_from(text), &face), str_from(text)));
        assert_int_equal(face.len, 0);
    }
    char tags[4 * (FACE_MAX + 2) + 1] = MARK;
    for (size_t i = 1; i < FACE_MAX + 2; i++)
        memcpy(tags + 4 * i, "\xf3\xa0\x81\xb2", 4);
    struct face face;
    assert_int_equal(badge_parse(str_from(tags), &face).len, strlen(tags));
    assert_int_equal(face.len, 0);
}

TESTS(arena_setup, arena_teardown)

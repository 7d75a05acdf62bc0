/* packet/phrase: what counts as the same passphrase, its hash and its sealed form. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/random.h"
#include "packet/phrase.h"

#define SECRET STR("a secret of more than thirty-two characters")

static struct arena *arena;

static int setup(void **state)
{
    (void)state;
    arena = arena_new(1 << 16, 1 << 22);
    return arena == NULL || !random_init();
}

static int teardown(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

static struct str folded(const char *typed)
{
    struct str out;
    assert_int_equal(phrase_fold(arena, str_from(typed), &out), ST_OK);
    return out;
}

static void width_case_blanks_and_composition_do_not_matter(void **state)
{
    (void)state;
    static const char *const same[][2] = {
        { "Hello", "hELLO" },
        { "ｈｅｌｌｏ１２３", "hello123" },
        { "  恭喜发财\u3000", "恭喜发财" },
        { "happy \t  new\u3000year", "Happy New Year" },
        { "caf\u00e9", "CAFE\u0301" },
        { "Straße", "STRASSE" },
        { "①", "1" },
        { "ﾊﾛｰ", "ハロー" },
        { "\u2764\uFE0F", "\u2764" },
        { "a\u200Bb", "ab" },
        { "\u00A0x\u00A0", "x" },
        { "\uFE0F 恭喜 \uFE0F", "恭喜" },
        { "a \uFE0F b", "a b" },
        { "cafe\uFE0F\u0301", "café" },
    };
    for (size_t i = 0; i < ARRAY_LEN(same); i++)
        if (!str_equal(folded(same[i][0]), folded(same[i][1])))
            fail_msg("%s is not %s", same[i][0], same[i][1]);
}

static void other_phrases_stay_different(void **state)
{
    (void)state;
    static const char *const other[][2] = {
        { "恭喜", "恭喜发财" },
        { "ab", "a b" },
        { "👩", "👨" },
        { "👍🏻", "👍🏿" },
        { "cafe", "café" },
        { "0", "O" },
        { "👩‍👩‍👧", "👩‍👩‍👦" },
        { "發財", "发财" },
    };
    for (size_t i = 0; i < ARRAY_LEN(other); i++)
        if (str_equal(folded(other[i][0]), folded(other[i][1])))
            fail_msg("%s is %s", other[i][0], other[i][1]);
}

static void folding_changes_nothing_more(void **state)
{
    (void)state;
    static const char *const texts[] = { "Ｈｅｌｌｏ  Ｗörld", "\u00A8 x", "ﬁ ﬀ", "İstanbul", "❤️ 开\u3000心" };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct str once = folded(texts[i]), twice;
        assert_int_equal(phrase_fold(arena, once, &twice), ST_OK);
        assert_true(str_equal(once, twice));
    }
    assert_int_equal(folded(" \u3000\u200B ").len, 0);
    struct str out;
    assert_int_equal(phrase_fold(arena, STR("\xff"), &out), ST_INVALID);
}

static void a_hash_belongs_to_phrase_packet_and_secret(void **state)
{
    (void)state;
    struct str hash = phrase_hash(arena, SECRET, 1, STR("开心"));
    assert_int_equal(hash.len, 32);
    assert_true(str_equal(hash, phrase_hash(arena, SECRET, 1, STR("开心"))));
    assert_false(str_equal(hash, phrase_hash(arena, SECRET, 1, STR("开心!"))));
    assert_false(str_equal(hash, phrase_hash(arena, SECRET, 2, STR("开心"))));
    assert_false(str_equal(hash, phrase_hash(arena, STR("another secret of more than thirty-two"), 1, STR("开心"))));
}

static void a_sealed_phrase_is_read_by_this_service_only(void **state)
{
    (void)state;
    struct str shown = STR("开心 Ｈａｐｐｙ"), sealed = phrase_seal(arena, SECRET, 7, shown);
    assert_true(str_equal(phrase_unseal(arena, SECRET, 7, sealed), shown));
    assert_false(str_equal(sealed, phrase_seal(arena, SECRET, 7, shown))); /* another nonce */
    assert_int_equal(str_find(sealed, shown), sealed.len);
    assert_null(phrase_unseal(arena, SECRET, 8, sealed).ptr);
    assert_null(phrase_unseal(arena, STR("another secret of more than thirty-two"), 7, sealed).ptr);
    assert_null(phrase_unseal(arena, SECRET, 7, str_slice(sealed, 0, sealed.len - 1)).ptr);
    assert_null(phrase_unseal(arena, SECRET, 7, STR("short")).ptr);
    char damaged[400];
    assert_in_range(sealed.len, 1, sizeof damaged);
    memcpy(damaged, sealed.ptr, sealed.len);
    damaged[sealed.len - 1] = (char)(damaged[sealed.len - 1] ^ 1);
    assert_null(phrase_unseal(arena, SECRET, 7, (struct str){ damaged, sealed.len }).ptr);
}

static void the_longest_phrase_fits_its_column(void **state)
{
    (void)state;
    enum { COLUMN_BYTES = 400 };
    char text[4 * PHRASE_CODE_POINTS_MAX] = { 0 };
    struct str sealed = phrase_seal(arena, SECRET, 7, (struct str){ text, sizeof text });
    assert_in_range(sealed.len, 1, COLUMN_BYTES);
}

static void without_memory_there_is_no_hash(void **state)
{
    (void)state;
    struct arena *small = arena_new(8, 8);
    struct str out;
    assert_null(phrase_hash(small, SECRET, 1, STR("x")).ptr);
    assert_null(phrase_seal(small, SECRET, 1, STR("x")).ptr);
    assert_int_equal(phrase_fold(small, STR("a long phrase"), &out), ST_NO_MEMORY);
    arena_free(small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(width_case_blanks_and_composition_do_not_matter),
        cmocka_unit_test(other_phrases_stay_different),
        cmocka_unit_test(folding_changes_nothing_more),
        cmocka_unit_test(a_hash_belongs_to_phrase_packet_and_secret),
        cmocka_unit_test(a_sealed_phrase_is_read_by_this_service_only),
        cmocka_unit_test(the_longest_phrase_fits_its_column),
        cmocka_unit_test(without_memory_there_is_no_hash),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}

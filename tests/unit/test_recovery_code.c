/* user/recovery_code: texts that are a user's code, and texts that are refused by arithmetic alone. */
#include "base/base32.h"
#include "support/test_arena.h"
#include "user/recovery_code.h"

#define KEY_OF(secret, purpose) ((struct key[]){ key_derive(STR(secret), purpose) })
#define KEY                     KEY_OF("a secret of at least 32 characters", KEY_RECOVERY_CODE)

static struct recovery_code made(unsigned slot)
{
    struct recovery_code code;
    assert_true(recovery_code_make(arena, KEY, STR("ming"), slot, &code));
    return code;
}

static bool is_read(struct str username, const char *typed, struct recovery_code *out)
{
    return recovery_code_read(arena, (struct key_pair){ KEY, NULL }, username, str_from(typed), out);
}

TEST(codes_differ_and_are_read_back_as_people_type_them_also_of_an_earlier_version)
{
    struct recovery_code read, earlier = made(0);
    for (unsigned slot = 0; slot < RECOVERY_CODES; slot++) {
        struct recovery_code code = made(slot);
        assert_ints({ strlen(code.text), RECOVERY_CODE_TEXT_LEN }, { strlen(code.chars), RECOVERY_CODE_CHARS },
                    { code.text[0], '0' + (int)slot });
        assert_true(is_read(STR("ming"), code.text, &read));
        assert_int_equal(read.slot, slot);
        assert_string_equal(read.chars, code.chars);
        assert_string_equal(read.text, code.text);
        assert_true(str_equal(read.subject, code.subject));
        assert_string_not_equal(earlier.chars + 1, code.chars + 1);
        assert_false(str_equal(earlier.subject, code.subject));
        earlier = code;
    }
    /* typed.json has codes in other spellings: as people say them by telephone, or type them with a Chinese input
     * method. */
    struct recovery_code code = made(1);
    char typed[128];
    assert_true(is_read(STR("ming"), code.chars, &read));
    (void)snprintf(typed, sizeof typed, "  l－%.4s - %.4s\u2011\u00a0\u200b%s\u3000\u2060\n", code.chars + 1,
                   code.chars + 5, code.chars + 9);
    assert_true(is_read(STR("ming"), typed, &read));
    assert_string_equal(read.chars, code.chars);
    /* With the key of earlier versions, but not without it. */
    const struct key_pair both = { KEY, KEY_OF("a secret of at least 32 characters", KEY_BEFORE) };
    struct recovery_code older;
    assert_true(recovery_code_make(arena, both.before, STR("ming"), 2, &older));
    assert_true(recovery_code_read(arena, both, STR("ming"), str_from(older.text), &read));
    assert_string_equal(read.chars, older.chars);
    assert_true(str_equal(read.subject, older.subject));
    assert_false(is_read(STR("ming"), older.text, &read));
    assert_true(recovery_code_read(arena, both, STR("ming"), str_from(made(3).text), &read));
}

TEST(a_changed_code_that_of_another_user_and_what_is_none_are_refused)
{
    struct recovery_code read, code = made(3);
    char changed[RECOVERY_CODE_CHARS + 2];
    unsigned passed = 0;
    for (size_t i = 0; i < RECOVERY_CODE_CHARS; i++)
        for (unsigned value = 0; value < BASE32_COUNT; value++) {
            strcpy(changed, code.chars);
            changed[i] = BASE32_DIGITS[value];
            if (base32_value(code.chars[i]) != (int)value)
                passed += is_read(STR("ming"), changed, &read);
        }
    assert_true(passed <= 1); /* each by chance with 2^-20 */
    assert_false(is_read(STR("hong"), code.text, &read));
    assert_false(is_read(STR(""), code.text, &read));
    const struct key_pair other = { KEY_OF("another secret of 32 characters ...", KEY_RECOVERY_CODE), NULL };
    assert_false(recovery_code_read(arena, other, STR("ming"), str_from(code.text), &read));
    /* typed.json has more cases. */
    EACH_TEXT (text, "", "-", "u", "0-0000-0000-0000-000", "A-0000-0000-0000-0000", "\xff")
        assert_of(text, !is_read(STR("ming"), text, &read));
    char longer[RECOVERY_CODE_CHARS + 2];
    strcat(strcpy(longer, made(4).chars), "0");
    assert_false(is_read(STR("ming"), longer, &read));
    assert_false(recovery_code_read(arena, ((struct key_pair){ KEY, NULL }), STR("ming"),
                                    str_slice(str_from(longer), 0, 16), &read));
}

TESTS(arena_setup, arena_teardown)

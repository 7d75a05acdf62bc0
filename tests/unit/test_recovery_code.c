/* user/recovery_code: what is a code of a user, and what is refused by arithmetic alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
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

static void codes_are_read_back_and_differ(void **state)
{
    struct recovery_code read, earlier = made(0);
    (void)state;
    for (unsigned slot = 0; slot < RECOVERY_CODES; slot++) {
        struct recovery_code code = made(slot);
        assert_int_equal(strlen(code.text), RECOVERY_CODE_TEXT_LEN);
        assert_int_equal(strlen(code.chars), RECOVERY_CODE_CHARS);
        assert_int_equal(code.text[0], '0' + (int)slot);
        assert_true(is_read(STR("ming"), code.text, &read));
        assert_int_equal(read.slot, slot);
        assert_string_equal(read.chars, code.chars);
        assert_string_equal(read.text, code.text);
        assert_true(str_equal(read.subject, code.subject));
        assert_string_not_equal(earlier.chars + 1, code.chars + 1);
        assert_false(str_equal(earlier.subject, code.subject));
        earlier = code;
    }
}

/* Also what is told by telephone, or typed with a Chinese input method. */
static void a_code_is_read_as_people_type_it(void **state)
{
    struct recovery_code read, code = made(1);
    char typed[128] = "  ";
    (void)state;
    assert_true(is_read(STR("ming"), code.chars, &read));
    for (size_t i = 0; i < RECOVERY_CODE_CHARS; i++) {
        char c = code.chars[i];
        const char *as = c == '0' ? "o" : c == '1' ? (i % 2 == 0 ? "I" : "l") : NULL;
        char small[2] = { (char)(c >= 'A' ? c - 'A' + 'a' : c), '\0' };
        strcat(typed, as != NULL ? as : small);
        if (i == 0)
            strcat(typed, "－");
        if (i == 4)
            strcat(typed, " - ");
        if (i == 8)
            strcat(typed, "\u2011\u00a0\u200b");
    }
    strcat(typed, "\u3000\u2060\n");
    assert_true(is_read(STR("ming"), typed, &read));
    assert_string_equal(read.chars, code.chars);
}

static void a_changed_code_or_that_of_another_user_is_refused(void **state)
{
    struct recovery_code read, code = made(3);
    char changed[RECOVERY_CODE_CHARS + 2];
    unsigned passed = 0;
    (void)state;
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
}

/* With the key of before, and not without it. */
static void a_code_of_an_earlier_version_is_read(void **state)
{
    const struct key_pair both = { KEY, KEY_OF("a secret of at least 32 characters", KEY_BEFORE) };
    struct recovery_code earlier, read;
    (void)state;
    assert_true(recovery_code_make(arena, both.before, STR("ming"), 2, &earlier));
    assert_true(recovery_code_read(arena, both, STR("ming"), str_from(earlier.text), &read));
    assert_string_equal(read.chars, earlier.chars);
    assert_true(str_equal(read.subject, earlier.subject));
    assert_false(is_read(STR("ming"), earlier.text, &read));
    assert_true(recovery_code_read(arena, both, STR("ming"), str_from(made(3).text), &read));
}

static void a_text_that_is_no_code_is_refused(void **state)
{
    static const char *const texts[] = { "",
                                         "-",
                                         "0",
                                         "u",
                                         "0-0000-0000-0000-000",
                                         "0-0000-0000-0000-00000",
                                         "A-0000-0000-0000-0000",
                                         "0-U000-0000-0000-0000",
                                         "\xff",
                                         "0_000000000000000" };
    struct recovery_code read;
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        assert_false(is_read(STR("ming"), texts[i], &read));
    char longer[RECOVERY_CODE_CHARS + 2];
    strcat(strcpy(longer, made(4).chars), "0");
    assert_false(is_read(STR("ming"), longer, &read));
    assert_false(recovery_code_read(arena, ((struct key_pair){ KEY, NULL }), STR("ming"),
                                    str_slice(str_from(longer), 0, 16), &read));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_are_read_back_and_differ),
        cmocka_unit_test(a_code_is_read_as_people_type_it),
        cmocka_unit_test(a_changed_code_or_that_of_another_user_is_refused),
        cmocka_unit_test(a_code_of_an_earlier_version_is_read),
        cmocka_unit_test(a_text_that_is_no_code_is_refused),
    };
    return cmocka_run_group_tests(tests, arena_setup, arena_teardown);
}

/* web/etag: what a client says it has already. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/array.h"
#include "web/etag.h"

static bool matches(const char *list)
{
    return etag_matches(str_from(list), STR("W/\"abc\""));
}

static void a_tag_is_found_wherever_it_stands(void **state)
{
    (void)state;
    static const char *const lists[] = {
        "W/\"abc\"",       "\"abc\"",       "*", " * ", "\"x\", W/\"abc\"", "W/\"abc\",\"x\"", "\"\",\"a,b\",\"abc\"",
        ", ,\t\"abc\" , ", "\"x\" \"abc\"",
    };
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        if (!matches(lists[i]))
            fail_msg("%s should match", lists[i]);
    assert_true(etag_matches(STR("W/\"abc\""), STR("\"abc\"")));
}

static void another_tag_or_nonsense_is_not(void **state)
{
    (void)state;
    static const char *const lists[] = {
        NULL,  "",        " ",           ",",          "W/",           "\"",       "W/\"",   "\"abc",
        "abc", "\"ABC\"", "\"abc \"",    "w/\"abc\"",  "W/ \"abc\"",   "\"abcd\"", "\"ab\"", "\"a\",\"b\",\"c\"",
        "**",  "*,",      "W/W/\"abc\"", "x, \"abc\"", "\"x, \"abc\"", "'abc'",
    };
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        if (matches(lists[i]))
            fail_msg("%s should not match", lists[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tag_is_found_wherever_it_stands),
        cmocka_unit_test(another_tag_or_nonsense_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* web/etag: tags in If-None-Match. */
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

static void a_tag_matches_at_any_place_of_the_list(void **state)
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

static void another_tag_or_a_malformed_one_does_not_match(void **state)
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
        cmocka_unit_test(a_tag_matches_at_any_place_of_the_list),
        cmocka_unit_test(another_tag_or_a_malformed_one_does_not_match),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* base/spelling: which name a mistyped one was meant to be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/spelling.h"

static const char *const NAMES[] = { "base_url", "redis_socket", "redis_user", "mysql_socket", "demo" };

static const char *nearest(const char *word)
{
    return spelling_nearest(str_from(word), NAMES, ARRAY_LEN(NAMES));
}

static void a_letter_too_many_too_few_wrong_or_swapped_is_understood(void **state)
{
    (void)state;
    assert_string_equal(nearest("redis_sockett"), "redis_socket");
    assert_string_equal(nearest("redis_soket"), "redis_socket");
    assert_string_equal(nearest("mysqi_socket"), "mysql_socket");
    assert_string_equal(nearest("bsae_url"), "base_url");
    assert_string_equal(nearest("Base_URL"), "base_url");
    assert_string_equal(nearest("dmeo"), "demo");
    assert_string_equal(nearest("demo"), "demo");
}

static void the_nearest_of_several_is_chosen(void **state)
{
    (void)state;
    assert_string_equal(nearest("redis_uset"), "redis_user");
    assert_string_equal(nearest("mydis_socket"), "redis_socket");
}

static void a_word_that_is_like_none_has_no_nearest(void **state)
{
    char longest[200];
    (void)state;
    memset(longest, 'a', sizeof longest);
    assert_null(nearest(""));
    assert_null(nearest("x"));
    assert_null(nearest("password"));
    assert_null(nearest("abcd"));
    assert_null(spelling_nearest((struct str){ longest, sizeof longest }, NAMES, ARRAY_LEN(NAMES)));
    assert_null(spelling_nearest(STR("demo"), NAMES, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_letter_too_many_too_few_wrong_or_swapped_is_understood),
        cmocka_unit_test(the_nearest_of_several_is_chosen),
        cmocka_unit_test(a_word_that_is_like_none_has_no_nearest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* user/device: the name of a device in the list of sessions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "support/test_arena.h"
#include "user/device.h"

static void browsers_and_systems_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *agent, *name;
    } cases[] = {
        { "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Mobile "
          "Safari/537.36",
          "Chrome · Android" },
        { "Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 Chrome/126.0 Mobile Safari/537.36 "
          "MicroMessenger/8.0.49",
          "WeChat · Android" },
        { "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
          "Version/17.5 Mobile/15E148 Safari/604.1",
          "Safari · iPhone" },
        { "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/126.0 Safari/537.36 Edg/126.0",
          "Edge · Windows" },
        { "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0", "Firefox · Linux" },
        { "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Version/17.4 Safari/605.1.15",
          "Safari · macOS" },
        { "curl/7.88.1", "curl" },
        { "party-bot_1.2 (hello)", "party-bot_1.2" },
        { "Dalvik (Linux; Android 9)", "Android" },
        { "", "" },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_string_equal(device_name(arena, str_from(cases[i].agent)).ptr, cases[i].name);
    assert_int_equal(device_name(arena, STR_NONE).len, 0);
}

static void a_name_has_only_our_words_or_a_plain_first_word(void **state)
{
    (void)state;
    static const char *const agents[] = {
        "<script>alert(1)</script>", "\xff\xfe", "银行", "a\nb", "{{x}}", "%s%n", "\""
    };
    char large[8192];
    for (size_t i = 0; i < ARRAY_LEN(agents); i++)
        assert_int_equal(device_name(arena, str_from(agents[i])).len, 0);
    memset(large, 'x', sizeof large);
    assert_true(device_name(arena, (struct str){ large, sizeof large }).len <= DEVICE_BYTES_MAX);
    memcpy(large + sizeof large - 8, "Chrome/1", 8); /* beyond what is read */
    assert_int_equal(device_name(arena, (struct str){ large, sizeof large }).len, 32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(browsers_and_systems_are_named),
        cmocka_unit_test(a_name_has_only_our_words_or_a_plain_first_word),
    };
    return cmocka_run_group_tests(tests, arena_setup, arena_teardown);
}

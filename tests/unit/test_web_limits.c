/* web/limits, the parts without I/O: which addresses share a limit. */
#include "support/test_arena.h"
#include "web/limits.h"

static void assert_text(struct str got, const char *want)
{
    if (!str_equal(got, str_from(want)))
        fail_msg("%.*s instead of %s", STR_ARG(got), want);
}

TEST(an_address_of_ipv4_a_household_of_ipv6_and_any_other_text_is_one_subject)
{
    assert_text(limit_address(arena, STR("192.0.2.65")), "c0000241");
    assert_text(limit_address(arena, STR("::ffff:192.0.2.65")), "c0000241");
    assert_text(limit_network(arena, STR("192.0.2.65")), "c00002");
    assert_text(limit_network(arena, STR("::ffff:192.0.2.99")), "c00002");
    assert_text(limit_network(arena, STR("0.0.7.1")), "000007");
    assert_text(limit_address(arena, STR("2001:db8:1:2:3:4:5:6")), "20010db800010002");
    assert_text(limit_address(arena, STR("2001:db8:1:2::9")), "20010db800010002");
    assert_text(limit_address(arena, STR("2001:db8:1:3::9")), "20010db800010003");
    assert_text(limit_network(arena, STR("2001:db8:1:3::9")), "20010db80001");
    assert_text(limit_address(arena, STR("::1")), "0000000000000000");
    assert_text(limit_address(arena, STR("unix:")), "unix:");
    assert_text(limit_address(arena, STR("")), "");
    assert_text(limit_network(arena, STR("1234567890123456789012345678901234567890123456789")),
                "1234567890123456789012345678901234567890123456789");
}

TESTS(arena_setup, arena_teardown)

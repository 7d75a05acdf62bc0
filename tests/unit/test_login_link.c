/* user/login_link: codes that the site has made, and texts that are refused by arithmetic alone. */
#include "base/base32.h"
#include "support/test_arena.h"
#include "user/login_link.h"

#define KEY_OF(secret) ((struct key[]){ key_derive(STR(secret), KEY_LOGIN_LINKS) })
#define KEY            KEY_OF("a secret of at least 32 characters")

TEST(codes_differ_and_are_read_back_in_any_case)
{
    struct login_link one, two, read;
    char capitals[LOGIN_LINK_CODE_LEN + 1];
    login_link_new(KEY, &one);
    login_link_new(KEY, &two);
    assert_int_equal(strlen(one.code), LOGIN_LINK_CODE_LEN);
    assert_string_not_equal(one.code, two.code);
    assert_memory_not_equal(one.hash, two.hash, sizeof one.hash);
    for (size_t i = 0; i <= LOGIN_LINK_CODE_LEN; i++)
        capitals[i] = one.code[i] >= 'a' ? (char)(one.code[i] - 'a' + 'A') : one.code[i];
    EACH_TEXT (typed, one.code, capitals) {
        assert_true(login_link_read(KEY, str_from(typed), &read));
        assert_string_equal(read.code, one.code);
        assert_memory_equal(read.hash, one.hash, sizeof one.hash);
    }
}

TEST(a_changed_code_another_sites_and_what_is_none_are_refused)
{
    struct login_link link, read;
    login_link_new(KEY, &link);
    for (size_t i = 0; i < LOGIN_LINK_CODE_LEN; i++) {
        char changed[LOGIN_LINK_CODE_LEN + 1];
        memcpy(changed, link.code, sizeof changed);
        changed[i] = BASE32_DIGITS[(base32_value(changed[i]) + 1) % BASE32_COUNT];
        assert_false(login_link_read(KEY, str_from(changed), &read));
    }
    assert_false(login_link_read(KEY_OF("another secret of at least 32 chars"), str_from(link.code), &read));
    assert_false(login_link_read(KEY, (struct str){ link.code, LOGIN_LINK_CODE_LEN - 1 }, &read));
    EACH_TEXT (typed, "", "0", "00000000000000000000000000000000", "小明")
        assert_false(login_link_read(KEY, str_from(typed), &read));
}

TEST(a_link_has_the_code_in_its_query)
{
    struct login_link link;
    login_link_new(KEY, &link);
    const struct str url = login_link_url(arena, "https://hongbao.example", &link);
    const struct str wanted = arena_printf(arena, "https://hongbao.example/login/link?code=%s", link.code);
    assert_true(str_equal(url, wanted));
}

TESTS(arena_setup, arena_teardown)

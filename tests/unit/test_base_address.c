/* base/address: where the stores listen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/address.h"
#include "base/array.h"

static struct address_list list;

static void a_socket_a_name_and_both_kinds_of_ip_address_are_read(void **state)
{
    (void)state;
    char text[ADDRESS_TEXT_MAX];
    assert_null(
        address_list_read(STR("unix:/run/redis.sock,redis-1.example:6379 , 10.0.0.7:1,[fe80::1]:65535"), &list));
    assert_int_equal(list.count, 4);
    assert_string_equal(list.items[0].name, "/run/redis.sock");
    assert_int_equal(list.items[0].port, 0);
    assert_string_equal(list.items[1].name, "redis-1.example");
    assert_int_equal(list.items[1].port, 6379);
    assert_string_equal(list.items[2].name, "10.0.0.7");
    assert_int_equal(list.items[2].port, 1);
    assert_string_equal(list.items[3].name, "fe80::1");
    assert_int_equal(list.items[3].port, 65535);
    assert_string_equal(address_print(&list.items[0], text), "unix:/run/redis.sock");
    assert_string_equal(address_print(&list.items[1], text), "redis-1.example:6379");
    assert_string_equal(address_print(&list.items[3], text), "[fe80::1]:65535");
}

static void each_mistake_has_its_own_words(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } bad[] = {
        { "", "empty" },
        { ",", "empty" },
        { "a:1,", "empty" },
        { " , a:1", "empty" },
        { "/run/redis.sock", "written unix:PATH" },
        { "unix:", "from 1 to 107 bytes" },
        { "redis", "no port" },
        { "[::1]", "no port" },
        { "redis:", "port must be from 1 to 65535" },
        { "redis:0", "port must be from 1 to 65535" },
        { "redis:65536", "port must be from 1 to 65535" },
        { "redis:x", "port must be from 1 to 65535" },
        { "redis:+1", "port must be from 1 to 65535" },
        { "redis:01", "port must be from 1 to 65535" },
        { "::1:6379", "stands in brackets" },
        { "[::1:6379", "stands in brackets" },
        { "[redis]:6379", "must be an IPv6 address" },
        { "[]:6379", "must be an IPv6 address" },
        { "[10.0.0.1]:6379", "must be an IPv6 address" },
        { ":6379", "name or an IP address" },
        { "192.168.1.300:6379", "name or an IP address" },
        { "1.2.3:6379", "name or an IP address" },
        { "-h:6379", "name or an IP address" },
        { "a b:6379", "name or an IP address" },
        { "a/b:6379", "name or an IP address" },
        { "redis://a:6379", "stands in brackets" },
        { "a:1, b:1, A:1", "twice" },
        { "unix:/a, unix:/a", "twice" },
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        const char *words = address_list_read(str_from(bad[i].text), &list);
        if (words == NULL || strstr(words, bad[i].words) == NULL)
            fail_msg("%s: %s", bad[i].text, words == NULL ? "accepted" : words);
    }
    assert_non_null(address_list_read(STR_NONE, &list));
}

static void addresses_that_differ_in_host_or_port_are_two(void **state)
{
    (void)state;
    assert_null(address_list_read(STR("a:1,a:2,b:1,unix:a,unix:A"), &list));
    assert_int_equal(list.count, 5);
}

static void the_limits_are_reached_and_not_passed(void **state)
{
    (void)state;
    char path[5 + ADDRESS_PATH_MAX + 1] = "unix:", name[ADDRESS_NAME_MAX + 3] = "", many[256] = "";
    memset(path + 5, 'p', sizeof path - 5);
    assert_null(address_list_read((struct str){ path, 5 + ADDRESS_PATH_MAX }, &list));
    assert_int_equal(strlen(list.items[0].name), ADDRESS_PATH_MAX);
    assert_non_null(address_list_read((struct str){ path, 5 + ADDRESS_PATH_MAX + 1 }, &list));
    memset(name, 'n', sizeof name);
    memcpy(name + ADDRESS_NAME_MAX, ":1", 2);
    assert_null(address_list_read((struct str){ name, ADDRESS_NAME_MAX + 2 }, &list));
    memcpy(name + ADDRESS_NAME_MAX, "n:1", 3);
    assert_non_null(address_list_read((struct str){ name, ADDRESS_NAME_MAX + 3 }, &list));
    size_t len = 0;
    for (unsigned i = 0; i <= ADDRESSES_MAX; i++) {
        len += (size_t)snprintf(many + len, sizeof many - len, "%sh:%u", i == 0 ? "" : ",", i + 1);
        assert_int_equal(address_list_read((struct str){ many, len }, &list) == NULL, i < ADDRESSES_MAX);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_socket_a_name_and_both_kinds_of_ip_address_are_read),
        cmocka_unit_test(each_mistake_has_its_own_words),
        cmocka_unit_test(addresses_that_differ_in_host_or_port_are_two),
        cmocka_unit_test(the_limits_are_reached_and_not_passed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

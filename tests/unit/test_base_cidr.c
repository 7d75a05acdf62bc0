/* base/cidr: networks of IPv4 and IPv6, and which addresses they have. */
#include "base/cidr.h"
#include "support/test.h"

TEST(a_network_has_the_addresses_with_its_prefix)
{
    static const struct {
        const char *list, *address;
        bool has;
    } cases[] = {
        { "10.1.0.0/16", "10.1.255.255", true },
        { "10.1.0.0/16", "10.2.0.0", false },
        { "10.1.0.0/16", "::ffff:10.1.2.3", true },
        { "192.0.2.7", "192.0.2.7", true },
        { "192.0.2.7", "192.0.2.8", false },
        { "192.0.2.7/32", "192.0.2.7", true },
        { "192.0.2.4/30", "192.0.2.7", true },
        { "192.0.2.4/30", "192.0.2.8", false },
        { "192.0.2.4/31", "192.0.2.6", false },
        { "0.0.0.0/0", "203.0.113.9", true },
        { "0.0.0.0/0", "::1", false },
        { "0.0.0.0/0", "::ffff:203.0.113.9", true },
        { "::/0", "2001:db8::1", true },
        { "::/0", "203.0.113.9", false },
        { "::/0", "::ffff:203.0.113.9", false },
        { "2001:db8::/32", "2001:DB8:ffff::1", true },
        { "2001:db8::/32", "2001:db9::", false },
        { "2001:db8::8/125", "2001:db8::f", true },
        { "2001:db8::8/125", "2001:db8::10", false },
        { "::ffff:10.1.0.0/112", "10.1.2.3", true },
        { "::ffff:10.1.0.0/112", "10.2.2.3", false },
        { "::ffff:192.0.2.7", "192.0.2.7", true },
        { "10.0.0.0/8, 192.0.2.7  ,::1", "::1", true },
        { "10.0.0.0/8, 192.0.2.7  ,::1", "192.0.2.7", true },
        { "10.0.0.0/8, 192.0.2.7  ,::1", "192.0.2.6", false },
        { "", "192.0.2.6", false },
        { "192.0.2.6", "", false },
        { "192.0.2.6", "unix:", false },
        { "192.0.2.6", "192.0.2.6 ", false },
        { "192.0.2.6", "192.0.2.6/32", false },
        { "192.0.2.6", "0192.0.2.6", false },
        { "nonsense 192.0.2.6", "192.0.2.6", true },
    };
    EACH (c, cases)
        if (cidr_list_has(str_from(c->list), str_from(c->address)) != c->has)
            fail_msg("%s, %s", c->list, c->address);
}

TEST(a_list_is_valid_when_each_entry_is_a_network_without_bits_behind_its_prefix)
{
    struct str wrong;
    EACH_TEXT (list, "", " , ", "10.0.0.0/8", "10.1.2.3", "10.1.2.3/32 ::1,fe80::/10", "0.0.0.0/0 ::/0",
               "::ffff:10.0.0.0/104", "::ffff:0.0.0.0/96")
        assert_of(list, cidr_list_is_valid(str_from(list), NULL));
    EACH_TEXT (entry, "10.0.0.1/8", "10.0.0.0/33", "10.0.0.0/", "/8", "10.0.0.0/-1", "10.0.0.0/08", "10.0.0.0/8/8",
               "10.0.0", "10.0.0.256", "::/129", "2001:db8::1/32", "fe80::1%eth0", "example.com", "*", "10.0.0.0/1234",
               "::ffff:10.0.0.1/104", "1111:1111:1111:1111:1111:1111:1111:1111:1111:1111")
        assert_of(entry, !cidr_list_is_valid(str_from(entry), &wrong) && str_equal(wrong, str_from(entry)));
}

TESTS(NULL, NULL)

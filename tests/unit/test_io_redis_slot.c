/* io/redis_slot: the slots are those that Redis gives (CLUSTER KEYSLOT). */
#include "base/array.h"
#include "io/redis_slot.h"
#include "support/test.h"

TEST(a_key_has_the_slot_that_redis_gives_it)
{
    static const struct {
        const char *key;
        int slot;
    } cases[] = {
        { "", 0 },
        { "123456789", 12739 },
        { "foo", 12182 },
        { "hb:{p07}:events", 6953 },
        { "foo{bar", 15278 },
        { "\xe7\xba\xa2\xff", 2325 },
        { "foo{}{bar}", 8363 },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(redis_slot(str_from(cases[i].key)), cases[i].slot);
}

TEST(keys_with_one_hash_tag_have_one_slot)
{
    assert_int_equal(redis_slot(STR("hb:{p07}:events")), redis_slot(STR("p07")));
    assert_int_equal(redis_slot(STR("foo{bar}{zap}")), redis_slot(STR("bar")));
    assert_int_equal(redis_slot(STR("foo{{bar}}zap")), redis_slot(STR("{bar")));
}

TESTS(NULL, NULL)

/* redis/slot: the slots are those that Redis gives (CLUSTER KEYSLOT). */
#include "redis/slot.h"
#include "support/test.h"

TEST(a_key_has_the_slot_that_redis_gives_it)
{
    static const struct {
        const char *key;
        int slot;
    } cases[] = { { "", 0 },
                  { "123456789", 12739 },
                  { "foo", 12182 },
                  { "hb:{p07}:events", 6953 },
                  { "foo{bar", 15278 },
                  { "\xe7\xba\xa2\xff", 2325 },
                  { "foo{}{bar}", 8363 } };
    EACH (row, cases)
        assert_int_equal(redis_slot(str_from(row->key)), row->slot);
    assert_int_equal(redis_slot(STR("hb:{p07}:events")), redis_slot(STR("p07")));
    assert_int_equal(redis_slot(STR("foo{bar}{zap}")), redis_slot(STR("bar")));
    assert_int_equal(redis_slot(STR("foo{{bar}}zap")), redis_slot(STR("{bar")));
}

TESTS(NULL, NULL)

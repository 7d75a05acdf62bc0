/* io/redis_slot: the slots are those that Redis gives (CLUSTER KEYSLOT). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/array.h"
#include "io/redis_slot.h"

static void a_key_has_the_slot_that_redis_gives_it(void **state)
{
    (void)state;
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

static void keys_with_one_hash_tag_have_one_slot(void **state)
{
    (void)state;
    assert_int_equal(redis_slot(STR("hb:{p07}:events")), redis_slot(STR("p07")));
    assert_int_equal(redis_slot(STR("foo{bar}{zap}")), redis_slot(STR("bar")));
    assert_int_equal(redis_slot(STR("foo{{bar}}zap")), redis_slot(STR("{bar")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_has_the_slot_that_redis_gives_it),
        cmocka_unit_test(keys_with_one_hash_tag_have_one_slot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

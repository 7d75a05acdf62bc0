/* packet/receivers: for whom a packet is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "packet/receivers.h"

static void a_packet_without_receivers_is_for_everybody(void **state)
{
    (void)state;
    const struct packet p = { .kind = PACKET_LUCKY };
    assert_true(packet_is_for(&p, 10001));
    assert_true(packet_is_for(&p, 0));
}

static void an_exclusive_packet_is_for_its_receiver(void **state)
{
    (void)state;
    const struct packet p = { .kind = PACKET_EXCLUSIVE, .receiver_id = 10001 };
    assert_true(packet_is_for(&p, 10001));
    assert_false(packet_is_for(&p, 10002));
    assert_false(packet_is_for(&p, 0));
}

static void several_receivers_are_told_by_their_whole_ids(void **state)
{
    (void)state;
    struct arena *a = arena_new(4096, 65536);
    struct receiver items[] = { { .id = UINT64_MAX, .name = STR("四") },
                                { .id = 10002, .name = STR("二") },
                                { .id = 10010, .name = STR("三") },
                                { .id = 7, .name = STR("一") } };
    struct receivers r = { items, 4 };
    struct packet p = { .kind = PACKET_EVEN };
    assert_int_equal(receivers_describe(a, &p, &r), ST_OK);
    assert_int_equal(p.receiver_count, 4);
    assert_true(str_equal(p.receivers, STR(",7,10002,10010,18446744073709551615,")));
    assert_true(str_equal(p.receiver_names, STR("一\n二\n三\n")));
    for (size_t i = 0; i < 4; i++)
        assert_true(packet_is_for(&p, items[i].id));
    static const uint64_t others[] = { 0, 1, 70, 1000, 10001, 100020, 2, 1844674407370955161 };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(packet_is_for(&p, others[i]));
    arena_free(a);
}

static void without_memory_the_receivers_are_not_described(void **state)
{
    (void)state;
    struct arena *a = arena_new(8, 8);
    struct receiver items[] = { { .id = 10001, .name = STR("一") }, { .id = 10002, .name = STR("二") } };
    struct receivers r = { items, 2 };
    struct packet p = { .kind = PACKET_EVEN };
    assert_int_equal(receivers_describe(a, &p, &r), ST_NO_MEMORY);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_packet_without_receivers_is_for_everybody),
        cmocka_unit_test(an_exclusive_packet_is_for_its_receiver),
        cmocka_unit_test(several_receivers_are_told_by_their_whole_ids),
        cmocka_unit_test(without_memory_the_receivers_are_not_described),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

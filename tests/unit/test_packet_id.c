/* packet/id: ids are unique, also when the clock jumps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/random.h"
#include "packet/draw.h"
#include "packet/id.h"
#include "support/id_parts.h"

#define NOW   (ID_EPOCH_MS + INT64_C(90000000000))
#define NEVER INT64_MAX

static int compare_ids(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a;
    uint64_t right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

static void assert_all_different(uint64_t *ids, size_t count)
{
    qsort(ids, count, sizeof *ids, compare_ids);
    for (size_t i = 1; i < count; i++)
        assert_true(ids[i - 1] < ids[i]);
}

static void an_id_carries_time_and_instance_and_fits_63_bits(void **state)
{
    (void)state;
    struct id_gen g;
    uint64_t id;
    id_gen_init(&g, 1023, 0);
    assert_int_equal(id_next(&g, NOW, 4095, NEVER, &id), ST_OK);
    assert_int_equal(id_ms(id), NOW);
    assert_int_equal(id_instance(id), 1023);
    assert_int_equal(id & 4095, 4095);
    assert_true(id <= INT64_MAX);
    assert_true(id > UINT64_C(1) << 50);
}

static void the_sequence_starts_at_random_and_wraps_within_its_ms(void **state)
{
    (void)state;
    struct id_gen g;
    uint64_t id;
    id_gen_init(&g, 7, 0);
    assert_int_equal(id_next(&g, NOW, 4094, NEVER, &id), ST_OK);
    assert_int_equal(id & 4095, 4094);
    assert_int_equal(id_next(&g, NOW, 1, NEVER, &id), ST_OK); /* random is used once per ms */
    assert_int_equal(id & 4095, 4095);
    assert_int_equal(id_next(&g, NOW, 1, NEVER, &id), ST_OK);
    assert_int_equal(id & 4095, 0);
    assert_int_equal(id_ms(id), NOW);
    assert_int_equal(id_next(&g, NOW + 1, 17, NEVER, &id), ST_OK);
    assert_int_equal(id & 4095, 17);
}

static void ten_thousand_ids_in_one_ms_are_all_different(void **state)
{
    (void)state;
    static uint64_t ids[10000];
    struct id_gen g;
    id_gen_init(&g, 3, 0);
    for (size_t i = 0; i < 10000; i++)
        assert_int_equal(id_next(&g, NOW, i * 977, NEVER, &ids[i]), ST_OK);
    assert_all_different(ids, 10000);
    assert_int_equal(id_ms(ids[9999]), NOW + 2); /* 4096 per ms, the others in the next two */
}

static void ids_stay_different_while_the_clock_jumps(void **state)
{
    (void)state;
    static uint64_t ids[20000];
    struct id_gen g;
    struct draw d;
    uint8_t seed[SEED_BYTES] = { 9 };
    size_t made = 0;
    int64_t now = NOW;
    draw_init(&d, seed);
    id_gen_init(&g, 3, 0);
    for (size_t i = 0; i < 20000; i++) {
        now += (int64_t)draw_below(&d, 400) - 199;
        made += id_next(&g, now, draw_u32(&d), NEVER, &ids[made]) == ST_OK ? 1 : 0;
    }
    assert_true(made > 10000);
    assert_all_different(ids, made);
}

static void a_clock_that_went_back_too_far_is_refused_until_it_is_close_again(void **state)
{
    (void)state;
    struct id_gen g;
    uint64_t id;
    id_gen_init(&g, 3, 0);
    assert_int_equal(id_next(&g, NOW, 0, NEVER, &id), ST_OK);
    uint64_t first = id;
    assert_int_equal(id_next(&g, NOW - ID_AHEAD_MS_MAX - 1, 0, NEVER, &id), ST_UNAVAILABLE);
    assert_int_equal(id, first);
    assert_int_equal(id_next(&g, NOW - ID_AHEAD_MS_MAX, 0, NEVER, &id), ST_OK);
    assert_int_equal(id, first + 1);
}

static void no_id_reaches_the_end_of_the_lease(void **state)
{
    (void)state;
    struct id_gen g;
    uint64_t id;
    id_gen_init(&g, 3, 0);
    assert_int_equal(id_next(&g, NOW, 0, NOW, &id), ST_UNAVAILABLE);
    assert_int_equal(id_next(&g, NOW, 0, NOW + 1, &id), ST_OK);
    for (int i = 1; i < ID_SEQUENCES; i++)
        assert_int_equal(id_next(&g, NOW, 0, NOW + 1, &id), ST_OK);
    assert_int_equal(id_next(&g, NOW, 0, NOW + 1, &id), ST_UNAVAILABLE);
}

static void the_next_holder_starts_at_the_end_of_the_previous_lease(void **state)
{
    (void)state;
    struct id_gen g;
    uint64_t id;
    id_gen_init(&g, 3, NOW);
    assert_int_equal(id_next(&g, NOW - 1000, 0, NEVER, &id), ST_OK); /* a slower clock */
    assert_int_equal(id_ms(id), NOW);
    id_gen_init(&g, 3, NOW);
    assert_int_equal(id_next(&g, NOW + 5, 0, NEVER, &id), ST_OK);
    assert_int_equal(id_ms(id), NOW + 5);
}

static void times_outside_the_41_bits_are_refused(void **state)
{
    (void)state;
    struct id_gen g;
    uint64_t id = 5;
    id_gen_init(&g, 3, 0);
    assert_int_equal(id_next(&g, ID_EPOCH_MS - 1, 0, NEVER, &id), ST_UNAVAILABLE);
    assert_int_equal(id_next(&g, 0, 0, NEVER, &id), ST_UNAVAILABLE);
    assert_int_equal(id_next(&g, ID_EPOCH_MS + (INT64_C(1) << 41), 0, NEVER, &id), ST_UNAVAILABLE);
    assert_int_equal(id, 5);
    assert_int_equal(id_next(&g, ID_EPOCH_MS, 0, NEVER, &id), ST_OK);
    assert_int_equal(id_next(&g, ID_EPOCH_MS + (INT64_C(1) << 41) - 1, 0, NEVER, &id), ST_OK);
    assert_true(id <= INT64_MAX);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_id_carries_time_and_instance_and_fits_63_bits),
        cmocka_unit_test(the_sequence_starts_at_random_and_wraps_within_its_ms),
        cmocka_unit_test(ten_thousand_ids_in_one_ms_are_all_different),
        cmocka_unit_test(ids_stay_different_while_the_clock_jumps),
        cmocka_unit_test(a_clock_that_went_back_too_far_is_refused_until_it_is_close_again),
        cmocka_unit_test(no_id_reaches_the_end_of_the_lease),
        cmocka_unit_test(the_next_holder_starts_at_the_end_of_the_previous_lease),
        cmocka_unit_test(times_outside_the_41_bits_are_refused),
    };
    return cmocka_run_group_tests_name("packet_id", tests, NULL, NULL);
}

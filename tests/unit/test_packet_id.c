/* packet/id: ids are unique, also when the clock jumps. */
#include "base/random.h"
#include "packet/draw.h"
#include "packet/id.h"
#include "support/id_parts.h"
#include "support/test.h"

#define NOW   (ID_EPOCH_MS + INT64_C(90000000000))
#define NEVER INT64_MAX

static struct id_gen g;
static uint64_t id;

/* The next id is in id. */
static enum status next(int64_t now_ms, uint64_t random, int64_t until_ms)
{
    return id_next(&g, now_ms, random, until_ms, &id);
}

static int compare_ids(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

static void assert_all_different(uint64_t *ids, size_t count)
{
    qsort(ids, count, sizeof *ids, compare_ids);
    for (size_t i = 1; i < count; i++)
        assert_true(ids[i - 1] < ids[i]);
}

TEST(an_id_carries_time_instance_and_a_sequence_that_starts_at_random)
{
    id_gen_init(&g, 1023, 0);
    assert_int_equal(next(NOW, 4095, NEVER), ST_OK);
    assert_int_equal(id_ms(id), NOW);
    assert_int_equal(id_instance(id), 1023);
    assert_int_equal(id & 4095, 4095);
    assert_true(id <= INT64_MAX && id > UINT64_C(1) << 50);
    static const struct {
        int64_t ms;
        uint64_t random, sequence;
    } rows[] = {
        { NOW, 4094, 4094 }, { NOW, 1, 4095 } /* random is used once per ms */, { NOW, 1, 0 }, { NOW + 1, 17, 17 }
    };
    id_gen_init(&g, 7, 0);
    EACH (row, rows) {
        assert_int_equal(next(row->ms, row->random, NEVER), ST_OK);
        assert_int_equal(id & 4095, row->sequence);
        assert_int_equal(id_ms(id), row->ms);
    }
}

TEST(ids_are_all_different_in_one_ms_and_while_the_clock_jumps)
{
    static uint64_t ids[10000];
    id_gen_init(&g, 3, 0);
    for (size_t i = 0; i < 10000; i++)
        assert_int_equal(id_next(&g, NOW, i * 977, NEVER, &ids[i]), ST_OK);
    assert_all_different(ids, 10000);
    assert_int_equal(id_ms(ids[9999]), NOW + 2); /* 4096 per ms, the others in the next two */
    static uint64_t jumped[20000];
    struct draw d;
    uint8_t seed[SEED_BYTES] = { 9 };
    size_t made = 0;
    int64_t now = NOW;
    draw_init(&d, seed);
    id_gen_init(&g, 3, 0);
    for (size_t i = 0; i < 20000; i++) {
        now += (int64_t)draw_below(&d, 400) - 199;
        made += id_next(&g, now, draw_u32(&d), NEVER, &jumped[made]) == ST_OK ? 1 : 0;
    }
    assert_true(made > 10000);
    assert_all_different(jumped, made);
}

TEST(a_clock_that_went_back_too_far_or_beyond_the_41_bits_is_refused)
{
    id_gen_init(&g, 3, 0);
    assert_int_equal(next(NOW, 0, NEVER), ST_OK);
    uint64_t first = id;
    assert_int_equal(next(NOW - ID_AHEAD_MS_MAX - 1, 0, NEVER), ST_UNAVAILABLE);
    assert_int_equal(id, first);
    assert_int_equal(next(NOW - ID_AHEAD_MS_MAX, 0, NEVER), ST_OK);
    assert_int_equal(id, first + 1);
    id = 5;
    id_gen_init(&g, 3, 0);
    assert_int_equal(next(ID_EPOCH_MS - 1, 0, NEVER), ST_UNAVAILABLE);
    assert_int_equal(next(0, 0, NEVER), ST_UNAVAILABLE);
    assert_int_equal(next(ID_EPOCH_MS + (INT64_C(1) << 41), 0, NEVER), ST_UNAVAILABLE);
    assert_int_equal(id, 5);
    assert_int_equal(next(ID_EPOCH_MS, 0, NEVER), ST_OK);
    assert_int_equal(next(ID_EPOCH_MS + (INT64_C(1) << 41) - 1, 0, NEVER), ST_OK);
    assert_true(id <= INT64_MAX);
}

TEST(no_id_reaches_the_end_of_the_lease_where_the_next_holder_starts)
{
    id_gen_init(&g, 3, 0);
    assert_int_equal(next(NOW, 0, NOW), ST_UNAVAILABLE);
    assert_int_equal(next(NOW, 0, NOW + 1), ST_OK);
    for (int i = 1; i < ID_SEQUENCES; i++)
        assert_int_equal(next(NOW, 0, NOW + 1), ST_OK);
    assert_int_equal(next(NOW, 0, NOW + 1), ST_UNAVAILABLE);
    id_gen_init(&g, 3, NOW);
    assert_int_equal(next(NOW - 1000, 0, NEVER), ST_OK); /* a slower clock */
    assert_int_equal(id_ms(id), NOW);
    id_gen_init(&g, 3, NOW);
    assert_int_equal(next(NOW + 5, 0, NEVER), ST_OK);
    assert_int_equal(id_ms(id), NOW + 5);
}

TESTS(NULL, NULL)

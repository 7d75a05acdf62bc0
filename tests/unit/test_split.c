/* packet/draw: the documented stream. Its vectors were made with sha256sum, not with this code:
 * (printf hongbao-draw-v1; head -c 40 /dev/zero) | sha256sum
 *
 * packet/split: exact sums, limits, no bias by position, reproducible. The known vectors were made by an independent
 * implementation in another language, written from the description in packet/split.h alone. */
#include "base/random.h"
#include "packet/draw.h"
#include "packet/split.h"
#include "support/test.h"

enum { SMALL_MAX = 2000 };

static const enum split_method METHODS[] = { SPLIT_DOUBLE_AVERAGE, SPLIT_UNIFORM, SPLIT_GAUSSIAN, SPLIT_EVEN };
enum { METHOD_COUNT = 4 };

/* 00 01 02 … 1f */
static const uint8_t *seed_counting(void)
{
    static uint8_t seed[SEED_BYTES];
    for (unsigned i = 0; i < SEED_BYTES; i++)
        seed[i] = (uint8_t)i;
    return seed;
}

/* ---- draws ---- */

static const uint8_t ZERO_SEED[SEED_BYTES];

TEST(words_and_draws_below_a_bound_are_the_documented_ones_and_uniform)
{
    static const uint32_t zero[] = { 0x0d7a6a09, 0x217a4dd2, 0xd36e9a7a, 0xef76639c, 0xb5c8b963,
                                     0x8b71b4b0, 0x668241fa, 0xa709880a, 0xefd19261, 0x0b5e9d7c };
    static const uint32_t counting[] = { 0xa2c148cd, 0x8453c941, 0x8e4b4757, 0xf1a08de6, 0xee254eea,
                                         0x698548fd, 0x5e016bb0, 0x381f9979, 0x342b9598, 0x131eaca6 };
    struct draw a, b;
    draw_init(&a, ZERO_SEED);
    draw_init(&b, seed_counting());
    for (size_t i = 0; i < ARRAY_LEN(zero); i++) {
        assert_int_equal(draw_u32(&a), zero[i]);
        assert_int_equal(draw_u32(&b), counting[i]);
    }
    static const struct {
        uint32_t bound, want[6];
    } vectors[] = { { 1, { 0, 0, 0, 0, 0, 0 } },
                    { 6, { 1, 4, 0, 0, 5, 2 } },
                    { 100, { 45, 42, 82, 72, 55, 48 } },
                    /* Nearly half of the words are rejected here. */
                    { 2147483649, { 226126345, 561663442, 1719812602, 190750076, 768569324, 368387221 } },
                    { UINT32_MAX, { 226126345, 561663442, 3547241082, 4017513372, 3049830755, 2339484848 } } };
    EACH (row, vectors) {
        struct draw d;
        draw_init(&d, ZERO_SEED);
        for (size_t i = 0; i < 6; i++)
            assert_int_equal(draw_below(&d, row->bound), row->want[i]);
    }
    enum { SIDES = 6, DRAWS = 60000 };
    int counts[SIDES] = { 0 };
    struct draw dice;
    draw_init(&dice, ZERO_SEED); /* fixed seed, so the result is deterministic */
    for (int i = 0; i < DRAWS; i++)
        counts[draw_below(&dice, SIDES)]++;
    for (int i = 0; i < SIDES; i++)
        assert_in_range(counts[i], 9700, 10300); /* 3.3 standard deviations */
}

/* ---- shares ---- */

/* A different seed for every n, valid until the next call. */
static const uint8_t *seed_numbered(uint32_t n)
{
    static uint8_t seed[SEED_BYTES];
    memset(seed, 0x5a, SEED_BYTES);
    for (unsigned i = 0; i < 4; i++)
        seed[i] = (uint8_t)(n >> (8 * i));
    return seed;
}

static int64_t shares[SPLIT_COUNT_MAX]; /* of the split that assert_split has made last */

static void assert_split_above(enum split_method method, int64_t total, uint32_t count, int64_t min, int64_t max,
                               const uint8_t *seed)
{
    assert_int_equal(split_shares(method, total, count, min, max, seed, shares), ST_OK);
    int64_t sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (shares[i] < min || shares[i] > max)
            fail_msg("method %d total %lld count %u min %lld max %lld: share %u is %lld", (int)method, (long long)total,
                     count, (long long)min, (long long)max, i, (long long)shares[i]);
        sum += shares[i];
    }
    assert_int_equal(sum, total);
}

static void assert_split(enum split_method method, int64_t total, uint32_t count, int64_t max, const uint8_t *seed)
{
    assert_split_above(method, total, count, 1, max, seed);
}

TEST(a_sum_is_exact_and_shares_are_within_limits_for_every_method_up_to_the_largest_total)
{
    struct draw d;
    draw_init(&d, seed_numbered(1));
    for (uint32_t n = 0; n < 8000; n++) {
        uint32_t count = 1 + draw_below(&d, n % 50 == 0 ? SMALL_MAX : 120);
        int64_t max = 1 + draw_below(&d, n % 3 == 0 ? 5 : 20000);
        int64_t total = count + draw_below(&d, (uint32_t)(count * (max - 1) + 1));
        assert_split(METHODS[n % METHOD_COUNT], total, count, max, seed_numbered(n));
    }
    for (uint32_t n = 0; n < 2000; n++) {
        const uint8_t *seed = seed_numbered(n);
        for (size_t m = 0; m < METHOD_COUNT; m++) {
            assert_split(METHODS[m], 10 * 20000 - 1 - n % 37, 10, 20000, seed);
            assert_split(METHODS[m], 10 * 20000 / 2 + n, 10, 20000, seed);
        }
        assert_split(METHODS[n % METHOD_COUNT], 1 + n, 1, 20000, seed);
        assert_split(METHODS[n % METHOD_COUNT], SPLIT_TOTAL_FEN_MAX, 2, INT64_MAX, seed);
    }
}

TEST(split_of_the_smallest_total_gives_one_fen_each_and_of_the_largest_the_limit_each)
{
    static const uint32_t counts[] = { 1, 2, 3, 7, 100, SMALL_MAX };
    static const int64_t limits[] = { 1, 2, 20000 };
    for (size_t i = 0; i < METHOD_COUNT * 6 * 3; i++) {
        enum split_method method = METHODS[i % METHOD_COUNT];
        uint32_t count = counts[i / METHOD_COUNT % 6];
        int64_t max = limits[i / METHOD_COUNT / 6];
        const uint8_t *seed = seed_numbered((uint32_t)i);
        assert_split(method, count, count, max, seed);
        assert_int_equal(shares[count - 1], 1);
        assert_split(method, count * max, count, max, seed);
        assert_int_equal(shares[0], max);
        if (max > 1) {
            assert_split(method, count * max - 1, count, max, seed);
            assert_split(method, count + 1, count, max, seed);
        }
    }
}

TEST(an_even_split_gives_the_rest_to_the_first_shares_and_impossible_arguments_are_refused)
{
    static const int64_t wanted[] = { 34, 33, 33 };
    assert_int_equal(split_shares(SPLIT_EVEN, 100, 3, 1, 20000, NULL, shares), ST_OK);
    assert_memory_equal(shares, wanted, sizeof wanted);
    assert_int_equal(split_best_share_no((const int64_t[]){ 3, 9, 1, 9, 9 }, 5), 1);
    assert_int_equal(split_best_share_no((const int64_t[]){ 5 }, 1), 0);
    assert_int_equal(split_best_share_no((const int64_t[]){ 1, 2, 3 }, 3), 2);
    static const struct {
        int64_t total;
        uint32_t count;
        int64_t max;
    } bad[] = { { 0, 0, 20000 },
                { 1, 0, 20000 },
                { 0, 1, 20000 },
                { -1, 1, 20000 },
                { 9, 10, 20000 },
                { 20001, 1, 20000 },
                { 40001, 2, 20000 },
                { 10, 1, 0 },
                { 10, 1, -5 },
                { SPLIT_TOTAL_FEN_MAX + 1, 2, INT64_MAX },
                { 200001, SPLIT_COUNT_MAX + 1, 20000 },
                { INT64_MAX, 1, INT64_MAX },
                { INT64_MIN, 3, 20000 } };
    EACH (row, bad)
        for (size_t m = 0; m < METHOD_COUNT; m++)
            assert_int_equal(split_shares(METHODS[m], row->total, row->count, 1, row->max, ZERO_SEED, shares),
                             ST_INVALID);
    assert_int_equal(split_shares((enum split_method)99, 10, 2, 1, 100, ZERO_SEED, shares), ST_INVALID);
}

TEST(split_follows_the_known_vectors)
{
    static const struct {
        enum split_method method;
        int64_t total, max, shares[10];
    } known[] = { { SPLIT_DOUBLE_AVERAGE, 1000, 20000, { 117, 40, 165, 201, 26, 134, 30, 153, 58, 76 } },
                  { SPLIT_DOUBLE_AVERAGE, 1900, 200, { 189, 187, 185, 186, 195, 199, 200, 191, 182, 186 } },
                  { SPLIT_DOUBLE_AVERAGE, 1100, 200, { 134, 102, 142, 104, 107, 82, 170, 15, 136, 108 } },
                  { SPLIT_UNIFORM, 1000, 20000, { 20, 80, 316, 53, 119, 133, 35, 114, 119, 11 } },
                  { SPLIT_UNIFORM, 1900, 200, { 180, 200, 200, 180, 200, 188, 186, 200, 183, 183 } },
                  { SPLIT_UNIFORM, 1100, 200, { 126, 189, 200, 171, 96, 60, 27, 46, 53, 132 } },
                  { SPLIT_GAUSSIAN, 1000, 20000, { 62, 114, 160, 92, 118, 53, 125, 126, 73, 77 } },
                  { SPLIT_GAUSSIAN, 1900, 200, { 175, 200, 200, 192, 200, 169, 200, 200, 181, 183 } },
                  { SPLIT_GAUSSIAN, 1100, 200, { 69, 125, 176, 101, 130, 58, 137, 138, 81, 85 } } };
    const uint8_t *seed = seed_counting();
    EACH (row, known) {
        assert_split(row->method, row->total, 10, row->max, seed);
        assert_memory_equal(shares, row->shares, sizeof row->shares);
        /* A floor of 50 fen raises each share by it, and changes nothing else. */
        assert_split_above(row->method, row->total + 500, 10, 51, row->max + 50, seed);
        for (size_t j = 0; j < 10; j++)
            assert_int_equal(shares[j], row->shares[j] + 50);
    }
}

TEST(split_with_a_smallest_share_is_exact_and_within_its_limits)
{
    struct draw d;
    draw_init(&d, seed_numbered(3));
    for (uint32_t n = 0; n < 4000; n++) {
        uint32_t count = 1 + draw_below(&d, 120);
        int64_t min = 1 + draw_below(&d, 200), max = min + draw_below(&d, n % 3 == 0 ? 5 : 20000);
        int64_t total = count * min + draw_below(&d, (uint32_t)(count * (max - min) + 1));
        assert_split_above(METHODS[n % METHOD_COUNT], total, count, min, max, seed_numbered(n));
    }
    for (size_t m = 0; m < METHOD_COUNT; m++) {
        assert_split_above(METHODS[m], 1000, 10, 100, 20000, ZERO_SEED);
        assert_int_equal(shares[9], 100);
        static const int64_t bad[][3] = { { 999, 100, 20000 },
                                          { 1000, 0, 20000 },
                                          { 1000, -5, 20000 },
                                          { 1000, 101, 100 },
                                          { 1000, INT64_MAX, INT64_MAX } }; /* total, smallest, largest */
        EACH (row, bad)
            assert_int_equal(split_shares(METHODS[m], (*row)[0], 10, (*row)[1], (*row)[2], ZERO_SEED, shares),
                             ST_INVALID);
    }
}

/* Expects this hash of the first shares, each as four bytes. */
static void assert_shares_hash(uint32_t count, const char *wanted)
{
    static uint8_t bytes[4 * SPLIT_COUNT_MAX];
    uint8_t hash[HASH_BYTES];
    char hex[2 * HASH_BYTES + 1];
    for (uint32_t i = 0; i < count; i++)
        for (unsigned b = 0; b < 4; b++)
            bytes[4 * i + b] = (uint8_t)((uint64_t)shares[i] >> (24 - 8 * b));
    hash_sha256(bytes, (size_t)count * 4, hash);
    for (unsigned i = 0; i < HASH_BYTES; i++)
        (void)snprintf(hex + 2 * i, 3, "%02x", hash[i]);
    assert_string_equal(hex, wanted);
}

TEST(split_of_a_hundred_thousand_follows_the_known_hashes)
{
    static const struct {
        enum split_method method;
        const char *large, *folded;
    } known[] = { { SPLIT_DOUBLE_AVERAGE, "1c1666aee168c23be845361c7d0329638b697d2dd6c5a0e4ffbeb662699497a3",
                    "6d5333f019b7f00066fc69f5580e7b2af8508c18fd108188f98f1b2037e1e3c3" },
                  { SPLIT_UNIFORM, "fbc7ad87b9263506155db98c37c35208422d03720aa32d028f0803802fda013c",
                    "f9762f4c6bb658c47f12af6025cf79f19a5350702b5e04779a9fd046875bd40e" },
                  { SPLIT_GAUSSIAN, "e02c259c51d05cc52b4f5a5802013404af1cfd7307b157b7845bf19bcdf73711",
                    "138181bcdbe2c5bbed86cbdb23ecd86e7a98bec3cc58c228add3f1a71f456c03" } };
    EACH (row, known) {
        assert_split(row->method, 2000000, SPLIT_COUNT_MAX, 20000, seed_counting());
        assert_shares_hash(SPLIT_COUNT_MAX, row->large);
        assert_split(row->method, 1200000, 100, 20000, seed_counting());
        assert_shares_hash(100, row->folded);
    }
}

TEST(the_commitment_is_the_hash_of_the_seed_and_a_packet_keeps_its_shares)
{
    static const uint8_t known[] = { 0x63, 0x0d, 0xcd, 0x29, 0x66, 0xc4, 0x33, 0x66, 0x91, 0x12, 0x54,
                                     0x48, 0xbb, 0xb2, 0x5b, 0x4f, 0xf4, 0x12, 0xa4, 0x9c, 0x73, 0x2d,
                                     0xb2, 0xc8, 0xab, 0xc1, 0xb8, 0x58, 0x1b, 0xd7, 0x10, 0xdd };
    uint8_t commitment[HASH_BYTES];
    split_commitment(seed_counting(), commitment);
    assert_memory_equal(commitment, known, sizeof known);
    struct packet p = {
        .split = SPLIT_UNIFORM, .amount_fen = 1900, .count = 10, .share_min_fen = 1, .share_max_fen = 200
    };
    memcpy(p.seed, seed_counting(), sizeof p.seed);
    assert_int_equal(split_packet(&p, shares), ST_OK);
    assert_true(shares[0] == 180 && shares[1] == 200);
}

/* Asserts over fixed seeds that every position has the same mean, within five standard errors, and the same variance.
 * 二倍均值 without the shuffle fails: the variance of its last share is far larger than of its first. */
static void assert_positions_equal(enum split_method method, int64_t total, int64_t max)
{
    enum { COUNT = 5, ROUNDS = 20000 };
    int64_t sum[COUNT] = { 0 }, square[COUNT] = { 0 };
    int64_t mean = total / COUNT;
    for (uint32_t n = 0; n < ROUNDS; n++) {
        assert_split(method, total, COUNT, max, seed_numbered(n));
        for (size_t i = 0; i < COUNT; i++) {
            sum[i] += shares[i] - mean;
            square[i] += (shares[i] - mean) * (shares[i] - mean);
        }
    }
    int64_t variance = 0;
    for (size_t i = 0; i < COUNT; i++)
        variance += square[i] / ROUNDS / COUNT;
    assert_true(variance > 0);
    for (size_t i = 0; i < COUNT; i++) {
        /* (sum / ROUNDS)² ≤ 25 · variance / ROUNDS */
        assert_true(sum[i] / ROUNDS * (sum[i] / ROUNDS) <= 25 * variance / ROUNDS + 1);
        /* The variance of each position is within 6 % of the mean variance. */
        int64_t off = square[i] / ROUNDS - variance;
        assert_true((off < 0 ? -off : off) * 100 <= 6 * variance);
    }
}

TEST(every_position_has_the_same_distribution)
{
    for (size_t m = 0; m < 3; m++) {
        assert_positions_equal(METHODS[m], 10000, 20000);
        assert_positions_equal(METHODS[m], 10000, 2500); /* the limit of a share takes effect */
    }
}

/* 二倍均值 of two shares is uniform in 1 … total − 1: each tenth of the range is hit equally often. */
TEST(double_average_of_two_shares_is_uniform)
{
    enum { ROUNDS = 20000, BINS = 10 };
    uint32_t hits[BINS] = { 0 };
    for (uint32_t n = 0; n < ROUNDS; n++) {
        assert_split(SPLIT_DOUBLE_AVERAGE, 1001, 2, 20000, seed_numbered(n));
        hits[(shares[0] - 1) / 100]++;
    }
    for (size_t i = 0; i < BINS; i++)
        assert_in_range(hits[i], ROUNDS / BINS - 215, ROUNDS / BINS + 215); /* five standard deviations of 43 */
}

/* gaussian has the smallest variance, uniform the largest. */
TEST(methods_spread_as_described)
{
    enum { COUNT = 20, ROUNDS = 1000, TOTAL = 20000 };
    int64_t square[3] = { 0 };
    for (uint32_t n = 0; n < ROUNDS; n++) {
        const uint8_t *seed = seed_numbered(n);
        for (size_t m = 0; m < 3; m++) {
            assert_split(METHODS[m], TOTAL, COUNT, 20000, seed);
            for (size_t i = 0; i < COUNT; i++)
                square[m] += (shares[i] - TOTAL / COUNT) * (shares[i] - TOTAL / COUNT);
        }
    }
    assert_true(square[2] < square[0] && square[0] < square[1]);
    /* gaussian: the deviation is a third of the mean of 1000, so the variance is about 111,111. */
    assert_in_range(square[2] / ROUNDS / COUNT, 95000, 115000);
}

static int start(void **state)
{
    (void)state;
    return random_init() && random_init() ? 0 : -1; /* may be called twice */
}

TESTS(start, NULL)

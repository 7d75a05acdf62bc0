/* packet/draw: the documented stream. The vectors were made with sha256sum, not with this code:
 * (printf hongbao-draw-v1; head -c 40 /dev/zero) | sha256sum */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above. */
#include <cmocka.h>

#include "base/array.h"
#include "base/random.h"
#include "packet/draw.h"

static const uint8_t ZERO_SEED[SEED_BYTES];

static void words_are_the_documented_stream(void **state)
{
    (void)state;
    static const uint32_t zero[] = { 0x0d7a6a09, 0x217a4dd2, 0xd36e9a7a, 0xef76639c, 0xb5c8b963,
                                     0x8b71b4b0, 0x668241fa, 0xa709880a, 0xefd19261, 0x0b5e9d7c };
    static const uint32_t counting[] = { 0xa2c148cd, 0x8453c941, 0x8e4b4757, 0xf1a08de6, 0xee254eea,
                                         0x698548fd, 0x5e016bb0, 0x381f9979, 0x342b9598, 0x131eaca6 };
    uint8_t seed[SEED_BYTES];
    struct draw a, b;

    for (uint8_t i = 0; i < SEED_BYTES; i++)
        seed[i] = i;
    draw_init(&a, ZERO_SEED);
    draw_init(&b, seed);
    for (size_t i = 0; i < ARRAY_LEN(zero); i++) {
        assert_int_equal(draw_u32(&a), zero[i]);
        assert_int_equal(draw_u32(&b), counting[i]);
    }
}

static void draws_below_a_bound_are_the_documented_ones(void **state)
{
    (void)state;
    static const struct {
        uint32_t bound, want[6];
    } vectors[] = {
        { 1, { 0, 0, 0, 0, 0, 0 } },
        { 6, { 1, 4, 0, 0, 5, 2 } },
        { 100, { 45, 42, 82, 72, 55, 48 } },
        /* Nearly half of the words are rejected here. */
        { 2147483649, { 226126345, 561663442, 1719812602, 190750076, 768569324, 368387221 } },
        { UINT32_MAX, { 226126345, 561663442, 3547241082, 4017513372, 3049830755, 2339484848 } },
    };

    for (size_t v = 0; v < ARRAY_LEN(vectors); v++) {
        struct draw d;
        draw_init(&d, ZERO_SEED);
        for (size_t i = 0; i < 6; i++)
            assert_int_equal(draw_below(&d, vectors[v].bound), vectors[v].want[i]);
    }
}

static void draws_are_uniform(void **state)
{
    (void)state;
    enum { SIDES = 6, DRAWS = 60000 };
    int counts[SIDES] = { 0 };
    struct draw d;

    draw_init(&d, ZERO_SEED); /* fixed seed, so the result is deterministic */
    for (int i = 0; i < DRAWS; i++)
        counts[draw_below(&d, SIDES)]++;
    for (int i = 0; i < SIDES; i++)
        assert_in_range(counts[i], 9700, 10300); /* 3.3 standard deviations */
}

static int start(void **state)
{
    (void)state;
    return random_init() && random_init() ? 0 : -1; /* may be called twice */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_the_documented_stream),
        cmocka_unit_test(draws_below_a_bound_are_the_documented_ones),
        cmocka_unit_test(draws_are_uniform),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}

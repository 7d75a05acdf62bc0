/* The system's randomness, and SHA-256 by its published vectors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above. */
#include <cmocka.h>

#include "base/random.h"

static void sha256_is_sha256(void **state)
{
    (void)state;
    static const uint8_t empty[HASH_BYTES] = { 0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14, 0x9a, 0xfb, 0xf4,
                                               0xc8, 0x99, 0x6f, 0xb9, 0x24, 0x27, 0xae, 0x41, 0xe4, 0x64, 0x9b,
                                               0x93, 0x4c, 0xa4, 0x95, 0x99, 0x1b, 0x78, 0x52, 0xb8, 0x55 };
    static const uint8_t abc[4] = { 0xba, 0x78, 0x16, 0xbf };
    uint8_t out[HASH_BYTES];

    hash_sha256(NULL, 0, out);
    assert_memory_equal(out, empty, HASH_BYTES);
    hash_sha256("abc", 3, out);
    assert_memory_equal(out, abc, sizeof abc);
}

static void random_bytes_differ(void **state)
{
    (void)state;
    uint8_t a[32] = { 0 }, b[32] = { 0 };

    random_bytes(a, sizeof a);
    random_bytes(b, sizeof b);
    assert_memory_not_equal(a, b, sizeof a);
    assert_true(random_u64() != random_u64());
}

static int start(void **state)
{
    (void)state;
    return random_init() && random_init() ? 0 : -1; /* twice is fine */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sha256_is_sha256),
        cmocka_unit_test(random_bytes_differ),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}

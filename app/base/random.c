#include "base/random.h"

#include <assert.h>
#include <sodium.h>

static_assert(crypto_hash_sha256_BYTES == HASH_BYTES, "SHA-256");

bool random_init(void)
{
    return sodium_init() >= 0;
}

void random_bytes(void *out, size_t len)
{
    randombytes_buf(out, len);
}

uint64_t random_u64(void)
{
    uint64_t n;

    randombytes_buf(&n, sizeof n);
    return n;
}

void hash_sha256(const void *bytes, size_t len, uint8_t *out)
{
    (void)crypto_hash_sha256(out, len ? bytes : (const void *)"", len); /* always 0 */
}

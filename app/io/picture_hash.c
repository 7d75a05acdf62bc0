#include "io/picture_hash.h"

#include <assert.h>
#include <sodium.h>
#include <string.h>

#include "base/base32.h"

enum { HASHED_BYTES = crypto_generichash_BYTES_MIN };
static_assert(PICTURE_HASH_LEN * BASE32_BITS >= HASHED_BYTES * 8, "the whole hash is written");

void picture_hash(struct str bytes, char out[PICTURE_HASH_LEN])
{
    uint8_t hash[HASHED_BYTES];
    uint32_t bits = 0, count = 0;
    size_t len = 0;
    (void)crypto_generichash(hash, sizeof hash, (const unsigned char *)bytes.ptr, bytes.len, NULL, 0);
    for (size_t i = 0; i < sizeof hash; i++) {
        bits = (bits << 8 | hash[i]) & 0xffff;
        for (count += 8; count >= BASE32_BITS; count -= BASE32_BITS)
            out[len++] = BASE32_DIGITS[bits >> (count - BASE32_BITS) & (BASE32_COUNT - 1)];
    }
    out[len++] = BASE32_DIGITS[bits << (BASE32_BITS - count) & (BASE32_COUNT - 1)];
    assert(len == PICTURE_HASH_LEN);
}

bool picture_hash_valid(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] == '\0' || strchr(BASE32_DIGITS, text.ptr[i]) == NULL)
            return false;
    return text.len == PICTURE_HASH_LEN;
}

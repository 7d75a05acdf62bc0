#include "user/login_link.h"

#include <assert.h>
#include <sodium.h>
#include <string.h>

#include "base/base32.h"
#include "base/random.h"
#include "base/typed.h"

enum {
    RANDOM_BYTES = 15,
    CHECK_BYTES = 5,
    CODE_BYTES = RANDOM_BYTES + CHECK_BYTES,
    GROUP_BYTES = 5, /* as many bits as 8 characters */
    GROUP_CHARS = 8,
    BYTE_BITS = 8
};

static_assert(CODE_BYTES / GROUP_BYTES * GROUP_CHARS == LOGIN_LINK_CODE_LEN, "a code is whole groups");

static void keyed_hash(const struct key *key, const char *purpose, const uint8_t random[RANDOM_BYTES], uint8_t *out,
                       size_t len)
{
    crypto_generichash_state state;
    crypto_generichash_init(&state, key->bytes, sizeof key->bytes, len);
    crypto_generichash_update(&state, (const unsigned char *)purpose, strlen(purpose) + 1);
    crypto_generichash_update(&state, random, RANDOM_BYTES);
    crypto_generichash_final(&state, out, len);
}

static void check_make(const struct key *key, const uint8_t random[RANDOM_BYTES], uint8_t out[CHECK_BYTES])
{
    uint8_t whole[crypto_generichash_BYTES_MIN];
    keyed_hash(key, "hongbao login link check v1", random, whole, sizeof whole);
    memcpy(out, whole, CHECK_BYTES);
}

/* Sets the code and the hash of these bytes. */
static void link_complete(const struct key *key, const uint8_t bytes[CODE_BYTES], struct login_link *out)
{
    char *to = out->code;
    for (size_t from = 0; from < CODE_BYTES; from += GROUP_BYTES) {
        uint64_t bits = 0;
        for (size_t i = 0; i < GROUP_BYTES; i++)
            bits = bits << BYTE_BITS | bytes[from + i];
        for (size_t i = GROUP_CHARS; i-- > 0;)
            *to++ = BASE32_DIGITS[bits >> (i * BASE32_BITS) & (BASE32_COUNT - 1)];
    }
    *to = '\0';
    keyed_hash(key, "hongbao login link hash v1", bytes, out->hash, sizeof out->hash);
}

void login_link_new(const struct key *key, struct login_link *out)
{
    uint8_t bytes[CODE_BYTES];
    random_bytes(bytes, RANDOM_BYTES);
    check_make(key, bytes, bytes + RANDOM_BYTES);
    link_complete(key, bytes, out);
    sodium_memzero(bytes, sizeof bytes);
}

bool login_link_read(const struct key *key, struct str typed, struct login_link *out)
{
    uint8_t values[LOGIN_LINK_CODE_LEN], bytes[CODE_BYTES], check[CHECK_BYTES];
    if (!typed_code(typed, values, LOGIN_LINK_CODE_LEN))
        return false;
    for (size_t group = 0; group < CODE_BYTES / GROUP_BYTES; group++) {
        uint64_t bits = 0;
        for (size_t i = 0; i < GROUP_CHARS; i++)
            bits = bits << BASE32_BITS | values[group * GROUP_CHARS + i];
        for (size_t i = 0; i < GROUP_BYTES; i++)
            bytes[group * GROUP_BYTES + i] = (uint8_t)(bits >> ((GROUP_BYTES - 1 - i) * BYTE_BITS));
    }
    check_make(key, bytes, check);
    if (sodium_memcmp(check, bytes + RANDOM_BYTES, CHECK_BYTES) != 0)
        return false;
    link_complete(key, bytes, out);
    return true;
}

struct str login_link_url(struct arena *a, const char *base_url, const struct login_link *link)
{
    return arena_printf(a, "%s" LOGIN_LINK_PATH "?code=%s", base_url, link->code);
}

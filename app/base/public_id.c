#include "base/public_id.h"

#include <assert.h>
#include <sodium.h>
#include <string.h>

#include "base/base32.h"

enum { ID_BYTES = 8, WIRE_BYTES = 16, PAD_BITS = PUBLIC_ID_LEN * BASE32_BITS - WIRE_BYTES * 8 };

static_assert(crypto_shorthash_BYTES == WIRE_BYTES - ID_BYTES, "the MAC fills the second half");
static_assert(crypto_shorthash_KEYBYTES == PUBLIC_ID_KEY_BYTES, "SipHash's key");
static_assert(PAD_BITS == 2, "two zero bits in front");

void public_id_key_set(struct public_id_key *out, const struct key *key)
{
    memcpy(out->bytes, key->bytes, sizeof out->bytes);
}

/* wire: 16 bytes: the id big-endian, then its MAC. */
static void wire_write(const struct public_id_key *key, uint64_t id, uint8_t *wire)
{
    for (int i = 0; i < ID_BYTES; i++)
        wire[i] = (uint8_t)(id >> (8 * (ID_BYTES - 1 - i)));
    crypto_shorthash(wire + ID_BYTES, wire, ID_BYTES, key->bytes);
}

void public_id_encode(const struct public_id_key *key, uint64_t id, char *out)
{
    uint8_t wire[WIRE_BYTES];
    uint32_t bits = 0;
    int held = PAD_BITS; /* the zero bits in front */
    size_t n = 0;

    wire_write(key, id, wire);
    for (size_t i = 0; i < WIRE_BYTES; i++) {
        bits = (bits << 8 | wire[i]) & 0xffffU;
        held += 8;
        while (held >= BASE32_BITS) {
            held -= BASE32_BITS;
            out[n++] = BASE32_DIGITS[bits >> held & 31U];
        }
    }
    assert(n == PUBLIC_ID_LEN && held == 0);
    out[n] = '\0';
}

struct str public_id_text(struct arena *a, const struct public_id_key *key, uint64_t id)
{
    char text[PUBLIC_ID_TEXT_MAX];

    public_id_encode(key, id, text);
    return arena_str(a, (struct str){ text, PUBLIC_ID_LEN });
}

/* wire: 16 bytes. False: the text is no public id. */
static bool wire_read(struct str text, uint8_t *wire)
{
    uint32_t bits = 0;
    int held = -PAD_BITS;
    size_t n = 0;

    if (text.len != PUBLIC_ID_LEN)
        return false;
    for (size_t i = 0; i < PUBLIC_ID_LEN; i++) {
        int value = base32_value(text.ptr[i]);
        if (value < 0 || (i == 0 && value > 7))
            return false;
        bits = (bits << BASE32_BITS | (uint32_t)value) & 0xffffU;
        held += BASE32_BITS;
        if (held >= 8) {
            held -= 8;
            wire[n++] = (uint8_t)(bits >> held);
        }
    }
    assert(n == WIRE_BYTES && held == 0);
    return true;
}

static uint64_t wire_id(const uint8_t *wire)
{
    uint64_t id = 0;
    for (size_t i = 0; i < ID_BYTES; i++)
        id = id << 8 | wire[i];
    return id;
}

bool public_id_decode(const struct public_id_key *key, struct str text, uint64_t *out_id)
{
    uint8_t given[WIRE_BYTES], right[WIRE_BYTES];

    if (!wire_read(text, given))
        return false;
    wire_write(key, wire_id(given), right);
    if (sodium_memcmp(given, right, WIRE_BYTES) != 0)
        return false;
    *out_id = wire_id(given);
    return true;
}

bool public_id_read_unproven(struct str text, uint64_t *out_id)
{
    uint8_t wire[WIRE_BYTES];

    if (!wire_read(text, wire))
        return false;
    *out_id = wire_id(wire);
    return true;
}

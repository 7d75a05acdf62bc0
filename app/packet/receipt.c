#include "packet/receipt.h"

#include <assert.h>

#include "base/array.h"

#define DOMAIN "hongbao receipt v" /* no other signature of this service begins like this */

static bool one_line(struct str text)
{
    if (text.ptr == NULL)
        return false;
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] < 0x20 || text.ptr[i] == 0x7f)
            return false;
    return true;
}

int receipt_version(const struct receipt *r)
{
    return str_equal(r->unit, STR("CNY")) && r->unit_decimals == 2 ? 1 : 2;
}

bool receipt_bytes(const struct receipt *r, struct buf *out)
{
    assert(r->amount_fen >= 0 && r->unit_decimals >= 0);
    const int version = receipt_version(r);
    char share_no[STR_U64_MAX], amount_fen[STR_U64_MAX], user_id[STR_U64_MAX], sender_id[STR_U64_MAX],
        decimals[STR_U64_MAX];
    const struct {
        struct str name, value;
        int since; /* the version that has it first */
    } lines[] = {
        { STR("packet"), r->packet, 1 },
        { STR("share_no"), str_u64(share_no, r->share_no), 1 },
        { STR("amount_fen"), str_u64(amount_fen, (uint64_t)r->amount_fen), 1 },
        { STR("unit"), r->unit, 2 },
        { STR("unit_decimals"), str_u64(decimals, (uint64_t)r->unit_decimals), 2 },
        { STR("user_id"), str_u64(user_id, r->user_id), 1 },
        { STR("username"), r->username, 1 },
        { STR("nickname"), r->nickname, 1 },
        { STR("grabbed_at"), r->grabbed_at, 1 },
        { STR("sender_id"), str_u64(sender_id, r->sender_id), 1 },
        { STR("sender"), r->sender, 1 },
        { STR("commitment"), r->commitment, 1 },
        { STR("issued_by"), r->issued_by, 1 },
    };
    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        if (!one_line(lines[i].value))
            return false;
    buf_printf(out, DOMAIN "%d\n", version);
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        if (lines[i].since > version)
            continue;
        buf_str(out, lines[i].name);
        buf_char(out, '=');
        buf_str(out, lines[i].value);
        buf_char(out, '\n');
    }
    return true;
}

void receipt_public_key(const uint8_t seed[RECEIPT_SEED_BYTES], uint8_t out[RECEIPT_KEY_BYTES])
{
    uint8_t secret[crypto_sign_SECRETKEYBYTES];
    (void)crypto_sign_seed_keypair(out, secret, seed);
    sodium_memzero(secret, sizeof secret);
}

void receipt_sign(const uint8_t seed[RECEIPT_SEED_BYTES], struct str bytes, uint8_t out[RECEIPT_SIGNATURE_BYTES])
{
    uint8_t key[RECEIPT_KEY_BYTES], secret[crypto_sign_SECRETKEYBYTES];
    (void)crypto_sign_seed_keypair(key, secret, seed);
    (void)crypto_sign_detached(out, NULL, (const uint8_t *)bytes.ptr, bytes.len, secret);
    sodium_memzero(secret, sizeof secret);
}

bool receipt_signed(const uint8_t key[RECEIPT_KEY_BYTES], struct str bytes,
                    const uint8_t signature[RECEIPT_SIGNATURE_BYTES])
{
    return crypto_sign_verify_detached(signature, (const uint8_t *)bytes.ptr, bytes.len, key) == 0;
}

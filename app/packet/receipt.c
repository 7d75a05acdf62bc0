#include "packet/receipt.h"

#include <assert.h>

#include "base/array.h"

#define DOMAIN "hongbao receipt v1\n" /* no other signature of this service begins like this */

static bool one_line(struct str text)
{
    if (text.ptr == NULL)
        return false;
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] < 0x20 || text.ptr[i] == 0x7f)
            return false;
    return true;
}

bool receipt_bytes(const struct receipt *r, struct buf *out)
{
    assert(r->amount_fen >= 0);
    char share_no[STR_U64_MAX], amount_fen[STR_U64_MAX], user_id[STR_U64_MAX], sender_id[STR_U64_MAX];
    const struct {
        struct str name, value;
    } lines[] = {
        { STR("packet"), r->packet },
        { STR("share_no"), str_u64(share_no, r->share_no) },
        { STR("amount_fen"), str_u64(amount_fen, (uint64_t)r->amount_fen) },
        { STR("user_id"), str_u64(user_id, r->user_id) },
        { STR("username"), r->username },
        { STR("nickname"), r->nickname },
        { STR("grabbed_at"), r->grabbed_at },
        { STR("sender_id"), str_u64(sender_id, r->sender_id) },
        { STR("sender"), r->sender },
        { STR("commitment"), r->commitment },
        { STR("issued_by"), r->issued_by },
    };
    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        if (!one_line(lines[i].value))
            return false;
    buf_str(out, STR(DOMAIN));
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
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

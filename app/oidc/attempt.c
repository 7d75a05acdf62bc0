#include "oidc/attempt.h"

#include <assert.h>
#include <sodium.h>
#include <string.h>

#include "base/clock.h"
#include "base/random.h"

enum {
    BASE64 = sodium_base64_VARIANT_URLSAFE_NO_PADDING,
    NONCE_BYTES = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES,
    TAG_BYTES = crypto_aead_xchacha20poly1305_ietf_ABYTES,
    RANDOM_BYTES = 32,
    TIME_BYTES = 8,
    AT_TIME = 1, /* behind a byte that is 1 for a fresh login */
    AT_TEXTS = AT_TIME + TIME_BYTES,
    TEXTS = 3, /* state, nonce, verifier */
    AT_CARRIED = AT_TEXTS + TEXTS * OIDC_RANDOM_CHARS,
    PLAIN_MAX = AT_CARRIED + OIDC_CARRIED_MAX,
    SEALED_MAX = NONCE_BYTES + PLAIN_MAX + TAG_BYTES,
    BYTE_BITS = 8,
    MS_PER_S = 1000
};
static_assert(sodium_base64_ENCODED_LEN(RANDOM_BYTES, BASE64) == OIDC_RANDOM_CHARS + 1, "32 bytes in base64url");
static_assert(sodium_base64_ENCODED_LEN(SEALED_MAX, BASE64) <= OIDC_COOKIE_MAX, "the longest cookie");
static_assert((int)KEY_BYTES == (int)crypto_aead_xchacha20poly1305_ietf_KEYBYTES, "a key of keys.h seals");

static struct str random_text(struct arena *a)
{
    unsigned char bytes[RANDOM_BYTES];
    char text[OIDC_RANDOM_CHARS + 1];
    random_bytes(bytes, sizeof bytes);
    sodium_bin2base64(text, sizeof text, bytes, sizeof bytes, BASE64);
    return arena_str(a, (struct str){ text, OIDC_RANDOM_CHARS });
}

enum oidc_fault oidc_attempt_new(struct arena *a, int64_t now_ms, struct str carried, bool fresh,
                                 struct oidc_attempt *out)
{
    assert(carried.len <= OIDC_CARRIED_MAX);
    *out = (struct oidc_attempt){ random_text(a), random_text(a), random_text(a), fresh, now_ms, carried };
    return out->state.ptr == NULL || out->nonce.ptr == NULL || out->verifier.ptr == NULL ? OIDC_NO_MEMORY : OIDC_OK;
}

/* What is authenticated with the attempt: an issuer has no blank. */
static struct str context_of(struct arena *a, const struct oidc_settings *s)
{
    return arena_printf(a, "hongbao login %.*s %.*s", STR_ARG(s->issuer), STR_ARG(s->client_id));
}

static size_t plain_write(const struct oidc_attempt *attempt, unsigned char plain[PLAIN_MAX])
{
    const struct str texts[TEXTS] = { attempt->state, attempt->nonce, attempt->verifier };
    uint64_t time = (uint64_t)attempt->started_ms;
    plain[0] = attempt->fresh;
    for (size_t i = TIME_BYTES; i-- > 0; time >>= BYTE_BITS)
        plain[AT_TIME + i] = (unsigned char)time;
    for (size_t i = 0; i < TEXTS; i++)
        memcpy(plain + AT_TEXTS + i * OIDC_RANDOM_CHARS, texts[i].ptr, OIDC_RANDOM_CHARS);
    if (attempt->carried.len > 0)
        memcpy(plain + AT_CARRIED, attempt->carried.ptr, attempt->carried.len);
    return AT_CARRIED + attempt->carried.len;
}

struct str oidc_attempt_seal(struct arena *a, const struct oidc_settings *settings, const struct oidc_attempt *attempt)
{
    unsigned char plain[PLAIN_MAX], sealed[SEALED_MAX];
    unsigned long long len;

    size_t plain_len = plain_write(attempt, plain);
    struct str context = context_of(a, settings);
    size_t size = sodium_base64_encoded_len(NONCE_BYTES + plain_len + TAG_BYTES, BASE64);
    char *out = arena_alloc(a, size);
    if (context.ptr == NULL || out == NULL)
        return STR_NONE;
    random_bytes(sealed, NONCE_BYTES);
    crypto_aead_xchacha20poly1305_ietf_encrypt(sealed + NONCE_BYTES, &len, plain, plain_len,
                                               (const unsigned char *)context.ptr, context.len, NULL, sealed,
                                               settings->key->bytes);
    sodium_bin2base64(out, size, sealed, NONCE_BYTES + (size_t)len, BASE64);
    return str_from(out);
}

static void plain_read(struct str plain, struct oidc_attempt *out)
{
    struct str *texts[TEXTS] = { &out->state, &out->nonce, &out->verifier };
    uint64_t time = 0;
    for (size_t i = 0; i < TIME_BYTES; i++)
        time = time << BYTE_BITS | (unsigned char)plain.ptr[AT_TIME + i];
    for (size_t i = 0; i < TEXTS; i++)
        *texts[i] = (struct str){ plain.ptr + AT_TEXTS + i * OIDC_RANDOM_CHARS, OIDC_RANDOM_CHARS };
    out->fresh = plain.ptr[0] == 1;
    out->started_ms = (int64_t)time;
    out->carried = str_skip(plain, AT_CARRIED);
}

enum oidc_fault oidc_attempt_open(struct arena *a, const struct oidc_settings *settings, int64_t now_ms,
                                  struct str cookie, struct str state, struct oidc_attempt *out)
{
    unsigned char sealed[SEALED_MAX];
    unsigned long long plain_len;
    size_t len;

    *out = (struct oidc_attempt){ 0 };
    if (cookie.len == 0 || cookie.len > OIDC_COOKIE_MAX || state.len != OIDC_RANDOM_CHARS ||
        sodium_base642bin(sealed, sizeof sealed, cookie.ptr, cookie.len, NULL, &len, NULL, BASE64) != 0 ||
        len < NONCE_BYTES + AT_CARRIED + TAG_BYTES)
        return OIDC_STATE;
    struct str context = context_of(a, settings);
    unsigned char *plain = arena_alloc(a, len);
    if (context.ptr == NULL || plain == NULL)
        return OIDC_NO_MEMORY;
    if (crypto_aead_xchacha20poly1305_ietf_decrypt(plain, &plain_len, NULL, sealed + NONCE_BYTES, len - NONCE_BYTES,
                                                   (const unsigned char *)context.ptr, context.len, sealed,
                                                   settings->key->bytes) != 0)
        return OIDC_STATE;
    plain_read((struct str){ (const char *)plain, (size_t)plain_len }, out);
    if (sodium_memcmp(out->state.ptr, state.ptr, OIDC_RANDOM_CHARS) != 0) {
        *out = (struct oidc_attempt){ 0 };
        return OIDC_STATE;
    }
    return now_ms - out->started_ms > (int64_t)OIDC_ATTEMPT_S * MS_PER_S || out->started_ms - now_ms > CLOCKS_DIFFER_MS
               ? OIDC_LATE
               : OIDC_OK;
}

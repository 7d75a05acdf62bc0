#include "account/shown_once.h"

#include <assert.h>
#include <sodium.h>
#include <string.h>

#include "web/respond.h"

#define COOKIE "once"

enum {
    TIME_BYTES = 8,
    NONCE_BYTES = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES,
    TAG_BYTES = crypto_aead_xchacha20poly1305_ietf_ABYTES,
    HEAD_BYTES = TIME_BYTES + NONCE_BYTES,
    SEALED_BYTES_MAX = HEAD_BYTES + SHOWN_BYTES_MAX + TAG_BYTES,
    BYTE_BITS = 8,
    MS_PER_S = 1000
};
_Static_assert((int)KEY_BYTES == (int)crypto_aead_xchacha20poly1305_ietf_KEYBYTES, "a key of keys.h seals");

/* The page that shows it. */
static const char *const PATHS[SHOWN_KINDS] = {
    [SHOWN_CODES] = "/account/recovery", [SHOWN_TOKEN] = "/account/developers", [SHOWN_REGISTERED] = "/account/passkeys"
};

/* What is authenticated with the text. STR_NONE without memory. */
static struct str context_of(struct arena *a, enum shown_kind kind, struct str session_key,
                             const unsigned char until[TIME_BYTES])
{
    char hex[2 * TIME_BYTES + 1];
    sodium_bin2hex(hex, sizeof hex, until, TIME_BYTES);
    return arena_printf(a, "%s %s %.*s", PATHS[kind], hex, STR_ARG(session_key));
}

struct str shown_seal(struct arena *a, const struct key *key, enum shown_kind kind, struct str session_key,
                      int64_t now_ms, struct str text)
{
    unsigned char bytes[SEALED_BYTES_MAX];
    unsigned long long len;
    uint64_t until_ms = (uint64_t)now_ms + (uint64_t)SHOWN_ONCE_S * MS_PER_S;

    assert(text.len <= SHOWN_BYTES_MAX);
    for (size_t i = TIME_BYTES; i-- > 0; until_ms >>= BYTE_BITS)
        bytes[i] = (unsigned char)until_ms;
    randombytes_buf(bytes + TIME_BYTES, NONCE_BYTES);
    struct str context = context_of(a, kind, session_key, bytes);
    size_t size =
        sodium_base64_encoded_len(HEAD_BYTES + text.len + TAG_BYTES, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    char *out = arena_alloc(a, size);
    if (context.ptr == NULL || out == NULL)
        return STR_NONE;
    crypto_aead_xchacha20poly1305_ietf_encrypt(bytes + HEAD_BYTES, &len, (const unsigned char *)text.ptr, text.len,
                                               (const unsigned char *)context.ptr, context.len, NULL,
                                               bytes + TIME_BYTES, key->bytes);
    sodium_bin2base64(out, size, bytes, HEAD_BYTES + (size_t)len, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    return str_from(out);
}

struct str shown_open(struct arena *a, const struct key *key, enum shown_kind kind, struct str session_key,
                      int64_t now_ms, struct str sealed)
{
    unsigned char bytes[SEALED_BYTES_MAX];
    unsigned long long text_len;
    size_t len;
    uint64_t until_ms = 0;

    if (sealed.len == 0 || sodium_base642bin(bytes, sizeof bytes, sealed.ptr, sealed.len, NULL, &len, NULL,
                                             sodium_base64_VARIANT_URLSAFE_NO_PADDING) != 0)
        return STR_NONE;
    if (len < HEAD_BYTES + TAG_BYTES)
        return STR_NONE;
    for (size_t i = 0; i < TIME_BYTES; i++)
        until_ms = until_ms << BYTE_BITS | bytes[i];
    if (until_ms <= (uint64_t)now_ms)
        return STR_NONE;
    struct str context = context_of(a, kind, session_key, bytes);
    char *text = arena_alloc(a, len - HEAD_BYTES);
    if (context.ptr == NULL || text == NULL ||
        crypto_aead_xchacha20poly1305_ietf_decrypt((unsigned char *)text, &text_len, NULL, bytes + HEAD_BYTES,
                                                   len - HEAD_BYTES, (const unsigned char *)context.ptr, context.len,
                                                   bytes + TIME_BYTES, key->bytes) != 0)
        return STR_NONE;
    return (struct str){ text, (size_t)text_len };
}

/* ---- cookies ---- */

static const struct key *key_of(const struct exchange *x)
{
    return keys_get(&x->app->stores.config->keys, KEY_SHOWN);
}

void shown_once_give(struct exchange *x, enum shown_kind kind, struct str text)
{
    struct str sealed = shown_seal(x->arena, key_of(x), kind, str_or_empty(x->visitor.session_key), x->now_ms, text);
    if (sealed.ptr == NULL)
        x->incomplete = true;
    else
        respond_page_cookie(x, STR(COOKIE), sealed, PATHS[kind], SHOWN_ONCE_S);
}

struct str shown_once_read(struct exchange *x, enum shown_kind kind)
{
    return shown_open(x->arena, key_of(x), kind, str_or_empty(x->visitor.session_key), x->now_ms,
                      str_or_empty(exchange_page_cookie(x, STR(COOKIE))));
}

void shown_once_clear(struct exchange *x, enum shown_kind kind)
{
    respond_page_cookie(x, STR(COOKIE), STR(""), PATHS[kind], 0);
}

#include "packet/phrase.h"

#include <sodium.h>
#include <string.h>

#include "base/secret_key.h"
#include "base/utf8.h"

enum { KEY_BYTES = 32 };
_Static_assert(crypto_secretbox_KEYBYTES == KEY_BYTES, "one length of key for both uses");

/* The text without variation selectors. */
static struct str selectors_drop(struct arena *a, struct str text)
{
    static const struct str selector = STR("\uFE0F"); /* an emoji in colour; keyboards differ in adding it */
    char *kept = arena_alloc(a, text.len + 1);
    size_t len = 0;
    while (kept != NULL && text.len > 0) {
        if (str_skip_prefix(&text, selector))
            continue;
        kept[len++] = text.ptr[0];
        text = str_skip(text, 1);
    }
    return (struct str){ kept, len };
}

enum status phrase_fold(struct arena *a, struct str typed, struct str *out)
{
    struct str text;
    enum status st = utf8_clean(a, typed, &text);
    if (st == ST_OK)
        st = utf8_fold_case(a, text, &text);
    if (st != ST_OK)
        return st;
    text = selectors_drop(a, text);
    if (text.ptr == NULL)
        return ST_NO_MEMORY;
    return utf8_clean(a, text, out); /* folding and what was dropped may leave blanks */
}

/* A key for one purpose and packet, as public_id_key_derive makes one. */
static void key_derive(struct str secret, struct str purpose, uint64_t packet_id, unsigned char *out)
{
    unsigned char inner[SECRET_KEY_BYTES], id[sizeof packet_id];
    crypto_generichash_state state;
    for (size_t i = 0; i < sizeof id; i++)
        id[i] = (unsigned char)(packet_id >> (8 * i));
    secret_key_derive(secret, inner);
    crypto_generichash_init(&state, inner, sizeof inner, KEY_BYTES);
    crypto_generichash_update(&state, (const unsigned char *)purpose.ptr, purpose.len);
    crypto_generichash_update(&state, id, sizeof id);
    crypto_generichash_final(&state, out, KEY_BYTES);
    sodium_memzero(inner, sizeof inner);
}

struct str phrase_hash(struct arena *a, struct str secret, uint64_t packet_id, struct str folded)
{
    unsigned char key[KEY_BYTES];
    char *hash = arena_alloc(a, crypto_generichash_BYTES);
    if (hash == NULL)
        return STR_NONE;
    key_derive(secret, STR("hongbao phrase hash v1"), packet_id, key);
    crypto_generichash((unsigned char *)hash, crypto_generichash_BYTES, (const unsigned char *)folded.ptr, folded.len,
                       key, sizeof key);
    sodium_memzero(key, sizeof key);
    return (struct str){ hash, crypto_generichash_BYTES };
}

struct str phrase_seal(struct arena *a, struct str secret, uint64_t packet_id, struct str shown)
{
    unsigned char key[KEY_BYTES];
    size_t len = crypto_secretbox_NONCEBYTES + crypto_secretbox_MACBYTES + shown.len;
    unsigned char *sealed = arena_alloc(a, len);
    if (sealed == NULL)
        return STR_NONE;
    key_derive(secret, STR("hongbao phrase seal v1"), packet_id, key);
    randombytes_buf(sealed, crypto_secretbox_NONCEBYTES);
    crypto_secretbox_easy(sealed + crypto_secretbox_NONCEBYTES, (const unsigned char *)shown.ptr, shown.len, sealed,
                          key);
    sodium_memzero(key, sizeof key);
    return (struct str){ (const char *)sealed, len };
}

struct str phrase_unseal(struct arena *a, struct str secret, uint64_t packet_id, struct str sealed)
{
    unsigned char key[KEY_BYTES];
    const unsigned char *nonce = (const unsigned char *)sealed.ptr;
    if (sealed.len < crypto_secretbox_NONCEBYTES + crypto_secretbox_MACBYTES)
        return STR_NONE;
    size_t box_len = sealed.len - crypto_secretbox_NONCEBYTES;
    unsigned char *shown = arena_alloc(a, box_len);
    if (shown == NULL)
        return STR_NONE;
    key_derive(secret, STR("hongbao phrase seal v1"), packet_id, key);
    bool valid = crypto_secretbox_open_easy(shown, nonce + crypto_secretbox_NONCEBYTES, box_len, nonce, key) == 0;
    sodium_memzero(key, sizeof key);
    return valid ? (struct str){ (const char *)shown, box_len - crypto_secretbox_MACBYTES } : STR_NONE;
}

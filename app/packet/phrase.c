#include "packet/phrase.h"

#include <sodium.h>
#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"

_Static_assert((int)crypto_secretbox_KEYBYTES == (int)KEY_BYTES, "one length of key for both uses");
_Static_assert((int)crypto_generichash_BYTES == (int)PHRASE_HASH_BYTES, "the length of a hash");
_Static_assert(2 * (int)crypto_shorthash_BYTES == (int)PHRASE_SOURCE_BYTES, "of the address and of the network");
_Static_assert((int)crypto_shorthash_KEYBYTES <= (int)KEY_BYTES, "the first bytes of a key are one of SipHash");

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
        st = utf8_fold_alike(a, text, &text);
    return st == ST_OK ? utf8_clean(a, text, out) : st; /* folding may leave blanks */
}

/* Folds as the version before did: texts with different joiners or punctuation were different phrases. Packets of that
 * version live a few weeks; drop this with the next version. */
static enum status phrase_fold_before(struct arena *a, struct str typed, struct str *out)
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
    return utf8_clean(a, text, out);
}

enum status phrase_read(struct arena *a, struct phrase *phrase)
{
    return phrase_fold(a, phrase->shown, &phrase->folded);
}

/* The key of one packet. */
static void packet_key_derive(const struct key *key, struct str purpose, uint64_t packet_id, unsigned char *out)
{
    unsigned char id[sizeof packet_id];
    crypto_generichash_state state;
    for (size_t i = 0; i < sizeof id; i++)
        id[i] = (unsigned char)(packet_id >> (8 * i));
    crypto_generichash_init(&state, key->bytes, sizeof key->bytes, KEY_BYTES);
    crypto_generichash_update(&state, (const unsigned char *)purpose.ptr, purpose.len);
    crypto_generichash_update(&state, id, sizeof id);
    crypto_generichash_final(&state, out, KEY_BYTES);
}

struct str phrase_hash(struct arena *a, const struct key *key, uint64_t packet_id, struct str folded)
{
    unsigned char own[KEY_BYTES];
    char *hash = arena_alloc(a, crypto_generichash_BYTES);
    if (hash == NULL)
        return STR_NONE;
    packet_key_derive(key, STR("hongbao phrase hash v1"), packet_id, own);
    crypto_generichash((unsigned char *)hash, crypto_generichash_BYTES, (const unsigned char *)folded.ptr, folded.len,
                       own, sizeof own);
    sodium_memzero(own, sizeof own);
    return (struct str){ hash, crypto_generichash_BYTES };
}

static void hash_append(struct buf *out, struct arena *a, const struct key *key, uint64_t packet_id, struct str folded)
{
    struct str hash = phrase_hash(a, key, packet_id, folded);
    if (hash.ptr == NULL)
        out->failed = true;
    buf_str(out, hash);
}

struct str phrase_hashes(struct arena *a, struct key_pair keys, uint64_t packet_id, const struct phrase *phrase)
{
    char room[PHRASE_HASHES_MAX * PHRASE_HASH_BYTES];
    struct buf all = { .ptr = room, .cap = sizeof room, .limit = sizeof room };
    hash_append(&all, a, keys.now, packet_id, phrase->folded);
    if (keys.before != NULL) {
        struct str before;
        if (phrase_fold_before(a, phrase->shown, &before) != ST_OK)
            return STR_NONE;
        hash_append(&all, a, keys.before, packet_id, phrase->folded);
        if (!str_equal(before, phrase->folded))
            hash_append(&all, a, keys.before, packet_id, before);
    }
    return all.failed ? STR_NONE : arena_str(a, buf_view(&all));
}

bool phrase_matches(struct arena *a, struct key_pair keys, uint64_t packet_id, const struct phrase *phrase,
                    struct str hash)
{
    struct str all = phrase_hashes(a, keys, packet_id, phrase);
    bool same = false;
    for (; all.len > 0 && hash.len == PHRASE_HASH_BYTES; all = str_skip(all, PHRASE_HASH_BYTES))
        same = same || str_starts(all, hash);
    return same;
}

struct str phrase_source(struct arena *a, const struct key *key, uint64_t packet_id, struct str address,
                         struct str network)
{
    unsigned char own[KEY_BYTES];
    unsigned char *source = arena_alloc(a, PHRASE_SOURCE_BYTES);
    if (source == NULL)
        return STR_NONE;
    packet_key_derive(key, STR("hongbao phrase source v1"), packet_id, own);
    crypto_shorthash(source, (const unsigned char *)address.ptr, address.len, own);
    crypto_shorthash(source + crypto_shorthash_BYTES, (const unsigned char *)network.ptr, network.len, own);
    sodium_memzero(own, sizeof own);
    return (struct str){ (const char *)source, PHRASE_SOURCE_BYTES };
}

struct str phrase_seal(struct arena *a, const struct key *key, uint64_t packet_id, struct str shown)
{
    unsigned char own[KEY_BYTES];
    size_t len = crypto_secretbox_NONCEBYTES + crypto_secretbox_MACBYTES + shown.len;
    unsigned char *sealed = arena_alloc(a, len);
    if (sealed == NULL)
        return STR_NONE;
    packet_key_derive(key, STR("hongbao phrase seal v1"), packet_id, own);
    randombytes_buf(sealed, crypto_secretbox_NONCEBYTES);
    crypto_secretbox_easy(sealed + crypto_secretbox_NONCEBYTES, (const unsigned char *)shown.ptr, shown.len, sealed,
                          own);
    sodium_memzero(own, sizeof own);
    return (struct str){ (const char *)sealed, len };
}

/* Opens the box with one key. */
static bool box_open(const struct key *key, uint64_t packet_id, struct str sealed, unsigned char *shown)
{
    unsigned char own[KEY_BYTES];
    const unsigned char *nonce = (const unsigned char *)sealed.ptr;
    packet_key_derive(key, STR("hongbao phrase seal v1"), packet_id, own);
    bool valid = crypto_secretbox_open_easy(shown, nonce + crypto_secretbox_NONCEBYTES,
                                            sealed.len - crypto_secretbox_NONCEBYTES, nonce, own) == 0;
    sodium_memzero(own, sizeof own);
    return valid;
}

struct str phrase_unseal(struct arena *a, struct key_pair keys, uint64_t packet_id, struct str sealed)
{
    if (sealed.len < crypto_secretbox_NONCEBYTES + crypto_secretbox_MACBYTES)
        return STR_NONE;
    size_t len = sealed.len - crypto_secretbox_NONCEBYTES - crypto_secretbox_MACBYTES;
    unsigned char *shown = arena_alloc(a, len + crypto_secretbox_MACBYTES);
    if (shown == NULL)
        return STR_NONE;
    bool valid = box_open(keys.now, packet_id, sealed, shown) ||
                 (keys.before != NULL && box_open(keys.before, packet_id, sealed, shown));
    return valid ? (struct str){ (const char *)shown, len } : STR_NONE;
}

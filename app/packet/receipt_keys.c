#include "packet/receipt_keys.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/typed.h"

enum { KEYS_FILE_BYTES_MAX = 64 << 10 };
#define KDF_CONTEXT "receipts" /* crypto_kdf_CONTEXTBYTES */

/* ---- our own ---- */

/* number: from 1. */
static void seed_derive(const struct receipt_keys *keys, size_t number, uint8_t out[RECEIPT_SEED_BYTES])
{
    _Static_assert(sizeof KDF_CONTEXT - 1 == crypto_kdf_CONTEXTBYTES, "the context of crypto_kdf");
    (void)crypto_kdf_derive_from_key(out, RECEIPT_SEED_BYTES, number, KDF_CONTEXT, keys->master);
}

static void own_key_add(struct receipt_keys *keys, int64_t from_ms)
{
    assert(keys->own_count < RECEIPT_KEYS_MAX); /* the setting has room for fewer days */
    uint8_t seed[RECEIPT_SEED_BYTES];
    struct receipt_key *key = &keys->items[keys->own_count];
    if (keys->own_count > 0)
        (void)clock_rfc3339_format(from_ms, keys->items[keys->own_count - 1].until);
    keys->from_ms[keys->own_count++] = from_ms;
    keys->count = keys->own_count;
    seed_derive(keys, keys->own_count, seed);
    receipt_public_key(seed, key->bytes);
    sodium_memzero(seed, sizeof seed);
    receipt_key_id_set(key);
    (void)clock_rfc3339_format(from_ms, key->from);
}

static void own_keys_add(struct receipt_keys *keys, struct str days)
{
    while (days.len > 0) {
        int64_t from_ms;
        bool valid = typed_utc_day(str_cut(days, ' ', &days), &from_ms);
        assert(valid); /* a rule of the setting */
        own_key_add(keys, from_ms);
    }
}

/* ---- of a file ---- */

/* Keeps the next `added` keys, except keys that are known already: a saved list may have present keys. */
static void new_keys_keep(struct receipt_keys *keys, size_t added)
{
    const struct receipt_key *items = keys->items + keys->count;
    for (size_t i = 0; i < added; i++)
        if (receipt_keys_find(keys, str_from(items[i].id)) == NULL)
            keys->items[keys->count++] = items[i];
}

static enum status file_add(struct receipt_keys *keys, const char *path, char *error, size_t error_size)
{
    struct buf json = { .limit = KEYS_FILE_BYTES_MAX };
    size_t added = 0;
    enum status st = buf_file(&json, path);
    if (st == ST_UNAVAILABLE) {
        (void)snprintf(error, error_size, "%s: %s", path, strerror(errno));
        st = ST_INVALID;
    } else {
        if (st == ST_OK)
            st = receipt_keys_read(buf_view(&json), keys->items + keys->count, RECEIPT_KEYS_MAX - keys->count, &added);
        if (st != ST_OK)
            (void)snprintf(error, error_size, "%s: no list of keys for receipts", path);
    }
    if (st == ST_OK)
        new_keys_keep(keys, added);
    buf_free(&json);
    return st;
}

/* ---- all ---- */

enum status receipt_keys_open_file(struct receipt_keys *keys, const char *path, char *error, size_t error_size)
{
    *keys = (struct receipt_keys){ 0 };
    return file_add(keys, path, error, error_size);
}

enum status receipt_keys_open(struct receipt_keys *keys, const struct config *config, char *error, size_t error_size)
{
    *keys = (struct receipt_keys){ 0 };
    _Static_assert(sizeof keys->master == sizeof config->keys.of[KEY_RECEIPTS].bytes, "the same key");
    memcpy(keys->master, keys_get(&config->keys, KEY_RECEIPTS)->bytes, sizeof keys->master);
    own_keys_add(keys, str_from(config->receipt_key_days));
    return config->receipt_keys_file[0] == '\0' ? ST_OK : file_add(keys, config->receipt_keys_file, error, error_size);
}

void receipt_keys_close(struct receipt_keys *keys)
{
    sodium_memzero(keys, sizeof *keys);
}

const struct receipt_key *receipt_keys_find(const struct receipt_keys *keys, struct str id)
{
    for (size_t i = 0; i < keys->count; i++)
        if (str_equal(id, str_from(keys->items[i].id)))
            return &keys->items[i];
    return NULL;
}

const struct receipt_key *receipt_keys_sign(const struct receipt_keys *keys, int64_t now_ms, struct str bytes,
                                            uint8_t out[RECEIPT_SIGNATURE_BYTES])
{
    assert(keys->own_count > 0);
    size_t newest = keys->own_count - 1;
    uint8_t seed[RECEIPT_SEED_BYTES];
    while (newest > 0 && keys->from_ms[newest] > now_ms)
        newest--;
    seed_derive(keys, newest + 1, seed);
    receipt_sign(seed, bytes, out);
    sodium_memzero(seed, sizeof seed);
    return &keys->items[newest];
}

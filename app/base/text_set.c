#include "base/text_set.h"

#include <assert.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"

enum { SLOTS_FIRST = 4096 };

void text_set_begin(struct text_set *set)
{
    *set = (struct text_set){ .slots = NULL };
    random_bytes(set->key, sizeof set->key);
}

void text_set_end(struct text_set *set)
{
    free(set->slots);
    *set = (struct text_set){ .slots = NULL };
}

static bool is_empty(const struct text_hash *hash)
{
    return (hash->half[0] | hash->half[1]) == 0;
}

/* The slot of this hash, or the empty one where it belongs. */
static struct text_hash *slot_find(struct text_hash *slots, size_t count, const struct text_hash *hash)
{
    size_t i = hash->half[0] & (count - 1);
    while (!is_empty(&slots[i]) && memcmp(&slots[i], hash, sizeof *hash) != 0)
        i = (i + 1) & (count - 1);
    return &slots[i];
}

static bool grow(struct text_set *set)
{
    const size_t wanted = set->slot_count == 0 ? SLOTS_FIRST : 2 * set->slot_count;
    struct text_hash *slots = calloc(wanted, sizeof *slots);
    if (slots == NULL)
        return false;
    for (size_t i = 0; i < set->slot_count; i++)
        if (!is_empty(&set->slots[i]))
            *slot_find(slots, wanted, &set->slots[i]) = set->slots[i];
    free(set->slots);
    set->slots = slots;
    set->slot_count = wanted;
    return true;
}

static struct text_hash hash_of(const struct text_set *set, struct str text)
{
    struct text_hash hash;
    _Static_assert(sizeof hash == crypto_shorthash_siphashx24_BYTES, "128 bits");
    _Static_assert(sizeof set->key == crypto_shorthash_siphashx24_KEYBYTES, "the key of SipHash");
    (void)crypto_shorthash_siphashx24((unsigned char *)&hash, (const unsigned char *)text.ptr, text.len, set->key);
    if (is_empty(&hash))
        hash.half[1] = 1;
    return hash;
}

enum status text_set_add(struct text_set *set, struct str text)
{
    const struct text_hash hash = hash_of(set, text);
    if (set->count >= set->slot_count / 8 * 7 && !grow(set))
        return ST_NO_MEMORY;
    struct text_hash *slot = slot_find(set->slots, set->slot_count, &hash);
    if (!is_empty(slot))
        return ST_EXISTS;
    *slot = hash;
    set->count++;
    return ST_OK;
}

bool text_set_has(const struct text_set *set, struct str text)
{
    const struct text_hash hash = hash_of(set, text);
    return set->count > 0 && !is_empty(slot_find(set->slots, set->slot_count, &hash));
}

/* A set of texts, which knows of each only a hash of 128 bits with a random key (SipHash): two texts of a million are
 * taken for the same with a chance below 2^-88, and nobody can choose texts that collide. 16 to 37 bytes a text. */
#ifndef HB_BASE_TEXT_SET_H
#define HB_BASE_TEXT_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/str.h"

struct text_hash {
    uint64_t half[2];
};

struct text_set {
    uint8_t key[16];
    struct text_hash *slots; /* zeroed: empty */
    size_t slot_count, count;
};

/* An empty set with a new key. */
void text_set_begin(struct text_set *set);
void text_set_end(struct text_set *set);
/* Adds a text. ST_EXISTS: the set has it · ST_NO_MEMORY. */
enum status text_set_add(struct text_set *set, struct str text);
bool text_set_has(const struct text_set *set, struct str text);

#endif

/* Ids as people see them: a 64-bit id and a 64-bit keyed MAC (SipHash-2-4) as 26 characters of Crockford base32.
 * Arithmetic alone refuses a guessed or mistyped text, without a store. Pure: the key is an argument.
 *
 * Layout, most significant bit first: two zero bits, the id, the MAC of the id's 8 big-endian bytes; five bits a
 * character, so the first character is at most 7. */
#ifndef HB_BASE_PUBLIC_ID_H
#define HB_BASE_PUBLIC_ID_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/keys.h"
#include "base/str.h"

#define PUBLIC_ID_LEN       26
#define PUBLIC_ID_TEXT_MAX  (PUBLIC_ID_LEN + 1) /* with its NUL */
#define PUBLIC_ID_KEY_BYTES 16

struct public_id_key {
    uint8_t bytes[PUBLIC_ID_KEY_BYTES];
};

/* Takes from the key of KEY_IDS the bytes that the MAC uses. */
void public_id_key_set(struct public_id_key *out, const struct key *key);

/* Writes 26 lower-case characters and a NUL. out: PUBLIC_ID_TEXT_MAX bytes, caller's. */
void public_id_encode(const struct public_id_key *key, uint64_t id, char *out);
/* The same in the arena; STR_NONE without memory. */
struct str public_id_text(struct arena *a, const struct public_id_key *key, uint64_t id);

/* Reads a text in any case, with i and l for 1 and o for 0. False, *out_id untouched: wrong length, another
 * character, one of the two top bits set, or a wrong MAC (compared in constant time). */
bool public_id_decode(const struct public_id_key *key, struct str text, uint64_t *out_id);
/* The same without the key: it does not compare the MAC, so the id may be one that nobody has made. */
bool public_id_read_unproven(struct str text, uint64_t *out_id);

#endif

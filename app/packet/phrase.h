/* The passphrase 口令 of a packet: a user must type it to open the packet. It is compared in a folded form, so that
 * width, case, blanks around it, the keyboard's kind of punctuation and of an emoji's picture do not matter. Redis
 * and MySQL have its keyed hash, and the phrase itself sealed, so that the program can show it to its sender again.
 * Both uses have a key of their own (base/keys.h), from which one is derived for each packet: equal phrases of two
 * packets have different hashes. Phrases of earlier versions were made with KEY_BEFORE. Pure, except for the random
 * nonce. */
#ifndef HB_PACKET_PHRASE_H
#define HB_PACKET_PHRASE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/keys.h"
#include "base/status.h"
#include "base/str.h"

enum {
    PHRASE_GRAPHEMES_MAX = 20,
    PHRASE_CODE_POINTS_MAX = 80, /* sealed, so many fit the column */
    PHRASE_HASH_BYTES = 32,
    PHRASE_HASHES_MAX = 3, /* that one typed phrase is compared by */
    PHRASE_SOURCE_BYTES = 16
};

struct phrase {
    struct str shown;  /* as typed, cleaned by utf8_clean; empty: there is none */
    struct str folded; /* as it is compared */
};

/* The form that is compared: utf8_fold_alike, blanks around it removed and blanks within folded, without invisible
 * characters. May be empty. ST_INVALID: not UTF-8 · ST_NO_MEMORY. */
enum status phrase_fold(struct arena *a, struct str typed, struct str *out);
/* Fills folded from shown. Errors as phrase_fold. */
enum status phrase_read(struct arena *a, struct phrase *phrase);

/* The keyed hash of a folded phrase for this packet: BLAKE2b-256, 32 bytes in the arena. STR_NONE without memory. */
struct str phrase_hash(struct arena *a, const struct key *key, uint64_t packet_id, struct str folded);
/* All hashes that a packet with this phrase may have: the hash of `folded`, and behind it the hashes that earlier
 * versions made. In the arena; STR_NONE without memory. */
struct str phrase_hashes(struct arena *a, struct key_pair keys, uint64_t packet_id, const struct phrase *phrase);
/* True when the packet's hash is of this phrase. False without memory. */
bool phrase_matches(struct arena *a, struct key_pair keys, uint64_t packet_id, const struct phrase *phrase,
                    struct str hash);
/* Where a phrase was typed, as Redis may know it: PHRASE_SOURCE_BYTES in the arena, one keyed hash (SipHash-2-4) of the
 * address for this packet and one of its network. STR_NONE without memory. */
struct str phrase_source(struct arena *a, const struct key *key, uint64_t packet_id, struct str address,
                         struct str network);
/* Encrypts the phrase (XSalsa20-Poly1305, nonce first). In the arena; STR_NONE without memory. */
struct str phrase_seal(struct arena *a, const struct key *key, uint64_t packet_id, struct str shown);
/* The phrase of sealed bytes, in the arena. STR_NONE: sealed for another packet or with another key, damaged, or
 * without memory. */
struct str phrase_unseal(struct arena *a, struct key_pair keys, uint64_t packet_id, struct str sealed);

#endif

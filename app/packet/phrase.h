/* The passphrase 口令 of a packet: a user must type it to open the packet. Phrases are compared in a folded form: width,
 * case, blanks around the phrase, the kind of punctuation and the style of an emoji do not matter. Redis and MySQL have
 * the keyed hash, and the sealed phrase, so that the program can show the phrase to its sender again. Hash and seal
 * have separate keys (base/keys.h), from which a key is derived for each packet: equal phrases of two packets have
 * different hashes. Phrases of earlier versions were made with KEY_BEFORE. Pure, except for the random nonce. */
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
    PHRASE_CODE_POINTS_MAX = 80, /* a sealed phrase of this length fits the column */
    PHRASE_HASH_BYTES = 32,
    PHRASE_HASHES_MAX = 3, /* the most hashes with which one typed phrase is compared */
    PHRASE_SOURCE_BYTES = 16
};

struct phrase {
    struct str shown;  /* as typed, cleaned by utf8_clean; empty: there is none */
    struct str folded; /* as it is compared */
};

/* The form in which phrases are compared: utf8_fold_alike, without blanks around it and invisible characters, with
 * single blanks inside. May be empty. ST_INVALID: not UTF-8 · ST_NO_MEMORY. */
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
/* Where a phrase was typed, in a form that Redis may store: PHRASE_SOURCE_BYTES in the arena, one keyed hash
 * (SipHash-2-4) of the address for this packet and one of its network. STR_NONE without memory. */
struct str phrase_source(struct arena *a, const struct key *key, uint64_t packet_id, struct str address,
                         struct str network);
/* Encrypts the phrase (XSalsa20-Poly1305, nonce first). In the arena; STR_NONE without memory. */
struct str phrase_seal(struct arena *a, const struct key *key, uint64_t packet_id, struct str shown);
/* The phrase of sealed bytes, in the arena. STR_NONE: sealed for another packet or with another key, damaged, or
 * without memory. */
struct str phrase_unseal(struct arena *a, struct key_pair keys, uint64_t packet_id, struct str sealed);

#endif

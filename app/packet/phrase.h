/* The passphrase 口令 of a packet: a user must type it to open the packet. It is compared in a folded form, so that
 * width, case, blanks around it and the kind of an emoji's picture do not matter. Redis and MySQL have its keyed hash,
 * and the phrase itself sealed, so that the program can show it to its sender again. The keys are derived from the
 * configured secret and the packet's id: equal phrases of two packets have different hashes. Pure, but for the random
 * nonce. */
#ifndef HB_PACKET_PHRASE_H
#define HB_PACKET_PHRASE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"

enum {
    PHRASE_GRAPHEMES_MAX = 20,
    PHRASE_CODE_POINTS_MAX = 80 /* sealed, so many fit the column */
};

struct phrase {
    struct str shown;  /* as typed, cleaned by utf8_clean; empty: there is none */
    struct str folded; /* as it is compared */
};

/* The form that is compared: NFKC, case folded, blanks around it removed and blanks within folded, without variation
 * selectors and invisible characters. May be empty. ST_INVALID: not UTF-8 · ST_NO_MEMORY. */
enum status phrase_fold(struct arena *a, struct str typed, struct str *out);

/* The keyed hash of a folded phrase for this packet: BLAKE2b-256, 32 bytes in the arena. STR_NONE without memory. */
struct str phrase_hash(struct arena *a, struct str secret, uint64_t packet_id, struct str folded);
/* Encrypts the phrase (XSalsa20-Poly1305, nonce first). In the arena; STR_NONE without memory. */
struct str phrase_seal(struct arena *a, struct str secret, uint64_t packet_id, struct str shown);
/* The phrase of sealed bytes, in the arena. STR_NONE: sealed for another packet or with another secret, damaged, or
 * without memory. */
struct str phrase_unseal(struct arena *a, struct str secret, uint64_t packet_id, struct str sealed);

#endif

/* The code of an invitation, which lets one person register. No function here accesses a store.
 *
 * Text   XXXX-XXXX-XXXX-CCCC: 60 bits and a check of 20 bits, in Crockford's base32 (base/base32.h). The 60 bits are a
 *        part of a MAC of the invitation's seed, with a key of the site, so that its maker can see the code again. The
 *        check is a part of a MAC of these bits: a guess and a mistyped code are refused by arithmetic alone, before
 *        any look-up.
 * Stored the seed, which is random, and a keyed hash of the 60 bits, by which a typed code is found. Neither leads to
 *        the code without the key. */
#ifndef HB_USER_INVITATION_CODE_H
#define HB_USER_INVITATION_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/keys.h"
#include "base/str.h"

enum {
    INVITATION_CODE_CHARS = 16,   /* without the hyphens */
    INVITATION_CODE_TEXT_LEN = 19 /* with them */
};

struct invitation_code {
    struct str text; /* as it is shown, in the arena */
    struct str hash; /* as it is stored, 32 characters in the arena; NUL-terminated */
};

/* The code of the invitation with this seed. key: KEY_INVITATIONS. False: no memory. */
bool invitation_code_of(struct arena *a, const struct key *key, uint64_t seed, struct invitation_code *out);
/* Reads what was typed or pasted: in any case and width, O for 0 and I or L for 1, hyphens and blanks anywhere or left
 * out; also a whole link with ?invitation=CODE. False: it is no code that this site has made, or there is no memory. */
bool invitation_code_read(struct arena *a, const struct key *key, struct str typed, struct invitation_code *out);

#endif

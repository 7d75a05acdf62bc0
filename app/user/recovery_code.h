/* Recovery codes: one of them logs its owner in without the password, once. No function here accesses a store.
 *
 * Text   D-XXXX-XXXX-XXXX-CCCC: the slot of the code in its user's set, 60 random bits, and a check of 20 bits, in
 *        Crockford's base32 (base/base32.h). The check is a part of a MAC of the other characters and the username,
 *        with a key of the site. So a guess, a mistyped code and another user's code are refused by arithmetic alone,
 *        before any look-up.
 * Stored "k1$" and a keyed hash of the code and the username: 60 random bits need no slow hash. A code of an earlier
 *        version is stored as an Argon2id hash of its characters (user/password.h). */
#ifndef HB_USER_RECOVERY_CODE_H
#define HB_USER_RECOVERY_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/keys.h"
#include "base/str.h"

enum {
    RECOVERY_CODES = 10,        /* of a set */
    RECOVERY_CODE_CHARS = 17,   /* without the hyphens */
    RECOVERY_CODE_TEXT_LEN = 21 /* with them */
};

struct recovery_code {
    unsigned slot;                         /* below RECOVERY_CODES */
    uint64_t number;                       /* the slot and the random bits */
    char chars[RECOVERY_CODE_CHARS + 1];   /* capitals without hyphens */
    char text[RECOVERY_CODE_TEXT_LEN + 1]; /* as it is shown */
    struct str subject;                    /* stands for the code in a limit; reveals nothing about it. In the arena */
};

/* Makes a random code of the slot for the user with this username. False: no memory. */
bool recovery_code_make(struct arena *a, const struct key *key, struct str username, unsigned slot,
                        struct recovery_code *out);
/* Reads what was typed: in any case and width, O for 0 and I or L for 1, hyphens and blanks anywhere or left out.
 * False: it is no code that this site has made for this username, or there is no memory. */
bool recovery_code_read(struct arena *a, struct key_pair keys, struct str username, struct str typed,
                        struct recovery_code *out);
/* The hash that is stored, in the arena. STR_NONE without memory. */
struct str recovery_code_hash(struct arena *a, const struct key *key, struct str username,
                              const struct recovery_code *code);
/* True for a stored hash of an earlier version, which password_verify compares. */
bool recovery_hash_is_slow(struct str hash);

#endif

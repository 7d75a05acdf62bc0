/* The keys of the site: one for each purpose, all derived from the configured secret. A function that makes or checks
 * something gets the key of its purpose, never the secret. A role that serves gets only the keys of its purposes, in a
 * file that `hongbao keys` makes (commands/keys.h). It can't compute the others, unless it has KEY_BEFORE. Pure.
 *
 * Derived: BLAKE2b over the purpose's name, keyed with a hash of the secret. KEY_BEFORE is BLAKE2b-256 of the secret
 * itself. Earlier versions used it directly for KEY_RECOVERY_CODE to KEY_USERNAMES, with the purpose in each message,
 * and the keys of the purposes before them are derived from it. Only a role that has KEY_BEFORE recognizes what earlier
 * versions made; the setting older_keys decides whether `hongbao keys` prints it. Nobody can compute the keys of these
 * five purposes, or of a newer one, from it. */
#ifndef HB_BASE_KEYS_H
#define HB_BASE_KEYS_H

#include <sodium.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/str.h"

enum key_purpose {
    KEY_IDS,           /* ids as people see them, and access tokens (base/public_id.h) */
    KEY_RECEIPTS,      /* the master of the keys that sign receipts (packet/receipt_keys.h) */
    KEY_CHALLENGES,    /* challenges of passkeys (user/passkey.h) */
    KEY_HANDLES,       /* user handles of new passkeys; each passkey's row keeps its own */
    KEY_DEVICES,       /* cookies of known devices (user/known_device.h) */
    KEY_RECOVERY_HASH, /* stored hashes of recovery codes (user/recovery_code.h) */
    KEY_RECOVERY_CODE, /* the check in a recovery code */
    KEY_SCREENS,       /* links to big screens (pages/screen.c) */
    KEY_PHRASE_HASH,   /* hashes of passphrases (packet/phrase.h) */
    KEY_PHRASE_SEAL,   /* sealed passphrases */
    KEY_USERNAMES,     /* usernames of deleted users (user/deletion.h) */
    KEY_SHOWN,         /* the one key that earlier versions used for the five purposes above */
    KEY_LOGIN_LINKS,   /* codes of login links (user/login_link.h) */
    KEY_TOPUPS,        /* the master of the keys that sign links to the pages of channels (wallet/topup_link.h) */
    KEY_INVITATIONS,   /* codes of invitations (user/invitation_code.h) */
    KEY_ISSUER,        /* what a browser brings back from an issuer (sso) */
    KEY_BEFORE,        /* the one key of earlier versions for the five purposes above */
    KEY_PURPOSES
};

enum { KEY_BYTES = crypto_generichash_KEYBYTES, KEY_HEX_MAX = 2 * KEY_BYTES + 1 };

struct key {
    unsigned char bytes[KEY_BYTES]; /* a shorter key is followed by zeros */
};

struct keys {
    struct key of[KEY_PURPOSES];
    bool has[KEY_PURPOSES];
};

/* now: the key of a purpose. before: KEY_BEFORE; NULL: the role does not have it. */
struct key_pair {
    const struct key *now, *before;
};

/* The key of one purpose. About two microseconds. */
struct key key_derive(struct str secret, enum key_purpose purpose);
/* All keys; KEY_BEFORE only with older. */
void keys_derive(struct str secret, bool older, struct keys *out);

/* The key of a purpose, which must be there: a role that lacks one of its keys is not started. */
const struct key *keys_get(const struct keys *keys, enum key_purpose purpose);
/* The key of a purpose and KEY_BEFORE, to recognize what earlier versions made. Only for the five purposes that used
 * KEY_BEFORE directly. */
struct key_pair keys_pair(const struct keys *keys, enum key_purpose purpose);

/* ---- the keys of a role ---- */

/* True for a role that gets its keys instead of the secret. *set: a bit for each of its purposes, perhaps none. */
bool keys_of_role(struct str role, unsigned *set);
/* The name of a purpose in the file of a role. Static storage. */
const char *key_word(enum key_purpose purpose);
/* Writes the key as hex with NUL. */
void key_hex(const struct key *key, char out[KEY_HEX_MAX]);
/* Adds a key to out by the name of its purpose. Returns NULL, or what is wrong with the key (static storage). */
const char *key_add(struct keys *out, struct str word, struct str hex);
/* The name of a key of the set that keys lacks; NULL: it lacks none. KEY_BEFORE is never needed. */
const char *keys_lack(const struct keys *keys, unsigned set);
/* Writes the file of the role: a line `name = key` for each of its keys that keys has. False: the role gets no keys, or
 * out refused a line. */
bool keys_print(const struct keys *keys, struct str role, FILE *out);

#endif

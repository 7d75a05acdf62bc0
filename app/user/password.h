/* Password hashes: Argon2id with 19 MiB, 2 passes and one lane, as OWASP recommends. A call takes about 50 ms of CPU,
 * so only the auth pool hashes, and each hash needs a permit: requests get it from a budget (user/hash_budget.h). */
#ifndef HB_USER_PASSWORD_H
#define HB_USER_PASSWORD_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"

/* A password that somebody typed. */
struct password {
    struct str text; /* as it is hashed: utf8_opaque */
    struct str raw;  /* as typed, if that differs: older hashes are of this text; else empty */
};

/* Fills out from what was typed, which is borrowed. Text that is far too long stays as it is. ST_OK · ST_NO_MEMORY. */
enum status password_normalize(struct arena *a, struct str typed, struct password *out);

#define PASSWORD_HASH_MAX 128 /* bytes of a hash text with its NUL */

/* The number of hashes that may still be made. Hashing without a permit is a mistake of the program (assert). */
struct hash_permit {
    unsigned left;
};

/* Writes the salted hash of the normalized password as text. out: PASSWORD_HASH_MAX bytes, the caller's. ST_NO_MEMORY:
 * 19 MiB are not available. */
enum status password_hash(struct hash_permit *permit, struct str password, char *out);
/* Compares the password with the hash. ST_OK: it matches · ST_NOT_FOUND: it does not · ST_NO_MEMORY: not compared. An
 * empty hash (unknown user, or a user without a password) is compared with a dummy hash of the same cost and never
 * matches, so the time of the answer does not reveal which users exist. */
enum status password_verify(struct hash_permit *permit, struct str hash, struct str password);
/* As password_verify, for a typed password; a different raw text is compared, too, and needs a second permit. *raw:
 * only the raw text matches, so the hash should be replaced. */
enum status password_verify_typed(struct hash_permit *permit, struct str hash, const struct password *typed, bool *raw);
/* True when the hash was made with other costs than the current ones. */
bool password_needs_rehash(struct str hash);

#endif

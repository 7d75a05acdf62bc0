/* Password hashes: Argon2id with 19 MiB, 2 passes and one lane, as OWASP recommends. A call takes about 50 ms of CPU,
 * so only the auth pool hashes. */
#ifndef HB_USER_PASSWORD_H
#define HB_USER_PASSWORD_H

#include <stdbool.h>

#include "base/status.h"
#include "base/str.h"

#define PASSWORD_HASH_MAX 128 /* bytes of a hash text with its NUL */

/* Writes the salted hash as text. out: PASSWORD_HASH_MAX bytes, the caller's. ST_NO_MEMORY: 19 MiB are not
 * available. */
enum status password_hash(struct str password, char *out);
/* Compares the password with the hash. ST_OK: it matches · ST_NOT_FOUND: it does not · ST_NO_MEMORY: not compared. An
 * empty hash (unknown user, or a user without a password) is compared with a dummy hash of the same cost and never
 * matches, so the time of the answer does not reveal which users exist. */
enum status password_verify(struct str hash, struct str password);
/* True when the hash was made with other costs than the current ones. */
bool password_needs_rehash(struct str hash);

#endif

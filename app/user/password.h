/* Passwords: Argon2id (19 MiB, 2 passes, one lane: OWASP's figures), about 50 ms of CPU a call. Only the auth pool
 * calls these. */
#ifndef HB_USER_PASSWORD_H
#define HB_USER_PASSWORD_H

#include <stdbool.h>

#include "base/status.h"
#include "base/str.h"

#define PASSWORD_HASH_MAX 128 /* bytes of a hash text with its NUL */

/* Writes the salted hash text. out: PASSWORD_HASH_MAX bytes, caller's. ST_NO_MEMORY when 19 MiB can't be had. */
enum status password_hash(struct str password, char *out);
/* ST_OK: the password belongs to the hash; ST_NOT_FOUND: it does not; ST_NO_MEMORY: nobody knows. An empty hash
 * (unknown user, or one without a password) is checked against a dummy of the same cost and never fits, so that the
 * answer's time does not tell who exists. */
enum status password_verify(struct str hash, struct str password);
/* True when a hash was made with other costs than today's. */
bool password_needs_rehash(struct str hash);

#endif

/* The hashes of recovery codes in MySQL (user/recovery_code.h). Only the auth pool reads hashes. */
#ifndef HB_USER_RECOVERY_STORE_H
#define HB_USER_RECOVERY_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"
#include "mysql/db.h"
#include "user/recovery_code.h"
#include "user/store.h"

/* Replaces the codes of the user by a set of RECOVERY_CODES hashes, one for each slot. ST_UNKNOWN: the reply was
 * lost · ST_UNAVAILABLE: also when the user was disabled or deleted meanwhile. */
enum status recovery_codes_replace(struct db *db, struct arena *a, uint64_t user_id, const struct str *hashes,
                                   int64_t now_ms);
/* Inserts a set of a user who has none. Inside a transaction. */
enum status recovery_codes_insert(struct db *db, uint64_t user_id, const struct str *hashes, int64_t now_ms);
/* The number of codes that the user has left. Reads no hash. */
enum status recovery_codes_count(struct db *db, struct arena *a, uint64_t user_id, uint64_t *out);
/* Finds the user of this folded username, and the hash of the code in the slot: empty when the slot has none.
 * user->password_hash stays empty. ST_NOT_FOUND: no such user. The texts are in the arena. */
enum status recovery_code_find(struct db *db, struct arena *a, struct str username, unsigned slot, struct user *user,
                               struct str *hash);
/* Deletes the code of this hash and sets the password, if new_hash is not empty: both or nothing. ST_NOT_FOUND: the
 * code is gone, as another login has used it, or the user is disabled or deleted by now · ST_UNKNOWN: the reply was
 * lost. */
enum status recovery_code_use(struct db *db, struct arena *a, uint64_t user_id, unsigned slot, struct str hash,
                              struct str new_hash);
/* Deletes all codes of the user. May be repeated. */
enum status recovery_codes_delete(struct db *db, uint64_t user_id);

#endif

/* Rows of the table cover: the pictures that a user has for envelopes (io/picture.h makes them). */
#ifndef HB_USER_COVER_STORE_H
#define HB_USER_COVER_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"
#include "mysql/db.h"

enum { OWN_COVERS_MAX = 6 }; /* of a user */

/* The hashes of the user's covers, in the arena, the newest first. Errors as db_query. */
enum status covers_find(struct db *db, struct arena *a, uint64_t user_id, struct str_list *out);
/* Adds the file to the user's covers, unless the user has it already. *full: nothing was added, because there are
 * OWN_COVERS_MAX. *hash, in the arena: the hash of the file. May be repeated. ST_NOT_FOUND: there is no such user · the
 * other errors of db_transaction. */
enum status cover_add(struct db *db, struct arena *a, uint64_t user_id, struct str bytes, int64_t now_ms, bool *full,
                      struct str *hash);
/* Removes a cover of the user, if it exists. Packets keep its name. Errors as db_exec. */
enum status cover_remove(struct db *db, uint64_t user_id, struct str hash);

#endif

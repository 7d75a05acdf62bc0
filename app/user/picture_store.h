/* Rows of the table picture: one small WebP file for each user who has one (io/picture.h makes it). */
#ifndef HB_USER_PICTURE_STORE_H
#define HB_USER_PICTURE_STORE_H

#include <stdint.h>

#include "base/arena.h"
#include "base/badge.h"
#include "base/status.h"
#include "base/str.h"
#include "mysql/db.h"

/* Makes the file the user's picture, in place of an earlier one, and makes it the user's face, which is returned in
 * *face. May be repeated. ST_NOT_FOUND: there is no such user · the other errors of db_transaction. */
enum status picture_set(struct db *db, struct arena *a, uint64_t user_id, struct str bytes, int64_t now_ms,
                        struct face *face);
/* Removes the user's picture. If the face showed it, the face is removed, too: *changed says whether, and *face is the
 * face afterwards. May be repeated. Errors as picture_set. */
enum status picture_remove(struct db *db, struct arena *a, uint64_t user_id, bool *changed, struct face *face);
/* Sets the nickname and a face that is no picture, and removes the user's picture. Errors as picture_set. */
enum status picture_leave(struct db *db, struct arena *a, uint64_t user_id, const struct str *nickname,
                          const struct face *face);
/* *hash: the hash of the user's picture; STR_NONE: there is none. */
enum status picture_of_user(struct db *db, struct arena *a, uint64_t user_id, struct str *hash);
/* The file, of a picture or of a cover (user/cover_store.h). ST_NOT_FOUND: no user has it now. */
enum status picture_find(struct db *db, struct arena *a, struct str hash, struct str *bytes);

#endif

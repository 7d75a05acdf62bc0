/* Users in MySQL. */
#ifndef HB_USER_STORE_H
#define HB_USER_STORE_H

#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"
#include "io/db.h"

struct user {
    uint64_t id;
    struct str username;
    struct str nickname;
    struct str password_hash; /* .ptr NULL: no password, session only (demo users) */
};

/* Inserts the user and an empty wallet account of the same id, in one transaction, and sets user->id.
 * ST_EXISTS: the username is taken. A lost COMMIT is looked up by the (salted, so unique) password hash; ST_UNKNOWN
 * only when that can't be done either. */
enum status user_insert(struct db *db, struct arena *a, struct user *user, int64_t now_ms);
/* By folded username. ST_NOT_FOUND. The texts live in the arena. */
enum status user_find_by_name(struct db *db, struct arena *a, struct str username, struct user *out);
/* Replaces old_hash; a password changed meanwhile stays. ST_OK either way. */
enum status user_rehash(struct db *db, uint64_t id, struct str old_hash, struct str new_hash);

#endif

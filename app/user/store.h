/* Users in MySQL: insert, look up, replace a password hash. A user's id is also the id of the wallet account. */
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
    struct str password_hash; /* .ptr NULL: no password, so no login (demo users) */
};

/* Inserts the user and an empty wallet account of the same id in one transaction, and sets user->id. ST_EXISTS: the
 * username is taken · ST_UNKNOWN: the reply to COMMIT was lost, and the row could not be looked up by its salted
 * password hash either. */
enum status user_insert(struct db *db, struct arena *a, struct user *user, int64_t now_ms);
/* Finds a user by the folded username. ST_NOT_FOUND. The texts are in the arena. */
enum status user_find_by_name(struct db *db, struct arena *a, struct str username, struct user *out);
/* Finds those of the folded usernames that exist. *out has a row for each, in any order; without password hashes. */
enum status users_find_by_names(struct db *db, struct arena *a, const struct str_list *usernames, struct user **out,
                                size_t *out_count);
/* Finds users by their ids, in the order of the ids and without those that do not exist; password_hash is absent. *out
 * is in the arena. */
enum status user_find_all(struct db *db, struct arena *a, const uint64_t *ids, size_t count, struct user **out,
                          size_t *out_count);
/* Replaces old_hash by new_hash. When the password was changed meanwhile, it stays. ST_OK in both cases. */
enum status user_rehash(struct db *db, uint64_t id, struct str old_hash, struct str new_hash);

#endif

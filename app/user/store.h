/* Users in MySQL: insert, look up, change, disable. A user's id is also the id of the wallet account. */
#ifndef HB_USER_STORE_H
#define HB_USER_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/badge.h"
#include "base/status.h"
#include "base/str.h"
#include "mysql/db.h"

struct admission; /* user/invitation_store.h */

struct user {
    uint64_t id;
    struct str username;
    struct str nickname;
    struct face face;            /* users_find_by_names, users_find_by_ids, login_link_find */
    struct str password_hash;    /* .ptr NULL: no password, so no login with one */
    bool disabled;               /* disabled by an operator; only user_find_for_login and users_find_by_ids set it */
    int64_t created_ms;          /* only users_find_by_ids sets it */
    struct admission *admission; /* of a new user; NULL: nothing is needed */
    /* Of a new user: what is inserted last in the same transaction; NULL: nothing. */
    enum status (*with)(struct db *db, const struct user *user, void *ctx);
    void *with_ctx;
};

/* A user as an operator sees him or her. */
struct user_state {
    uint64_t id;
    struct str username, nickname;
    int64_t created_ms;
    int64_t disabled_ms;             /* 0: not disabled */
    int64_t deleting_ms, deleted_ms; /* user/deletion.h; 0: not */
};

/* "active", "disabled", "deleting" or "deleted". Static storage. */
const char *user_state_word(const struct user_state *user);

/* Inserts the user and an empty wallet account of the same id in one transaction, and sets user->id. ST_EXISTS: the
 * username is taken, or a deleted user had it · ST_NOT_FOUND: the invitation of the admission lets nobody in (any
 * more), so nothing was inserted · ST_UNKNOWN: the reply to COMMIT was lost, and the row has no password or could not
 * be looked up by its salted password hash either. */
enum status user_insert(struct db *db, struct arena *a, const struct keys *keys, struct user *user, int64_t now_ms);
/* Finds a user by the folded username, without the password hash, which only the auth pool may read. ST_NOT_FOUND. The
 * texts are in the arena. */
enum status user_find_by_name(struct db *db, struct arena *a, struct str username, struct user *out);
/* The same with the password hash and `disabled`. */
enum status user_find_for_login(struct db *db, struct arena *a, struct str username, struct user *out);
/* Finds the users of these folded usernames. *out has a row for each, in any order; without password hashes. */
enum status users_find_by_names(struct db *db, struct arena *a, const struct str_list *usernames, struct user **out,
                                size_t *out_count);
/* Finds users by their ids, in the order of the ids and without those that do not exist; password_hash is absent. *out
 * is in the arena. Each number of ids is a separate prepared statement. To have few of them, lists are filled up with
 * 0, which is no user's id. */
enum status users_find_by_ids(struct db *db, struct arena *a, const uint64_t *ids, size_t count, struct user **out,
                              size_t *out_count);
/* The user's password hash; absent (.ptr NULL) for a user without a password. ST_NOT_FOUND: no such user. */
enum status user_hash_find(struct db *db, struct arena *a, uint64_t id, struct str *out);
/* When the user registered. ST_NOT_FOUND: no such user. */
enum status user_created_find(struct db *db, struct arena *a, uint64_t id, int64_t *out_ms);
/* Replaces old_hash (.ptr NULL: the user has no password) by new_hash. ST_CONFLICT: the user has another hash by now ·
 * ST_UNKNOWN: the reply was lost, and the hash could not be read either. */
enum status user_password_change(struct db *db, struct arena *a, uint64_t id, struct str old_hash, struct str new_hash);
/* Locks the user's row until the transaction ends: a change that disables or deletes the user then waits, or is done
 * already. ST_NOT_FOUND: no such user, or a disabled or deleted one. Inside a transaction. */
enum status user_lock(struct db *db, struct arena *a, uint64_t id);
/* Sets the password, whatever the old one was. May be repeated. */
enum status user_password_set(struct db *db, uint64_t id, struct str hash);
/* Sets the nickname and the face; NULL leaves one unchanged. May be repeated. */
enum status user_rename(struct db *db, uint64_t id, const struct str *nickname, const struct face *face);
/* The user's face. ST_NOT_FOUND: no such user. */
enum status user_face_find(struct db *db, struct arena *a, uint64_t id, struct face *out);
/* Replaces old_hash by new_hash. When the password was changed meanwhile, it stays. ST_OK in both cases. */
enum status user_rehash(struct db *db, uint64_t id, struct str old_hash, struct str new_hash);

/* ---- for operators; each may be repeated ---- */

/* Finds a user by the folded username (STR_NONE: ST_NO_MEMORY), or by "~" and the id. ST_NOT_FOUND. The texts are in
 * the arena. */
enum status user_state_find(struct db *db, struct arena *a, struct str username, struct user_state *out);
enum status user_state_find_by_id(struct db *db, struct arena *a, uint64_t id, struct user_state *out);
/* Finds users by the nickname, cleaned by utf8_clean_shown; capitals and accents do not matter. Newest first, at most
 * limit. There is no index: it reads the whole table, for 15 s at most, then ST_UNAVAILABLE. *out is in the arena. */
enum status user_states_by_nickname(struct db *db, struct arena *a, struct str nickname, size_t limit,
                                    struct user_state **out, size_t *out_count);
/* Disables the user; an earlier time stays. */
enum status user_disable(struct db *db, uint64_t id, int64_t now_ms);
enum status user_enable(struct db *db, uint64_t id);

#endif

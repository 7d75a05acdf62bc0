/* Login links in MySQL (user/login_link.h). A user has at most one: a new one replaces the older, also one that nobody
 * has used. Only the auth pool and the commands that make links read hashes. */
#ifndef HB_USER_LOGIN_LINK_STORE_H
#define HB_USER_LOGIN_LINK_STORE_H

#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "mysql/db.h"
#include "user/login_link.h"
#include "user/store.h"

/* Stores the link of the user in place of an earlier one. ST_NOT_FOUND: there is no such user, or a disabled or deleted
 * one · ST_UNKNOWN: the reply was lost; make another link. */
enum status login_link_put(struct db *db, struct arena *a, uint64_t user_id, const struct login_link *link,
                           int64_t now_ms, int64_t expires_ms);
/* The same for users whose rows are locked, inside a transaction. links: one for each id. count: at least 1. */
enum status login_links_put(struct db *db, const uint64_t *user_ids, const struct login_link *links, size_t count,
                            int64_t now_ms, int64_t expires_ms);
/* Finds the user of a link that has not expired. user->password_hash stays empty. ST_NOT_FOUND: there is none, as after
 * its use, or the user is being deleted. The texts are in the arena. */
enum status login_link_find(struct db *db, struct arena *a, const struct login_link *link, int64_t now_ms,
                            struct user *user, int64_t *expires_ms);
/* Uses the link up: it is deleted, and of several calls at once one deletes it. ST_NOT_FOUND: it is gone or expired, or
 * the user is disabled or deleted by now · ST_UNKNOWN: the reply was lost. */
enum status login_link_use(struct db *db, struct arena *a, uint64_t user_id, const struct login_link *link,
                           int64_t now_ms);
/* Deletes the user's link. May be repeated. */
enum status login_link_delete(struct db *db, uint64_t user_id);
/* When the user's link expires; 0: there is none, or it has expired. Reads no hash. */
enum status login_link_until(struct db *db, struct arena *a, uint64_t user_id, int64_t now_ms, int64_t *out_ms);

#endif

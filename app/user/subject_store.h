/* Subjects in MySQL: which user of an issuer (OpenID Connect) is which user of the site. A subject belongs to one user
 * for ever; a user has one subject of an issuer at most. */
#ifndef HB_USER_SUBJECT_STORE_H
#define HB_USER_SUBJECT_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"
#include "mysql/db.h"
#include "user/store.h"

enum { SUBJECT_PERMIT_MS = 600 * 1000 };

struct subject {
    struct str issuer; /* to the letter */
    struct str name;   /* sub */
};

/* The user of the subject: id, username, nickname, disabled. ST_NOT_FOUND: the subject is nobody's. The texts are in
 * the arena. */
enum status subject_find(struct db *db, struct arena *a, const struct subject *subject, struct user *out);
/* Inserts the subject of a user who was just inserted, in the same transaction. ST_EXISTS: it is somebody's. */
enum status subject_insert(struct db *db, const struct subject *subject, uint64_t user_id, int64_t now_ms);

/* Allows the session of this Redis key to link a subject to its user until SUBJECT_PERMIT_MS from now. May be
 * repeated. */
enum status subject_permit(struct db *db, uint64_t user_id, struct str session_key, int64_t now_ms);
/* Links the subject to the user; uses the permit of the session up. ST_NOT_FOUND: there is no permit, or the user was
 * disabled or deleted meanwhile · ST_EXISTS: the subject is somebody's, or the user has another subject of this issuer
 * · ST_UNKNOWN: the reply to COMMIT was lost. */
enum status subject_link(struct db *db, struct arena *a, const struct subject *subject, uint64_t user_id,
                         struct str session_key, int64_t now_ms);
/* Whether the user has a subject of this issuer, and since when. ST_NOT_FOUND: none. */
enum status subject_of_user(struct db *db, struct arena *a, uint64_t user_id, struct str issuer, int64_t *linked_ms);
/* Removes the subject of this issuer from a user who has a password or a passkey. One statement decides. ST_NOT_FOUND:
 * the user has none, or would have no way in left. */
enum status subject_unlink(struct db *db, uint64_t user_id, struct str issuer);

/* Notes that a fresh login at the issuer has begun the session of this Redis key. */
enum status subject_prove(struct db *db, const struct subject *subject, struct str session_key);
/* *proves: a session that began just now proves who its user is. Not so for a user with a subject, unless the issuer
 * has asked anew for the login: somebody at an open browser begins a session with one tap. */
enum status subject_session_proves(struct db *db, struct arena *a, uint64_t user_id, struct str session_key,
                                   bool *proves);

/* The user of the subject whom an order to log out means. *done: the order with this name (jti) was carried out last.
 * ST_NOT_FOUND: the subject is nobody's. */
enum status subject_logout_find(struct db *db, struct arena *a, const struct subject *subject, struct str jti,
                                uint64_t *user_id, bool *done);
/* Notes that it was carried out. */
enum status subject_logout_done(struct db *db, const struct subject *subject, struct str jti);

#endif

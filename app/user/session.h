/* Sessions: the browser has a random token in a cookie; Redis stores the session under the hash of the token.
 *
 * Cookie `sid` (`__Host-sid` with Secure on https): 32 random bytes in base64url, 43 characters.
 * Key    hb:session:<SHA-256 of those 43 characters in hex>
 * Value  v2,user_id,created_ms,seen_ms,username,badge   (base/badge.h; last, because a nickname may
 *        contain commas)
 *        A value without "v2," is of an earlier version, and its session is in no list (user/session_list.h).
 * TTL    of the key: until session_idle_s after the last visit or session_absolute_s after the login, whichever is
 *        first. A visit renews seen_ms and the TTL only when seen_ms is older than an hour (or a hundredth of
 *        session_idle_s), so most lookups cost one GET. The renewal is SET … XX: it does not restore a session
 *        that was logged out meanwhile, and concurrent renewals do no harm. The hot pool, which has no MySQL, may only
 *        read sessions: it hands a request whose session is due to the page pool, which renews it and hands the
 *        request back. */
#ifndef HB_USER_SESSION_H
#define HB_USER_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/badge.h"
#include "base/status.h"
#include "base/str.h"
#include "config/config.h"
#include "web/exchange.h"

#define SESSION_KEY_PREFIX "hb:session:"
#define SESSION_TOKEN_LEN  43
#define SESSION_TOKEN_MAX  (SESSION_TOKEN_LEN + 1)
#define SESSION_KEY_LEN    (sizeof SESSION_KEY_PREFIX - 1 + 64) /* the prefix and hex */
#define SESSION_KEY_MAX    (SESSION_KEY_LEN + 1)

struct session {
    uint64_t user_id;
    int64_t created_ms;
    int64_t seen_ms;
    struct str username;
    struct str nickname;
    struct face face;
    bool listed; /* in the list of its user; false: made by an earlier version */
};

/* ---- parts without I/O ---- */

/* Makes a random token. out: SESSION_TOKEN_MAX bytes, the caller's, NUL-terminated. */
void session_token_new(char *out);
/* True for 43 characters of base64url. */
bool session_token_valid(struct str token);
/* The Redis key of a token. out: SESSION_KEY_MAX bytes, the caller's, NUL-terminated. */
void session_key_write(struct str token, char *out);
/* The session as a Redis value. STR_NONE without memory. */
struct str session_value_text(struct arena *a, const struct session *s);
/* Parses and validates a stored value; the texts are slices of it. False: malformed. */
bool session_value_read(struct str value, struct session *out);
/* True when its times are more than CLOCKS_DIFFER_MS in the future: this clock is wrong, or no clock of the site has
 * written them. */
bool session_is_in_future(const struct session *s, int64_t now_ms);
/* The session's remaining time to live from now_ms, when there is no further visit. 0: one of its lifetimes is over, or
 * it is in the future. */
int64_t session_ttl_ms(const struct config *config, const struct session *s, int64_t now_ms);
/* True when seen_ms is old enough to be renewed. */
bool session_refresh_due(const struct config *config, const struct session *s, int64_t now_ms);

/* ---- the hooks of struct services ---- */

/* Queues the GET of the session. False: no cookie or a malformed token, so a guest; nothing is queued. Without memory
 * it returns true, and session_visitor_read then returns the error. */
bool session_visitor_queue(struct exchange *x);
/* Reads the reply into x->visitor and queues the renewal when it is due. A process with MySQL enters a session of an
 * earlier version into its list. It ends a session that is due for renewal and is not in the list of its user, or whose
 * user is disabled or deleted. All of these block. ST_OK: logged in or not · ST_NOT_FOUND: the page pool has to enter
 * or renew the session first · ST_UNAVAILABLE or ST_UNKNOWN: Redis did not answer, or there was no memory; for a
 * session of an earlier version also MySQL. ST_UNAVAILABLE also for a session in the future: it is not believed, but
 * not lost either, because the clock of this process may be wrong. */
enum status session_visitor_read(struct exchange *x);

/* ---- for handlers that may block ---- */

#define LOOKED_COOKIE "looked" /* packets that this browser has looked at (pages/looked.h), until the session ends */

/* Checks that Redis is reachable. Call it before a password is hashed, so that requests which can't succeed do not
 * occupy the CPU. ST_UNAVAILABLE: unreachable. */
enum status session_store_check(struct exchange *x);
/* Starts a session for the user, with the face in the user's row, deletes the session that the request presented, and
 * adds the Set-Cookie headers of the session and of the known device (user/known_device.h). x->visitor.session_key
 * becomes the key of the new session. ST_UNAVAILABLE: a store did not answer; no header is added, so the token is never
 * used · ST_CONFLICT: the sessions of the user were ended since the request came · ST_NO_MEMORY. */
enum status session_start(struct exchange *x, uint64_t user_id, struct str username, struct str nickname);
/* Deletes the presented session, if any, and adds the headers that clear its cookie and LOOKED_COOKIE. ST_UNAVAILABLE /
 * ST_UNKNOWN: Redis did not answer; the session may still exist, and no header is added. */
enum status session_end(struct exchange *x);
/* Ends all other sessions of the visitor, and makes all other devices unknown (user/known_device.h). ST_OK · else the
 * status of Redis: a part may be done, and it may be repeated. */
enum status session_end_others(struct exchange *x);

#endif

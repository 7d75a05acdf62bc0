/* Sessions: an opaque random token in a cookie; Redis knows only its hash.
 *
 * Cookie `sid` (`__Host-sid` with Secure on https): 32 random bytes in base64url, 43 characters.
 * Key    hb:session:<SHA-256 of those 43 characters in hex>
 * Value  user_id,created_ms,seen_ms,username,nickname   (nickname last: it may hold commas)
 * Life   config session_idle_s after the last visit, session_absolute_s after login, whichever is first: it is the
 *        key's TTL. A visit writes seen_ms and the TTL anew only when it is an hour (or a hundredth of the idle time)
 *        old, so that looking up a session costs one GET. That write is SET … XX: a session that was logged out
 *        meanwhile stays dead, and whoever writes last of several does no harm. */
#ifndef HB_USER_SESSION_H
#define HB_USER_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/config.h"
#include "base/status.h"
#include "base/str.h"
#include "web/exchange.h"

#define SESSION_TOKEN_LEN 43
#define SESSION_TOKEN_MAX (SESSION_TOKEN_LEN + 1)
#define SESSION_KEY_LEN   (11 + 64) /* "hb:session:" and hex */
#define SESSION_KEY_MAX   (SESSION_KEY_LEN + 1)

struct session {
    uint64_t user_id;
    int64_t created_ms;
    int64_t seen_ms;
    struct str username;
    struct str nickname;
};

/* ---- parts without I/O ---- */

/* A fresh token. out: SESSION_TOKEN_MAX bytes, caller's, NUL-terminated. */
void session_token_new(char *out);
/* 43 characters of base64url. */
bool session_token_valid(struct str token);
/* The Redis key of a token. out: SESSION_KEY_MAX bytes, caller's, NUL-terminated. */
void session_key_write(struct str token, char *out);
/* The value to store; STR_NONE without memory. */
struct str session_value_text(struct arena *a, const struct session *s);
/* Reads a stored value without trust; the texts are slices of it. False: not one of ours. */
bool session_value_read(struct str value, struct session *out);
/* How long the session may still live unseen, counted from now; 0 when one of its lifetimes has run out. */
int64_t session_ttl_ms(const struct config *config, const struct session *s, int64_t now_ms);
/* True when seen_ms is old enough to be written anew. */
bool session_refresh_due(const struct config *config, const struct session *s, int64_t now_ms);

/* ---- the hooks of struct services ---- */

/* Queues the GET when the cookie holds a well-formed token; anything else is logged out without I/O: false. Without
 * memory it is true as well, and session_visitor_read tells it. */
bool session_visitor_queue(struct exchange *x);
/* Reads the answer into x->visitor. ST_OK, logged in or not; ST_UNAVAILABLE or ST_UNKNOWN when Redis is away or there
 * was no memory to ask it. */
enum status session_visitor_read(struct exchange *x);

/* ---- for handlers that may block ---- */

/* Whether a session could be stored now. Asked before a password is hashed: while Redis is away nobody shall queue up
 * behind work that is in vain. ST_UNAVAILABLE: not now. */
enum status session_store_check(struct exchange *x);
/* Starts a session for the user, ends the one the request presented and adds the Set-Cookie header.
 * ST_UNAVAILABLE: Redis is away, there is no cookie (and nobody knows the token). ST_NO_MEMORY. */
enum status session_start(struct exchange *x, uint64_t user_id, struct str username, struct str nickname);
/* Ends the presented session, if any, and adds the header that clears the cookie. ST_UNAVAILABLE / ST_UNKNOWN: Redis
 * is away, the session may live on, no header was added. */
enum status session_end(struct exchange *x);

#endif

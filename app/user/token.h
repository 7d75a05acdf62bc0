/* Access tokens: a program acts for a user by `Authorization: Bearer TOKEN` (web/bearer.h).
 *
 * Token  hbt_ and 43 characters of base64url: 24 random bytes and a 64-bit MAC of them (SipHash-2-4, the key of public
 *        ids, whose MACs are over 8 bytes). So a guessed or mistyped token is refused before any store is used.
 * MySQL  table token: the truth, with the SHA-256 of the token and never the token itself (user/token_store.h).
 * Redis  hb:token:<SHA-256 in hex> is a copy for the hot pool, which has no MySQL:
 *        v2,made_ms,user_id,scopes,expires_ms,username,badge   (scopes: bits of enum scope; badge: base/badge.h, last,
 *        as a nickname may have commas) for an hour at most. Or the word `revoked`: for a day after a revocation; for 2
 *        s when the row is gone or has expired, so that such a token does not cost a query each time. A copy counts for
 *        an hour after made_ms, whatever time to live its key has, and not with a made_ms in the future. A copy without
 *        `v2,` comes from an earlier version, and is made anew.
 *
 * A process with MySQL that finds no copy reads the row and makes one; that is also when the row's time of the last use
 * is written, so at most once an hour for each token. The hot pool passes such a request on (nginx/site.conf, @token).
 * A revocation first writes the word and then deletes the row. A copy is made by SET … NX, so it never replaces the
 * word: a process that has read the row just before makes no copy. When a step fails, the token is still listed and can
 * be revoked again. */
#ifndef HB_USER_TOKEN_H
#define HB_USER_TOKEN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/badge.h"
#include "base/public_id.h"
#include "base/random.h"
#include "base/status.h"
#include "base/str.h"
#include "web/exchange.h"

/* The value for a token that was revoked, expired or deleted. */
#define TOKEN_REVOKED    STR("revoked")
#define TOKEN_LEN        47 /* "hbt_" and 43 characters */
#define TOKEN_MAX        (TOKEN_LEN + 1)
#define TOKEN_KEY_PREFIX "hb:token:"
#define TOKEN_KEY_LEN    (sizeof TOKEN_KEY_PREFIX - 1 + 64) /* the prefix and hex */
#define TOKEN_KEY_MAX    (TOKEN_KEY_LEN + 1)

/* The copy in Redis. */
struct token_copy {
    int64_t made_ms; /* 0: of an earlier version */
    uint64_t user_id;
    unsigned scopes; /* bits of enum scope */
    int64_t expires_ms;
    struct str username;
    struct str nickname;
    struct face face;
};

/* ---- parts without I/O ---- */

/* Makes a random token. out: TOKEN_MAX bytes, the caller's, NUL-terminated. */
void token_new(const struct public_id_key *key, char *out);
/* True for a text that token_new can have made with this key. */
bool token_valid(const struct public_id_key *key, struct str token);
/* The Redis key for the SHA-256 of a token. out: TOKEN_KEY_MAX bytes, the caller's, NUL-terminated. */
void token_key_write(const uint8_t hash[HASH_BYTES], char *out);
/* The copy as a Redis value. STR_NONE without memory. */
struct str token_copy_text(struct arena *a, const struct token_copy *copy);
/* Parses and validates a stored value; the texts are slices of it. False: revoked or malformed. */
bool token_copy_read(struct str value, struct token_copy *out);
/* True for a copy that may be used at now_ms, by the time when it was made. */
bool token_copy_is_fresh(const struct token_copy *copy, int64_t now_ms);

/* ---- the visitor of a request with x->bearer (user/visitor.h) ---- */

/* Queues the GET of the copy. False: no valid token; nothing is queued. Without memory it returns true, and
 * token_visitor_read then returns the error. */
bool token_visitor_queue(struct exchange *x);
/* Reads the reply into x->visitor, user_id 0 for a token that is unknown, expired or revoked. Without a copy it reads
 * MySQL and makes one. ST_OK · ST_NOT_FOUND: there is no copy, and this process has no MySQL · ST_UNAVAILABLE or
 * ST_UNKNOWN: a store did not answer, or there was no memory. */
enum status token_visitor_read(struct exchange *x);

/* ---- for handlers that may block ---- */

/* Writes `revoked` under the key of the hash. ST_UNAVAILABLE / ST_UNKNOWN: Redis did not answer, and a copy may still
 * be used. */
enum status token_revoke(struct exchange *x, const uint8_t hash[HASH_BYTES]);
/* Revokes and deletes all tokens of a user. May be repeated. ST_OK, or the status of a store: a part may be done. */
enum status token_revoke_all(struct redis *redis, struct db *db, struct arena *a, uint64_t user_id);
/* Deletes the copies of the user's tokens when the user is being deleted; token_find then makes no new ones. Returns as
 * token_revoke. */
enum status token_copies_remove(struct redis *redis, struct db *db, struct arena *a, uint64_t user_id);

#endif

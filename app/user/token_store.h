/* Access tokens in MySQL: make, list, look up, delete. The table has the SHA-256 of a token, never the token. */
#ifndef HB_USER_TOKEN_STORE_H
#define HB_USER_TOKEN_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/random.h"
#include "base/status.h"
#include "base/str.h"
#include "mysql/db.h"
#include "user/token.h"

enum {
    TOKENS_MAX = 20,     /* tokens of a user, without expired ones */
    TOKEN_DAYS_MAX = 366 /* from the making of a token to its end */
};

struct token {
    uint64_t id;
    uint64_t user_id;
    struct str name;
    unsigned scopes; /* bits of enum scope */
    int64_t created_ms, expires_ms;
    int64_t used_ms; /* 0: never; at most an hour late */
};

/* Inserts the token and sets its id. Expired tokens of the user are deleted. *full: the user has TOKENS_MAX tokens, and
 * nothing was inserted (ST_INVALID). ST_UNKNOWN: the reply to COMMIT was lost · ST_UNAVAILABLE: also when the user was
 * disabled or deleted meanwhile. */
enum status token_insert(struct db *db, struct arena *a, struct token *token, const uint8_t hash[HASH_BYTES],
                         bool *full);
/* The user's tokens, newest first. *out is in the arena. */
enum status token_list(struct db *db, struct arena *a, uint64_t user_id, struct token **out, size_t *count);
/* The token of this hash and its owner. ST_NOT_FOUND: there is none, or its owner is disabled or
 * being deleted. */
enum status token_find(struct db *db, struct arena *a, const uint8_t hash[HASH_BYTES], uint64_t *id,
                       struct token_copy *out);
/* Notes a use. Only a later time replaces an earlier one. */
enum status token_used(struct db *db, uint64_t id, int64_t now_ms);
/* The hash of a token of this user. ST_NOT_FOUND: the user has no such token. */
enum status token_hash(struct db *db, struct arena *a, uint64_t user_id, uint64_t id, uint8_t hash[HASH_BYTES]);
/* The number of the user's tokens, also expired ones. */
enum status token_count(struct db *db, struct arena *a, uint64_t user_id, uint64_t *out);
/* The hashes of all tokens of the user, in the arena. */
enum status token_hashes(struct db *db, struct arena *a, uint64_t user_id, uint8_t (**out)[HASH_BYTES], size_t *count);
/* Deletes the token of this hash. */
enum status token_delete_hash(struct db *db, const uint8_t hash[HASH_BYTES]);
/* Deletes it. ST_OK also when it does not exist. */
enum status token_delete(struct db *db, uint64_t user_id, uint64_t id);

#endif

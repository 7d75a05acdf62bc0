#include "user/token.h"

#include <assert.h>
#include <inttypes.h>
#include <sodium.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/utf8.h"
#include "redis/redis.h"
#include "redis/reply.h"
#include "user/token_store.h"
#include "web/bearer.h"

#define TOKEN_PREFIX "hbt_"
#define VERSION      STR("v2,")

enum {
    PREFIX_LEN = sizeof TOKEN_PREFIX - 1,
    RANDOM_BYTES = 24,
    TOKEN_BYTES = RANDOM_BYTES + crypto_shorthash_BYTES,
    COPY_MS_MAX = 3600 * 1000,
    REVOKED_MS = 24 * 3600 * 1000, /* longer than a process can be between reading the row and making a copy */
    DEAD_MS = 2000                 /* reads MySQL at most once in this time for a missing token */
};

static_assert(sizeof TOKEN_KEY_PREFIX - 1 + 2 * (size_t)HASH_BYTES == TOKEN_KEY_LEN,
              "a key is the prefix and a hash in hex");
static_assert(PREFIX_LEN + sodium_base64_ENCODED_LEN(TOKEN_BYTES, sodium_base64_VARIANT_URLSAFE_NO_PADDING) ==
                  TOKEN_MAX,
              "a token is the prefix and 32 bytes in base64url");

/* ---- parts without I/O ---- */

void token_new(const struct public_id_key *key, char *out)
{
    unsigned char bytes[TOKEN_BYTES];

    random_bytes(bytes, RANDOM_BYTES);
    crypto_shorthash(bytes + RANDOM_BYTES, bytes, RANDOM_BYTES, key->bytes);
    memcpy(out, TOKEN_PREFIX, PREFIX_LEN);
    sodium_bin2base64(out + PREFIX_LEN, TOKEN_MAX - PREFIX_LEN, bytes, sizeof bytes,
                      sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    sodium_memzero(bytes, sizeof bytes);
}

bool token_valid(const struct public_id_key *key, struct str token)
{
    unsigned char bytes[TOKEN_BYTES], mac[crypto_shorthash_BYTES];
    size_t len;

    if (token.len != TOKEN_LEN || !str_starts(token, STR(TOKEN_PREFIX)) ||
        sodium_base642bin(bytes, sizeof bytes, token.ptr + PREFIX_LEN, TOKEN_LEN - PREFIX_LEN, NULL, &len, NULL,
                          sodium_base64_VARIANT_URLSAFE_NO_PADDING) != 0 ||
        len != sizeof bytes)
        return false;
    crypto_shorthash(mac, bytes, RANDOM_BYTES, key->bytes);
    return sodium_memcmp(mac, bytes + RANDOM_BYTES, sizeof mac) == 0;
}

void token_key_write(const uint8_t hash[HASH_BYTES], char *out)
{
    memcpy(out, TOKEN_KEY_PREFIX, sizeof TOKEN_KEY_PREFIX - 1);
    sodium_bin2hex(out + sizeof TOKEN_KEY_PREFIX - 1, 2 * HASH_BYTES + 1, hash, HASH_BYTES);
}

struct str token_copy_text(struct arena *a, const struct token_copy *copy)
{
    struct str badge = badge_text(a, copy->nickname, &copy->face);
    if (badge.ptr == NULL)
        return STR_NONE;
    return arena_printf(a, "v2,%" PRId64 ",%" PRIu64 ",%u,%" PRId64 ",%.*s,%.*s", copy->made_ms, copy->user_id,
                        copy->scopes, copy->expires_ms, STR_ARG(copy->username), STR_ARG(badge));
}

bool token_copy_read(struct str value, struct token_copy *out)
{
    struct token_copy copy;
    struct str rest = value;
    uint64_t scopes;
    copy.made_ms = 0;
    if (str_skip_prefix(&rest, VERSION) && !str_to_i64(str_cut(rest, ',', &rest), &copy.made_ms))
        return false;
    struct str user_id = str_cut(rest, ',', &rest);
    struct str scopes_number = str_cut(rest, ',', &rest);
    struct str expires = str_cut(rest, ',', &rest);

    copy.username = str_cut(rest, ',', &rest);
    copy.nickname = badge_parse(rest, &copy.face);
    if (copy.made_ms < 0)
        return false;
    if (!str_to_u64(user_id, &copy.user_id) || copy.user_id == 0)
        return false;
    if (!str_to_u64(scopes_number, &scopes) || scopes == 0 || scopes >= 1U << SCOPES)
        return false;
    if (!str_to_i64(expires, &copy.expires_ms) || copy.expires_ms <= 0)
        return false;
    if (copy.username.len == 0 || copy.nickname.len == 0 || !utf8_valid(value))
        return false;
    copy.scopes = (unsigned)scopes;
    *out = copy;
    return true;
}

bool token_copy_is_fresh(const struct token_copy *copy, int64_t now_ms)
{
    return copy->made_ms <= now_ms + CLOCKS_DIFFER_MS && now_ms - copy->made_ms < COPY_MS_MAX;
}

/* ---- Redis ---- */

/* The key of a token, in the arena. STR_NONE without memory. */
static struct str key_of(struct arena *a, const uint8_t hash[HASH_BYTES])
{
    char key[TOKEN_KEY_MAX];

    token_key_write(hash, key);
    return arena_str(a, (struct str){ key, TOKEN_KEY_LEN });
}

static enum status store_status(enum status st)
{
    return st == ST_OK || st == ST_UNKNOWN ? st : ST_UNAVAILABLE;
}

/* SET key value PX ttl_ms, with NX unless replace. *made: false when NX found the key. */
static enum status copy_store(struct redis *redis, struct arena *a, struct str key, struct str value, int64_t ttl_ms,
                              bool replace, bool *made)
{
    struct redis_call call = { 0 };
    struct str ttl = arena_printf(a, "%" PRId64, ttl_ms);
    const struct str args[] = { STR("SET"), key, value, STR("PX"), ttl, STR("NX") };

    assert(ttl_ms > 0);
    if (key.ptr == NULL || value.ptr == NULL || ttl.ptr == NULL)
        return ST_NO_MEMORY;
    if (replace) /* a failover must not bring back the copy that this one replaces */
        redis_queue_confirmed(redis, &call, args, ARRAY_LEN(args) - 1);
    else
        redis_queue(redis, &call, args, ARRAY_LEN(args));
    redis_round(redis);
    enum status st = call.status;
    *made = st == ST_OK && !redis_reply_is_nil(call.reply);
    redis_call_free(&call);
    return store_status(st);
}

static enum status hash_revoke(struct redis *redis, struct arena *a, const uint8_t hash[HASH_BYTES])
{
    bool made;
    return copy_store(redis, a, key_of(a, hash), TOKEN_REVOKED, REVOKED_MS, true, &made);
}

/* Deletes the key of a token: its copy, or TOKEN_REVOKED. */
static enum status hash_remove(struct redis *redis, struct arena *a, const uint8_t hash[HASH_BYTES])
{
    struct redis_call call = { 0 };
    const struct str del[] = { STR("DEL"), key_of(a, hash) };

    if (del[1].ptr == NULL)
        return ST_NO_MEMORY;
    redis_queue_confirmed(redis, &call, del, ARRAY_LEN(del));
    redis_round(redis);
    enum status st = store_status(call.status);
    redis_call_free(&call);
    return st;
}

enum status token_revoke(struct exchange *x, const uint8_t hash[HASH_BYTES])
{
    return hash_revoke(x->app->stores.redis, x->arena, hash);
}

enum status token_revoke_all(struct redis *redis, struct db *db, struct arena *a, uint64_t user_id)
{
    uint8_t(*hashes)[HASH_BYTES];
    size_t count = 0;
    enum status st = token_hashes(db, a, user_id, &hashes, &count);

    for (size_t i = 0; st == ST_OK && i < count; i++) {
        st = hash_revoke(redis, a, hashes[i]);
        if (st == ST_OK)
            st = token_delete_hash(db, hashes[i]);
    }
    return st;
}

enum status token_copies_remove(struct redis *redis, struct db *db, struct arena *a, uint64_t user_id)
{
    uint8_t(*hashes)[HASH_BYTES];
    size_t count = 0;
    enum status st = token_hashes(db, a, user_id, &hashes, &count);

    for (size_t i = 0; st == ST_OK && i < count; i++)
        st = hash_remove(redis, a, hashes[i]);
    return st;
}

/* ---- the visitor ---- */

/* Whether a copy may be used. A copy of an earlier version counts only when a page pool of that version has just passed
 * the request on; a page pool of this version would have replaced the copy. */
static bool is_believed(const struct exchange *x, const struct token_copy *copy)
{
    return token_copy_is_fresh(copy, x->now_ms) ||
           (copy->made_ms == 0 && exchange_param(x, "TOKEN_LOADED").ptr != NULL);
}

/* Fills x->visitor from a stored value. A revoked or expired token leaves user_id 0. False: the copy must not be
 * used. */
static bool visitor_fill(struct exchange *x, struct str value)
{
    struct token_copy copy;

    if (str_equal(value, TOKEN_REVOKED))
        return true;
    if (!token_copy_read(value, &copy) || !is_believed(x, &copy))
        return false;
    if (copy.expires_ms <= x->now_ms)
        return true;
    x->visitor.user_id = copy.user_id;
    x->visitor.scopes = copy.scopes;
    x->visitor.username = copy.username; /* slices of the reply or of the arena, which live as long as the request */
    x->visitor.nickname = copy.nickname;
    x->visitor.face = copy.face;
    return true;
}

bool token_visitor_queue(struct exchange *x)
{
    uint8_t hash[HASH_BYTES];

    if (!token_valid(&x->app->id_key, x->bearer))
        return false;
    hash_sha256(x->bearer.ptr, x->bearer.len, hash);
    struct str key = key_of(x->arena, hash);
    if (key.ptr == NULL) {
        x->session_call.status = ST_NO_MEMORY; /* token_visitor_read returns an error */
        return true;
    }
    const struct str args[] = { STR("GET"), key };
    redis_queue(x->app->stores.redis, &x->session_call, args, ARRAY_LEN(args));
    return true;
}

/* Reads the value that another process has stored meanwhile. */
static enum status copy_again(struct exchange *x, struct str key)
{
    const struct str args[] = { STR("GET"), key };

    redis_call_free(&x->session_call);
    enum status st = redis_do(x->app->stores.redis, &x->session_call, args, ARRAY_LEN(args));
    if (st != ST_OK || redis_reply_is_nil(x->session_call.reply))
        return ST_UNAVAILABLE;
    return visitor_fill(x, redis_reply_str(x->session_call.reply)) ? ST_OK : ST_UNAVAILABLE;
}

/* Removes a copy that must not be used. If the token was revoked meanwhile, this deletes the word `revoked`; but its
 * row is deleted next, so no other copy is made. */
static enum status copy_remove(struct exchange *x)
{
    uint8_t hash[HASH_BYTES];

    hash_sha256(x->bearer.ptr, x->bearer.len, hash);
    return hash_remove(x->app->stores.redis, x->arena, hash);
}

/* Reads the row because there is no copy, notes the use, and makes a copy. */
static enum status token_load(struct exchange *x)
{
    uint8_t hash[HASH_BYTES];
    uint64_t token_id;
    bool made;
    struct token_copy copy;

    hash_sha256(x->bearer.ptr, x->bearer.len, hash);
    enum status st = token_find(x->app->stores.db, x->arena, hash, &token_id, &copy);
    struct str key = key_of(x->arena, hash);
    if (st == ST_NOT_FOUND || (st == ST_OK && copy.expires_ms <= x->now_ms)) {
        (void)copy_store(x->app->stores.redis, x->arena, key, TOKEN_REVOKED, DEAD_MS, false, &made);
        return ST_OK;
    }
    if (st != ST_OK)
        return ST_UNAVAILABLE;
    copy.made_ms = x->now_ms;
    struct str value = token_copy_text(x->arena, &copy);
    int64_t left_ms = copy.expires_ms - x->now_ms;
    st = copy_store(x->app->stores.redis, x->arena, key, value, left_ms < COPY_MS_MAX ? left_ms : COPY_MS_MAX, false,
                    &made);
    if (st != ST_OK)
        return st == ST_NO_MEMORY ? ST_UNAVAILABLE : st;
    if (!made)
        return copy_again(x, key);
    (void)visitor_fill(x, value);
    if (token_used(x->app->stores.db, token_id, x->now_ms) != ST_OK)
        log_warn("last use of a token not written", "token_id=%" PRIu64, token_id);
    return ST_OK;
}

enum status token_visitor_read(struct exchange *x)
{
    if (x->session_call.status != ST_OK)
        return x->session_call.status == ST_UNKNOWN ? ST_UNKNOWN : ST_UNAVAILABLE;
    bool found = !redis_reply_is_nil(x->session_call.reply);
    if (found && visitor_fill(x, redis_reply_str(x->session_call.reply)))
        return ST_OK;
    if (x->app->stores.db == NULL) /* a copy that was made just now must not be used when the clocks differ */
        return exchange_param(x, "TOKEN_LOADED").ptr == NULL ? ST_NOT_FOUND : ST_UNAVAILABLE;
    enum status st = found ? copy_remove(x) : ST_OK;
    return st == ST_OK ? token_load(x) : st;
}

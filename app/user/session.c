#include "user/session.h"

#include <assert.h>
#include <inttypes.h>
#include <sodium.h>
#include <string.h>

#include "base/array.h"
#include "base/log.h"
#include "base/random.h"
#include "base/utf8.h"
#include "io/redis.h"
#include "io/redis_reply.h"
#include "web/respond.h"

#define KEY_PREFIX "hb:session:"

enum { TOKEN_BYTES = 32, REFRESH_MS_MAX = 3600 * 1000, REFRESH_IDLE_PARTS = 100 };

static_assert(sizeof KEY_PREFIX - 1 + 2 * (size_t)HASH_BYTES == SESSION_KEY_LEN,
              "a key is the prefix and a hash in hex");
static_assert(sodium_base64_ENCODED_LEN(TOKEN_BYTES, sodium_base64_VARIANT_URLSAFE_NO_PADDING) == SESSION_TOKEN_MAX,
              "a token is 32 bytes in base64url");

/* ---- parts without I/O ---- */

void session_token_new(char *out)
{
    unsigned char bytes[TOKEN_BYTES];

    random_bytes(bytes, sizeof bytes);
    sodium_bin2base64(out, SESSION_TOKEN_MAX, bytes, sizeof bytes, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    sodium_memzero(bytes, sizeof bytes);
}

bool session_token_valid(struct str token)
{
    return token.len == SESSION_TOKEN_LEN && str_is_word(token);
}

void session_key_write(struct str token, char *out)
{
    uint8_t hash[HASH_BYTES];

    hash_sha256(token.ptr, token.len, hash);
    memcpy(out, KEY_PREFIX, sizeof KEY_PREFIX - 1);
    sodium_bin2hex(out + sizeof KEY_PREFIX - 1, 2 * HASH_BYTES + 1, hash, sizeof hash);
}

struct str session_value_text(struct arena *a, const struct session *s)
{
    return arena_printf(a, "%" PRIu64 ",%" PRId64 ",%" PRId64 ",%.*s,%.*s", s->user_id, s->created_ms, s->seen_ms,
                        STR_ARG(s->username), STR_ARG(s->nickname));
}

bool session_value_read(struct str value, struct session *out)
{
    struct session s;
    struct str rest;
    struct str user_id = str_cut(value, ',', &rest);
    struct str created = str_cut(rest, ',', &rest);
    struct str seen = str_cut(rest, ',', &rest);

    s.username = str_cut(rest, ',', &s.nickname);
    if (!str_to_u64(user_id, &s.user_id) || s.user_id == 0)
        return false;
    if (!str_to_i64(created, &s.created_ms) || !str_to_i64(seen, &s.seen_ms))
        return false;
    if (s.created_ms <= 0 || s.seen_ms < s.created_ms)
        return false;
    if (s.username.len == 0 || s.nickname.len == 0 || !utf8_valid(value))
        return false;
    *out = s;
    return true;
}

/* Milliseconds since since_ms; 0 when the clock was set back to before it. */
static int64_t age_ms(int64_t since_ms, int64_t now_ms)
{
    return now_ms > since_ms ? now_ms - since_ms : 0;
}

int64_t session_ttl_ms(const struct config *config, const struct session *s, int64_t now_ms)
{
    int64_t idle_ms = config->session_idle_s * 1000;
    int64_t left_ms = config->session_absolute_s * 1000 - age_ms(s->created_ms, now_ms);

    if (left_ms <= 0 || age_ms(s->seen_ms, now_ms) >= idle_ms)
        return 0;
    return left_ms < idle_ms ? left_ms : idle_ms;
}

bool session_refresh_due(const struct config *config, const struct session *s, int64_t now_ms)
{
    int64_t interval_ms = config->session_idle_s * 1000 / REFRESH_IDLE_PARTS;

    return age_ms(s->seen_ms, now_ms) >= (interval_ms < REFRESH_MS_MAX ? interval_ms : REFRESH_MS_MAX);
}

/* ---- the cookie ---- */

static struct str cookie_name(const struct exchange *x)
{
    return exchange_is_https(x) ? STR("__Host-sid") : STR("sid");
}

/* ---- the hooks ---- */

bool session_visitor_queue(struct exchange *x)
{
    char key[SESSION_KEY_MAX];
    struct str token = exchange_cookie(x, cookie_name(x));

    if (!session_token_valid(token))
        return false;
    session_key_write(token, key);
    x->visitor.session_key = arena_str(x->arena, (struct str){ key, SESSION_KEY_LEN });
    if (x->visitor.session_key.ptr == NULL) {
        x->session_call.status = ST_NO_MEMORY; /* not a guest: session_visitor_read returns an error */
        return true;
    }
    const struct str args[] = { STR("GET"), x->visitor.session_key };
    redis_queue(x->app->stores.redis, &x->session_call, args, ARRAY_LEN(args));
    return true;
}

/* Queues the SET that stores the session for session_ttl_ms. condition: "NX" (the key must not exist) or "XX" (it must
 * exist). */
static void session_store_queue(struct exchange *x, struct redis_call *call, struct str key, const struct session *s,
                                struct str condition)
{
    int64_t ttl_ms = session_ttl_ms(x->app->stores.config, s, x->now_ms);
    struct str value = session_value_text(x->arena, s);
    struct str ttl = arena_printf(x->arena, "%" PRId64, ttl_ms);

    assert(ttl_ms > 0);
    if (value.ptr == NULL || ttl.ptr == NULL) {
        call->status = ST_NO_MEMORY;
        return;
    }
    const struct str args[] = { STR("SET"), key, value, condition, STR("PX"), ttl };
    redis_queue(x->app->stores.redis, call, args, ARRAY_LEN(args));
}

/* Queues the renewal of seen_ms and TTL without a round of its own, as many sessions may be due at the same time
 * (visitors of an event). When it fails, the session only ends a little earlier. */
static void session_renew(struct exchange *x, const struct session *s)
{
    struct session seen = *s;

    seen.seen_ms = x->now_ms;
    session_store_queue(x, &x->renewal_call, x->visitor.session_key, &seen, STR("XX"));
    x->renewal_queued = x->renewal_call.status != ST_NO_MEMORY;
}

enum status session_visitor_read(struct exchange *x)
{
    struct session s;
    const redisReply *reply = x->session_call.reply;

    if (x->session_call.status != ST_OK)
        return x->session_call.status == ST_UNKNOWN ? ST_UNKNOWN : ST_UNAVAILABLE;
    if (redis_reply_is_nil(reply))
        return ST_OK;
    struct str value = redis_reply_str(reply);
    if (!session_value_read(value, &s)) {
        log_error("session value malformed", "bytes=%zu", value.len);
        return ST_OK;
    }
    if (session_ttl_ms(x->app->stores.config, &s, x->now_ms) == 0)
        return ST_OK;
    x->visitor.user_id = s.user_id;
    x->visitor.username = s.username; /* slices of the reply, which is freed with the request */
    x->visitor.nickname = s.nickname;
    if (session_refresh_due(x->app->stores.config, &s, x->now_ms))
        session_renew(x, &s);
    return ST_OK;
}

/* ---- for handlers that may block ---- */

enum status session_store_check(struct exchange *x)
{
    return redis_ping(x->app->stores.redis) == ST_OK ? ST_OK : ST_UNAVAILABLE;
}

enum status session_start(struct exchange *x, uint64_t user_id, struct str username, struct str nickname)
{
    char token[SESSION_TOKEN_MAX], key[SESSION_KEY_MAX];
    struct redis_call set = { 0 }, del = { 0 };
    struct session s = { user_id, x->now_ms, x->now_ms, username, nickname };

    session_token_new(token);
    session_key_write(str_from(token), key);
    session_store_queue(x, &set, (struct str){ key, SESSION_KEY_LEN }, &s, STR("NX"));
    if (set.status == ST_NO_MEMORY)
        return ST_NO_MEMORY;
    if (x->visitor.session_key.len > 0) {
        const struct str args[] = { STR("DEL"), x->visitor.session_key };
        redis_queue(x->app->stores.redis, &del, args, ARRAY_LEN(args));
    }
    redis_round(x->app->stores.redis);
    enum status st = set.status;
    bool ended = x->visitor.session_key.len == 0 || del.status == ST_OK;
    redis_call_free(&set);
    redis_call_free(&del);
    if (st != ST_OK)
        return ST_UNAVAILABLE;
    if (!ended)
        log_warn("old session not deleted", "user_id=%" PRIu64, user_id);
    respond_cookie(x, cookie_name(x), str_from(token), x->app->stores.config->session_absolute_s);
    return ST_OK;
}

enum status session_end(struct exchange *x)
{
    if (x->visitor.session_key.len > 0) {
        struct redis_call call = { 0 };
        const struct str args[] = { STR("DEL"), x->visitor.session_key };
        enum status st = redis_do(x->app->stores.redis, &call, args, ARRAY_LEN(args));
        redis_call_free(&call);
        if (st != ST_OK)
            return st == ST_UNKNOWN ? ST_UNKNOWN : ST_UNAVAILABLE;
    }
    respond_cookie(x, cookie_name(x), STR(""), 0);
    return ST_OK;
}

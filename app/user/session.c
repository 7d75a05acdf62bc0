#include "user/session.h"

#include <assert.h>
#include <inttypes.h>
#include <sodium.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "base/utf8.h"
#include "redis/redis.h"
#include "redis/reply.h"
#include "user/device.h"
#include "user/known_device.h"
#include "user/session_list.h"
#include "user/store.h"
#include "web/respond.h"
#include "web/router.h"

#define SESSION_COOKIE "sid"
#define LISTED         "v2,"

enum { TOKEN_BYTES = 32, REFRESH_MS_MAX = 3600 * 1000, REFRESH_IDLE_PARTS = 100 };

static_assert(sizeof SESSION_KEY_PREFIX - 1 + 2 * (size_t)HASH_BYTES == SESSION_KEY_LEN,
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
    memcpy(out, SESSION_KEY_PREFIX, sizeof SESSION_KEY_PREFIX - 1);
    sodium_bin2hex(out + sizeof SESSION_KEY_PREFIX - 1, 2 * HASH_BYTES + 1, hash, sizeof hash);
}

struct str session_value_text(struct arena *a, const struct session *s)
{
    struct str badge = badge_text(a, s->nickname, &s->face);
    if (badge.ptr == NULL)
        return STR_NONE;
    return arena_printf(a, "%s%" PRIu64 ",%" PRId64 ",%" PRId64 ",%.*s,%.*s", s->listed ? LISTED : "", s->user_id,
                        s->created_ms, s->seen_ms, STR_ARG(s->username), STR_ARG(badge));
}

bool session_value_read(struct str value, struct session *out)
{
    struct str rest = value;
    struct session s = { .listed = str_skip_prefix(&rest, STR(LISTED)) };
    struct str user_id = str_cut(rest, ',', &rest);
    struct str created = str_cut(rest, ',', &rest);
    struct str seen = str_cut(rest, ',', &rest);

    s.username = str_cut(rest, ',', &rest);
    s.nickname = badge_parse(rest, &s.face);
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

bool session_is_in_future(const struct session *s, int64_t now_ms)
{
    return s->created_ms > now_ms + CLOCKS_DIFFER_MS || s->seen_ms > now_ms + CLOCKS_DIFFER_MS;
}

int64_t session_ttl_ms(const struct config *config, const struct session *s, int64_t now_ms)
{
    if (session_is_in_future(s, now_ms))
        return 0;
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

/* ---- the hooks ---- */

bool session_visitor_queue(struct exchange *x)
{
    char key[SESSION_KEY_MAX];
    struct str token = exchange_cookie(x, STR(SESSION_COOKIE));

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

/* Queues the renewal of seen_ms and TTL without a separate round, because many sessions may be due at the same time
 * (visitors of an event). If it fails, the session only ends a little earlier. */
static void session_renew(struct exchange *x, const struct session *s)
{
    struct session seen = *s;

    seen.seen_ms = x->now_ms;
    int64_t ttl_ms = session_ttl_ms(x->app->stores.config, &seen, x->now_ms);
    struct str value = session_value_text(x->arena, &seen);
    struct str ttl = arena_printf(x->arena, "%" PRId64, ttl_ms);
    assert(ttl_ms > 0);
    if (value.ptr == NULL || ttl.ptr == NULL)
        return;
    const struct str args[] = { STR("SET"), x->visitor.session_key, value, STR("XX"), STR("PX"), ttl };
    redis_queue(x->app->stores.redis, &x->renewal_call, args, ARRAY_LEN(args));
    x->renewal_queued = x->renewal_call.status != ST_NO_MEMORY;
}

/* The hot pool may only read sessions: true when the page pool has to enter or renew this session first. A grab is
 * handed over for a renewal only when half of the idle time is over, because the pages that its visitor opens renew the
 * session, too. */
static bool handed_over(const struct exchange *x, const struct session *s)
{
    if (x->app->stores.db != NULL || exchange_param(x, "TOKEN_LOADED").ptr != NULL)
        return false;
    if (!s->listed)
        return true;
    if (!session_refresh_due(x->app->stores.config, s, x->now_ms))
        return false;
    return x->method != METHOD_POST ||
           age_ms(s->seen_ms, x->now_ms) >= x->app->stores.config->session_idle_s * 1000 / 2;
}

/* Whether the user may have the session, by the row in MySQL. So a session of a disabled or deleted user ends soon,
 * also one that an intruder has written into Redis. A session that is older than its user belongs to somebody who had
 * the same id in tables that were lost; a registration ends such sessions at once (account/register.c). *why: the
 * reason of a refusal; NULL: allowed. ST_UNAVAILABLE: MySQL does not answer. */
static enum status user_confirm(struct exchange *x, const struct session *s, const char **why)
{
    struct user *users;
    size_t count;
    enum status st = users_find_by_ids(x->app->stores.db, x->arena, &s->user_id, 1, &users, &count);
    *why = NULL;
    if (st == ST_OK && (count == 0 || users[0].disabled))
        *why = "disabled or deleted";
    else if (st == ST_OK && s->created_ms + CLOCKS_DIFFER_MS < users[0].created_ms)
        *why = "older than its user";
    return st;
}

/* Ends a session that its user may not have, or that the user's list lacks. */
static enum status session_refuse(struct exchange *x, const struct session *s, const char *why)
{
    log_warn("session refused", "user_id=%" PRIu64 " why=\"%s\"", s->user_id, why);
    enum status st = session_list_end_key(&x->app->stores, x->arena, s->user_id, x->visitor.session_key);
    return st == ST_OK || st == ST_UNKNOWN ? st : ST_UNAVAILABLE;
}

/* Enters a session of an earlier version into its list. *ended: its user had ended it. */
static enum status session_adopt(struct exchange *x, struct session *s, bool *ended)
{
    const struct stores *stores = &x->app->stores;
    const char *why;
    enum status st = user_confirm(x, s, &why);
    if (st != ST_OK)
        return ST_UNAVAILABLE;
    *ended = why != NULL;
    if (why != NULL)
        return session_refuse(x, s, why);
    st = session_list_adopt(stores, x->arena, x->visitor.session_key, s, x->now_ms);

    *ended = st == ST_NOT_FOUND;
    s->listed = true;
    return st == ST_OK || *ended ? ST_OK : st == ST_UNKNOWN ? ST_UNKNOWN : ST_UNAVAILABLE;
}

enum confirmed { SESSION_RENEW, SESSION_KEEP, SESSION_ENDED };

/* A session is renewed only if the list of its user has it and the user's row allows it. A session that is not in the
 * list is a leftover, or was planted. The account page could not show or end it, so it ends here. While MySQL does not
 * answer, the session is served, but not renewed. */
static enum status session_confirm(struct exchange *x, const struct session *s, enum confirmed *out)
{
    bool has;
    const char *why;
    enum status st = session_list_keep(&x->app->stores, x->arena, s->user_id, x->visitor.session_key, &has);

    *out = SESSION_ENDED;
    if (st != ST_OK)
        return st == ST_UNKNOWN ? ST_UNKNOWN : ST_UNAVAILABLE;
    if (!has)
        return session_refuse(x, s, "not in the list of its user");
    st = user_confirm(x, s, &why);
    if (st == ST_OK && why != NULL)
        return session_refuse(x, s, why);
    *out = st == ST_OK ? SESSION_RENEW : SESSION_KEEP;
    return ST_OK;
}

/* True for the routes that start and end sessions. Everybody must be able to use them. */
static bool is_about_login(const struct route *route)
{
    return (route->needs & NEED_USER) != NEED_USER && (route->needs & NO_TOKEN) != 0;
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
    if (session_is_in_future(&s, x->now_ms)) {
        if (x->route != NULL && is_about_login(x->route))
            return ST_OK; /* a guest, who may log in again or out */
        log_warn("session refused", "user_id=%" PRIu64 " why=\"in the future; do the clocks agree?\"", s.user_id);
        return ST_UNAVAILABLE;
    }
    if (session_ttl_ms(x->app->stores.config, &s, x->now_ms) == 0)
        return ST_OK;
    const int64_t began_ms = s.listed ? s.created_ms : 0;
    if (!s.listed && x->app->stores.db != NULL) {
        bool ended;
        enum status st = session_adopt(x, &s, &ended);
        if (st != ST_OK || ended)
            return st;
    }
    if (handed_over(x, &s))
        return ST_NOT_FOUND;
    enum confirmed confirmed = SESSION_KEEP;
    if (x->app->stores.db != NULL && session_refresh_due(x->app->stores.config, &s, x->now_ms)) {
        enum status st = session_confirm(x, &s, &confirmed);
        if (st != ST_OK || confirmed == SESSION_ENDED)
            return st;
    }
    x->visitor.user_id = s.user_id;
    x->visitor.username = s.username; /* slices of the reply, which is freed with the request */
    x->visitor.nickname = s.nickname;
    x->visitor.face = s.face;
    x->visitor.session_ms = began_ms;
    if (confirmed == SESSION_RENEW)
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
    const struct stores *stores = &x->app->stores;
    char token[SESSION_TOKEN_MAX], key[SESSION_KEY_MAX];
    struct session s = { .user_id = user_id,
                         .created_ms = x->now_ms,
                         .seen_ms = x->now_ms,
                         .username = username,
                         .nickname = nickname,
                         .listed = true };
    struct str device = device_name(x->arena, exchange_param(x, "HTTP_USER_AGENT"));

    enum status st = user_face_find(stores->db, x->arena, user_id, &s.face);
    if (st != ST_OK && st != ST_NOT_FOUND)
        return ST_UNAVAILABLE;
    session_token_new(token);
    session_key_write(str_from(token), key);
    st =
        session_list_start(stores, x->arena, (struct str){ key, SESSION_KEY_LEN }, &s, str_or_empty(device), x->now_ms);
    if (st != ST_OK)
        return st == ST_NO_MEMORY || st == ST_CONFLICT ? st : ST_UNAVAILABLE;
    if (x->visitor.session_key.len > 0 &&
        session_list_end_key(stores, x->arena, x->visitor.user_id, x->visitor.session_key) != ST_OK)
        log_warn("old session not deleted", "user_id=%" PRIu64, user_id);
    x->visitor.session_key = arena_str(x->arena, (struct str){ key, SESSION_KEY_LEN });
    respond_cookie(x, STR(SESSION_COOKIE), str_from(token), stores->config->session_absolute_s);
    known_device_remember(x, username);
    return ST_OK;
}

enum status session_end(struct exchange *x)
{
    if (x->visitor.session_key.len > 0) {
        enum status st = session_list_end_key(&x->app->stores, x->arena, x->visitor.user_id, x->visitor.session_key);
        if (st != ST_OK)
            return st == ST_UNKNOWN ? ST_UNKNOWN : ST_UNAVAILABLE;
    }
    respond_cookie(x, STR(SESSION_COOKIE), STR(""), 0);
    if (exchange_cookie(x, STR(LOOKED_COOKIE)).len > 0)
        respond_cookie(x, STR(LOOKED_COOKIE), STR(""), 0);
    return ST_OK;
}

enum status session_end_others(struct exchange *x)
{
    enum status st = known_device_forget_others(x, x->visitor.username);
    if (st != ST_OK)
        return st;
    return session_list_end_others(&x->app->stores, x->arena, x->visitor.user_id, x->visitor.session_key,
                                   clock_now_ms());
}

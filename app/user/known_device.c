#include "user/known_device.h"

#include <inttypes.h>

#include "base/clock.h"
#include "base/link_key.h"
#include "base/public_id.h"
#include "base/random.h"
#include "redis/reply.h"
#include "web/respond.h"

#define COOKIE      "device"
#define WAY_COOKIE  "way"
#define WAY_PASSKEY STR("passkey")

enum { NUMBER_CHARS = 16, HEX = 16, RANDOM_BITS = 22, YEAR_S = 365 * 24 * 3600, MS_PER_S = 1000 };

/* The purpose of the keys of this user's devices. NULL without memory. */
static const char *purpose_of(struct exchange *x, struct str username)
{
    return arena_printf(x->arena, "hongbao device v2 %.*s", STR_ARG(username)).ptr; /* NUL-terminated */
}

static bool number_read(struct str text, uint64_t *out)
{
    *out = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
            return false;
        *out = *out * HEX + (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return text.len == NUMBER_CHARS;
}

static struct str forgotten_key(struct arena *a, struct str username)
{
    return arena_printf(a, "hb:{limit}:devices:%.*s", STR_ARG(username));
}

/* True: the devices of the user were made unknown after this device became known, or Redis does not answer. A mark that
 * is no number, or in the future, does not count: no process of the site has written it. */
static bool is_forgotten(struct exchange *x, struct str username, uint64_t number)
{
    struct redis_call call;
    int64_t forgotten_ms = 0;
    const struct str get[] = { STR("GET"), forgotten_key(x->arena, username) };
    if (get[1].ptr == NULL)
        return true;
    const bool read = redis_do(x->app->stores.redis, &call, get, 2) == ST_OK || redis_reply_is_wrong_type(call.reply);
    if (!str_to_i64(redis_reply_str(call.reply), &forgotten_ms) || forgotten_ms > clock_now_ms() + CLOCKS_DIFFER_MS)
        forgotten_ms = 0;
    redis_call_free(&call);
    return !read || (int64_t)(number >> RANDOM_BITS) < forgotten_ms;
}

bool known_device_used(const struct exchange *x)
{
    return exchange_cookie(x, STR(COOKIE)).len > 0;
}

bool known_device_login_first(const struct exchange *x)
{
    const struct config *config = x->app->stores.config;
    return known_device_used(x) || config_registration(config) != REGISTRATION_OPEN || config->oidc_issuer[0] != '\0';
}

bool known_device_has_passkey(const struct exchange *x)
{
    struct str id;
    return str_equal(str_cut(exchange_cookie(x, STR(WAY_COOKIE)), '.', &id), WAY_PASSKEY);
}

struct str known_device_passkey(const struct exchange *x)
{
    struct str id;
    (void)str_cut(exchange_cookie(x, STR(WAY_COOKIE)), '.', &id);
    return str_or_empty(id);
}

void known_device_passkey_remember(struct exchange *x, uint64_t passkey_id)
{
    struct str id = public_id_text(x->arena, &x->app->id_key, passkey_id);
    if (id.ptr != NULL) /* without memory the answer is dropped anyway */
        respond_cookie(x, STR(WAY_COOKIE), arena_printf(x->arena, "passkey.%.*s", STR_ARG(id)), YEAR_S);
}

struct str known_device_number(struct exchange *x, struct str username)
{
    struct str key;
    struct str number_text = str_cut(exchange_cookie(x, STR(COOKIE)), '.', &key);
    const char *purpose = purpose_of(x, username);
    uint64_t number;
    if (purpose == NULL || !number_read(number_text, &number) ||
        !link_key_is(key, keys_get(&x->app->stores.config->keys, KEY_DEVICES), purpose, number) ||
        is_forgotten(x, username, number))
        return STR_NONE;
    return number_text;
}

static uint64_t number_new(void)
{
    return (uint64_t)clock_now_ms() << RANDOM_BITS | random_u64() >> (64 - RANDOM_BITS);
}

static void cookie_give(struct exchange *x, struct str username, uint64_t number)
{
    const char *purpose = purpose_of(x, username);
    struct str key = purpose == NULL
                         ? STR_NONE
                         : link_key(x->arena, keys_get(&x->app->stores.config->keys, KEY_DEVICES), purpose, number);
    if (key.ptr != NULL) /* without memory the answer is dropped anyway */
        respond_cookie(x, STR(COOKIE), arena_printf(x->arena, "%016" PRIx64 ".%.*s", number, STR_ARG(key)), YEAR_S);
}

void known_device_remember(struct exchange *x, struct str username)
{
    uint64_t number;
    struct str known = known_device_number(x, username);
    if (known.ptr == NULL || !number_read(known, &number))
        number = number_new();
    cookie_give(x, username, number);
}

enum status known_device_forget_all(struct redis *redis, struct arena *a, struct str username, int64_t now_ms)
{
    struct redis_call call;
    const struct str set[] = { STR("SET"), forgotten_key(a, username), arena_printf(a, "%" PRId64, now_ms), STR("PX"),
                               arena_printf(a, "%" PRId64, (int64_t)YEAR_S * MS_PER_S) };
    if (set[1].ptr == NULL || set[2].ptr == NULL || set[4].ptr == NULL)
        return ST_NO_MEMORY;
    enum status st = redis_do(redis, &call, set, 5);
    redis_call_free(&call);
    return st;
}

enum status known_device_forget_others(struct exchange *x, struct str username)
{
    enum status st = known_device_forget_all(x->app->stores.redis, x->arena, username, clock_now_ms());
    if (st == ST_OK)
        cookie_give(x, username, number_new());
    return st;
}

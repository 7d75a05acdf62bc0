#include "web/limits.h"

#include <arpa/inet.h>
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "config/rate.h"
#include "io/metrics.h"
#include "redis/reply.h"
#include "web/respond.h"
#include "web/security_log.h"

enum { MS_PER_S = 1000, ADDRESS_BYTES = 4, ADDRESS6_BYTES = 8, NETWORK_BYTES = 3, NETWORK6_BYTES = 6 };

/* All limits share a hash tag, so their keys are on one server and a function can count several of them. */
#define KEY_PREFIX "hb:{limit}:"

static const struct problem PROBLEM_TOO_MANY = { 429, "too-many", "text/problem_too_many",
                                                 "text/problem_too_many_detail", 1 };

/* The subject of a limit. */
enum limit_by {
    BY_USER,
    BY_ADDRESS,
    BY_NETWORK,
    BY_CALLER /* struct limit_use names the subject */
};

#define LIMIT_ROW(name, by, metric)                                                                                    \
    {                                                                                                                  \
#name, offsetof(struct config, limit_##name), by, metric                                                       \
    }

static const struct limit_row {
    const char *name; /* in keys */
    size_t setting;   /* in struct config */
    enum limit_by by;
    enum metric metric; /* counts refusals */
} LIMITS[LIMIT_COUNT] = {
    [LIMIT_SEND] = LIMIT_ROW(send, BY_USER, METRIC_LIMITED_SEND),
    [LIMIT_SEND_ADDRESS] = LIMIT_ROW(send_address, BY_ADDRESS, METRIC_LIMITED_SEND_ADDRESS),
    [LIMIT_DEPOSIT] = LIMIT_ROW(deposit, BY_USER, METRIC_LIMITED_DEPOSIT),
    [LIMIT_EXPORT] = LIMIT_ROW(export, BY_USER, METRIC_LIMITED_EXPORT),
    [LIMIT_EXPORT_ADDRESS] = LIMIT_ROW(export_address, BY_ADDRESS, METRIC_LIMITED_EXPORT_ADDRESS),
    [LIMIT_READ] = LIMIT_ROW(read, BY_USER, METRIC_LIMITED_READ),
    [LIMIT_COLD_ADDRESS] = LIMIT_ROW(cold_address, BY_ADDRESS, METRIC_LIMITED_COLD_ADDRESS),
    [LIMIT_CARD] = LIMIT_ROW(card, BY_ADDRESS, METRIC_LIMITED_CARD),
    [LIMIT_PICTURE] = LIMIT_ROW(picture, BY_USER, METRIC_LIMITED_PICTURE),
    [LIMIT_REGISTER_ADDRESS] = LIMIT_ROW(register_address, BY_ADDRESS, METRIC_LIMITED_REGISTER_ADDRESS),
    [LIMIT_REGISTER_NETWORK] = LIMIT_ROW(register_network, BY_NETWORK, METRIC_LIMITED_REGISTER_NETWORK),
    [LIMIT_PASSKEY_ADDRESS] = LIMIT_ROW(passkey_address, BY_ADDRESS, METRIC_LIMITED_PASSKEY_ADDRESS),
    [LIMIT_PASSKEY_NETWORK] = LIMIT_ROW(passkey_network, BY_NETWORK, METRIC_LIMITED_PASSKEY_NETWORK),
    [LIMIT_OIDC_ADDRESS] = LIMIT_ROW(oidc_address, BY_ADDRESS, METRIC_LIMITED_OIDC_ADDRESS),
    [LIMIT_OIDC_NETWORK] = LIMIT_ROW(oidc_network, BY_NETWORK, METRIC_LIMITED_OIDC_NETWORK),
    [LIMIT_PASSWORD] = LIMIT_ROW(password, BY_USER, METRIC_LIMITED_PASSWORD),
    [LIMIT_SEARCH_ADDRESS] = LIMIT_ROW(search_address, BY_ADDRESS, METRIC_LIMITED_SEARCH_ADDRESS),
    [LIMIT_NAMES] = LIMIT_ROW(names, BY_USER, METRIC_LIMITED_NAMES),
    [LIMIT_NAMES_ADDRESS] = LIMIT_ROW(names_address, BY_ADDRESS, METRIC_LIMITED_NAMES_ADDRESS),
    [LIMIT_CONFIRM] = LIMIT_ROW(confirm, BY_USER, METRIC_LIMITED_CONFIRM),
    [LIMIT_RECOVERY_MAKE] = LIMIT_ROW(recovery_make, BY_USER, METRIC_LIMITED_RECOVERY_MAKE),
    [LIMIT_RECOVERY_CODE] = LIMIT_ROW(recovery_code, BY_CALLER, METRIC_LIMITED_RECOVERY_CODE),
    [LIMIT_RECOVERY_ADDRESS] = LIMIT_ROW(recovery_address, BY_ADDRESS, METRIC_LIMITED_RECOVERY_ADDRESS),
    [LIMIT_RECOVERY_NETWORK] = LIMIT_ROW(recovery_network, BY_NETWORK, METRIC_LIMITED_RECOVERY_NETWORK),
    [LIMIT_INVITATION_ADDRESS] = LIMIT_ROW(invitation_address, BY_ADDRESS, METRIC_LIMITED_INVITATION_ADDRESS),
    [LIMIT_INVITATION_NETWORK] = LIMIT_ROW(invitation_network, BY_NETWORK, METRIC_LIMITED_INVITATION_NETWORK),
    [LIMIT_LOGIN_DEVICE] = LIMIT_ROW(login_device, BY_CALLER, METRIC_LIMITED_LOGIN_DEVICE),
    [LIMIT_LOGIN_ACCOUNT] = LIMIT_ROW(login_account, BY_CALLER, METRIC_LIMITED_LOGIN_ACCOUNT),
    [LIMIT_LOGIN_NEW] = LIMIT_ROW(login_new, BY_CALLER, METRIC_LIMITED_LOGIN_NEW),
    [LIMIT_LOGIN_ADDRESS] = LIMIT_ROW(login_address, BY_ADDRESS, METRIC_LIMITED_LOGIN_ADDRESS),
    [LIMIT_LOGIN_NETWORK] = LIMIT_ROW(login_network, BY_NETWORK, METRIC_LIMITED_LOGIN_NETWORK),
    [LIMIT_HASH_ADDRESS] = LIMIT_ROW(hash_address, BY_ADDRESS, METRIC_LIMITED_HASH_ADDRESS),
    [LIMIT_HASH_NETWORK] = LIMIT_ROW(hash_network, BY_NETWORK, METRIC_LIMITED_HASH_NETWORK),
    [LIMIT_HASH_SITE] = LIMIT_ROW(hash_site, BY_CALLER, METRIC_LIMITED_HASH_SITE),
};

/* ---- subjects ---- */

/* The first bytes of an address in hex: of the IPv4 address, also inside IPv6 (::ffff:1.2.3.4), else of the IPv6
 * address. */
static struct str address_part(struct arena *a, struct str address, size_t bytes, size_t bytes6)
{
    static const uint8_t mapped[] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };
    char text[INET6_ADDRSTRLEN] = "";
    uint8_t binary[sizeof(struct in6_addr)];
    const uint8_t *from = binary;
    if (address.len >= sizeof text)
        return address;
    memcpy(text, address.ptr, address.len);
    if (inet_pton(AF_INET, text, binary) != 1) {
        if (inet_pton(AF_INET6, text, binary) != 1)
            return address;
        bool is_mapped = memcmp(binary, mapped, sizeof mapped) == 0;
        from = is_mapped ? binary + sizeof mapped : binary;
        bytes = is_mapped ? bytes : bytes6;
    }
    uint64_t number = 0;
    for (size_t i = 0; i < bytes; i++)
        number = number << 8 | from[i];
    return arena_printf(a, "%0*" PRIx64, (int)(2 * bytes), number);
}

struct str limit_address(struct arena *a, struct str address)
{
    return address_part(a, address, ADDRESS_BYTES, ADDRESS6_BYTES);
}

struct str limit_network(struct arena *a, struct str address)
{
    return address_part(a, address, NETWORK_BYTES, NETWORK6_BYTES);
}

static struct str subject_of(struct exchange *x, const struct limit_use *use)
{
    struct str address = str_or_empty(exchange_param(x, "REMOTE_ADDR"));
    switch (LIMITS[use->limit].by) {
    case BY_USER: return arena_printf(x->arena, "%" PRIu64, x->visitor.user_id);
    case BY_ADDRESS: return limit_address(x->arena, address);
    case BY_NETWORK: return limit_network(x->arena, address);
    case BY_CALLER: break;
    }
    return use->subject;
}

/* ---- the function ---- */

/* The tiers of a limit in the form that the function reads; empty: the limit is off. */
static struct str rate_text(struct exchange *x, enum limit limit)
{
    struct rate rate;
    struct str text = STR("");
    bool read = rate_read(str_from((const char *)x->app->stores.config + LIMITS[limit].setting), &rate);
    assert(read); /* config_load has checked it */
    for (unsigned i = 0; i < rate.count && text.ptr != NULL; i++)
        text = arena_printf(x->arena, "%.*s%s%" PRId64 " %" PRId64, STR_ARG(text), i > 0 ? " " : "",
                            rate.tiers[i].at_once, rate.tiers[i].every_us);
    return text;
}

/* The key of a limit that is not counted. */
#define UNUSED_KEY STR(KEY_PREFIX "unused")

enum status limits_ask(struct exchange *x, struct redis_call *call)
{
    struct str keys[LIMIT_USES_MAX], args[1 + LIMIT_USES_MAX] = { STR("1") };
    for (size_t i = 0; i < LIMIT_USES_MAX; i++) {
        keys[i] = UNUSED_KEY;
        args[1 + i] = i == 0 ? STR("1000 1000") : STR(""); /* a thousand at once, and a thousand a second */
    }
    return redis_do_function(x->app->stores.redis, call, x->app->stores.limit, REDIS_ANY, keys, LIMIT_USES_MAX, args,
                             1 + LIMIT_USES_MAX);
}

/* Runs the function. *refused: 1-based number of the exhausted use, 0: none; *wait_ms: until it admits again. */
static enum status function_run(struct exchange *x, struct str take, const struct limit_use *uses, size_t count,
                                int64_t *refused, int64_t *wait_ms)
{
    struct str keys[LIMIT_USES_MAX], args[1 + LIMIT_USES_MAX] = { take };
    struct redis_call call;
    assert(count <= LIMIT_USES_MAX);
    for (size_t i = 0; i < LIMIT_USES_MAX; i++) {
        keys[i] = UNUSED_KEY;
        args[1 + i] = STR("");
        if (i >= count)
            continue;
        struct str subject = subject_of(x, &uses[i]);
        keys[i] = arena_printf(x->arena, KEY_PREFIX "%s:%.*s", LIMITS[uses[i].limit].name, STR_ARG(subject));
        args[1 + i] = rate_text(x, uses[i].limit);
        if (subject.ptr == NULL || keys[i].ptr == NULL || args[1 + i].ptr == NULL)
            return ST_NO_MEMORY;
    }
    enum status st = redis_do_function(x->app->stores.redis, &call, x->app->stores.limit, REDIS_ANY, keys,
                                       LIMIT_USES_MAX, args, 1 + LIMIT_USES_MAX);
    if (st == ST_OK && (!redis_reply_i64(redis_reply_at(call.reply, 0), refused) || *refused < 0 ||
                        *refused > (int64_t)count || !redis_reply_i64(redis_reply_at(call.reply, 1), wait_ms)))
        st = ST_CORRUPT;
    redis_call_free(&call);
    return status_idempotent(st); /* perhaps taken; then the limit is only reached earlier */
}

static void answer_too_many(struct exchange *x, enum limit limit, int64_t wait_ms)
{
    struct problem p = PROBLEM_TOO_MANY;
    struct model m;
    model_init(&m, x->arena);
    if (limit >= LIMIT_LOGIN_DEVICE && x->visitor.user_id == 0) /* still works: it needs no slow hash */
        value_page_text(&m, &m.root, "recovery_url", STR("/login/recovery"));
    p.retry_after_s = (int)((wait_ms + MS_PER_S - 1) / MS_PER_S);
    metrics_add(LIMITS[limit].metric, 1);
    security_log(x, SECURITY_LIMITED, x->visitor.user_id, "limit=%s", LIMITS[limit].name);
    respond_problem_with(x, &p, &m);
}

bool limits_take(struct exchange *x, const struct limit_use *uses, size_t count)
{
    return limits_take_times(x, uses, count, 1);
}

/* The most that one call can take from each of these limits; at least 1. */
static uint64_t burst_least(struct exchange *x, const struct limit_use *uses, size_t count)
{
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < count; i++) {
        struct rate rate;
        bool read = rate_read(str_from((const char *)x->app->stores.config + LIMITS[uses[i].limit].setting), &rate);
        assert(read);
        for (unsigned tier = 0; tier < rate.count; tier++)
            if ((uint64_t)rate.tiers[tier].at_once < least)
                least = (uint64_t)rate.tiers[tier].at_once;
    }
    return least;
}

bool limits_take_times(struct exchange *x, const struct limit_use *uses, size_t count, size_t times)
{
    char take[STR_U64_MAX];
    const uint64_t most = times == 1 ? 1 : burst_least(x, uses, count);
    int64_t refused = 0, wait_ms = 0;
    if (!x->app->stores.config->limits)
        return true;
    enum status st = function_run(x, str_u64(take, times < most ? times : most), uses, count, &refused, &wait_ms);
    if (st != ST_OK)
        respond_status(x, st);
    else if (refused > 0)
        answer_too_many(x, uses[refused - 1].limit, wait_ms);
    return st == ST_OK && refused == 0;
}

bool limits_try(struct exchange *x, const struct limit_use *uses, size_t count)
{
    int64_t refused = 0, wait_ms = 0;
    return !x->app->stores.config->limits ||
           (function_run(x, STR("1"), uses, count, &refused, &wait_ms) == ST_OK && refused == 0);
}

bool limits_take_set(struct exchange *x, unsigned set)
{
    struct limit_use uses[LIMIT_USES_MAX];
    size_t count = 0;
    for (unsigned limit = 0; limit < LIMIT_ROUTES_COUNT; limit++) {
        bool no_user = LIMITS[limit].by == BY_USER && x->visitor.user_id == 0;
        if ((set & LIMITED_BY(limit)) == 0 || no_user)
            continue;
        assert(count < LIMIT_USES_MAX && LIMITS[limit].by != BY_CALLER);
        uses[count++] = (struct limit_use){ .limit = (enum limit)limit };
    }
    return count == 0 || limits_take(x, uses, count);
}

void limits_give_back(struct exchange *x, const struct limit_use *uses, size_t count)
{
    int64_t refused, wait_ms;
    if (x->app->stores.config->limits)
        (void)function_run(x, STR("-1"), uses, count, &refused, &wait_ms);
}

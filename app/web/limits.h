/* Limits: how often a user, an address or a device may do something. Each limit is a row of a table in limits.c: its
 * name, its subject, and the setting with its rate; Redis counts (lua/limit-7.lua), so all processes count together. A
 * request beyond a limit is answered 429 with Retry-After, as page or JSON, logged, and counted in /metrics.
 *
 * Most limits are requirements of a route: LIMITED_BY(LIMIT_…) in its row, which the router checks before the handler.
 * Others depend on the form, so handlers take them (account/login_limits.h, user/hash_budget.h,
 * account/proof.h, account/recovery_login.h, account/admission.h, records/records.c,
 * records/export_limit.h). With `limits = off` nothing is counted.
 *
 * All functions may block: not for routes of the hot pool (nginx limits those, nginx/site.conf). */
#ifndef HB_WEB_LIMITS_H
#define HB_WEB_LIMITS_H

#include "web/exchange.h"

enum limit {
    LIMIT_SEND,
    LIMIT_SEND_ADDRESS,
    LIMIT_DEPOSIT,
    LIMIT_READ,
    LIMIT_COLD_ADDRESS,
    LIMIT_CARD,
    LIMIT_PICTURE,
    LIMIT_REGISTER_ADDRESS,
    LIMIT_REGISTER_NETWORK,
    LIMIT_PASSKEY_ADDRESS,
    LIMIT_PASSKEY_NETWORK,
    LIMIT_OIDC_ADDRESS,
    LIMIT_OIDC_NETWORK,
    LIMIT_ROUTES_COUNT,                  /* the limits above can be requirements of a route */
    LIMIT_PASSWORD = LIMIT_ROUTES_COUNT, /* handlers take the limits from here on */
    LIMIT_EXPORT,
    LIMIT_EXPORT_ADDRESS,
    LIMIT_SEARCH_ADDRESS,
    LIMIT_NAMES,
    LIMIT_NAMES_ADDRESS,
    LIMIT_CONFIRM,
    LIMIT_RECOVERY_MAKE,
    LIMIT_RECOVERY_CODE,
    LIMIT_RECOVERY_ADDRESS,
    LIMIT_RECOVERY_NETWORK,
    LIMIT_INVITATION_ADDRESS,
    LIMIT_INVITATION_NETWORK,
    LIMIT_LOGIN_DEVICE,
    LIMIT_LOGIN_ACCOUNT,
    LIMIT_LOGIN_NEW,
    LIMIT_LOGIN_ADDRESS,
    LIMIT_LOGIN_NETWORK,
    LIMIT_HASH_ADDRESS,
    LIMIT_HASH_NETWORK,
    LIMIT_HASH_SITE,
    LIMIT_COUNT
};

/* The bit in struct route's needs for a limit that can be a requirement. */
enum { LIMITED_SHIFT = 16 };
#define LIMITED_BY(limit) (1U << (LIMITED_SHIFT + (unsigned)(limit)))
/* All of these bits. */
#define LIMITED ((1U << (LIMITED_SHIFT + (unsigned)LIMIT_ROUTES_COUNT)) - (1U << LIMITED_SHIFT))

/* A limit, and the subject for which it counts. */
struct limit_use {
    enum limit limit;
    struct str subject; /* empty for a limit by user, address or network: then the request's own */
};
enum { LIMIT_USES_MAX = 7 };

/* Takes one from each, or from none when one of them has nothing left. True: taken. False: refused, and the request is
 * answered: 429, or 503 when Redis does not answer. count: at most LIMIT_USES_MAX. */
bool limits_take(struct exchange *x, const struct limit_use *uses, size_t count);
/* Takes `times` uses from each limit, as limits_take takes one; but at most the limit's burst, so that a large number
 * is not refused for ever. */
bool limits_take_times(struct exchange *x, const struct limit_use *uses, size_t count, size_t times);
/* As limits_take, but does not answer: false when a limit has nothing left, or when Redis does not answer. */
bool limits_try(struct exchange *x, const struct limit_use *uses, size_t count);
/* Takes one from each limit of the set of bits; a guest has no limits by user. */
bool limits_take_set(struct exchange *x, unsigned set);
/* Gives back what limits_take has taken, unless Redis does not answer. */
void limits_give_back(struct exchange *x, const struct limit_use *uses, size_t count);

/* Counts one use for an unused key. ST_OK: Redis can count for the limits now; else the status of the call, whose reply
 * has the reason. Free the call in any case. */
enum status limits_ask(struct exchange *x, struct redis_call *call);

/* ---- parts without I/O ---- */

/* The subject of an address: an IPv4 address, or the /64 of an IPv6 address, because one household has a whole /64; a
 * text that is no address is its own subject. STR_NONE without memory. */
struct str limit_address(struct arena *a, struct str address);
/* The network of an address: the /24 of IPv4, the /48 of IPv6. */
struct str limit_network(struct arena *a, struct str address);

#endif

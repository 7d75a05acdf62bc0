/* Known devices: a browser in which a user has logged in keeps a cookie that proves this. Logins from it have a
 * separate limit (account/login_limits.h), so wrong guesses from elsewhere don't keep the user out. The cookie gives no
 * other right.
 *
 * Cookie `device` (`__Host-device` with Secure on https), for a year: a number in 16 hex digits, a dot and the key of
 * that number and the username (base/link_key.h). The number has 42 bits of milliseconds, when it was made, and 22
 * random bits. A changed secret or username makes the device unknown. A browser has one such cookie, of the user who
 * logged in last.
 *
 * Cookie `way`, for a year: "passkey", a dot and the public id of the passkey that was used or added last in this
 * browser, so the login page shows passkeys first, and the list of passkeys marks the one in this browser.
 *
 * A thief of a password may have made a device known with it. So a new password, and the end of all other sessions,
 * make all devices unknown: Redis keeps the time of this in `hb:{limit}:devices:USERNAME` for a year. */
#ifndef HB_USER_KNOWN_DEVICE_H
#define HB_USER_KNOWN_DEVICE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/status.h"
#include "redis/redis.h"
#include "web/exchange.h"

/* True: the browser has the cookie that any user's login leaves for a year. */
bool known_device_used(const struct exchange *x);
/* True: logging in is the first choice for a guest, before registering: it was used, or not everybody may
 * register, or people log in by an issuer. */
bool known_device_login_first(const struct exchange *x);
/* True: a passkey was used or added in this browser. */
bool known_device_has_passkey(const struct exchange *x);
/* The public id of that passkey, as the browser sends it: a slice of the request. Empty: unknown. */
struct str known_device_passkey(const struct exchange *x);
/* Adds the cookie with this passkey to the answer. */
void known_device_passkey_remember(struct exchange *x, uint64_t passkey_id);
/* The number of the device when its cookie is right for this user, in hex: a slice of the request. STR_NONE: a new
 * device, also when Redis does not answer. Blocks when the cookie is right. */
struct str known_device_number(struct exchange *x, struct str username);
/* Makes all devices unknown that the user has had until now. ST_OK · ST_UNAVAILABLE, ST_UNKNOWN, ST_NO_MEMORY: it may
 * be repeated. */
void known_device_remember(struct exchange *x, struct str username);
/* Makes all devices of the user unknown that are known by now. ST_OK · ST_UNAVAILABLE, ST_UNKNOWN, ST_NO_MEMORY: it may
 * be repeated. */
enum status known_device_forget_all(struct redis *redis, struct arena *a, struct str username, int64_t now_ms);
/* The same, except for this device: the answer adds a new cookie. */
enum status known_device_forget_others(struct exchange *x, struct str username);

#endif

/* The budget of slow hashes (user/password.h). A hash is taken from the budget before it is computed, whether the
 * password is right or wrong. It counts for the address, its network and the whole site, so neither an address nor a
 * set of accounts can occupy the auth pool. The site has two halves, for strangers and for known visitors: those with a
 * session, a known device or a recovery code of their own. */
#ifndef HB_USER_HASH_BUDGET_H
#define HB_USER_HASH_BUDGET_H

#include <stdbool.h>

#include "user/password.h"
#include "web/limits.h"

enum { HASH_USES = 3 };

/* Which half of the site's budget pays. */
enum hash_payer { HASH_STRANGER, HASH_KNOWN };

/* Takes one hash and count other uses (at most LIMIT_USES_MAX - HASH_USES), or none of them. True: permit has one more.
 * False: refused, and the request is answered, 429 or 503. */
bool hash_budget_take(struct exchange *x, enum hash_payer payer, const struct limit_use *others, size_t count,
                      struct hash_permit *permit);
/* Takes the second hash that a password with a raw text needs (password_verify_typed), whether or not the user exists.
 * True: there is no raw text, or permit has one more. False: refused, and the request is answered, 429 or 503. */
bool hash_budget_take_raw(struct exchange *x, enum hash_payer payer, const struct password *typed,
                          struct hash_permit *permit);
/* Takes one hash if the budget has one. False: it has none, or Redis does not answer; the request is not answered. */
bool hash_budget_try(struct exchange *x, enum hash_payer payer, struct hash_permit *permit);

#endif

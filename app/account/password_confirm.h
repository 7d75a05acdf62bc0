/* The visitor's password once more, before a change that would let somebody else into the account later. A session
 * alone, in a browser that was left open or with a stolen cookie, is not enough for such a change.
 *
 * Guesses are limited for each user, before anything is hashed: wrong ones by LIMIT_PASSWORD, all by LIMIT_CONFIRM and
 * by the budget of hashes.
 * The limits refuse only such changes: the session and logins are not touched. */
#ifndef HB_ACCOUNT_PASSWORD_CONFIRM_H
#define HB_ACCOUNT_PASSWORD_CONFIRM_H

#include <stdbool.h>

#include "base/status.h"
#include "base/str.h"
#include "user/password.h"
#include "web/exchange.h"
#include "web/fields.h"

/* Takes what a try with this password needs. True: call password_confirm. False: answered, 429 or 503. */
bool password_confirm_take(struct exchange *x, const struct password *typed, struct hash_permit *permit);
/* Compares the typed password; *hash is the stored hash, in the arena. ST_OK · ST_NOT_FOUND: it is wrong, which is
 * logged · else the status of a store. */
enum status password_confirm(struct exchange *x, struct hash_permit *permit, const struct password *typed,
                             struct str *hash);

/* The form of a change that needs only the password. */
extern const struct field password_confirm_fields[];
/* Reads this form and compares the password. False: answered, 429 or 503. True: *st is ST_OK · ST_INVALID: *e has the
 * message for the form · else the status of a store. */
bool password_confirm_form(struct exchange *x, struct form_errors *e, enum status *st);

#endif

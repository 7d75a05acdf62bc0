/* Registering with a passkey in place of a password. The browser makes the passkey for the names that were typed; the
 * user is inserted together with it and with ten recovery codes, in one transaction. Before that nothing is stored: the
 * challenge is in the answer and in a cookie, and the user handle is made from it.
 *
 * Both are for static/passkey_new.js, and answer JSON only. */
#ifndef HB_ACCOUNT_PASSKEY_REGISTER_H
#define HB_ACCOUNT_PASSKEY_REGISTER_H

#include "web/exchange.h"
#include "web/fields.h"

/* username, nickname, invitation, terms, as in the form of /register; the second also what the browser answered. */
extern const struct field passkey_register_begin_fields[], passkey_register_fields[];

/* Handler of POST /register/passkey/challenge: 200 with passkey_create_model. 422 with `errors`: the names, or what
 * lets one in (account/admission.h). */
enum step passkey_register_challenge(struct exchange *x);
/* Handler of POST /register/passkey: 201 { id, username, nickname }, logged in; /account/recovery?made=1 shows the
 * recovery codes once. 422 passkey-expired · 422 passkey-refused · 422 with `errors` as above · 409 passkey-exists.
 * When the user was made but the session was not, 201 without a cookie. */
enum step passkey_register_submit(struct exchange *x);

#endif

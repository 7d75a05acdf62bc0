/* Logging in with a passkey, without a username: the passkey itself says whose it is. */
#ifndef HB_ACCOUNT_PASSKEY_LOGIN_H
#define HB_ACCOUNT_PASSKEY_LOGIN_H

#include "web/exchange.h"
#include "web/fields.h"

/* Handler of POST /login/passkey/challenge: 200 { challenge, site, seconds }, from which static/passkey.js makes the
 * options of navigator.credentials.get. site is the domain (relying party id). */
enum step passkey_login_challenge(struct exchange *x);

/* Handler of POST /login/passkey: starts a session as a login with a password does. 200 { id, username, nickname }.
 * 422 passkey-expired: the challenge, or no cookie came, and the title says so · 422 passkey-refused: anything else,
 * the log says why. */
enum step passkey_login_submit(struct exchange *x);

/* The form of POST /login/passkey: what the browser answered, in base64url. */
extern const struct field passkey_login_fields[];

#endif

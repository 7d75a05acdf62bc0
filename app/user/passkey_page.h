/* The passkeys of the page /account: adding and removing them. */
#ifndef HB_USER_PASSKEY_PAGE_H
#define HB_USER_PASSKEY_PAGE_H

#include "base/value.h"
#include "web/exchange.h"
#include "web/fields.h"

/* Adds what the page and its JSON show: passkeys: a list of { id (public), name (may be empty), created_at, used_at
 * (null: never) }, newest first. Page: created_at_text, used_at_text, is_used, and passkey_site (the domain, absent
 * where there are no passkeys), passkey_added and passkey_removed (of the query ?passkey=added|removed). ST_OK, or
 * the status of a store. */
enum status passkeys_model(struct exchange *x, struct model *m);
/* Adds the page-only member passkey_site of the page /login: the domain; absent where there are no passkeys. */
void passkey_site_model(struct exchange *x, struct model *m);

/* Handler of POST /account/passkeys/challenge, a form of password_confirm_fields: 200 { challenge, site, user { id,
 * name, nickname }, algorithms, exclude, seconds }, from which static/passkey.js makes the options of
 * navigator.credentials.create. user.id is the user handle; exclude are the credential ids of the user's passkeys.
 * Bytes are in base64url. 422 with `errors`: the password is missing or wrong. */
enum step passkey_challenge_submit(struct exchange *x);
/* Handler of POST /account/passkeys: 201 { id, name, created_at }. 422 passkey-expired · 422 passkey-refused · 422 with
 * `errors`: the name, or too many passkeys · 409 passkey-exists. */
enum step passkey_submit(struct exchange *x);
/* Handler of POST /account/passkeys/ID/delete: 303 /account?passkey=removed#passkeys, JSON 204; 404 when the user has
 * no such passkey. */
enum step passkey_delete_submit(struct exchange *x);

/* The form of POST /account/passkeys: a name, and what the browser answered, in base64url. */
extern const struct field passkey_fields[];

#endif

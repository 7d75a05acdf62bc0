/* The page /account/passkeys: adding and removing passkeys, and offering a passkey to a new account. */
#ifndef HB_ACCOUNT_PASSKEY_PAGE_H
#define HB_ACCOUNT_PASSKEY_PAGE_H

#include "base/value.h"
#include "web/exchange.h"
#include "web/fields.h"

/* Adds passkeys: a list of { id (public), name (by default of the browser; may be empty), created_at,
 * used_at (null: never) }, newest first.
 * Page: created_at_text, used_at_text, is_used, is_here (used or added last in this browser), passkey_count,
 * passkey_one, has_passkeys, passkeys_elsewhere (one is not here), and passkey_site (the domain, absent where there are
 * no passkeys). ST_OK, or the status of a store. */
enum status passkeys_model(struct exchange *x, struct model *m);
/* Adds the page-only member passkey_site of the page /login: the domain; absent where there are no passkeys. */
void passkey_site_model(struct exchange *x, struct model *m);

/* Sets the cookie `offer` for a user who has registered to open a packet. While the browser has the cookie, the page of
 * the opened packet links to the offer: until the user follows the link, or until the password is needed again
 * (account/shown_once.h). */
void passkey_offer_later(struct exchange *x);
bool passkey_offer_waits(const struct exchange *x);

/* Handler of GET /account/passkeys: 200, pages/passkeys with passkeys_model and, page-only, username, passkey_added,
 * passkey_removed and passkey_recovered (of the query ?passkey=added|removed|recovered) and the members of proof_model;
 * proof has session also when the password was typed a moment ago to register, or a recovery code in its place. With
 * ?passkey=offer&next=PATH, where a registration leads: pages/passkey_offer, with offer_next, a local path. */
enum step passkeys_show(struct exchange *x);
/* Handler of GET for the addresses of the forms: 303 /account/passkeys. */
enum step passkeys_redirect(struct exchange *x);

/* Handler of POST /account/passkeys/challenge, a form of proof_fields: 200 { challenge, site, user { id,
 * name, nickname }, algorithms, exclude, seconds }, from which static/passkey.js makes the options of
 * navigator.credentials.create. user.id is the user handle; exclude are the credential ids of the user's passkeys.
 * Bytes are in base64url. 422 with `errors`: the proof is refused. The browser that has just registered
 * (SHOWN_REGISTERED of account/shown_once.h) needs none. */
enum step passkey_challenge_submit(struct exchange *x);
/* Handler of POST /account/passkeys: 201 { id, name, created_at }. 422 passkey-expired · 422 passkey-refused · 422 with
 * `errors`: the name, or too many passkeys · 409 passkey-exists. */
enum step passkey_submit(struct exchange *x);
/* Handler of POST /account/passkeys/ID/delete: 303 /account/passkeys?passkey=removed, JSON 204; 404 when the user has
 * no such passkey. */
enum step passkey_delete_submit(struct exchange *x);

/* The form of POST /account/passkeys: a name, and what the browser answered, in base64url. */
extern const struct field passkey_fields[];

#endif

/* The page of registering. The comment above a handler lists the members of its model, on which the template
 * relies; members marked page-only are not in JSON. */
#ifndef HB_ACCOUNT_REGISTER_H
#define HB_ACCOUNT_REGISTER_H

#include "account/admission.h"
#include "user/account.h"
#include "user/store.h"
#include "web/exchange.h"
#include "web/respond.h"

/* GET /register?next=PATH: pages/register. A visitor who is logged in is redirected to / (303).
 *
 * Model, all of it page-only:
 *   form       { username, nickname, next }: the typed texts; at first a username that was invented. The password is
 *              never shown again. next is a local path or the empty string.
 *   proposed   the username is a proposal of the site, also in place of one that was refused
 *   login_url  "/login" with the same next
 *   passkey_site, packet_ahead, issuer  as on the page /login
 * After a refused POST (422) also, from respond_form_errors:
 *   errors     [ { field, message } ]       field: "username" | "nickname" | "password"
 *   error      { username?, nickname?, password? }: the message beside the field (page-only)
 * The form posts to /register: username, nickname, password, next (hidden), and passkey, which static/rules.js sets in
 * a browser that could keep a passkey. */
enum step register_show(struct exchange *x);

/* POST /register: creates the user with an empty wallet, and logs in. HTML 303 to next (a local path, else /), with
 * `passkey` the offer of a passkey comes first (account/passkey_page.h); JSON 201 {id, username, nickname}. Refused:
 * 422 as above. When the user was created but the session was not, HTML redirects to /login and JSON answers 201
 * without a cookie, because the account exists and must not look refused. When a store is known to be unreachable,
 * answers 503 before the password is hashed. */
enum step register_submit(struct exchange *x);

/* ---- for other ways to register ---- */

/* Checks, before anything slow, that both stores are reachable, the name is free, and the user would be let in. *st:
 * ST_OK, so far; ST_INVALID: *e has a message; else the store's status. False: answered. */
bool register_precheck(struct exchange *x, const struct account_form *account, struct form_errors *e,
                       struct admission *admission, enum status *st);
/* The user was inserted: ends the sessions of an earlier user of this id, whose row was lost with the tables, and
 * starts one. From now on an incomplete answer becomes REGISTER_UNKNOWN. False: there is no session; the user has to
 * log in. */
bool register_log_in(struct exchange *x, const struct user *user);
/* 503: the reply to the COMMIT was lost. */
extern const struct problem REGISTER_UNKNOWN;

#endif

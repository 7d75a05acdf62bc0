/* The page of registering. The comment above a handler lists the members of its model, on which the template
 * relies; members marked page-only are not in JSON. */
#ifndef HB_ACCOUNT_REGISTER_H
#define HB_ACCOUNT_REGISTER_H

#include "web/exchange.h"

/* GET /register?next=PATH: pages/register. A visitor who is logged in is redirected to / (303).
 *
 * Model, all of it page-only:
 *   form       { username, nickname, next }: the typed texts; at first a username that was invented. The password is
 *              never shown again. next is a local path or the empty string.
 *   proposed   the username is a proposal of the site, also in place of one that was refused
 *   login_url  "/login" with the same next
 *   passkey_site, invitation  as on the page /login
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

#endif

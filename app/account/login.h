/* The page of logging in. The comment above a handler lists the members of its model, on which the template
 * relies; members marked page-only are not in JSON. */
#ifndef HB_ACCOUNT_LOGIN_H
#define HB_ACCOUNT_LOGIN_H

#include "web/exchange.h"
#include "web/fields.h"

/* GET /login?next=PATH: pages/login. A visitor who is logged in is redirected to next (303),
 * but not with &again=1, by which a form asks for a fresh session (account/proof.h).
 *
 * Model, all of it page-only:
 *   form       { username, next }: the typed texts; next is a local path or the empty string
 *   expired    the session ended while the visitor had a form open
 *   again      the query has &again=1
 *   no_cookies the visitor has just logged in or registered, but the browser has not kept the session's cookie
 *   register_url, recovery_url  "/register" and "/login/recovery" with the same next; the latter also with a
 *                              username that was sent
 *   password_login  false: nobody logs in with a password here, so there is no form for it
 *   packet_ahead  the packet that next leads to (account/packet_ahead.h); absent: none
 *   passkey_site  the domain of passkeys; absent where there are none
 *   issuer     { name, url } of the login by an issuer (account/issuer_page.h); absent where there is none
 *   passkey_used  a passkey was used or added in this browser: it comes first
 * After a refused POST (422) also:
 *   errors     [ { field, message } ]       field: "username" | "password"
 *   error      { username?, password? }     a wrong name or password is always the message login_wrong at password;
 *              a text that can't be a username gets a message at username
 * The form posts to /login: username, password, next (hidden). */
enum step login_show(struct exchange *x);

/* POST /login: starts a new session and ends the session that the request presented. HTML 303 to next (a local path,
 * else /), JSON 200 {id, username, nickname}. An unknown name and a wrong password give the same answer, after the same
 * time. When a store is known to be unreachable, answers 503 before the password is hashed; beyond a limit of
 * account/login_limits.h 429. */
enum step login_submit(struct exchange *x);

/* The form of /login. */
extern const struct field login_fields[];

#endif

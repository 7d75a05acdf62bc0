/* Logging in with a recovery code (user/recovery_code.h) in place of the password. */
#ifndef HB_ACCOUNT_RECOVERY_LOGIN_H
#define HB_ACCOUNT_RECOVERY_LOGIN_H

#include "web/exchange.h"
#include "web/fields.h"

/* username, code, new_password (a program may leave it out), next. */
extern const struct field recovery_login_fields[];

/* Handler of GET /login/recovery?next=PATH: pages/login_recovery. A visitor who is logged in is redirected to next.
 * With ?used=password, where the POST leads: pages/recovered, with recovery_model and, page-only, onward, the
 * path of the link on.
 *
 * Model, all of it page-only:
 *   form       { username, code, next }: the typed texts
 *   login_url  "/login" with the same next, and the username when it was sent
 * After a refused POST (422) also errors and error { username?, code?, new_password? }. */
enum step recovery_login_show(struct exchange *x);

/* Handler of POST /login/recovery: uses the code up and starts a session, as a login does: 303 to the page above,
 * which leads on to next; JSON 200 {id, username, nickname}. With a new password, which the page needs, all other
 * sessions of the user end.
 * An unknown name, a user without codes, a wrong code and one that was used before get the same answer: 422 at `code`.
 * A text that can't be a username gets a message at `username`, and a text without the length of a code at `code`.
 *
 * Limits: a text that is no code of this name (recovery_code_read), as every guess, counts for the address and its
 * network and costs no hash. A code that this site has made counts for itself alone, so nobody can shut its owner
 * out. */
enum step recovery_login_submit(struct exchange *x);

#endif

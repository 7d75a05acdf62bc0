/* Logging in by a login link (user/login_link.h), which an operator has made for one user. */
#ifndef HB_ACCOUNT_LOGIN_LINK_PAGE_H
#define HB_ACCOUNT_LOGIN_LINK_PAGE_H

#include "web/exchange.h"
#include "web/fields.h"

/* code: required. */
extern const struct field login_link_fields[];
/* code, done. */
extern const struct field login_link_query_fields[];

/* Handler of GET /login/link?code=CODE: pages/login_link, whose button posts the code. Opening it uses nothing up: mail
 * scanners and chats open links, too. A code that was used, has expired or was never made gets the problem link-gone
 * (404), which names nobody. A guess costs no look-up.
 *
 * Model, all of it page-only:
 *   code       as it is posted
 *   person     { nickname, username }: who logs in
 *   until      when it expires, a minute in the zone of the site
 *   other      the visitor is logged in as somebody else, whose session ends
 *
 * With ?done=1, where the POST leads: pages/login_linked for a visitor who is logged in, with
 *   nickname, username
 *   has_way       the user has a password or a passkey: can log in without a link
 *   passwords     users may have passwords (password_login)
 *   passkey_site  the domain of passkeys; absent where there are none */
enum step login_link_show(struct exchange *x);

/* Handler of POST /login/link: uses the link up and starts a session, as a login does: 303 to the page above; JSON 200
 * {id, username, nickname}. 404 link-gone as above, which counts for the address and its network; a code that the site
 * has made counts for itself. 403 link-disabled: the user is disabled, and the link stays. */
enum step login_link_submit(struct exchange *x);

#endif

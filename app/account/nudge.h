/* One line for users who have money, but neither a passkey nor recovery codes: whoever forgets the password then has no
 * other way in. It stands on the home page, never on the page of a packet. */
#ifndef HB_ACCOUNT_NUDGE_H
#define HB_ACCOUNT_NUDGE_H

#include "base/value.h"
#include "web/exchange.h"

enum { NUDGE_COOKIE_S = 30 * 24 * 3600 };

/* Adds the page-only member nudge to a page of a visitor who has money or has received some. The cookie `nudge` has the
 * id of the user who wants to see it no more for NUDGE_COOKIE_S. When the store does not answer, there is none. */
void nudge_model(struct exchange *x, struct model *m);
/* Handler of POST /account/nudge: sets the cookie. 303 to the home page, JSON 204. */
enum step nudge_submit(struct exchange *x);

#endif

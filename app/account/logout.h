/* Logging out. */
#ifndef HB_ACCOUNT_LOGOUT_H
#define HB_ACCOUNT_LOGOUT_H

#include "web/exchange.h"

/* POST /logout: ends the session and clears the cookie. HTML 303 /, JSON 204. Also fine without a session. */
enum step logout_submit(struct exchange *x);

#endif

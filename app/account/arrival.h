/* The last step of a login that another floor has made, and the way back to the page of logging in. */
#ifndef HB_ACCOUNT_ARRIVAL_H
#define HB_ACCOUNT_ARRIVAL_H

#include "user/store.h"
#include "web/exchange.h"

/* The query's `next` when it is a local path, else the empty string. */
struct str arrival_next(struct exchange *x);
/* The page of logging in, which leads to next. again: also for somebody who is logged in (account/proof.h). STR_NONE
 * without memory. */
struct str arrival_login_url(struct arena *a, struct str next, bool again);
/* Leads a user who is logged in to next, or the home page; first to the terms, when they are due. JSON: 200 with the
 * user. */
enum step arrival_answer(struct exchange *x, const struct user *user, struct str next);

#endif

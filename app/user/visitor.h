/* The visitor of a request: the hooks of struct services (web/exchange.h). A request with an access token acts for the
 * token's owner (user/token.h), any other for the session's user (user/session.h). */
#ifndef HB_USER_VISITOR_H
#define HB_USER_VISITOR_H

#include <stdbool.h>

#include "base/status.h"
#include "web/exchange.h"

bool visitor_queue(struct exchange *x);
enum status visitor_read(struct exchange *x);

#endif

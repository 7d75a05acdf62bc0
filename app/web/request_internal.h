/* Reads a request, and checks it before a handler runs. */
#ifndef HB_WEB_REQUEST_INTERNAL_H
#define HB_WEB_REQUEST_INTERNAL_H

#include "web/respond.h"
#include "web/route.h"

/* Sets the members of x that come from the request: method, address, language, time, and the wanted form of the
 * answer. */
void request_read(struct exchange *x, struct str method);
/* Finds the route and checks the request, without any I/O. NULL: it is valid. */
const struct problem *request_problem(const struct router *router, struct exchange *x, struct str method);

#endif

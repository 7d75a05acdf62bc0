/* Routes requests to handlers. Each row of a route table states the requirements of its path (session, login, same
 * origin, limits) beside the handler, and the router checks them before it calls the handler. */
#ifndef HB_WEB_ROUTER_H
#define HB_WEB_ROUTER_H

#include "web/exchange.h"
#include "web/route.h"

/* Serves the routes of one pool until SIGTERM. The pool decides the batch size (hot: FCGI_BATCH_MAX, others: 1), the
 * setting body_bytes_max the size of a body. ST_NO_MEMORY, or the status of fcgi_serve. */
enum status router_serve(const struct router *router);

/* ---- for tests and the loop ---- */
/* Runs one step of a request, the first or the next one. STEP_DONE: x contains the answer, which has to be written.
 * STEP_WAIT: the caller runs a Redis round and calls again. Before the first step, x is zeroed except for app, fcgi and
 * arena. */
enum step router_answer(const struct router *router, struct exchange *x);

#endif

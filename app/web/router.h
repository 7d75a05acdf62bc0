/* The route table: what a path needs stands beside the function that answers it. */
#ifndef HB_WEB_ROUTER_H
#define HB_WEB_ROUTER_H

#include "web/exchange.h"

enum route_need {
    WANT_VISITOR = 1, /* the session is looked up; logged out is fine */
    NEED_USER = 3,    /* logged out: HTML → 303 /login?next=…, JSON → 401 */
    SAME_ORIGIN = 4   /* the cross-origin guard refuses foreign posts with 403 */
};

enum pool { POOL_HOT = 1, POOL_PAGE = 2, POOL_AUTH = 4 };

struct route {
    const char *method; /* "GET" answers HEAD as well */
    const char *path;   /* `:id` matches one path segment */
    unsigned needs;     /* enum route_need */
    unsigned pools;     /* enum pool: where it is served */
    handler_fn *handler;
};

struct router {
    const struct route *routes;
    size_t count;
    enum pool pool;
    struct services *app;
};

/* Serves the routes of one pool until told to stop. body_bytes_max and batch size come from the pool and config. */
enum status router_serve(const struct router *router);

/* ---- for tests and the loop ---- */
/* The route for method and path; NULL: none. Then *methods tells what the path could be asked for with, in any pool, as
 * bits 1 << enum method (405); 0: this pool does not know the path (404). */
const struct route *route_find(const struct router *router, struct str method, struct str path, struct str *id,
                               unsigned *methods);
/* Those methods as the value of Allow (RFC 9110, 10.2.1): "GET, HEAD, POST". GET implies HEAD. */
struct str route_allow_text(unsigned methods);
/* One step of a request, the first or the next one. STEP_DONE: x holds the answer, to be written; STEP_WAIT: a round of
 * Redis comes first. x: zeroed, with app, fcgi and arena set. */
enum step router_answer(const struct router *router, struct exchange *x);

#endif

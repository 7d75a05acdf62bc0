/* The rows of the tables of routes, and which row a request has. */
#ifndef HB_WEB_ROUTE_H
#define HB_WEB_ROUTE_H

#include "web/exchange.h"
#include "web/fields.h"

enum route_need {
    WANT_VISITOR = 1, /* the session is read; guests are allowed */
    NEED_USER = 3,    /* guests get 303 /login?next=… (HTML) or 401 (JSON) */
    SAME_ORIGIN = 4,  /* cross-origin posts get 403 */
    FOR_SEND = 8,     /* a POST that access tokens with the scope `send` may use (web/bearer.h) */
    FOR_OPEN = 16,    /* the same, with the scope `open` */
    NO_TOKEN = 32,    /* access tokens get 403: only a session can log in, log out and change the account */
    KEEP_FORM = 64,   /* a POST whose kept fields survive (web/kept_form.h): its page fills the form from the query */
    UPLOAD = 128,     /* a POST of the page pool whose body is multipart/form-data (web/multipart.h), which the handler
                       * reads; it may have UPLOAD_BYTES_MAX. The handler also answers fcgi->body_too_large */
    FOR_SERVICE = 256 /* for the programs of an operator, in the money pool: the handler checks the service token */
};

#define UPLOAD_BYTES_MAX ((size_t)5 << 20)

/* The money pool answers programs: always with JSON, and without the visitor of a cookie. The sso pool logs people in
 * by an issuer (OpenID Connect), which it calls itself: no other pool connects to the outside. */
enum pool { POOL_HOT = 1, POOL_PAGE = 2, POOL_AUTH = 4, POOL_CARD = 8, POOL_MONEY = 16, POOL_SSO = 32 };

struct route {
    const char *method; /* "GET" includes HEAD */
    const char *path;   /* `:id` and `:key` match one path segment each */
    unsigned needs;     /* bits of enum route_need, and LIMITED_BY(…) for each limit (web/limits.h) */
    unsigned pools;     /* bits of enum pool that serve the route */
    handler_fn *handler;
    const struct field *form; /* the fields of the form that is posted (web/fields.h); NULL: none */
};

struct router {
    const struct route *routes;
    size_t count;
    enum pool pool;
    struct services *app;
};

/* Finds the route for method and path; *params gets the segments that its parameters matched. NULL: none. Then *methods
 * has a bit 1 << enum method for each method that the path supports in any pool (answer 405), or is 0 when this pool
 * does not serve the path (answer 404). */
const struct route *route_find(const struct router *router, struct str method, struct str path,
                               struct route_params *params, unsigned *methods);
/* Formats such a set of methods as the value of Allow (RFC 9110, 10.2.1): "GET, HEAD, POST". GET implies HEAD. */
struct str route_allow_text(unsigned methods);
/* The longest beginning of the path, in whole segments, that some pool serves by GET. */
struct str route_page(const struct router *router, struct str path);
/* The method of this name. */
enum method route_method(struct str name);

#endif

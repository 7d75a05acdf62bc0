/* One request and its answer, with the process's services within reach. A handler is a small function called once
 * per step: it reads the request, may queue Redis commands and return STEP_WAIT, or writes the answer (web/respond.h)
 * and returns STEP_DONE. */
#ifndef HB_WEB_EXCHANGE_H
#define HB_WEB_EXCHANGE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/config.h"
#include "base/public_id.h"
#include "base/str.h"
#include "io/fcgi.h"
#include "live/stores.h"
#include "web/form.h"
#include "web/language.h"
#include "web/templates.h"

struct exchange;
struct route;
struct page_cache;
struct problem;

/* Who is looking. Filled by the visitor hook from the session cookie. */
struct visitor {
    uint64_t user_id; /* 0: logged out */
    struct str username;
    struct str nickname;
    struct str session_key; /* Redis key of the session, for logout and rotation */
};

/* What lives as long as the process. */
struct services {
    struct stores stores;
    struct templates templates;
    struct page_cache *page_cache; /* answers that never change: the pages floor's; NULL outside the hot pool */
    struct assets *assets;
    struct public_id_key id_key; /* of the ids in paths, derived from config->secret */
    /* Visitor hook, implemented in user/session.c (web/ can't see it): queue is called in the request's first step
     * and says whether it queued anything (no cookie: no I/O), read after the round: ST_OK (logged in or not),
     * ST_UNAVAILABLE / ST_UNKNOWN (Redis is away). */
    bool (*visitor_queue)(struct exchange *x);
    enum status (*visitor_read)(struct exchange *x);
};

enum step { STEP_WAIT, STEP_DONE };
typedef enum step handler_fn(struct exchange *x);

enum method { METHOD_GET, METHOD_HEAD, METHOD_POST, METHOD_OTHER };

struct exchange {
    struct services *app;
    struct fcgi_request *fcgi;
    struct arena *arena; /* dies with the request */

    /* the request */
    enum method method;
    struct str target;     /* path and query as they were asked for */
    struct str path;       /* without the query; always starts with '/' */
    struct str query_text; /* raw */
    struct str request_id; /* nginx $request_id */
    bool wants_json;       /* Accept names application/json before text/html */
    enum language language;
    struct form query;  /* decoded query fields */
    struct form form;   /* decoded body fields of a POST */
    struct str id_text; /* what matched `:id` in the route's path, else empty */
    uint64_t id;        /* the same, decoded: a forged or mistyped id was answered with 404 before any I/O */
    struct visitor visitor;
    int64_t now_ms; /* when the request was read */

    /* progress */
    const struct route *route;
    bool visitor_pending; /* the session was asked for and not read yet */
    bool visitor_known;   /* it was looked for, so nobody there means a guest */
    unsigned step;        /* of the handler: 0, 1, 2 … */
    void *state;          /* the handler's own, from the arena */
    struct redis_call session_call;
    struct redis_call renewal_call; /* of the session: goes with the next round, nobody waits for its answer */
    bool renewal_queued;            /* and that round has not come yet */
    struct redis_call call;         /* the handler's; freed with the request */
    bool answered;                  /* only to be written */

    /* the answer: written by web/respond.h */
    int status;
    bool lost;                     /* a part of it found no memory */
    const struct problem *if_lost; /* what a lost answer becomes: set once something has happened; NULL: busy */
    struct buf headers;            /* "Name: value\r\n" lines */
    struct buf body;
};

/* The value of a request header by its CGI name ("HTTP_ORIGIN"); first one wins; STR_NONE when absent. */
struct str exchange_param(const struct exchange *x, const char *cgi_name);
/* The named cookie; STR_NONE when absent. */
struct str exchange_cookie(const struct exchange *x, struct str name);
/* The template of that name, in the visitor's language; NULL when there is none. */
const struct mustache *exchange_template(const struct exchange *x, const char *name);
/* True when base_url is https: cookies become Secure and __Host-. */
bool exchange_is_https(const struct exchange *x);

#endif

/* One request and its answer, with access to the services of the process. A handler is a small function that the router
 * calls once per step. It reads the request, then either queues Redis commands and returns exchange_then with the
 * function that goes on after the round, or writes the answer by web/respond.h and returns STEP_DONE. */
#ifndef HB_WEB_EXCHANGE_H
#define HB_WEB_EXCHANGE_H

#include "base/arena.h"
#include "base/badge.h"
#include "base/buf.h"
#include "base/public_id.h"
#include "base/str.h"
#include "config/config.h"
#include "io/fcgi.h"
#include "live/stores.h"
#include "web/form.h"
#include "web/kept_json.h"
#include "web/language.h"
#include "web/templates.h"

struct exchange;
struct route;
struct page_cache;
struct svg_png;
struct problem;
struct receipt_keys;
struct sso;

/* Appends the next part of an answer to x->body, which is empty. x->arena is for this part only; the handler keeps its
 * state between parts in x->state. *more: further parts follow. ST_OK · any other status: if nothing was sent yet, the
 * answer becomes the problem for this status; otherwise it is broken off. */
typedef enum status stream_part(struct exchange *x, bool *more);

/* The user who sent the request. The visitor hook fills it from the session cookie, or from an access token. */
struct visitor {
    uint64_t user_id; /* 0: logged out */
    unsigned scopes;  /* of an access token: bits of enum scope (web/bearer.h) */
    struct str username;
    struct str nickname;
    struct face face;
    struct str session_key; /* Redis key of the session, for logout and rotation */
    int64_t session_ms;     /* when the session began; 0: there is none, or it is of an earlier version */
};

/* Objects that live as long as the process. */
struct services {
    struct stores stores;
    struct templates templates;
    struct page_cache *page_cache; /* of app/pages; NULL outside the hot pool */
    struct assets *assets;
    struct svg_png *drawing;           /* NULL outside the card pool */
    const char *picture_program;       /* decodes pictures of users (io/picture_child.h) */
    struct receipt_keys *receipt_keys; /* NULL in processes that sign no receipts */
    struct sso *sso;                   /* of app/sso, in the sso pool alone; NULL: no login by an issuer */
    struct migrations *migrations;     /* of app/migrate; NULL in pools without MySQL, or when they can't be read */
    struct public_id_key id_key;       /* for the ids in paths: of KEY_IDS */
    struct kept_json api, keys_shown;  /* /openapi.json and the list of receipt keys */
    /* Visitor hook. user/visitor.c implements it, because web/ must not include user/. queue is called in the request's
     * first step and returns whether it queued a command (without a cookie there is no I/O). read is called after the
     * round. It returns ST_OK (logged in or not), ST_UNAVAILABLE / ST_UNKNOWN when a store did not answer, or
     * ST_NOT_FOUND when the page pool has to look up the access token, or to renew the session, and then hands the
     * request back. */
    bool (*visitor_queue)(struct exchange *x);
    enum status (*visitor_read)(struct exchange *x);
    /* The number of new items in the inbox of the visitor, who is logged in. records/inbox.c implements it.
     * May block: NULL in pools without MySQL. */
    int64_t (*news_count)(struct exchange *x);
};

enum step { STEP_WAIT, STEP_DONE };
typedef enum step handler_fn(struct exchange *x);

enum method { METHOD_GET, METHOD_HEAD, METHOD_POST, METHOD_OTHER };

/* The segments of the path that the route's parameters matched, as written in the path; empty: the route has no such
 * parameter. */
struct route_params {
    struct str id, key;
};

struct exchange {
    struct services *app;
    struct fcgi_request *fcgi;
    struct arena *arena; /* lives as long as the request */

    /* the request */
    enum method method;
    struct str target;     /* path and query (REQUEST_URI), in ASCII */
    struct str path;       /* without the query; always starts with '/' */
    struct str query_text; /* still encoded */
    struct str request_id; /* nginx $request_id */
    bool wants_json;       /* Accept prefers JSON to HTML: curl, which takes any type, gets HTML */
    struct str bearer;     /* an access token (web/bearer.h); STR_NONE: none, the session cookie counts */
    enum language language;
    struct form query; /* decoded query fields: those that the handler has read (web/fields.h) */
    bool query_broken; /* a field of the query is malformed or there twice: the answer becomes a 400 */
    struct form form;  /* decoded body fields of a POST */
    struct route_params params;
    struct str form_path; /* of a POST without an id: the page that it belongs to; empty: the home page */
    uint64_t id; /* the decoded params.id; the router has answered a forged or mistyped one with 404, before any I/O */
    struct visitor visitor;
    int64_t now_ms; /* time at which the request was read */

    /* progress */
    const struct route *route;
    /* the problem to answer with, once the session was read for the page's header; NULL: none */
    const struct problem *refused;
    bool visitor_pending; /* the session lookup is queued; its reply is not read yet */
    bool visitor_known;   /* the session was read: user_id 0 means a guest */
    bool news_seen;       /* the answer shows the inbox, so all its items are seen */
    handler_fn *then;     /* goes on with the request; NULL: the handler of its route begins it */
    unsigned step;        /* steps so far */
    void *state;          /* for the handler's use; from the arena */
    struct redis_call session_call;
    struct redis_call renewal_call; /* extends the session; its reply is not used */
    bool renewal_queued;            /* renewal_call is queued and the round has not run yet */
    struct redis_call call;         /* for the handler's use; freed with the request */
    bool answered;                  /* the answer is complete and has to be written */

    /* the answer: written by web/respond.h */
    int status;
    bool incomplete;                        /* a part of the answer is missing for lack of memory */
    const struct problem *fallback_problem; /* replaces an incomplete answer; set after a change was made; NULL: busy */
    struct buf headers;                     /* "Name: value\r\n" lines */
    struct buf body;
    stream_part *stream;      /* the body is written in parts (web/stream.h); NULL: it is in body */
    struct arena *part_arena; /* memory of one part */
    bool stream_begun;        /* the first part was sent */
};

/* The value of a request header by its CGI name ("HTTP_ORIGIN"). The first one counts. STR_NONE: absent. */
struct str exchange_param(const struct exchange *x, const char *cgi_name);
/* On https every cookie has this prefix before its name: browsers then accept it only from this host, over https, for
 * the whole site. Cookies are named without it, here and in web/respond.h. */
#define COOKIE_HOST_PREFIX "__Host-"
/* The value of the cookie. STR_NONE: absent. */
struct str exchange_cookie(const struct exchange *x, struct str name);
/* The prefix, on https, of a cookie that browsers send to one page only. It can't have the prefix above, because its
 * path is not the whole site. */
#define COOKIE_SECURE_PREFIX "__Secure-"
/* The value of such a cookie (respond_page_cookie). STR_NONE: absent. */
struct str exchange_page_cookie(const struct exchange *x, struct str name);
/* True when Accept prefers the type to JSON and to HTML. */
bool exchange_prefers(const struct exchange *x, struct str media_type);
/* The page to which a posted form belongs: the path up to and including its id; without an id the longest beginning of
 * the path that has a GET, at least the home page. */
struct str exchange_page_path(const struct exchange *x);
/* For a step that has queued commands: the function `then` goes on with the request after the round. Returns
 * STEP_WAIT. */
enum step exchange_then(struct exchange *x, handler_fn *then);
/* The template in the visitor's language. NULL: there is no template of this name. */
const struct mustache *exchange_template(const struct exchange *x, const char *name);
/* True when base_url is https: then cookies are Secure and have the prefix above. */
bool exchange_is_https(const struct exchange *x);

#endif

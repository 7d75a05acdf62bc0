/* Functions that write the answer. A handler calls exactly one of them; it may call respond_header any number of times,
 * before or after.
 *
 * An answer is complete or it is a 503: respond_finish drops an answer when there was no memory for a part of it: a
 * text of the model, a header, anything from the request's arena. So a handler need not check each text, with two
 * exceptions: before it makes a change that depends on the text, and after it has made a change, when it must set
 * x->fallback_problem. */
#ifndef HB_WEB_RESPOND_H
#define HB_WEB_RESPOND_H

#include "base/value.h"
#include "web/exchange.h"

/* Adds a header. A value with CR, LF or NUL is an error: it is logged and the header is left out. STR_NONE makes the
 * answer incomplete. */
void respond_header(struct exchange *x, const char *name, struct str value);
/* Sets a cookie for the whole site: HttpOnly, SameSite=Lax, Secure on https. max_age_s 0 deletes the cookie. */
void respond_cookie(struct exchange *x, struct str name, struct str value, int64_t max_age_s);
/* Sets a cookie that browsers send only to path and the addresses below it, and not when another site leads there:
 * HttpOnly, SameSite=Strict, Secure on https. max_age_s 0 deletes it. */
void respond_page_cookie(struct exchange *x, struct str name, struct str value, const char *path, int64_t max_age_s);
/* Adds Retry-After. */
void respond_retry_after(struct exchange *x, int seconds);

/* Answers with the model: as JSON when the client wants JSON, else rendered by the template ("pages/home"). Adds the
 * layout's values (`site`, see web/view.h) and Cache-Control: no-store. */
void respond_model(struct exchange *x, int status, const char *template_name, struct model *m);
/* Answers 200 to everybody alike with a JSON text (gzip: the text is compressed), or 304 when If-None-Match names the
 * tag. Caches may keep it: cache_control says how long. */
void respond_public_json(struct exchange *x, struct str body, bool gzip, struct str tag, struct str cache_control);
/* Adds the ETag header. True: If-None-Match names the tag, 304 is answered and the handler is done. For GET and HEAD;
 * call it before the answer is built. STR_NONE makes the answer incomplete. */
bool respond_not_modified(struct exchange *x, struct str tag);
/* Redirects by 303 to a local path. STR_NONE makes the answer incomplete. */
void respond_see_other(struct exchange *x, struct str path);
/* Redirects by 308 to this local path, which the address was meant to be. STR_NONE makes the answer incomplete. */
void respond_moved(struct exchange *x, struct str path);
/* Answers with a status and no body (204). */
void respond_empty(struct exchange *x, int status);
/* Passes the request, with method and body, to a named location of nginx (X-Accel-Redirect): "@page", "@hot",
 * "@token"; or a GET to the address of an internal location. STR_NONE makes the answer incomplete. */
void respond_internal(struct exchange *x, struct str location);
/* Passes the request to @page, the page pool, in the same way. */
void respond_to_page_pool(struct exchange *x);
/* Answers 200 with content that is the same for every visitor and never changes: caches may keep it for max_age_s. */
void respond_public(struct exchange *x, struct str content_type, int max_age_s, struct str body);
/* Answers 200 with content for this visitor alone: no cache may keep it. */
void respond_private(struct exchange *x, struct str content_type, struct str body);
/* Answers with plain text (healthz, metrics). */
void respond_text(struct exchange *x, int status, struct str content_type, struct str body);

/* Answers 200 part by part; x->state is set before. Only for pools that work on one request at a time: a slow client
 * keeps the process waiting. The length is not known at the start; a client recognizes an answer that was broken off by
 * the missing end of the transfer. */
void respond_stream(struct exchange *x, struct str content_type, stream_part *part);

/* An error answer: application/problem+json (RFC 9457), or the page `pages/problem`. */
struct problem {
    int status;
    const char *type;   /* last part of the type URI: "busy", "not-found" */
    const char *title;  /* name of a text: the heading */
    const char *detail; /* name of a text below the heading, or NULL */
    int retry_after_s;  /* 0: no Retry-After */
};
/* Answers with the problem, its status and Retry-After. A page with Retry-After has a link: retry_url repeats a GET, or
 * leads back to the form of a POST that has changed nothing; page_url is the page of the id to which a form was posted.
 * While the outcome is unknown, the page itself requests that page and shows the outcome. */
void respond_problem(struct exchange *x, const struct problem *p);
/* The same with further members of extra, which the caller has initialised in x's arena. */
void respond_problem_with(struct exchange *x, const struct problem *p, struct model *extra);
/* Answers with a page that has the messages of a refused form. */
void respond_page_errors(struct exchange *x, int status, const char *template_name, struct model *m,
                         const struct form_errors *e);
/* Answers 422 to a refused form. HTML: template_name with the model m, which contains the typed texts; the title begins
 * with the text error_before. JSON: a problem with `errors`. */
void respond_form_errors(struct exchange *x, const char *template_name, struct model *m, const struct form_errors *e);
/* The same; problem: further members of the JSON. */
void respond_form_errors_with(struct exchange *x, const char *template_name, struct model *m,
                              const struct form_errors *e, struct model *problem);
/* Answers with the problem for a status: UNAVAILABLE, CONFLICT and NO_MEMORY → 503 busy, UNKNOWN → 503 unknown,
 * NOT_FOUND → 404, any other → 500. */
void respond_status(struct exchange *x, enum status st);

/* The router calls this at the end of every answer. It replaces an incomplete answer, with all of its headers
 * (Set-Cookie and Location, too), by the problem x->fallback_problem, which is built in an arena of its own, or by a
 * bare 503 when there is no memory for that either. */
void respond_finish(struct exchange *x);

extern const struct problem PROBLEM_BAD_REQUEST, PROBLEM_UNAUTHORIZED, PROBLEM_FORBIDDEN_ORIGIN, PROBLEM_NOT_FOUND,
    PROBLEM_METHOD, PROBLEM_TOO_LARGE, PROBLEM_MEDIA_TYPE, PROBLEM_INTERNAL, PROBLEM_BUSY, PROBLEM_UNKNOWN;

#endif

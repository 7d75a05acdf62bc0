/* Writing the answer. A handler calls one of these once (respond_header as often as it likes, before or after).
 *
 * An answer is whole or it is 503: whatever lacks a part for want of memory, be it a text of the model, a header or
 * anything else from the request's arena, is thrown away by respond_finish. So a handler need not look whether a text
 * was lost, with two exceptions: before something happens by it, and after: then it sets x->if_lost. */
#ifndef HB_WEB_RESPOND_H
#define HB_WEB_RESPOND_H

#include "base/value.h"
#include "web/exchange.h"

/* Adds a header. CR, LF or NUL in value: the header is left out and an error logged. STR_NONE: the answer is lost. */
void respond_header(struct exchange *x, const char *name, struct str value);
/* Sets a cookie of the whole site that no script can read (Secure on https). max_age_s 0 deletes it. */
void respond_cookie(struct exchange *x, struct str name, struct str value, int64_t max_age_s);
/* Seconds for Retry-After. */
void respond_retry_after(struct exchange *x, int seconds);

/* The model as JSON when the client wants JSON, else through the template ("pages/home"). The layout's own values
 * (`site`: see web/view.h) are added here. Sets Cache-Control: no-store. */
void respond_model(struct exchange *x, int status, const char *template_name, struct model *m);
/* Sets the answer's tag. True: the visitor has that answer already (If-None-Match), and 304 was answered. For GET and
 * HEAD, before the answer is made. tag: STR_NONE: the answer is lost. */
bool respond_not_modified(struct exchange *x, struct str tag);
/* 303 to a path of ours. STR_NONE: the answer is lost. */
void respond_see_other(struct exchange *x, struct str path);
/* Status without body (204). */
void respond_empty(struct exchange *x, int status);
/* Hands the request on to the page pool, method and body included: nginx follows the header to its named location. */
void respond_to_page_pool(struct exchange *x);
/* Plain text (healthz, metrics). */
void respond_text(struct exchange *x, int status, struct str content_type, struct str body);

/* A problem: application/problem+json (RFC 9457) or the calm page `pages/problem`. */
struct problem {
    int status;
    const char *type;   /* last part of the type URI: "empty", "not-for-you" … */
    const char *title;  /* a text's name, "text/problem_busy": shown large */
    const char *detail; /* NULL, or the name of a sentence below */
    int retry_after_s;  /* 0: none */
};
/* Answers with the problem: its status, Retry-After where it has one. */
void respond_problem(struct exchange *x, const struct problem *p);
/* The same with members of the caller's (e.g. a link back); m must be initialised. */
void respond_problem_model(struct exchange *x, const struct problem *p, struct model *m);
/* A refused form: 422; HTML shows template_name again (title begins 错误：), JSON is a problem with `errors`. The model
 * carries what was typed. */
void respond_form_errors(struct exchange *x, const char *template_name, struct model *m, const struct form_errors *e);
/* Maps an operation's status: UNAVAILABLE → 503 busy, UNKNOWN → 503 unknown, NOT_FOUND → 404, NO_MEMORY → 503,
 * CONFLICT → 503 busy, else 500. */
void respond_status(struct exchange *x, enum status st);

/* The last step of every answer, by the router: one that was lost for want of memory becomes the problem x->if_lost,
 * made in memory of its own, or a bare 503 when there is none either. Headers go with it, cookies and Location too. */
void respond_finish(struct exchange *x);

extern const struct problem PROBLEM_BAD_REQUEST, PROBLEM_UNAUTHORIZED, PROBLEM_FORBIDDEN_ORIGIN, PROBLEM_NOT_FOUND,
    PROBLEM_METHOD, PROBLEM_TOO_LARGE, PROBLEM_MEDIA_TYPE, PROBLEM_INTERNAL, PROBLEM_BUSY, PROBLEM_UNKNOWN;

#endif

/* For tests of handlers that may block: builds a request as the router would, runs one handler on it and keeps the
 * answer for checks. */
#ifndef HB_TEST_USER_FIXTURE_H
#define HB_TEST_USER_FIXTURE_H

#include "web/exchange.h"

#define VISIT_TEXT_MAX 512

/* The services of tests/support, with templates and assets. NULL: an error, which is on stderr. */
struct services *site_open(void);
void site_close(struct services *app); /* NULL is allowed */

struct visit {
    struct exchange x;
    struct fcgi_request request;
    char cookie[VISIT_TEXT_MAX]; /* HTTP_COOKIE=… */
    char *envp[2];
};

/* Prepares a GET (fields NULL) or a POST of fields ("a=1&b=2") to uri, with this Cookie header (NULL: none). */
void visit_begin(struct visit *v, struct services *app, const char *uri, const char *fields, const char *cookie);
/* Reads the session as the router does. Returns the status. */
enum status visit_look_up(struct visit *v);
void visit_end(struct visit *v);

/* Prepare and run a request that wants JSON. Return the status; the answer stays in v until visit_end. */
int visit_post(struct visit *v, struct services *app, handler_fn *handler, const char *uri, const char *fields,
               const char *cookie);
int visit_get(struct visit *v, struct services *app, handler_fn *handler, const char *uri, const char *cookie);
/* The same for a browser, which wants HTML. */
int visit_page(struct visit *v, struct services *app, handler_fn *handler, const char *uri, const char *fields,
               const char *cookie);

/* The value of a header of the answer. STR_NONE: absent. */
struct str visit_header(const struct visit *v, const char *name);
/* The cookie that the answer sets, as the value of a Cookie header ("sid=…"). out: VISIT_TEXT_MAX bytes. False:
 * none. */
bool visit_cookie(const struct visit *v, char *out);
/* True when the body contains the text. */
bool visit_body_has(const struct visit *v, const char *text);
/* The integer behind "name": in the JSON body; fails the test when absent. */
int64_t visit_json_int(const struct visit *v, const char *name);

/* Removes the traces of a test from the ledger: all transfers and grabs of these accounts, and those of the accounts
 * that belong to no user. The servers are shared with other tests, whose audits must find no fault. */
void accounts_forget(struct services *app, const uint64_t *ids, size_t count);

#endif

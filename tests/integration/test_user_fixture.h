/* For tests of handlers that may block: builds a request as the router would, runs one handler on it and keeps the
 * answer to look at. */
#ifndef HB_TEST_USER_FIXTURE_H
#define HB_TEST_USER_FIXTURE_H

#include "web/exchange.h"

#define VISIT_TEXT_MAX 512

/* The services of tests/support with templates and assets besides; NULL when something is missing. */
struct services *site_open(void);
void site_close(struct services *app); /* NULL is fine */

struct visit {
    struct exchange x;
    struct fcgi_request request;
    char cookie[VISIT_TEXT_MAX]; /* HTTP_COOKIE=… */
    char *envp[2];
};

/* A GET (fields NULL) or a POST of fields ("a=1&b=2") to uri, with the cookie header's value (NULL: none). */
void visit_begin(struct visit *v, struct services *app, const char *uri, const char *fields, const char *cookie);
/* Looks the session up as the router does; its status. */
enum status visit_look_up(struct visit *v);
void visit_end(struct visit *v);

/* All of it at once, wanting JSON: returns the status. */
int visit_post(struct visit *v, struct services *app, handler_fn *handler, const char *uri, const char *fields,
               const char *cookie);
int visit_get(struct visit *v, struct services *app, handler_fn *handler, const char *uri, const char *cookie);
/* As a browser does it, which wants HTML. */
int visit_page(struct visit *v, struct services *app, handler_fn *handler, const char *uri, const char *fields,
               const char *cookie);

/* The value of a header of the answer; STR_NONE when absent. */
struct str visit_header(const struct visit *v, const char *name);
/* The cookie the answer sets, as a Cookie header's value ("sid=…"); out: VISIT_TEXT_MAX bytes. False: none. */
bool visit_cookie(const struct visit *v, char *out);
/* True when the body holds the text. */
bool visit_body_has(const struct visit *v, const char *text);
/* The integer behind "name": in the JSON body; fails the test when absent. */
int64_t visit_json_int(const struct visit *v, const char *name);

/* Takes back what a test did to the ledger through these accounts: their transfers, and those accounts that are no
 * user's. The servers are shared, and an audit by another test must find nothing odd. */
void accounts_forget(struct services *app, const uint64_t *ids, size_t count);

#endif

/* For tests of handlers that may block: builds a request as the router would, runs one handler on it and keeps the
 * answer for checks. */
#ifndef HB_TEST_USER_FIXTURE_H
#define HB_TEST_USER_FIXTURE_H

#include "ledger/ledger.h"
#include "web/exchange.h"

#define VISIT_TEXT_MAX 512
#define VISIT_NAME_MAX 33

/* The services of tests/support, with templates and assets. NULL: an error, which is on stderr. */
struct services *site_open(void);
void site_close(struct services *app); /* NULL is allowed */

struct visit {
    struct exchange x;
    struct fcgi_request request;
    char cookie[VISIT_TEXT_MAX]; /* HTTP_COOKIE=… */
    char *envp[3];               /* the second: of the test, or NULL */
};

/* Prepares a GET (fields NULL) or a POST of fields ("a=1&b=2") to uri, with this Cookie header (NULL: none). */
void visit_begin(struct visit *v, struct services *app, const char *uri, const char *fields, const char *cookie);
/* Reads the session as the router does. Returns the status. */
enum status visit_look_up(struct visit *v);
void visit_end(struct visit *v);
/* The user of the cookie's session; 0: a guest. */
uint64_t visit_user(struct services *app, const char *cookie);

/* Prepare and run a request that wants JSON. Return the status; the answer stays in v until visit_end. */
int visit_post(struct visit *v, struct services *app, handler_fn *handler, const char *uri, const char *fields,
               const char *cookie);
int visit_get(struct visit *v, struct services *app, handler_fn *handler, const char *uri, const char *cookie);
/* The same for a browser, which wants HTML. */
int visit_page(struct visit *v, struct services *app, handler_fn *handler, const char *uri, const char *fields,
               const char *cookie);

/* A username that nobody has. out: VISIT_NAME_MAX bytes. */
void fresh_username(char *out);
/* Registers a new user of this name, with the nickname Ming and the password "long enough". cookie: VISIT_TEXT_MAX
 * bytes, or NULL. Returns the id. */
uint64_t visit_register(struct services *app, const char *username, char *cookie);

/* The value of a header of the answer. STR_NONE: absent. */
struct str visit_header(const struct visit *v, const char *name);
/* The cookie that the answer sets, as the value of a Cookie header ("sid=…"). out: VISIT_TEXT_MAX bytes. False:
 * none. */
bool visit_cookie(const struct visit *v, char *out);
/* True when the body contains the text. */
bool visit_body_has(const struct visit *v, const char *text);
/* The integer behind "name": in the JSON body; fails the test when absent. */
int64_t visit_json_int(const struct visit *v, const char *name);
/* The text behind "name":" in the JSON body, up to the next quote; out_size bytes, caller's. Fails when absent. */
void visit_json_text(const struct visit *v, const char *name, char *out, size_t out_size);

/* Switches limits on, and each single one off: a test sets those that it is about. */
void limits_clear(struct config *config);

/* A transfer between any accounts. */
struct transfer {
    enum transfer_kind kind;
    uint64_t debit_id, credit_id;
    int64_t amount_fen;
    uint64_t packet_id; /* 0: none */
    uint32_t seq;       /* with packet_id */
    int64_t created_ms;
};
/* Makes it by the routine on which those of the ledger (ledger/ledger.h) rest; as an administrator. */
enum status transfer_make(struct db *db, const struct transfer *t);
/* Inserts an account: kind is "wallet" or "escrow". */
void account_make(struct services *app, uint64_t id, const char *kind);

/* Removes the traces of a test from the ledger: all transfers and grabs of these accounts, and those of the accounts
 * that belong to no user. The servers are shared with other tests, whose audits must find no fault. */
void accounts_forget(struct services *app, const uint64_t *ids, size_t count);

/* Rows that the connection has read so far, by keys and by scans; looking adds some: as many each time. */
int64_t sql_rows_read(struct services *app);

#endif

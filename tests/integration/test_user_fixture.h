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
    char *envp[3];               /* the second: one parameter that the test adds, or NULL */
};

/* Prepares a GET (fields NULL) or a POST of fields ("a=1&b=2") to uri, with this Cookie header (NULL: none). */
void visit_begin(struct visit *v, struct services *app, const char *uri, const char *fields, const char *cookie);
/* Reads the session as the router does. Returns the status. */
enum status visit_look_up(struct visit *v);
void visit_end(struct visit *v);
/* The user of the cookie's session; 0: a guest. */
uint64_t visit_user(struct services *app, const char *cookie);

/* The same on the heap, until visit_says or visit_close. */
struct visit *visit_new(struct services *app, const char *uri, const char *fields, const char *cookie);
/* Runs the handler, which must finish in one step, and finishes the answer. */
void visit_handle(struct visit *v, handler_fn *handler);

/* Runs body in count processes at once, each with a copy of this memory: results[r] of them have returned r. */
enum { RACE_RESULTS = 16 };
void race_run(unsigned count, int (*body)(void *ctx), void *ctx, unsigned results[RACE_RESULTS]);
/* Called in a process of race_run: the number of the process, from 0. */
unsigned race_number(void);

/* A copy of the services, except that the socket of this store ("redis", "mysql") does not exist. */
struct services *services_without(struct services *app, const char *store);
void services_without_free(struct services *lacking);

/* One number from the database. */
int64_t sql_number(struct services *app, const char *sql, uint64_t id);

/* A username that no user has. out: VISIT_NAME_MAX bytes. */
void fresh_username(char *out);

/* A new user "Ming" with an empty wallet, the password "long enough", a session and a known device, like a user who has
 * registered. It does not use the form of registration: the slow hash is made once for all. */
struct account {
    uint64_t id;
    char name[VISIT_NAME_MAX], cookie[VISIT_TEXT_MAX], device[VISIT_TEXT_MAX];
};
struct account account_new(struct services *app);

/* Prepares a request, reads its session and runs the handler: for a program, which wants JSON, or for a browser. The
 * answer is on the heap until visit_says. */
struct visit *visit_json_new(struct services *app, handler_fn *handler, const char *uri, const char *fields,
                             const char *cookie);
struct visit *visit_html_new(struct services *app, handler_fn *handler, const char *uri, const char *fields,
                             const char *cookie);
/* Frees an answer on the heap; returns its status. */
int visit_close(struct visit *v);

/* Asserts an answer's status and texts, and closes it. Each text must be in the body, or be a line of the header; texts
 * after LACKS must be in neither. Behind a text that ends with a digit no further digit may follow. A text may have
 * three other forms:
 *     visit_says(v, 303, "Location: /wallet");              the whole line
 *     visit_says(v, 200, "count: 2", "total_fen: -600");    the first member of this name in the JSON is this number
 *     visit_says(v, 200, "3 × <rect "); exactly so many times */
#define visit_says(v, ...) visit_said(v, __FILE__, __LINE__, __VA_ARGS__, (const char *)NULL)
#define LACKS              "\n"
void visit_said(struct visit *v, const char *file, int line, int status, ...);

/* A text in memory of the program. */
const char *text_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Runs a statement as an administrator, which must succeed: sql_run(app, "DELETE … WHERE id = ?", DB_U64(id)). */
#define sql_run(app, sql, ...) sql_ran(app, __FILE__, __LINE__, sql, DB_PARAMS(__VA_ARGS__))
void sql_ran(struct services *app, const char *file, int line, const char *sql, const struct db_param *params,
             size_t count);

/* The value of a header of the answer. STR_NONE: absent. */
struct str visit_header(const struct visit *v, const char *name);
/* The cookie that the answer sets, as the value of a Cookie header ("sid=…"). out: VISIT_TEXT_MAX bytes. False:
 * none. */
bool visit_cookie(const struct visit *v, char *out);
/* The same for the cookie with this name, which must be set. */
void visit_cookie_of(const struct visit *v, const char *name, char *out);
/* True when the body contains the text; how often. */
bool visit_body_has(const struct visit *v, const char *text);
size_t visit_body_count(const struct visit *v, const char *text);
/* The integer behind "name": in the JSON body; fails the test when absent. */
int64_t visit_json_int(const struct visit *v, const char *name);
/* The text behind "name":" in the JSON body, up to the next quote; out_size bytes, caller's. Fails when absent. */
void visit_json_text(const struct visit *v, const char *name, char *out, size_t out_size);

/* Switches limits on, but each single limit off: a test then sets the limits that it needs. */
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
/* Makes the transfer by the basic routine of the ledger, which the routines of ledger/ledger.h call; as an
 * administrator. */
enum status transfer_make(struct db *db, const struct transfer *t);
/* Inserts an account: kind is "wallet" or "escrow". */
void account_make(struct services *app, uint64_t id, const char *kind);

/* Removes the traces of a test from the ledger: all transfers and grabs of these accounts, and of the accounts that
 * belong to no user. The servers are shared with other tests, whose audits must find no fault. */
void accounts_forget(struct services *app, const uint64_t *ids, size_t count);

/* Rows that the connection has read so far, by keys and by scans, without the rows that this function itself reads. */
int64_t sql_rows_read(struct services *app);

#endif

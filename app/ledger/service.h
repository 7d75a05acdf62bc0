/* Services: programs of the operator that move money by HTTP (docs/how-to/money-http.md). A service has one token, of
 * which only the SHA-256 is stored, and what it may do: scopes, one channel, perhaps a limit of a day and addresses.
 * None of these changes: the operator revokes a service and adds another one.
 *
 * Token: hbs_ and 43 characters of base64url, 32 random bytes. Money moves by it through external_move and
 * withdrawal_end with an author from service_author; the routines of the database check the token again. */
#ifndef HB_LEDGER_SERVICE_H
#define HB_LEDGER_SERVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/random.h"
#include "base/status.h"
#include "base/str.h"
#include "ledger/external.h"
#include "mysql/db.h"

#define SERVICE_TOKEN_LEN 47 /* "hbs_" and 43 characters */
#define SERVICE_TOKEN_MAX (SERVICE_TOKEN_LEN + 1)

enum { SERVICE_ADDRESSES_MAX = 1000 };

/* What a service may do: a set of these. */
enum service_scope {
    SERVICE_CREDIT = 1,
    SERVICE_DEBIT = 2,
    SERVICE_READ = 4,
    SERVICE_WITHDRAW = 8, /* post and void withdrawals */
    SERVICE_TOPUP = 16    /* say that a top-up was paid */
};
enum { SERVICE_SCOPES = 5 };
/* The name of one scope: "credit". Static storage. */
const char *service_scope_name(enum service_scope scope);
/* Reads names with blanks or commas between. 0: there is no name, or one is no scope. */
unsigned service_scopes_read(struct str text);
/* The reverse, with this character between. STR_NONE without memory. */
struct str service_scopes_text(struct arena *a, unsigned scopes, char between);

struct service {
    uint64_t id;
    struct str name; /* as a channel's; of a revoked service, too, it is never used again */
    unsigned scopes;
    uint64_t channel_id;
    struct str channel;
    int64_t day_max_fen;                     /* what the service may move in any 24 hours; 0: no limit */
    struct str addresses;                    /* from where, as cidr_list_read takes it; empty: from anywhere */
    struct str author;                       /* who added it */
    int64_t created_ms, revoked_ms, used_ms; /* by the server's clock; 0: not revoked, not used. used_ms to a minute */
};

/* A new token, and its SHA-256. token: SERVICE_TOKEN_MAX bytes, the caller's, NUL-terminated. */
void service_token_new(char *token, uint8_t hash[HASH_BYTES]);
/* Whether a text has the form of a token. */
bool service_token_is_valid(struct str token);

/* Adds a service: name, scopes, channel_id, day_max_fen, addresses and author of *service count. ST_EXISTS: there is or
 * was one of this name · ST_INVALID: the name or the author is wrong · ST_NOT_FOUND: no such channel, or it is demo or
 * forfeited · else as db_exec_retried. */
enum status service_add(struct db *db, const struct service *service, const uint8_t hash[HASH_BYTES]);
/* Ends the token, at once; may be repeated. ST_NOT_FOUND: no such service · else as db_exec_retried. */
enum status service_revoke(struct db *db, struct str name);
/* All services, also revoked ones, in the order of their names, in the arena. The same errors as db_query. */
enum status service_list(struct db *db, struct arena *a, struct service **out, size_t *count);

/* The service of a token that is not revoked, in the arena, without author and revoked_ms. ST_NOT_FOUND: there is
 * none · else as db_query. */
enum status service_find(struct db *db, struct arena *a, const uint8_t hash[HASH_BYTES], struct service *out);
/* Notes that the token is used; does nothing within a minute of the last time. The same errors as db_exec. */
enum status service_used(struct db *db, const uint8_t hash[HASH_BYTES]);

/* The author of what the service moves, "service:NAME", which proves itself by the hash; both are borrowed. The name is
 * STR_NONE without memory. */
struct external_author service_author(struct arena *a, const struct service *service, const uint8_t hash[HASH_BYTES]);

#endif

/* Withdrawals: a user asks to be paid outside. The money leaves the wallet at once and waits in account 3, until an
 * operator posts the withdrawal (it was paid) or voids it (the money goes back into the wallet). */
#ifndef HB_LEDGER_WITHDRAWAL_H
#define HB_LEDGER_WITHDRAWAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"
#include "ledger/external.h"
#include "mysql/db.h"

#define ACCOUNT_PENDING_ID ((uint64_t)3)

enum { DESTINATION_CODE_POINTS_MAX = 200, REASON_CODE_POINTS_MAX = 200 };

enum withdrawal_state { WITHDRAWAL_PENDING, WITHDRAWAL_POSTED, WITHDRAWAL_VOIDED, WITHDRAWAL_STATE_COUNT };
/* "pending", "posted", "voided". Static storage. */
const char *withdrawal_state_name(enum withdrawal_state state);

struct withdrawal {
    uint64_t id, user_id, channel_id;
    int64_t amount_fen;
    struct str destination; /* as the user typed it */
    enum withdrawal_state state;
    struct str reference; /* of a posted one */
    struct str reason;    /* of a voided one */
    struct str author;    /* who posted or voided it; empty while it is pending */
    struct str username, channel;
    int64_t created_ms, ended_ms; /* ended_ms: 0 while it is pending */
};

/* Takes the money out of the wallet, once for each key of the user. ST_EXISTS: the key was used before · ST_INVALID:
 * the wallet can't pay, or the amount or a text is wrong · ST_NOT_FOUND: no such user or channel, or the user is being
 * deleted · else as db_exec_retried. */
enum status withdrawal_hold(struct db *db, uint64_t user_id, uint64_t channel_id, int64_t amount_fen,
                            struct str destination, struct str key, int64_t now_ms);

/* What a user asks for, by a key of the user's own. */
struct withdrawal_request {
    uint64_t user_id, channel_id;
    int64_t amount_fen;
    struct str destination, key;
    /* out: */
    struct str channel; /* its name, in the arena */
    uint64_t hold_id;   /* the transfer that took the money out of the wallet */
    enum withdrawal_state state;
    int64_t created_ms;
    bool repeated; /* the key was used before, with the same contents: nothing was changed */
};
/* Takes the money out of the wallet, once, also when an answer of the server was lost. ST_EXISTS: the key was used
 * before with other contents · ST_UNKNOWN: perhaps it was taken, and a repeat shows it · else as withdrawal_hold. */
enum status withdrawal_request(struct db *db, struct arena *a, struct withdrawal_request *r, int64_t now_ms);
/* Reads the withdrawal of this user and key into the members that are out; channel_id 0 stands for its channel.
 * ST_EXISTS: it has other contents · ST_NOT_FOUND: there is none · else as db_query. */
enum status withdrawal_requested(struct db *db, struct arena *a, struct withdrawal_request *r);

/* How a withdrawal ends. */
struct withdrawal_end {
    uint64_t id;
    bool post;            /* else it is voided */
    struct str reference; /* of a post */
    struct str reason;    /* of a void, for the user */
    /* out: */
    struct withdrawal now; /* also with ST_EXISTS and ST_INVALID, when there is such a withdrawal */
    bool repeated;         /* it had ended in the same way, with the same reference or reason */
};
/* ST_EXISTS: it has ended in another way, or the reference belongs to another transfer · ST_INVALID: a text is wrong ·
 * ST_NOT_FOUND: there is none · ST_DENIED, ST_LIMITED, ST_UNKNOWN, else: as external_move. */
enum status withdrawal_end(struct db *db, struct arena *a, struct withdrawal_end *end,
                           const struct external_author *author, int64_t now_ms);

/* The withdrawal of this id, in the arena. ST_NOT_FOUND: there is none · else as db_query. */
enum status withdrawal_find(struct db *db, struct arena *a, uint64_t id, struct withdrawal *out);
/* Pending ones of a channel (0: of all), oldest first, after the id `after` (0: from the first), limit at most: pages
 * by key. In the arena. */
enum status withdrawal_pending(struct db *db, struct arena *a, uint64_t channel_id, uint64_t after, size_t limit,
                               struct withdrawal **out, size_t *count);

#endif

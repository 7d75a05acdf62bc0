/* The demo's top-up: money from the bank account into the visitor's wallet. */
#ifndef HB_WALLET_DEPOSIT_H
#define HB_WALLET_DEPOSIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"
#include "io/db.h"
#include "web/fields.h"

struct deposit {
    uint64_t user_id;
    int64_t amount_fen;     /* on a repeat: what the first one brought */
    struct str request_key; /* valid */
    int64_t balance_fen;    /* out: the wallet's balance after it */
    bool repeated;          /* out: the same key was there before, nothing was changed */
};

/* The form of /wallet/deposit: amount_fen and request_key of struct deposit. */
extern const struct field deposit_fields[];

/* Makes the deposit once for its (user_id, request_key): a repeat fills in what the first one did. An unanswered COMMIT
 * is replayed (db_transaction_replay). ST_UNKNOWN when that does not decide it either, or when a deposit that was made
 * can't be read again. ST_NOT_FOUND: no such wallet. */
enum status deposit_make(struct db *db, struct arena *a, struct deposit *d, int64_t now_ms);

/* POST /wallet/deposit, only with config demo (else 404): amount (yuan text), request_key (optional). HTML 303 /wallet,
 * JSON 201 {amount_fen, balance_fen}; refused: 422 with pages/wallet and its model (see wallet/statement.h), errors on
 * "amount" or "request_key". */
enum step deposit_submit(struct exchange *x);

#endif

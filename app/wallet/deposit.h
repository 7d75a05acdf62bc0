/* Demo deposits: transfers from the bank account into the visitor's wallet, at most one for each request key. */
#ifndef HB_WALLET_DEPOSIT_H
#define HB_WALLET_DEPOSIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"
#include "mysql/db.h"
#include "web/fields.h"

struct deposit {
    uint64_t user_id;
    int64_t amount_fen;     /* in; with ST_EXISTS also out: the amount of the first deposit */
    struct str request_key; /* valid (web/form.h) */
    struct str next;        /* a local path to go back to, or empty */
    int64_t balance_fen;    /* out: balance of the wallet after the deposit; on a repeat, the current one */
    bool repeated;          /* out: the key was used before, nothing was changed */
    int64_t made_ms;        /* out: when the first one was made */
};

/* The form of /wallet/deposit: sets amount_fen, request_key and next of struct deposit. */
extern const struct field deposit_fields[];

/* Makes the deposit, at most once for each (user_id, request_key); a repeat returns the first one. After a lost reply
 * to COMMIT the transaction is replayed (db_transaction_repeat). ST_EXISTS: the key belongs to a deposit of another
 * amount · ST_UNKNOWN: the replay did not decide it either, or the existing deposit can't be read · ST_NOT_FOUND: no
 * such wallet · ST_UNAVAILABLE, ST_NO_MEMORY: nothing was changed. */
enum status deposit_make(struct db *db, struct arena *a, struct deposit *d, int64_t now_ms);

/* POST /wallet/deposit, only with the setting demo (else 404). Fields: amount, request_key (optional), next.
 * HTML 303 to next, else /wallet; /send and /wallet with deposited=1, of a form that comes again after
 * REQUEST_PRESSED_MS (web/form.h) with deposited=2; JSON 201 {amount_fen, balance_fen}.
 * Refused: 422 with pages/wallet and its model (wallet/statement.h); errors at "amount" or "request_key". */
enum step deposit_submit(struct exchange *x);

#endif

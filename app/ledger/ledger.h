/* The double-entry ledger: accounts hold balances, transfers move fen between two of them and are never changed.
 *
 * In the words of this ledger the debit account is where the money comes from and the credit account where it goes:
 * balance = sum(credits) - sum(debits). The bank (account 1) is where money enters the system; it alone may be below
 * zero. A wallet has its user's id, an escrow account its packet's. */
#ifndef HB_LEDGER_LEDGER_H
#define HB_LEDGER_LEDGER_H

#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"
#include "io/db.h"

#define ACCOUNT_BANK_ID ((uint64_t)1)

enum account_kind { ACCOUNT_WALLET, ACCOUNT_ESCROW, ACCOUNT_BANK };

enum transfer_kind { TRANSFER_DEPOSIT, TRANSFER_SEND, TRANSFER_GRAB, TRANSFER_REFUND, TRANSFER_KIND_COUNT };

struct transfer {
    enum transfer_kind kind;
    uint64_t debit_id;      /* where the money comes from */
    uint64_t credit_id;     /* where it goes */
    int64_t amount_fen;     /* > 0 (asserted) */
    uint64_t packet_id;     /* 0: none */
    uint32_t seq;           /* with packet_id: the share number of a grab, 0 for send and refund */
    struct str request_key; /* .ptr NULL: none; ASCII, at most 80 bytes */
    int64_t created_ms;
};

/* The word in the tables and in JSON: "deposit", "send", "grab", "refund". Static storage. */
const char *transfer_kind_name(enum transfer_kind kind);
/* False when the word is none of them; *out untouched. */
bool transfer_kind_read(struct str word, enum transfer_kind *out);

/* Opens an account with balance 0. ST_EXISTS when there is one already. Inside or outside a transaction. */
enum status account_create(struct db *db, uint64_t id, enum account_kind kind);

/* Moves the money and writes the transfer down: two UPDATEs in ascending account id (so that two transfers between the
 * same accounts can't deadlock), one INSERT. Must run inside db_transaction; anything but ST_OK must roll back.
 * ST_INVALID: the debit account does not hold the amount (or is missing) · ST_NOT_FOUND: no such credit account ·
 * ST_EXISTS: this (kind, packet_id, seq) or (kind, request_key) was transferred before · ST_CONFLICT: a lock was lost,
 * db_transaction runs the body again · else as db_exec. */
enum status ledger_transfer(struct db *db, const struct transfer *t);

/* ST_NOT_FOUND when there is no such account. The arena is for the query's result. */
enum status ledger_balance(struct db *db, struct arena *a, uint64_t account_id, int64_t *out_fen);

#endif

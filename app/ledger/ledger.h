/* The double-entry ledger. An account has a balance; a transfer moves fen between two accounts and is never changed.
 * Create each account once with account_create, then call ledger_transfer inside db_transaction. A grab is a transfer,
 * too, from escrow to wallet: its row is in the table grab alone, and the settle worker writes it (settle/rows.c).
 *
 * In this ledger the debit account gives the money and the credit account receives it:
 * balance = sum(credits) - sum(debits). Money enters the system from the bank (account 1), the only account that may be
 * below zero. A wallet's account id is the user's id, an escrow's is the packet's id. */
#ifndef HB_LEDGER_LEDGER_H
#define HB_LEDGER_LEDGER_H

#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"
#include "io/db.h"

#define ACCOUNT_BANK_ID ((uint64_t)1)

enum account_kind { ACCOUNT_WALLET, ACCOUNT_ESCROW, ACCOUNT_BANK };

/* TRANSFER_GRAB names an entry of a statement; the table transfer has no such row. TRANSFER_RETURN: a receiver gives a
 * share back, into the packet's escrow or to its sender. */
enum transfer_kind {
    TRANSFER_DEPOSIT,
    TRANSFER_SEND,
    TRANSFER_GRAB,
    TRANSFER_REFUND,
    TRANSFER_RETURN,
    TRANSFER_KIND_COUNT
};

struct transfer {
    enum transfer_kind kind; /* not TRANSFER_GRAB (asserted) */
    uint64_t debit_id;       /* gives the money */
    uint64_t credit_id;      /* receives it; another account (asserted) */
    int64_t amount_fen;      /* > 0 (asserted) */
    uint64_t packet_id;      /* 0: none */
    uint32_t seq;            /* with packet_id: the share of a return; else 0: one send and one refund at most */
    struct str request_key;  /* .ptr NULL: none; ASCII, at most 80 bytes */
    int64_t created_ms;
};

/* The name in SQL and JSON: "deposit", "send", "grab", "refund", "return". Static storage. */
const char *transfer_kind_name(enum transfer_kind kind);
/* The reverse. False: unknown name, *out is unchanged. */
bool transfer_kind_read(struct str word, enum transfer_kind *out);

/* Creates an account with balance 0. ST_EXISTS: the id is taken · else as db_exec. Inside or outside a transaction. */
enum status account_create(struct db *db, uint64_t id, enum account_kind kind);

/* Updates both balances and inserts the transfer. The UPDATEs are in ascending account id, so that two transfers
 * between the same accounts can't deadlock. Call it inside db_transaction and roll back on anything but ST_OK.
 * ST_INVALID: the balance of the debit account is too small, or it does not exist · ST_NOT_FOUND: no such credit
 * account · ST_EXISTS: a transfer with this (kind, packet_id, seq) or (kind, request_key) exists · ST_CONFLICT:
 * deadlock or lock wait timeout, db_transaction runs the body again · else as db_exec. */
enum status ledger_transfer(struct db *db, const struct transfer *t);

/* The same, but the credit account is new: it is created with the amount as its opening balance. ST_EXISTS: also when
 * there is an account with this id. */
enum status ledger_account_open(struct db *db, const struct transfer *t, enum account_kind credit_kind);

/* Reads the balance. ST_NOT_FOUND: no such account · else as db_query. a: memory for the query's result. */
enum status ledger_balance(struct db *db, struct arena *a, uint64_t account_id, int64_t *out_fen);

#endif

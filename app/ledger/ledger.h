/* The double-entry ledger. An account has a balance; a transfer moves fen between two accounts and is never changed. A
 * grab is a transfer, too, from escrow to wallet: its row is in the table grab alone (settle/rows.c).
 *
 * In this ledger the debit account gives the money and the credit account receives it:
 * balance = sum(credits) - sum(debits). Money enters the system from a channel, and only channels may be below zero
 * (ledger/channel.h); the bank of demo money is account 1. A wallet's account id is the user's id, an escrow's is the
 * packet's id.
 *
 * Only the routines of the database (sql/migrations, ledger_…) write accounts and transfers: no role may do it directly
 * (docs/reference/rights.md). Each checks the kinds of the accounts and that the payer can pay. Call these functions
 * inside db_transaction and roll back unless they return ST_OK. The money of a send is moved by packet_send
 * (packet/store.h). */
#ifndef HB_LEDGER_LEDGER_H
#define HB_LEDGER_LEDGER_H

#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"
#include "mysql/db.h"

/* TRANSFER_GRAB names an entry of a statement; the table transfer has no such row. TRANSFER_RETURN: a receiver gives a
 * share back, into the packet's escrow or to its sender. TRANSFER_FORFEIT: what a deleted user has left goes to the
 * channel forfeited, or to the bank. The kinds from TRANSFER_CREDIT on: docs/explanation/money.md. */
enum transfer_kind {
    TRANSFER_DEPOSIT,
    TRANSFER_SEND,
    TRANSFER_GRAB,
    TRANSFER_REFUND,
    TRANSFER_RETURN,
    TRANSFER_FORFEIT,
    TRANSFER_CREDIT,
    TRANSFER_DEBIT,
    TRANSFER_WITHDRAW,
    TRANSFER_POST,
    TRANSFER_VOID,
    TRANSFER_REVERSE,
    TRANSFER_KIND_COUNT
};

/* The name in SQL and JSON: "deposit", "send", "grab", "refund", "return", "forfeit", "credit", "debit",
 * "withdraw", "post", "void", "reverse". Static storage. */
const char *transfer_kind_name(enum transfer_kind kind);
/* The reverse. False: unknown name, *out is unchanged. */
bool transfer_kind_read(struct str word, enum transfer_kind *out);

/* Opens the wallet of a new user, with balance 0. ST_EXISTS: there is one · ST_NOT_FOUND: no such user. */
enum status ledger_wallet(struct db *db, uint64_t user_id);

/* The following move money. ST_INVALID: the balance of the payer is too small, or there is no such payer ·
 * ST_NOT_FOUND: no such receiver, packet or share · ST_EXISTS: it was moved before · ST_CONFLICT: deadlock or lock wait
 * timeout, db_transaction runs the body again · else as db_exec. Accounts are locked in ascending order of their ids.
 *
 * Demo money from the bank into a wallet, once for each key of the user: the request_key of the row is "userid:key". */
enum status ledger_deposit(struct db *db, uint64_t user_id, int64_t amount_fen, struct str key, int64_t now_ms);
/* The wallets of new users, each with this amount from the bank. ids: as a JSON array. */
enum status ledger_demo(struct db *db, struct str ids, int64_t amount_fen, int64_t now_ms);
/* The receiver of a share gives its amount back: into the packet's escrow, or to the packet's sender. */
enum status ledger_return(struct db *db, uint64_t packet_id, uint32_t share_no, bool to_packet, int64_t now_ms);
/* The rest of a packet goes from its escrow to its sender. */
enum status ledger_refund(struct db *db, uint64_t packet_id, int64_t amount_fen, int64_t now_ms);

/* Reads the balance. ST_NOT_FOUND: no such account · else as db_query. a: memory for the query's result. */
enum status ledger_balance(struct db *db, struct arena *a, uint64_t account_id, int64_t *out_fen);

#endif

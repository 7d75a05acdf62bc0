#include "ledger/ledger.h"

#include <assert.h>

static const char *const TRANSFER_KIND_NAMES[TRANSFER_KIND_COUNT] = {
    [TRANSFER_DEPOSIT] = "deposit", [TRANSFER_SEND] = "send",     [TRANSFER_GRAB] = "grab",
    [TRANSFER_REFUND] = "refund",   [TRANSFER_RETURN] = "return",
};

static const char *const ACCOUNT_KIND_NAMES[] = {
    [ACCOUNT_WALLET] = "wallet",
    [ACCOUNT_ESCROW] = "escrow",
    [ACCOUNT_BANK] = "bank",
};

const char *transfer_kind_name(enum transfer_kind kind)
{
    assert(kind < TRANSFER_KIND_COUNT);
    return TRANSFER_KIND_NAMES[kind];
}

bool transfer_kind_read(struct str word, enum transfer_kind *out)
{
    for (enum transfer_kind kind = 0; kind < TRANSFER_KIND_COUNT; kind++) {
        if (str_equal(word, str_from(TRANSFER_KIND_NAMES[kind]))) {
            *out = kind;
            return true;
        }
    }
    return false;
}

static enum status account_insert(struct db *db, uint64_t id, enum account_kind kind, int64_t balance_fen)
{
    return db_exec(db, NULL, "INSERT INTO account (id, kind, balance_fen) VALUES (?, ?, ?)",
                   DB_PARAMS(DB_U64(id), DB_TEXT(str_from(ACCOUNT_KIND_NAMES[kind])), DB_I64(balance_fen)));
}

enum status account_create(struct db *db, uint64_t id, enum account_kind kind)
{
    return account_insert(db, id, kind, 0);
}

/* Subtracts the amount if the balance covers it; only the bank may go below zero. ST_INVALID: not covered, or no such
 * account. */
static enum status account_debit(struct db *db, uint64_t id, int64_t amount_fen)
{
    uint64_t changed;
    enum status st =
        db_exec(db, &changed,
                "UPDATE account SET balance_fen = balance_fen - ? WHERE id = ? AND (kind = 'bank' OR balance_fen >= ?)",
                DB_PARAMS(DB_I64(amount_fen), DB_U64(id), DB_I64(amount_fen)));
    if (st != ST_OK)
        return st;
    assert(changed <= 1);
    return changed == 1 ? ST_OK : ST_INVALID;
}

static enum status account_credit(struct db *db, uint64_t id, int64_t amount_fen)
{
    uint64_t changed;
    enum status st = db_exec(db, &changed, "UPDATE account SET balance_fen = balance_fen + ? WHERE id = ?",
                             DB_PARAMS(DB_I64(amount_fen), DB_U64(id)));
    if (st != ST_OK)
        return st;
    assert(changed <= 1);
    return changed == 1 ? ST_OK : ST_NOT_FOUND;
}

static enum status transfer_insert(struct db *db, const struct transfer *t)
{
    bool of_packet = t->packet_id != 0;
    assert(t->kind != TRANSFER_GRAB);
    assert(t->amount_fen > 0);
    assert(t->debit_id != t->credit_id);
    return db_exec(
        db, NULL,
        "INSERT INTO transfer (kind, debit_id, credit_id, amount_fen, packet_id, seq, request_key, created_ms)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        DB_PARAMS(DB_TEXT(str_from(transfer_kind_name(t->kind))), DB_U64(t->debit_id), DB_U64(t->credit_id),
                  DB_I64(t->amount_fen), of_packet ? DB_U64(t->packet_id) : DB_NULL,
                  of_packet ? DB_U64(t->seq) : DB_NULL, t->request_key.ptr != NULL ? DB_TEXT(t->request_key) : DB_NULL,
                  DB_I64(t->created_ms)));
}

enum status ledger_transfer(struct db *db, const struct transfer *t)
{
    enum status st;

    if (t->debit_id < t->credit_id) {
        st = account_debit(db, t->debit_id, t->amount_fen);
        if (st == ST_OK)
            st = account_credit(db, t->credit_id, t->amount_fen);
    } else {
        st = account_credit(db, t->credit_id, t->amount_fen);
        if (st == ST_OK)
            st = account_debit(db, t->debit_id, t->amount_fen);
    }
    return st == ST_OK ? transfer_insert(db, t) : st;
}

enum status ledger_account_open(struct db *db, const struct transfer *t, enum account_kind credit_kind)
{
    assert(t->debit_id < t->credit_id); /* the order of the locks: a new account has the higher id */
    enum status st = account_debit(db, t->debit_id, t->amount_fen);
    if (st == ST_OK)
        st = account_insert(db, t->credit_id, credit_kind, t->amount_fen);
    return st == ST_OK ? transfer_insert(db, t) : st;
}

enum status ledger_balance(struct db *db, struct arena *a, uint64_t account_id, int64_t *out_fen)
{
    struct db_rows rows;
    enum status st =
        db_query(db, a, &rows, "SELECT balance_fen FROM account WHERE id = ?", DB_PARAMS(DB_U64(account_id)));

    if (st != ST_OK)
        return st;
    if (rows.count == 0)
        return ST_NOT_FOUND;
    *out_fen = db_cell_i64(&rows, 0, 0);
    return ST_OK;
}

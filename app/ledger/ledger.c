#include "ledger/ledger.h"

#include <assert.h>

static const char *const TRANSFER_KIND_NAMES[TRANSFER_KIND_COUNT] = {
    [TRANSFER_DEPOSIT] = "deposit", [TRANSFER_SEND] = "send",     [TRANSFER_GRAB] = "grab",
    [TRANSFER_REFUND] = "refund",   [TRANSFER_RETURN] = "return", [TRANSFER_FORFEIT] = "forfeit",
    [TRANSFER_CREDIT] = "credit",   [TRANSFER_DEBIT] = "debit",   [TRANSFER_WITHDRAW] = "withdraw",
    [TRANSFER_POST] = "post",       [TRANSFER_VOID] = "void",     [TRANSFER_REVERSE] = "reverse",
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

enum status ledger_wallet(struct db *db, uint64_t user_id)
{
    return db_exec(db, NULL, "CALL ledger_wallet(?)", DB_PARAMS(DB_U64(user_id)));
}

enum status ledger_deposit(struct db *db, uint64_t user_id, int64_t amount_fen, struct str key, int64_t now_ms)
{
    return db_exec(db, NULL, "CALL ledger_deposit(?, ?, ?, ?)",
                   DB_PARAMS(DB_U64(user_id), DB_I64(amount_fen), DB_TEXT(key), DB_I64(now_ms)));
}

enum status ledger_demo(struct db *db, struct str ids, int64_t amount_fen, int64_t now_ms)
{
    return db_exec(db, NULL, "CALL ledger_demo(?, ?, ?)", DB_PARAMS(DB_TEXT(ids), DB_I64(amount_fen), DB_I64(now_ms)));
}

enum status ledger_return(struct db *db, uint64_t packet_id, uint32_t share_no, bool to_packet, int64_t now_ms)
{
    return db_exec(db, NULL, "CALL ledger_return(?, ?, ?, ?)",
                   DB_PARAMS(DB_U64(packet_id), DB_U64(share_no), DB_U64(to_packet), DB_I64(now_ms)));
}

enum status ledger_refund(struct db *db, uint64_t packet_id, int64_t amount_fen, int64_t now_ms)
{
    return db_exec(db, NULL, "CALL ledger_refund(?, ?, ?)",
                   DB_PARAMS(DB_U64(packet_id), DB_I64(amount_fen), DB_I64(now_ms)));
}

enum status ledger_balance(struct db *db, struct arena *a, uint64_t account_id, int64_t *out_fen)
{
    struct db_rows rows;
    enum status st =
        db_find(db, a, &rows, "SELECT balance_fen FROM account WHERE id = ?", DB_PARAMS(DB_U64(account_id)));

    if (st != ST_OK)
        return st;
    *out_fen = db_cell_i64(&rows, 0, 0);
    return ST_OK;
}

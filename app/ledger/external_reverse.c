/* Reversals. */
#include "ledger/external.h"

#include "base/crash.h"
#include "ledger/external_internal.h"
#include "mysql/db_repeat.h"

struct reverse_run {
    const struct reversal *reversal;
    const struct external_author *author;
    int64_t now_ms;
};

static enum status reverse_body(struct db *db, void *ctx)
{
    const struct reverse_run *run = ctx;
    const struct reversal *r = run->reversal;
    enum status st = db_exec(db, NULL, "CALL ledger_reverse(?, ?, ?, ?, ?, ?)",
                             DB_PARAMS(DB_U64(r->transfer_id), DB_TEXT(r->reference), DB_TEXT(r->memo),
                                       DB_TEXT(run->author->name), external_by(run->author->by), DB_I64(run->now_ms)));
    crash_point("money-reverse-before-commit");
    return st;
}

/* Reads the transfer of the reference. ST_OK: it is this reversal · ST_EXISTS: another transfer · else as
 * external_find. */
static enum status reversal_look(struct db *db, struct arena *a, uint64_t channel_id, struct reversal *r)
{
    enum status st = external_find(db, a, channel_id, r->reference, &r->made);
    if (st != ST_OK)
        return st;
    bool same = r->made.reverses == r->transfer_id && str_equal(r->made.memo, r->memo);
    return same ? ST_OK : ST_EXISTS;
}

enum status external_reverse(struct db *db, struct arena *a, struct reversal *r, const struct external_author *author,
                             int64_t now_ms)
{
    struct db_rows rows;
    struct reverse_run run = { r, author, now_ms };
    r->repeated = false;
    if (!reference_is_valid(r->reference) || !memo_is_valid(r->memo) || !author_is_valid(author))
        return ST_INVALID;
    enum status st = db_find(db, a, &rows, "SELECT channel_id FROM external_transfer WHERE transfer_id = ?",
                             DB_PARAMS(DB_U64(r->transfer_id)));
    if (st != ST_OK)
        return st;
    const uint64_t channel_id = db_cell_u64(&rows, 0, 0);
    st = reversal_look(db, a, channel_id, r);
    r->repeated = st == ST_OK;
    if (st != ST_NOT_FOUND)
        return st;
    const enum status called = db_transaction_repeat(db, reverse_body, &run);
    crash_point("money-reverse-after-commit");
    if (called != ST_OK && called != ST_EXISTS && called != ST_INVALID && called != ST_NOT_FOUND)
        return called;
    st = reversal_look(db, a, channel_id, r); /* another call may have made it meanwhile, or one whose reply was lost */
    r->repeated = st == ST_OK && called != ST_OK;
    if (st == ST_NOT_FOUND && called != ST_OK)
        return called;
    return st == ST_OK || st == ST_EXISTS ? st : ST_UNKNOWN;
}

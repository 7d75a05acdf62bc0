#include <inttypes.h>

#include "base/money.h"
#include "money/import_internal.h"

static bool is_right(const struct import_row *row)
{
    return row->fault.len == 0;
}

/* A text that is lost for want of memory is found by arena_failed at the end. */
static void fail(struct import_row *row, struct str why)
{
    row->fault = why.ptr != NULL ? why : STR("out of memory");
}

/* ---- the file itself ---- */

static enum status references_check(struct import_batch *b)
{
    enum status st = ST_OK;
    for (size_t i = 0; b->references != NULL && i < b->count && (st == ST_OK || st == ST_EXISTS); i++) {
        struct import_row *row = &b->rows[i];
        if (!is_right(row))
            continue;
        st = text_set_add(b->references, row->payment.reference);
        if (st == ST_EXISTS)
            fail(row, arena_printf(b->arena, "the reference %.*s stands in an earlier row, too",
                                   STR_ARG(row->payment.reference)));
    }
    return st == ST_EXISTS ? ST_OK : st;
}

/* ---- users ---- */

static enum status users_find(struct import_batch *b)
{
    size_t count = 0;
    struct payment **payments = arena_array(b->arena, b->count + 1, sizeof(struct payment *));
    if (payments == NULL)
        return ST_NO_MEMORY;
    for (size_t i = 0; i < b->count; i++)
        if (is_right(&b->rows[i]))
            payments[count++] = &b->rows[i].payment;
    return payments_users_find(b->db, b->arena, payments, count);
}

/* Call it after repeated_check: the user of a transfer that was made before may be deleted by now. */
static void users_check(struct import_batch *b)
{
    for (size_t i = 0; i < b->count; i++)
        if (is_right(&b->rows[i]) && b->rows[i].payment.user_id == 0)
            fail(&b->rows[i], arena_printf(b->arena, "there is no user %.*s", STR_ARG(b->rows[i].payment.username)));
}

/* ---- transfers that were made before ---- */

static enum status repeated_check(struct import_batch *b)
{
    size_t count = 0;
    struct external_row **looked = arena_array(b->arena, b->count + 1, sizeof(struct external_row *));
    b->moves = arena_array(b->arena, b->count + 1, sizeof *b->moves);
    if (looked == NULL || b->moves == NULL)
        return ST_NO_MEMORY;
    for (size_t i = 0; i < b->count; i++) {
        const struct payment *p = &b->rows[i].payment;
        b->moves[i] = (struct external_row){
            .user_id = p->user_id, .amount_fen = p->amount_fen, .reference = p->reference, .memo = p->memo
        };
        if (is_right(&b->rows[i]))
            looked[count++] = &b->moves[i];
    }
    enum status st = external_look(b->db, b->arena, b->import->kind, b->import->channel_id, looked, count);
    for (size_t i = 0; st == ST_EXISTS && i < b->count; i++) {
        const struct external_row *move = &b->moves[i];
        char amount[MONEY_TEXT_MAX];
        if (!is_right(&b->rows[i]) || !move->differs)
            continue;
        (void)money_format(move->other_fen, amount);
        fail(&b->rows[i],
             arena_printf(b->arena,
                          "the reference %.*s belongs to transfer %" PRIu64 ", a %s of %s with other contents",
                          STR_ARG(move->reference), move->other_id, transfer_kind_name(move->other_kind), amount));
    }
    return st == ST_EXISTS ? ST_OK : st;
}

/* ---- wallets that pay ---- */

/* The balances of the users of the batch. */
static enum status balances_read(struct import_batch *b, struct user_sums *out)
{
    struct db_rows rows;
    uint64_t *ids = arena_array(b->arena, b->count + 1, sizeof *ids);
    size_t count = 0;
    for (size_t i = 0; ids != NULL && i < b->count; i++)
        if (is_right(&b->rows[i]))
            ids[count++] = b->rows[i].payment.user_id;
    if (ids == NULL || count == 0)
        return ids == NULL ? ST_NO_MEMORY : ST_OK;
    struct buf sql = BUF_EMPTY;
    buf_cstr(&sql, "SELECT id, balance_fen FROM account WHERE id IN ");
    db_ids(&sql, ids, count);
    enum status st = db_query_buf(b->db, b->arena, &rows, &sql);
    buf_free(&sql);
    for (size_t i = 0; st == ST_OK && i < rows.count; i++) {
        int64_t *balance = user_sums_of(out, db_cell_u64(&rows, i, 0));
        if (balance == NULL)
            return ST_NO_MEMORY;
        *balance = db_cell_i64(&rows, i, 1);
    }
    return st;
}

/* Each wallet can pay all of its rows. Money that leaves it later is found when the batch is made. */
static enum status balances_check(struct import_batch *b)
{
    struct user_sums balances = USER_SUMS_EMPTY;
    enum status st = balances_read(b, &balances);
    for (size_t i = 0; st == ST_OK && i < b->count; i++) {
        const struct external_row *move = &b->moves[i];
        if (!is_right(&b->rows[i]) || move->repeated)
            continue;
        const int64_t *balance = user_sums_of(&balances, move->user_id);
        int64_t *paid = user_sums_of(&b->paid, move->user_id);
        if (balance == NULL || paid == NULL)
            st = ST_NO_MEMORY;
        else if (*balance - *paid < move->amount_fen)
            fail(&b->rows[i],
                 arena_printf(b->arena, "the wallet of %.*s has less", STR_ARG(b->rows[i].payment.username)));
        else
            *paid += move->amount_fen;
    }
    user_sums_free(&balances);
    return st;
}

enum status import_batch_check(struct import_batch *b)
{
    enum status st = references_check(b);
    if (st == ST_OK)
        st = users_find(b);
    if (st == ST_OK)
        st = repeated_check(b);
    if (st == ST_OK)
        users_check(b);
    if (st == ST_OK && b->import->kind == TRANSFER_DEBIT)
        st = balances_check(b);
    return st == ST_OK && arena_failed(b->arena) ? ST_NO_MEMORY : st;
}

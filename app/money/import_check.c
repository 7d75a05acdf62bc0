#include <inttypes.h>
#include <stdlib.h>

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
        st = reference_set_add(b->references, row->payment.reference);
        if (st == ST_EXISTS)
            fail(row, arena_printf(b->arena, "the reference %.*s stands in an earlier row, too",
                                   STR_ARG(row->payment.reference)));
    }
    return st == ST_EXISTS ? ST_OK : st;
}

/* ---- users ---- */

static enum status users_check(struct import_batch *b)
{
    size_t count = 0;
    struct payment **payments = arena_array(b->arena, b->count + 1, sizeof(struct payment *));
    if (payments == NULL)
        return ST_NO_MEMORY;
    for (size_t i = 0; i < b->count; i++)
        if (is_right(&b->rows[i]))
            payments[count++] = &b->rows[i].payment;
    enum status st = payments_users_find(b->db, b->arena, payments, count);
    for (size_t i = 0; st == ST_OK && i < b->count; i++)
        if (is_right(&b->rows[i]) && b->rows[i].payment.user_id == 0)
            fail(&b->rows[i], arena_printf(b->arena, "there is no user %.*s", STR_ARG(b->rows[i].payment.username)));
    return st;
}

/* ---- transfers that were made before ---- */

enum { FOUND_REFERENCE, FOUND_ID, FOUND_KIND, FOUND_FEN, FOUND_USER, FOUND_MEMO };

/* The transfers of the channel that have a reference of the batch. */
static enum status references_find(struct import_batch *b, struct db_rows *rows)
{
    struct buf sql = BUF_EMPTY;
    size_t count = 0;
    buf_printf(&sql,
               "SELECT x.reference, t.id, t.kind, t.amount_fen, IF(t.debit_id = x.channel_id, t.credit_id, t.debit_id),"
               " x.memo FROM external_transfer AS x FORCE INDEX (external_transfer_reference)"
               " STRAIGHT_JOIN transfer AS t ON t.id = x.transfer_id WHERE x.channel_id = %" PRIu64
               " AND x.reference IN (",
               b->import->channel_id);
    for (size_t i = 0; i < b->count; i++)
        if (is_right(&b->rows[i])) {
            db_comma(&sql, count++);
            db_append(b->db, &sql, &DB_TEXT(b->rows[i].payment.reference));
        }
    buf_char(&sql, ')');
    *rows = (struct db_rows){ 0 };
    enum status st = count > 0 ? db_query_buf(b->db, b->arena, rows, &sql) : ST_OK;
    buf_free(&sql);
    return st;
}

static void before_note(struct import_batch *b, struct import_row *row, const struct db_rows *found, size_t at)
{
    const struct payment *p = &row->payment;
    char amount[MONEY_TEXT_MAX];
    row->before = str_equal(db_cell(found, at, FOUND_KIND), str_from(transfer_kind_name(b->import->kind))) &&
                  db_cell_u64(found, at, FOUND_USER) == p->user_id &&
                  db_cell_i64(found, at, FOUND_FEN) == p->amount_fen &&
                  str_equal(db_cell(found, at, FOUND_MEMO), p->memo);
    if (row->before)
        return;
    (void)money_format(db_cell_i64(found, at, FOUND_FEN), amount);
    fail(row, arena_printf(b->arena, "the reference %.*s belongs to transfer %.*s, a %.*s of %s with other contents",
                           STR_ARG(p->reference), STR_ARG(db_cell(found, at, FOUND_ID)),
                           STR_ARG(db_cell(found, at, FOUND_KIND)), amount));
}

static int by_reference(const void *a, const void *b)
{
    const struct import_row *const *left = a, *const *right = b;
    return str_compare((*left)->payment.reference, (*right)->payment.reference);
}

/* A repeated import finds all of them, a first one none. */
static enum status before_check(struct import_batch *b)
{
    struct db_rows found;
    enum status st = references_find(b, &found);
    if (st != ST_OK || found.count == 0)
        return st;
    size_t count = 0;
    struct import_row **sorted = arena_array(b->arena, b->count, sizeof(struct import_row *));
    if (sorted == NULL)
        return ST_NO_MEMORY;
    for (size_t i = 0; i < b->count; i++)
        if (is_right(&b->rows[i]))
            sorted[count++] = &b->rows[i];
    qsort(sorted, count, sizeof(struct import_row *), by_reference);
    for (size_t i = 0; i < found.count; i++) {
        const struct import_row wanted = { .payment.reference = db_cell(&found, i, FOUND_REFERENCE) };
        const struct import_row *key = &wanted;
        struct import_row **row = bsearch(&key, sorted, count, sizeof(struct import_row *), by_reference);
        if (row != NULL)
            before_note(b, *row, &found, i);
    }
    return ST_OK;
}

/* ---- wallets that pay ---- */

struct wallet {
    uint64_t id;
    int64_t left_fen;
};

static int by_id(const void *a, const void *b)
{
    const struct wallet *left = a, *right = b;
    return (left->id > right->id) - (left->id < right->id);
}

static enum status wallets_read(struct import_batch *b, struct wallet **out, size_t *out_count)
{
    struct db_rows rows;
    uint64_t *ids = arena_array(b->arena, b->count, sizeof *ids);
    size_t count = 0;
    for (size_t i = 0; ids != NULL && i < b->count; i++)
        if (is_right(&b->rows[i]))
            ids[count++] = b->rows[i].payment.user_id;
    *out_count = 0;
    if (ids == NULL || count == 0)
        return ids == NULL ? ST_NO_MEMORY : ST_OK;
    struct buf sql = BUF_EMPTY;
    buf_cstr(&sql, "SELECT id, balance_fen FROM account WHERE id IN ");
    db_ids(&sql, ids, count);
    enum status st = db_query_buf(b->db, b->arena, &rows, &sql);
    buf_free(&sql);
    if (st != ST_OK)
        return st;
    *out = arena_array(b->arena, rows.count + 1, sizeof **out);
    if (*out == NULL)
        return ST_NO_MEMORY;
    for (size_t i = 0; i < rows.count; i++)
        (*out)[i] = (struct wallet){ db_cell_u64(&rows, i, 0), db_cell_i64(&rows, i, 1) };
    *out_count = rows.count;
    qsort(*out, *out_count, sizeof **out, by_id);
    return ST_OK;
}

/* Each wallet can pay all of its rows in this batch. Money that leaves it later is found when the batch is made. */
static enum status balances_check(struct import_batch *b)
{
    struct wallet *wallets = NULL;
    size_t count;
    enum status st = wallets_read(b, &wallets, &count);
    for (size_t i = 0; st == ST_OK && i < b->count && count > 0; i++) {
        struct import_row *row = &b->rows[i];
        if (!is_right(row) || row->before)
            continue;
        const struct wallet key = { .id = row->payment.user_id };
        struct wallet *wallet = bsearch(&key, wallets, count, sizeof *wallets, by_id);
        if (wallet == NULL || wallet->left_fen < row->payment.amount_fen)
            fail(row, arena_printf(b->arena, "the wallet of %.*s has less", STR_ARG(row->payment.username)));
        else
            wallet->left_fen -= row->payment.amount_fen;
    }
    return st;
}

enum status import_batch_check(struct import_batch *b)
{
    enum status st = references_check(b);
    if (st == ST_OK)
        st = users_check(b);
    if (st == ST_OK)
        st = before_check(b);
    if (st == ST_OK && b->import->kind == TRANSFER_DEBIT)
        st = balances_check(b);
    return st == ST_OK && arena_failed(b->arena) ? ST_NO_MEMORY : st;
}

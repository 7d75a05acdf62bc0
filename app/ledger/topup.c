#include "ledger/topup.h"

#include "base/crash.h"
#include "base/utf8.h"
#include "ledger/external_internal.h"
#include "mysql/db_durable.h"
#include "mysql/db_repeat.h"

/* ---- channels ---- */

enum status topup_url_set(struct db *db, uint64_t channel_id, struct str url)
{
    if (url.len > TOPUP_URL_MAX || !utf8_valid(url))
        return ST_INVALID;
    return db_exec_retried(db, "CALL channel_topup(?, ?)", DB_PARAMS(DB_U64(channel_id), DB_TEXT(url)));
}

enum status topup_channels_find(struct db *db, struct arena *a, struct topup_channel **out, size_t *count)
{
    struct db_rows rows;
    enum status st = db_query(
        db, a, &rows, "SELECT id, name, note, topup_url FROM channel WHERE topup_url <> '' ORDER BY id", NULL, 0);
    if (st != ST_OK)
        return st;
    *out = arena_array(a, rows.count + 1, sizeof **out);
    if (*out == NULL)
        return ST_NO_MEMORY;
    for (size_t i = 0; i < rows.count; i++)
        (*out)[i] = (struct topup_channel){ db_cell_u64(&rows, i, 0), db_cell(&rows, i, 1), db_cell(&rows, i, 2),
                                            db_cell(&rows, i, 3) };
    *count = rows.count;
    return ST_OK;
}

enum status topup_is_offered(struct db *db, struct arena *a, bool *out)
{
    struct db_rows rows;
    enum status st = db_query(db, a, &rows, "SELECT 1 FROM channel WHERE topup_url <> '' LIMIT 1", NULL, 0);
    *out = st == ST_OK && rows.count > 0;
    return st;
}

/* ---- orders of a user ---- */

enum {
    COLUMN_ID,
    COLUMN_USER,
    COLUMN_FEN,
    COLUMN_KEY,
    COLUMN_PAID,
    COLUMN_CREATED,
    COLUMN_EXPIRES,
    COLUMN_CHANNEL_ID,
    COLUMN_CHANNEL,
    COLUMN_NOTE,
    COLUMN_URL,
    COLUMN_PAID_FEN
};

/* Up to its conditions, which begin by the user. */
#define TOPUP_SELECT                                                                                                   \
    "SELECT o.id, o.user_id, o.amount_fen, o.request_key, o.state = 'paid', o.created_ms, o.expires_ms, c.id, c.name," \
    " c.note, c.topup_url, (SELECT CAST(COALESCE(SUM(t.amount_fen), 0) AS SIGNED) FROM topup_payment AS p"             \
    " JOIN transfer AS t ON t.id = p.transfer_id WHERE p.topup_id = o.id)"                                             \
    " FROM topup AS o JOIN channel AS c ON c.id = o.channel_id WHERE o.user_id = ?"

static struct topup topup_read(const struct db_rows *rows, size_t row)
{
    return (struct topup){ .id = db_cell_u64(rows, row, COLUMN_ID),
                           .user_id = db_cell_u64(rows, row, COLUMN_USER),
                           .channel = { db_cell_u64(rows, row, COLUMN_CHANNEL_ID), db_cell(rows, row, COLUMN_CHANNEL),
                                        db_cell(rows, row, COLUMN_NOTE), db_cell(rows, row, COLUMN_URL) },
                           .amount_fen = db_cell_i64(rows, row, COLUMN_FEN),
                           .request_key = db_cell(rows, row, COLUMN_KEY),
                           .paid = db_cell_u64(rows, row, COLUMN_PAID) == 1,
                           .created_ms = db_cell_i64(rows, row, COLUMN_CREATED),
                           .expires_ms = db_cell_i64(rows, row, COLUMN_EXPIRES),
                           .paid_fen = db_cell_i64(rows, row, COLUMN_PAID_FEN) };
}

enum status topup_list(struct db *db, struct arena *a, uint64_t user_id, uint64_t below, size_t limit,
                       struct topup **out, size_t *count)
{
    struct db_rows rows;
    enum status st = db_query(db, a, &rows, TOPUP_SELECT " AND o.id < ? ORDER BY o.id DESC LIMIT ?",
                              DB_PARAMS(DB_U64(user_id), DB_U64(below > 0 ? below : UINT64_MAX), DB_U64(limit)));
    if (st != ST_OK)
        return st;
    *out = arena_array(a, rows.count + 1, sizeof **out);
    if (*out == NULL)
        return ST_NO_MEMORY;
    for (size_t i = 0; i < rows.count; i++)
        (*out)[i] = topup_read(&rows, i);
    *count = rows.count;
    return ST_OK;
}

enum { PAYMENT_ID, PAYMENT_FEN, PAYMENT_CREATED, PAYMENT_REFERENCE, PAYMENT_REVERSED };

static enum status payments_find(struct db *db, struct arena *a, struct topup *order)
{
    struct db_rows rows;
    enum status st = db_query(db, a, &rows,
                              "SELECT t.id, t.amount_fen, t.created_ms, x.reference, COALESCE(r.transfer_id, 0)"
                              " FROM topup_payment AS p JOIN transfer AS t ON t.id = p.transfer_id"
                              " JOIN external_transfer AS x ON x.transfer_id = p.transfer_id"
                              " LEFT JOIN external_transfer AS r ON r.reverses = p.transfer_id"
                              " WHERE p.topup_id = ? ORDER BY p.transfer_id LIMIT ?",
                              DB_PARAMS(DB_U64(order->id), DB_U64(TOPUP_PAYMENTS_MAX)));
    if (st != ST_OK)
        return st;
    order->payments = arena_array(a, rows.count + 1, sizeof *order->payments);
    if (order->payments == NULL)
        return ST_NO_MEMORY;
    for (size_t i = 0; i < rows.count; i++)
        order->payments[i] = (struct topup_payment){ .transfer_id = db_cell_u64(&rows, i, PAYMENT_ID),
                                                     .reversed_by = db_cell_u64(&rows, i, PAYMENT_REVERSED),
                                                     .amount_fen = db_cell_i64(&rows, i, PAYMENT_FEN),
                                                     .created_ms = db_cell_i64(&rows, i, PAYMENT_CREATED),
                                                     .reference = db_cell(&rows, i, PAYMENT_REFERENCE) };
    order->payment_count = rows.count;
    return ST_OK;
}

enum status topup_find(struct db *db, struct arena *a, uint64_t user_id, uint64_t id, struct topup *out)
{
    struct db_rows rows;
    enum status st = db_find(db, a, &rows, TOPUP_SELECT " AND o.id = ?", DB_PARAMS(DB_U64(user_id), DB_U64(id)));
    if (st != ST_OK)
        return st;
    *out = topup_read(&rows, 0);
    return out->paid ? payments_find(db, a, out) : ST_OK;
}

enum status topup_ordered(struct db *db, struct arena *a, uint64_t user_id, struct str key, struct topup *out)
{
    struct db_rows rows;
    enum status st =
        db_find(db, a, &rows, TOPUP_SELECT " AND o.request_key = ?", DB_PARAMS(DB_U64(user_id), DB_TEXT(key)));
    if (st != ST_OK)
        return st;
    *out = topup_read(&rows, 0);
    return out->paid ? payments_find(db, a, out) : ST_OK;
}

static enum status open_run(struct db *db, void *ctx)
{
    const struct topup *order = ctx;
    return db_exec_retried(db, "CALL topup_open(?, ?, ?, ?, ?)",
                           DB_PARAMS(DB_U64(order->user_id), DB_U64(order->channel.id), DB_I64(order->amount_fen),
                                     DB_TEXT(order->request_key), DB_I64(order->created_ms)));
}

enum status topup_open(struct db *db, struct arena *a, struct topup *order, bool *repeated, int64_t now_ms)
{
    struct topup wanted = *order;
    if (wanted.amount_fen <= 0 || wanted.amount_fen > TOPUP_FEN_MAX)
        return ST_INVALID;
    wanted.created_ms = now_ms;
    const enum status called = db_repeat(db, open_run, &wanted);
    *repeated = called == ST_EXISTS;
    if (called != ST_OK && called != ST_EXISTS)
        return called;
    if (topup_ordered(db, a, wanted.user_id, wanted.request_key, order) != ST_OK)
        return ST_UNKNOWN; /* the order exists, but can't be read */
    if (order->amount_fen != wanted.amount_fen || order->channel.id != wanted.channel.id)
        return ST_EXISTS;
    return *repeated ? db_durable(db, db_connections(db)) : ST_OK;
}

/* ---- for operators ---- */

#define WAITING_SELECT                                                                                                 \
    "SELECT o.id, o.user_id, u.username, c.name, o.amount_fen, o.created_ms, o.expires_ms, o.channel_id FROM topup"    \
    " AS o JOIN user AS u ON u.id = o.user_id JOIN channel AS c ON c.id = o.channel_id"

static struct topup_waiting waiting_read(const struct db_rows *rows, size_t row)
{
    return (struct topup_waiting){ .id = db_cell_u64(rows, row, 0),
                                   .user_id = db_cell_u64(rows, row, 1),
                                   .username = db_cell(rows, row, 2),
                                   .channel = db_cell(rows, row, 3),
                                   .amount_fen = db_cell_i64(rows, row, 4),
                                   .created_ms = db_cell_i64(rows, row, 5),
                                   .expires_ms = db_cell_i64(rows, row, 6),
                                   .channel_id = db_cell_u64(rows, row, 7) };
}

enum status topup_waiting_find(struct db *db, struct arena *a, uint64_t after, size_t limit, struct topup_waiting **out,
                               size_t *count)
{
    struct db_rows rows;
    enum status st =
        db_query(db, a, &rows, WAITING_SELECT " WHERE o.state = 'waiting' AND o.id > ? ORDER BY o.id LIMIT ?",
                 DB_PARAMS(DB_U64(after), DB_U64(limit)));
    if (st != ST_OK)
        return st;
    *out = arena_array(a, rows.count + 1, sizeof **out);
    if (*out == NULL)
        return ST_NO_MEMORY;
    for (size_t i = 0; i < rows.count; i++)
        (*out)[i] = waiting_read(&rows, i);
    *count = rows.count;
    return ST_OK;
}

struct paid_run {
    const struct topup_paid *paid;
    const struct external_author *author;
    int64_t now_ms;
};

static enum status paid_body(struct db *db, void *ctx)
{
    const struct paid_run *run = ctx;
    const struct topup_paid *paid = run->paid;
    enum status st;
    if (run->author->token_hash.ptr != NULL)
        st = db_exec(db, NULL, "CALL service_topup_paid(?, ?, ?, ?, ?)",
                     DB_PARAMS(DB_BYTES(run->author->token_hash), DB_U64(paid->id), DB_TEXT(paid->reference),
                               DB_I64(paid->amount_fen), DB_I64(run->now_ms)));
    else
        st = db_exec(db, NULL, "CALL topup_paid(?, ?, ?, ?, ?, ?)",
                     DB_PARAMS(DB_U64(paid->id), DB_TEXT(paid->reference), DB_I64(paid->amount_fen),
                               DB_TEXT(run->author->name), external_interface_param(run->author->interface),
                               DB_I64(run->now_ms)));
    crash_point("money-topup-before-commit");
    return st;
}

/* Reads the transfer of the reference. ST_OK: it is this payment · ST_EXISTS: another transfer · else as
 * external_find. */
static enum status payment_look(struct db *db, struct arena *a, struct topup_paid *paid)
{
    struct db_rows rows;
    enum status st = external_find(db, a, paid->order.channel_id, paid->reference, &paid->made);
    if (st != ST_OK)
        return st;
    st = db_query(db, a, &rows, "SELECT topup_id FROM topup_payment WHERE transfer_id = ?",
                  DB_PARAMS(DB_U64(paid->made.id)));
    if (st != ST_OK)
        return st;
    const bool same =
        rows.count == 1 && db_cell_u64(&rows, 0, 0) == paid->id && paid->made.amount_fen == paid->amount_fen;
    return same ? ST_OK : ST_EXISTS;
}

/* Whether the routine has done it, or has said why not. */
static bool is_answer(enum status called)
{
    return called == ST_OK || called == ST_EXISTS || called == ST_INVALID || called == ST_NOT_FOUND ||
           called == ST_DENIED || called == ST_LIMITED;
}

enum status topup_paid(struct db *db, struct arena *a, struct topup_paid *paid, const struct external_author *author,
                       int64_t now_ms)
{
    struct db_rows rows;
    struct paid_run run = { paid, author, now_ms };
    paid->order = (struct topup_waiting){ 0 };
    paid->repeated = paid->is_leaving = false;
    enum status st = db_find(db, a, &rows, WAITING_SELECT " WHERE o.id = ?", DB_PARAMS(DB_U64(paid->id)));
    if (st != ST_OK)
        return st;
    if (paid->channel_id != 0 && waiting_read(&rows, 0).channel_id != paid->channel_id)
        return ST_NOT_FOUND;
    paid->order = waiting_read(&rows, 0);
    if (paid->amount_fen == 0)
        paid->amount_fen = paid->order.amount_fen;
    if (paid->amount_fen < 0 || !reference_is_valid(paid->reference) || !author_is_valid(author))
        return ST_INVALID;
    st = payment_look(db, a, paid);
    paid->repeated = st == ST_OK;
    if (paid->repeated)
        return db_durable(db, db_connections(db));
    if (st != ST_NOT_FOUND)
        return st;
    const enum status called = db_transaction_repeat(db, paid_body, &run);
    crash_point("money-topup-after-commit");
    paid->is_leaving = called == ST_NOT_FOUND;
    if (!is_answer(called))
        return called;
    st = payment_look(db, a, paid); /* another call may have made it meanwhile, or one whose reply was lost */
    paid->repeated = st == ST_OK && called != ST_OK;
    if (paid->repeated)
        return db_durable(db, db_connections(db));
    if (st == ST_NOT_FOUND && called != ST_OK)
        return called;
    return st == ST_OK || st == ST_EXISTS ? st : ST_UNKNOWN;
}

#include "ledger/withdrawal.h"

#include <assert.h>

#include "base/crash.h"
#include "base/utf8.h"
#include "ledger/external_internal.h"
#include "mysql/db_durable.h"
#include "mysql/db_repeat.h"

static const char *const STATE_NAMES[WITHDRAWAL_STATE_COUNT] = {
    [WITHDRAWAL_PENDING] = "pending", [WITHDRAWAL_POSTED] = "posted", [WITHDRAWAL_VOIDED] = "voided"
};

const char *withdrawal_state_name(enum withdrawal_state state)
{
    assert(state < WITHDRAWAL_STATE_COUNT);
    return STATE_NAMES[state];
}

static bool state_read(struct str word, enum withdrawal_state *out)
{
    for (enum withdrawal_state state = 0; state < WITHDRAWAL_STATE_COUNT; state++) {
        if (str_equal(word, str_from(STATE_NAMES[state]))) {
            *out = state;
            return true;
        }
    }
    return false;
}

enum status withdrawal_hold(struct db *db, uint64_t user_id, uint64_t channel_id, int64_t amount_fen,
                            struct str destination, struct str key, int64_t now_ms)
{
    if (!utf8_valid(destination) || !utf8_valid(key))
        return ST_INVALID;
    return db_exec_retried(db, "CALL withdrawal_hold(?, ?, ?, ?, ?, ?)",
                           DB_PARAMS(DB_U64(user_id), DB_U64(channel_id), DB_I64(amount_fen), DB_TEXT(destination),
                                     DB_TEXT(key), DB_I64(now_ms)));
}

/* ---- what a user asks for ---- */

enum status withdrawal_requested(struct db *db, struct arena *a, struct withdrawal_request *r)
{
    struct db_rows rows;
    enum status st = db_find(db, a, &rows,
                             "SELECT w.hold_id, w.channel_id, w.amount_fen, w.destination, w.state, w.created_ms,"
                             " c.name FROM withdrawal AS w JOIN channel AS c ON c.id = w.channel_id"
                             " WHERE w.user_id = ? AND w.request_key = ?",
                             DB_PARAMS(DB_U64(r->user_id), DB_TEXT(r->key)));
    if (st != ST_OK)
        return st;
    r->hold_id = db_cell_u64(&rows, 0, 0);
    r->created_ms = db_cell_i64(&rows, 0, 5);
    r->channel = db_cell(&rows, 0, 6);
    if (!state_read(db_cell(&rows, 0, 4), &r->state))
        return ST_CORRUPT;
    const bool is_same = (r->channel_id == 0 || db_cell_u64(&rows, 0, 1) == r->channel_id) &&
                         db_cell_i64(&rows, 0, 2) == r->amount_fen && str_equal(db_cell(&rows, 0, 3), r->destination);
    return is_same ? ST_OK : ST_EXISTS;
}

struct request_run {
    const struct withdrawal_request *request;
    int64_t now_ms;
};

static enum status request_run(struct db *db, void *ctx)
{
    const struct request_run *run = ctx;
    const struct withdrawal_request *r = run->request;
    return withdrawal_hold(db, r->user_id, r->channel_id, r->amount_fen, r->destination, r->key, run->now_ms);
}

enum status withdrawal_request(struct db *db, struct arena *a, struct withdrawal_request *r, int64_t now_ms)
{
    struct request_run run = { r, now_ms };
    crash_point("withdraw-before-hold");
    const enum status called = db_repeat(db, request_run, &run);
    crash_point("withdraw-after-hold");
    r->repeated = called == ST_EXISTS;
    if (called != ST_OK && called != ST_EXISTS)
        return called;
    enum status st = withdrawal_requested(db, a, r);
    if (st == ST_OK && r->repeated)
        return db_durable(db, db_connections(db));
    return st == ST_OK || st == ST_EXISTS ? st : ST_UNKNOWN; /* it is held, but can't be read */
}

/* ---- reading ---- */

enum {
    COLUMN_ID,
    COLUMN_USER,
    COLUMN_CHANNEL_ID,
    COLUMN_FEN,
    COLUMN_DESTINATION,
    COLUMN_STATE,
    COLUMN_REFERENCE,
    COLUMN_REASON,
    COLUMN_AUTHOR,
    COLUMN_USERNAME,
    COLUMN_CHANNEL,
    COLUMN_CREATED,
    COLUMN_ENDED
};

#define WITHDRAWAL_SELECT                                                                                              \
    "SELECT w.id, w.user_id, w.channel_id, w.amount_fen, w.destination, w.state, COALESCE(x.reference, ''), w.reason," \
    " w.author, u.username, c.name, w.created_ms, COALESCE(w.ended_ms, 0) FROM withdrawal AS w"                        \
    " JOIN user AS u ON u.id = w.user_id JOIN channel AS c ON c.id = w.channel_id"                                     \
    " LEFT JOIN external_transfer AS x ON x.transfer_id = w.end_id"

/* False: the state is unknown. */
static bool withdrawal_read(const struct db_rows *rows, size_t row, struct withdrawal *out)
{
    *out = (struct withdrawal){ .id = db_cell_u64(rows, row, COLUMN_ID),
                                .user_id = db_cell_u64(rows, row, COLUMN_USER),
                                .channel_id = db_cell_u64(rows, row, COLUMN_CHANNEL_ID),
                                .amount_fen = db_cell_i64(rows, row, COLUMN_FEN),
                                .destination = db_cell(rows, row, COLUMN_DESTINATION),
                                .reference = db_cell(rows, row, COLUMN_REFERENCE),
                                .reason = db_cell(rows, row, COLUMN_REASON),
                                .author = db_cell(rows, row, COLUMN_AUTHOR),
                                .username = db_cell(rows, row, COLUMN_USERNAME),
                                .channel = db_cell(rows, row, COLUMN_CHANNEL),
                                .created_ms = db_cell_i64(rows, row, COLUMN_CREATED),
                                .ended_ms = db_cell_i64(rows, row, COLUMN_ENDED) };
    return state_read(db_cell(rows, row, COLUMN_STATE), &out->state);
}

enum status withdrawal_find(struct db *db, struct arena *a, uint64_t id, struct withdrawal *out)
{
    struct db_rows rows;
    enum status st = db_find(db, a, &rows, WITHDRAWAL_SELECT " WHERE w.id = ?", DB_PARAMS(DB_U64(id)));
    if (st != ST_OK)
        return st;
    return withdrawal_read(&rows, 0, out) ? ST_OK : ST_CORRUPT;
}

enum status withdrawal_pending(struct db *db, struct arena *a, uint64_t channel_id, uint64_t after, size_t limit,
                               struct withdrawal **out, size_t *count)
{
    struct db_rows rows;
    enum status st = db_query(
        db, a, &rows,
        WITHDRAWAL_SELECT " WHERE w.state = 'pending' AND w.id > ? AND ? IN (0, w.channel_id) ORDER BY w.id LIMIT ?",
        DB_PARAMS(DB_U64(after), DB_U64(channel_id), DB_U64(limit)));
    if (st != ST_OK)
        return st;
    *out = arena_array(a, rows.count + 1, sizeof **out);
    if (*out == NULL)
        return ST_NO_MEMORY;
    for (size_t i = 0; i < rows.count; i++)
        if (!withdrawal_read(&rows, i, &(*out)[i]))
            return ST_CORRUPT;
    *count = rows.count;
    return ST_OK;
}

/* ---- the end ---- */

struct end_run {
    const struct withdrawal_end *end;
    const struct external_author *author;
    int64_t now_ms;
};

static enum status end_body(struct db *db, void *ctx)
{
    const struct end_run *run = ctx;
    const struct withdrawal_end *end = run->end;
    const struct db_param reference = end->post ? DB_TEXT(end->reference) : DB_NULL;
    const struct db_param reason = end->post ? DB_NULL : DB_TEXT(end->reason);
    enum status st;
    if (run->author->token_hash.ptr != NULL)
        st = db_exec(db, NULL, "CALL service_withdrawal_end(?, ?, ?, ?, ?, ?)",
                     DB_PARAMS(DB_BYTES(run->author->token_hash), DB_U64(end->id), DB_U64(end->post), reference, reason,
                               DB_I64(run->now_ms)));
    else
        st = db_exec(db, NULL, "CALL withdrawal_end(?, ?, ?, ?, ?, ?, ?)",
                     DB_PARAMS(DB_U64(end->id), DB_U64(end->post), reference, reason, DB_TEXT(run->author->name),
                               external_interface_param(run->author->interface), DB_I64(run->now_ms)));
    crash_point("money-end-before-commit");
    return st;
}

/* Whether the withdrawal has ended as it should. */
static bool has_ended_so(const struct withdrawal_end *end)
{
    return end->post ? end->now.state == WITHDRAWAL_POSTED && str_equal(end->now.reference, end->reference)
                     : end->now.state == WITHDRAWAL_VOIDED && str_equal(end->now.reason, end->reason);
}

static bool end_is_valid(const struct withdrawal_end *end, const struct external_author *author)
{
    if (!author_is_valid(author))
        return false;
    return end->post ? reference_is_valid(end->reference)
                     : utf8_valid(end->reason) && utf8_codepoints(end->reason) <= REASON_CODE_POINTS_MAX;
}

enum status withdrawal_end(struct db *db, struct arena *a, struct withdrawal_end *end,
                           const struct external_author *author, int64_t now_ms)
{
    struct end_run run = { end, author, now_ms };
    const bool valid = end_is_valid(end, author);
    end->now = (struct withdrawal){ 0 };
    end->repeated = false;
    const enum status called = valid ? db_transaction_repeat(db, end_body, &run) : ST_INVALID;
    crash_point("money-end-after-commit");
    if (called != ST_OK && called != ST_EXISTS && called != ST_INVALID && called != ST_DENIED && called != ST_LIMITED)
        return called;
    enum status st = withdrawal_find(db, a, end->id, &end->now);
    if (st != ST_OK)
        return st == ST_NOT_FOUND || !valid ? st : ST_UNKNOWN;
    if (called == ST_OK)
        return ST_OK;
    end->repeated = valid && has_ended_so(end);
    if (end->repeated)
        return db_durable(db, db_connections(db));
    return valid && end->now.state != WITHDRAWAL_PENDING ? ST_EXISTS : called;
}

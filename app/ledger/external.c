#include "ledger/external.h"

#include <assert.h>
#include <stdlib.h>

#include "base/crash.h"
#include "base/utf8.h"
#include "base/value.h"
#include "ledger/external_internal.h"
#include "mysql/db_durable.h"
#include "mysql/db_repeat.h"

/* A batch is read again when others make some of its transfers at the same time. */
enum { LOOKS_MAX = 5 };
/* The JSON of one CALL: escaped, it fits into the smallest max_allowed_packet (mysql/db_session.c). */
enum { CALL_JSON_BYTES = 400000 };

static const char *const INTERFACE_NAMES[EXTERNAL_INTERFACE_COUNT] = {
    [INTERFACE_COMMAND] = "command", [INTERFACE_IMPORT] = "import", [INTERFACE_HTTP] = "http", [INTERFACE_PAGE] = "page"
};

struct db_param external_interface_param(enum external_interface interface)
{
    assert(interface < EXTERNAL_INTERFACE_COUNT);
    return DB_TEXT(str_from(INTERFACE_NAMES[interface]));
}

static bool interface_read(struct str word, enum external_interface *out)
{
    for (enum external_interface i = 0; i < EXTERNAL_INTERFACE_COUNT; i++) {
        if (str_equal(word, str_from(INTERFACE_NAMES[i]))) {
            *out = i;
            return true;
        }
    }
    return false;
}

bool reference_is_valid(struct str reference)
{
    if (reference.len == 0 || reference.len > REFERENCE_MAX)
        return false;
    for (size_t i = 0; i < reference.len; i++)
        if (reference.ptr[i] < ' ' || reference.ptr[i] > '~')
            return false;
    return reference.ptr[0] != ' ' && reference.ptr[reference.len - 1] != ' ';
}

bool memo_is_valid(struct str memo)
{
    return utf8_valid(memo) && utf8_codepoints(memo) <= MEMO_CODE_POINTS_MAX;
}

bool author_is_valid(const struct external_author *author)
{
    return author->name.len > 0 && utf8_valid(author->name);
}

/* ---- a batch ---- */

struct move {
    struct arena *arena;
    enum transfer_kind kind;
    uint64_t channel_id;
    struct external_row *rows; /* by user; transfer_id 0: not known to be made */
    size_t count;
    struct external_row **by_reference; /* the same rows */
    const struct external_author *author;
    int64_t now_ms;
    uint64_t read_on; /* the connection of the first look, as db_connections counts */
};

static int user_order(const void *a, const void *b)
{
    const struct external_row *one = a, *other = b;
    if (one->user_id != other->user_id)
        return one->user_id < other->user_id ? -1 : 1;
    return str_compare(one->reference, other->reference);
}

static int reference_order(const void *a, const void *b)
{
    const struct external_row *const *one = a, *const *other = b;
    return str_compare((*one)->reference, (*other)->reference);
}

static int reference_match(const void *key, const void *row)
{
    const struct external_row *const *one = row;
    return str_compare(*(const struct str *)key, (*one)->reference);
}

static void row_reset(struct external_row *row)
{
    row->transfer_id = 0;
    row->repeated = row->differs = false;
}

/* Checks the rows, and sorts them. ST_INVALID, ST_EXISTS: two have the same reference · ST_NO_MEMORY. */
static enum status move_prepare(struct move *m)
{
    if (!author_is_valid(m->author))
        return ST_INVALID;
    for (size_t i = 0; i < m->count; i++) {
        struct external_row *row = &m->rows[i];
        if (row->amount_fen <= 0 || !reference_is_valid(row->reference) || !memo_is_valid(row->memo))
            return ST_INVALID;
        row_reset(row);
    }
    qsort(m->rows, m->count, sizeof *m->rows, user_order);
    m->by_reference = arena_array(m->arena, m->count, sizeof(struct external_row *));
    if (m->by_reference == NULL)
        return ST_NO_MEMORY;
    for (size_t i = 0; i < m->count; i++)
        m->by_reference[i] = &m->rows[i];
    qsort(m->by_reference, m->count, sizeof(struct external_row *), reference_order);
    for (size_t i = 1; i < m->count; i++)
        if (str_equal(m->by_reference[i - 1]->reference, m->by_reference[i]->reference))
            return ST_EXISTS;
    return ST_OK;
}

static size_t rows_left(const struct move *m)
{
    size_t left = 0;
    for (size_t i = 0; i < m->count; i++)
        left += m->rows[i].transfer_id == 0;
    return left;
}

enum { LOOK_REFERENCE, LOOK_ID, LOOK_KIND, LOOK_DEBIT, LOOK_CREDIT, LOOK_FEN, LOOK_MEMO };

static void look_sql(struct db *db, struct buf *sql, const struct move *m)
{
    size_t listed = 0;
    buf_cstr(sql, "SELECT x.reference, t.id, t.kind, t.debit_id, t.credit_id, t.amount_fen, x.memo"
                  " FROM external_transfer AS x FORCE INDEX (external_transfer_reference)"
                  " STRAIGHT_JOIN transfer AS t ON t.id = x.transfer_id WHERE x.channel_id = ");
    buf_u64(sql, m->channel_id);
    buf_cstr(sql, " AND x.reference IN (");
    for (size_t i = 0; i < m->count; i++) {
        if (m->by_reference[i]->transfer_id != 0)
            continue;
        db_comma(sql, listed++);
        db_append(db, sql, &DB_TEXT(m->by_reference[i]->reference));
    }
    buf_char(sql, ')');
}

/* Compares the row with the transfer of its reference. ST_EXISTS: it differs · ST_CORRUPT: its kind is unknown. */
static enum status row_compare(const struct move *m, struct external_row *row, const struct db_rows *found, size_t at)
{
    const size_t user_column = m->kind == TRANSFER_CREDIT ? LOOK_CREDIT : LOOK_DEBIT;
    row->other_id = db_cell_u64(found, at, LOOK_ID);
    row->other_fen = db_cell_i64(found, at, LOOK_FEN);
    if (!transfer_kind_read(db_cell(found, at, LOOK_KIND), &row->other_kind))
        return ST_CORRUPT;
    row->differs = row->other_kind != m->kind || db_cell_u64(found, at, user_column) != row->user_id ||
                   row->other_fen != row->amount_fen || !str_equal(db_cell(found, at, LOOK_MEMO), row->memo);
    return row->differs ? ST_EXISTS : ST_OK;
}

/* Looks up the references of the rows that are left. made: by this call, else before. ST_EXISTS: some differ · else as
 * db_query. */
static enum status rows_look(struct db *db, const struct move *m, bool made)
{
    struct db_rows found;
    struct buf sql = BUF_EMPTY;
    bool differ = false;
    look_sql(db, &sql, m);
    enum status st = db_query_buf(db, m->arena, &found, &sql);
    buf_free(&sql);
    for (size_t at = 0; st == ST_OK && at < found.count; at++) {
        const struct str reference = db_cell(&found, at, LOOK_REFERENCE);
        struct external_row **row =
            bsearch(&reference, m->by_reference, m->count, sizeof(struct external_row *), reference_match);
        if (row == NULL)
            return ST_CORRUPT;
        const enum status compared = row_compare(m, *row, &found, at);
        if (compared == ST_CORRUPT)
            return compared;
        differ = differ || compared == ST_EXISTS;
        (*row)->transfer_id = compared == ST_OK ? (*row)->other_id : 0;
        (*row)->repeated = compared == ST_OK && !made;
    }
    return st == ST_OK && differ ? ST_EXISTS : st;
}

enum status external_look(struct db *db, struct arena *a, enum transfer_kind kind, uint64_t channel_id,
                          struct external_row **rows, size_t count)
{
    const struct move m = { .arena = a, .kind = kind, .channel_id = channel_id, .by_reference = rows, .count = count };
    for (size_t i = 0; i < count; i++)
        row_reset(rows[i]);
    if (count == 0)
        return ST_OK;
    qsort(rows, count, sizeof(struct external_row *), reference_order);
    return rows_look(db, &m, false);
}

static void row_json(struct buf *json, const struct external_row *row)
{
    buf_char(json, json->len == 0 ? '[' : ',');
    buf_char(json, '[');
    buf_u64(json, row->user_id);
    buf_char(json, ',');
    buf_i64(json, row->amount_fen);
    buf_char(json, ',');
    value_json_string(json, row->reference);
    buf_char(json, ',');
    value_json_string(json, row->memo);
    buf_char(json, ']');
}

static enum status rows_call(struct db *db, const struct move *m, struct buf *json)
{
    buf_char(json, ']');
    if (json->failed)
        return ST_NO_MEMORY;
    enum status st = db_exec(db, NULL, "CALL ledger_external(?, ?, ?, ?, ?, ?)",
                             DB_PARAMS(DB_TEXT(str_from(transfer_kind_name(m->kind))), DB_U64(m->channel_id),
                                       DB_TEXT(buf_view(json)), DB_TEXT(m->author->name),
                                       external_interface_param(m->author->interface), DB_I64(m->now_ms)));
    buf_reset(json);
    return st;
}

/* The routine for service tokens takes one row. */
static enum status service_call(struct db *db, const struct move *m)
{
    const struct external_row *row = &m->rows[0];
    assert(m->count == 1);
    return db_exec(db, NULL, "CALL service_external(?, ?, ?, ?, ?, ?, ?, ?)",
                   DB_PARAMS(DB_BYTES(m->author->token_hash), DB_TEXT(str_from(transfer_kind_name(m->kind))),
                             DB_U64(m->channel_id), DB_U64(row->user_id), DB_I64(row->amount_fen),
                             DB_TEXT(row->reference), DB_TEXT(row->memo), DB_I64(m->now_ms)));
}

/* One CALL, unless long memos make the text too large. */
static enum status move_body(struct db *db, void *ctx)
{
    const struct move *m = ctx;
    struct buf json = BUF_EMPTY;
    const bool by_service = m->author->token_hash.ptr != NULL;
    enum status st = by_service ? service_call(db, m) : ST_OK;
    for (size_t i = 0; i < m->count && st == ST_OK && !by_service; i++) {
        if (m->rows[i].transfer_id != 0)
            continue;
        row_json(&json, &m->rows[i]);
        if (json.len > CALL_JSON_BYTES)
            st = rows_call(db, m, &json);
    }
    if (st == ST_OK && json.len > 0)
        st = rows_call(db, m, &json);
    buf_free(&json);
    crash_point("money-before-commit");
    return st;
}

/* Fills in the ids of what was made. */
static enum status rows_made(struct db *db, const struct move *m)
{
    return rows_look(db, m, true) == ST_OK && rows_left(m) == 0 ? ST_OK : ST_UNKNOWN;
}

/* All rows are made. Waits until MariaDB can't lose those that were made before. */
static enum status move_end(struct db *db, const struct move *m)
{
    for (size_t i = 0; i < m->count; i++)
        if (m->rows[i].repeated)
            return db_durable(db, m->read_on);
    return ST_OK;
}

enum status external_move(struct db *db, struct arena *a, enum transfer_kind kind, uint64_t channel_id,
                          struct external_row *rows, size_t count, const struct external_author *author, int64_t now_ms)
{
    struct move m = { a, kind, channel_id, rows, count, NULL, author, now_ms, 0 };
    assert(kind == TRANSFER_CREDIT || kind == TRANSFER_DEBIT);
    assert(count >= 1 && count <= EXTERNAL_ROWS_MAX);
    enum status refused = ST_OK, st = move_prepare(&m);
    if (st != ST_OK)
        return st;
    for (int looks = 0; looks < LOOKS_MAX; looks++) {
        st = rows_look(db, &m, false);
        if (looks == 0)
            m.read_on = db_connections(db);
        if (st != ST_OK && st != ST_EXISTS && looks > 0)
            return ST_UNKNOWN; /* a call may have been committed before its reply was lost */
        if (st != ST_OK)
            return st;
        if (rows_left(&m) == 0)
            return move_end(db, &m);
        if (refused != ST_OK)
            return refused;
        st = db_transaction_repeat(db, move_body, &m);
        crash_point("money-after-commit");
        if (st == ST_OK)
            return rows_made(db, &m) == ST_OK ? move_end(db, &m) : ST_UNKNOWN;
        if (st == ST_INVALID || st == ST_NOT_FOUND || st == ST_DENIED || st == ST_LIMITED)
            refused = st;
        else if (st != ST_EXISTS)
            return st;
    }
    return ST_CONFLICT;
}

/* ---- looking up ---- */

enum {
    FIND_ID,
    FIND_KIND,
    FIND_USER,
    FIND_FEN,
    FIND_REFERENCE,
    FIND_MEMO,
    FIND_AUTHOR,
    FIND_INTERFACE,
    FIND_REVERSES,
    FIND_REVERSED_BY,
    FIND_CREATED
};

#define FIND_SQL                                                                                                       \
    "SELECT t.id, t.kind, COALESCE(w.user_id, IF(t.debit_id = x.channel_id, t.credit_id, t.debit_id)),"                \
    " t.amount_fen, x.reference, x.memo, x.author, x.interface, COALESCE(x.reverses, 0),"                              \
    " COALESCE(r.transfer_id, 0), t.created_ms"                                                                        \
    " FROM external_transfer AS x JOIN transfer AS t ON t.id = x.transfer_id"                                          \
    " LEFT JOIN withdrawal AS w ON w.end_id = t.id"                                                                    \
    " LEFT JOIN external_transfer AS r ON r.reverses = t.id"

static enum status found_read(const struct db_rows *rows, struct external_transfer *out)
{
    *out = (struct external_transfer){ .id = db_cell_u64(rows, 0, FIND_ID),
                                       .user_id = db_cell_u64(rows, 0, FIND_USER),
                                       .amount_fen = db_cell_i64(rows, 0, FIND_FEN),
                                       .reference = db_cell(rows, 0, FIND_REFERENCE),
                                       .memo = db_cell(rows, 0, FIND_MEMO),
                                       .author = db_cell(rows, 0, FIND_AUTHOR),
                                       .reverses = db_cell_u64(rows, 0, FIND_REVERSES),
                                       .reversed_by = db_cell_u64(rows, 0, FIND_REVERSED_BY),
                                       .created_ms = db_cell_i64(rows, 0, FIND_CREATED) };
    return transfer_kind_read(db_cell(rows, 0, FIND_KIND), &out->kind) &&
                   interface_read(db_cell(rows, 0, FIND_INTERFACE), &out->interface)
               ? ST_OK
               : ST_CORRUPT;
}

enum status external_find(struct db *db, struct arena *a, uint64_t channel_id, struct str reference,
                          struct external_transfer *out)
{
    struct db_rows rows;
    if (!reference_is_valid(reference))
        return ST_NOT_FOUND;
    enum status st = db_find(db, a, &rows, FIND_SQL " WHERE x.channel_id = ? AND x.reference = ?",
                             DB_PARAMS(DB_U64(channel_id), DB_TEXT(reference)));
    return st == ST_OK ? found_read(&rows, out) : st;
}

/* The reversal of a transfer. ST_NOT_FOUND: it is not reversed. */
static enum status reversal_find(struct db *db, struct arena *a, uint64_t transfer_id, struct external_transfer *out)
{
    struct db_rows rows;
    enum status st = db_find(db, a, &rows, FIND_SQL " WHERE x.reverses = ?", DB_PARAMS(DB_U64(transfer_id)));
    return st == ST_OK ? found_read(&rows, out) : st;
}

/* ---- reversals ---- */

struct reverse_run {
    const struct reversal *reversal;
    const struct external_author *author;
    int64_t now_ms;
};

static enum status reverse_body(struct db *db, void *ctx)
{
    const struct reverse_run *run = ctx;
    const struct reversal *r = run->reversal;
    enum status st =
        db_exec(db, NULL, "CALL ledger_reverse(?, ?, ?, ?, ?, ?)",
                DB_PARAMS(DB_U64(r->transfer_id), DB_TEXT(r->reference), DB_TEXT(r->memo), DB_TEXT(run->author->name),
                          external_interface_param(run->author->interface), DB_I64(run->now_ms)));
    crash_point("money-reverse-before-commit");
    return st;
}

/* Reads the transfer of the reference. ST_OK: it is this reversal · ST_EXISTS: another transfer · else as
 * external_find. */
static enum status reversal_look(struct db *db, struct arena *a, struct reversal *r)
{
    enum status st = external_find(db, a, r->channel_id, r->reference, &r->made);
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
    r->repeated = r->is_leaving = false;
    if (!reference_is_valid(r->reference) || !memo_is_valid(r->memo) || !author_is_valid(author))
        return ST_INVALID;
    enum status st = db_find(db, a, &rows,
                             "SELECT x.channel_id, c.name FROM external_transfer AS x"
                             " JOIN transfer AS t ON t.id = x.transfer_id JOIN channel AS c ON c.id = x.channel_id"
                             " WHERE x.transfer_id = ? AND t.kind <> 'reverse'",
                             DB_PARAMS(DB_U64(r->transfer_id)));
    if (st != ST_OK)
        return st;
    r->channel_id = db_cell_u64(&rows, 0, 0);
    r->channel = db_cell(&rows, 0, 1);
    st = reversal_look(db, a, r);
    r->repeated = st == ST_OK;
    if (r->repeated)
        return db_durable(db, db_connections(db));
    if (st != ST_NOT_FOUND)
        return st;
    const enum status called = db_transaction_repeat(db, reverse_body, &run);
    crash_point("money-reverse-after-commit");
    if (called != ST_OK && called != ST_EXISTS && called != ST_INVALID && called != ST_NOT_FOUND)
        return called;
    st = reversal_look(db, a, r); /* another call may have made it meanwhile, or one whose reply was lost */
    r->repeated = st == ST_OK && called != ST_OK;
    if (r->repeated)
        return db_durable(db, db_connections(db));
    r->is_leaving = called == ST_NOT_FOUND;
    if (st == ST_NOT_FOUND && called == ST_EXISTS) {
        st = reversal_find(db, a, r->transfer_id, &r->made);
        return st == ST_OK ? ST_EXISTS : st == ST_NOT_FOUND ? ST_CONFLICT : st;
    }
    if (st == ST_NOT_FOUND && called != ST_OK)
        return called;
    return st == ST_OK || st == ST_EXISTS ? st : ST_UNKNOWN;
}

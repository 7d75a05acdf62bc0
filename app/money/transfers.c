#include "money/transfers.h"

#include <inttypes.h>

#include "ledger/external.h"

/* Whose wallet it was: a post has an account of the site in place of the wallet. */
#define USER_ID "COALESCE(w.user_id, IF(t.debit_id = x.channel_id, t.credit_id, t.debit_id))"

enum { ID, CREATED, KIND, USERNAME, AMOUNT, REFERENCE, MEMO, AUTHOR, INTERFACE, REVERSES, COMES_IN, OTHER, OTHER_MS };

static struct transfer_line line_from(const struct db_rows *rows, size_t row)
{
    const bool reverses = db_cell(rows, row, REVERSES).ptr != NULL;
    return (struct transfer_line){
        .id = db_cell_u64(rows, row, ID),
        .created_ms = db_cell_i64(rows, row, CREATED),
        .kind = db_cell(rows, row, KIND),
        .username = str_or_empty(db_cell(rows, row, USERNAME)),
        .amount_fen = db_cell_i64(rows, row, AMOUNT),
        .reference = db_cell(rows, row, REFERENCE),
        .memo = db_cell(rows, row, MEMO),
        .author = db_cell(rows, row, AUTHOR),
        .interface = db_cell(rows, row, INTERFACE),
        .reverses = reverses ? db_cell_u64(rows, row, REVERSES) : 0,
        .comes_in = db_cell_u64(rows, row, COMES_IN) == 1,
        .other_reference = str_or_empty(db_cell(rows, row, OTHER)),
        .other_ms = db_cell_i64(rows, row, OTHER_MS),
    };
}

#define LINE_FROM(index)                                                                                               \
    "SELECT t.id, x.created_ms, t.kind, u.username, t.amount_fen, x.reference, x.memo, x.author, x.interface,"         \
    " x.reverses, t.debit_id = x.channel_id, COALESCE(o.reference, r.reference),"                                      \
    " COALESCE(o.created_ms, r.created_ms, 0)"                                                                         \
    " FROM external_transfer AS x FORCE INDEX (" index ")"                                                             \
    " STRAIGHT_JOIN transfer AS t ON t.id = x.transfer_id LEFT JOIN withdrawal AS w ON w.end_id = t.id"                \
    " LEFT JOIN external_transfer AS o ON o.transfer_id = x.reverses"                                                  \
    " LEFT JOIN external_transfer AS r ON r.reverses = x.transfer_id"                                                  \
    " LEFT JOIN user AS u ON u.id = " USER_ID " WHERE x.channel_id = "
#define LINE_SELECT(index) LINE_FROM(index) "? AND x.created_ms >= ? AND x.created_ms < ? AND x.transfer_id > ?"

static enum status page_read(struct db *db, struct arena *a, const struct transfers_query *query, struct db_rows *rows)
{
    _Static_assert(TRANSFERS_PAGE_ROWS == 500, "the LIMIT of the query");
    return db_query(
        db, a, rows, LINE_SELECT("external_transfer_made") " ORDER BY x.transfer_id LIMIT 500",
        DB_PARAMS(DB_U64(query->channel_id), DB_I64(query->from_ms), DB_I64(query->until_ms), DB_U64(query->after)));
}

/* A transfer with a reference that no transfer can have is not asked for: the column can't be compared with it. */
static enum status one_read(struct db *db, struct arena *a, const struct transfers_query *query, struct db_rows *rows)
{
    *rows = (struct db_rows){ .count = 0 };
    if (!reference_is_valid(query->reference))
        return ST_OK;
    return db_query(db, a, rows, LINE_SELECT("external_transfer_reference") " AND x.reference = ?",
                    DB_PARAMS(DB_U64(query->channel_id), DB_I64(query->from_ms), DB_I64(query->until_ms),
                              DB_U64(query->after), DB_TEXT(query->reference)));
}

static enum status lines_from(const struct db_rows *rows, struct arena *a, struct transfer_line **out, size_t *count)
{
    struct transfer_line *lines = arena_array(a, rows->count + 1, sizeof *lines);
    if (lines == NULL)
        return ST_NO_MEMORY;
    for (size_t i = 0; i < rows->count; i++)
        lines[i] = line_from(rows, i);
    *out = lines;
    *count = rows->count;
    return ST_OK;
}

enum status transfers_page(struct db *db, struct arena *a, struct transfers_query *query, struct transfer_line **out,
                           size_t *count)
{
    struct db_rows rows;
    enum status st = query->reference.ptr != NULL ? one_read(db, a, query, &rows) : page_read(db, a, query, &rows);
    if (st != ST_OK)
        return st;
    st = lines_from(&rows, a, out, count);
    if (st == ST_OK && *count > 0)
        query->after = (*out)[*count - 1].id;
    return st;
}

enum status transfers_find(struct db *db, struct arena *a, uint64_t channel_id, const struct str *references,
                           size_t count, struct transfer_line **out, size_t *found)
{
    struct db_rows rows;
    struct buf sql = BUF_EMPTY;
    buf_printf(&sql, LINE_FROM("external_transfer_reference") "%" PRIu64 " AND x.reference IN (", channel_id);
    for (size_t i = 0; i < count; i++) {
        db_comma(&sql, i);
        db_append(db, &sql, &DB_TEXT(references[i]));
    }
    buf_cstr(&sql, ") ORDER BY x.reference");
    enum status st = db_query_buf(db, a, &rows, &sql);
    buf_free(&sql);
    return st == ST_OK ? lines_from(&rows, a, out, found) : st;
}

#include "packet/totals.h"

enum { COLUMN_YEAR, COLUMN_MONTH, COLUMN_SENT, COLUMN_SENT_FEN, COLUMN_RECEIVED, COLUMN_RECEIVED_FEN, COLUMN_BEST };

static void month_add(struct user_year *year, const struct db_rows *rows, size_t row)
{
    year->sent_count += db_cell_u64(rows, row, COLUMN_SENT);
    year->sent_fen += db_cell_i64(rows, row, COLUMN_SENT_FEN);
    year->received_count += db_cell_u64(rows, row, COLUMN_RECEIVED);
    year->received_fen += db_cell_i64(rows, row, COLUMN_RECEIVED_FEN);
    year->best_count += db_cell_u64(rows, row, COLUMN_BEST);
}

enum status user_totals_find(struct db *db, struct arena *a, uint64_t user_id, int year, struct user_totals *out)
{
    struct db_rows rows;
    enum status st =
        db_query_prepared(db, a, &rows,
                          "SELECT year, month, sent_count, sent_fen, received_count, received_fen, best_count "
                          "FROM user_month WHERE user_id = ? ORDER BY year DESC, month DESC",
                          DB_PARAMS(DB_U64(user_id)));
    *out = (struct user_totals){ 0 };
    if (st != ST_OK)
        return st;
    out->years = arena_array(a, rows.count + 1, sizeof *out->years);
    if (out->years == NULL)
        return ST_NO_MEMORY;
    for (size_t i = 0; i < rows.count; i++) {
        int row_year = (int)db_cell_u64(&rows, i, COLUMN_YEAR);
        uint64_t month = db_cell_u64(&rows, i, COLUMN_MONTH);
        if (month < 1 || month > MONTHS_PER_YEAR)
            return ST_CORRUPT;
        if (out->year_count == 0 || out->years[out->year_count - 1].year != row_year)
            out->years[out->year_count++] = (struct user_year){ .year = row_year };
        month_add(&out->years[out->year_count - 1], &rows, i);
        if (row_year == year)
            out->months[month - 1] = (struct user_month){ .sent_count = db_cell_u64(&rows, i, COLUMN_SENT),
                                                          .sent_fen = db_cell_i64(&rows, i, COLUMN_SENT_FEN),
                                                          .received_count = db_cell_u64(&rows, i, COLUMN_RECEIVED),
                                                          .received_fen = db_cell_i64(&rows, i, COLUMN_RECEIVED_FEN) };
    }
    return ST_OK;
}

enum status user_totals_take_back(struct db *db, uint64_t user_id, int64_t grabbed_ms, int64_t amount_fen)
{
    struct clock_date date = clock_zone_date(grabbed_ms);
    uint64_t changed;
    enum status st = db_exec(
        db, &changed,
        "UPDATE user_month SET received_count = received_count - 1, received_fen = received_fen - ?"
        " WHERE user_id = ? AND year = ? AND month = ? AND received_count > 0 AND received_fen >= ?",
        DB_PARAMS(DB_I64(amount_fen), DB_U64(user_id), DB_I64(date.year), DB_I64(date.month), DB_I64(amount_fen)));
    return st == ST_OK && changed != 1 ? ST_CORRUPT : st;
}

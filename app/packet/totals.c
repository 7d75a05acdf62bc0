#include "packet/totals.h"

#include <string.h>

static struct user_year user_year_from_row(const struct db_rows *rows, size_t row)
{
    return (struct user_year){ .year = (int)db_cell_u64(rows, row, 0),
                               .sent_count = db_cell_u64(rows, row, 1),
                               .sent_fen = db_cell_i64(rows, row, 2),
                               .received_count = db_cell_u64(rows, row, 3),
                               .received_fen = db_cell_i64(rows, row, 4),
                               .best_count = db_cell_u64(rows, row, 5) };
}

enum status user_years_find(struct db *db, struct arena *a, uint64_t user_id, struct user_year **out, size_t *out_count)
{
    struct db_rows rows;
    enum status st =
        db_query(db, a, &rows,
                 "SELECT year, SUM(sent_count), SUM(sent_fen), SUM(received_count), SUM(received_fen), SUM(best_count) "
                 "FROM user_month WHERE user_id = ? GROUP BY year ORDER BY year DESC",
                 DB_PARAMS(DB_U64(user_id)));
    if (st != ST_OK)
        return st;
    struct user_year *list = arena_array(a, rows.count, sizeof *list);
    if (list == NULL && rows.count > 0)
        return ST_NO_MEMORY;
    for (size_t i = 0; i < rows.count; i++)
        list[i] = user_year_from_row(&rows, i);
    *out = list;
    *out_count = rows.count;
    return ST_OK;
}

enum status user_months_find(struct db *db, struct arena *a, uint64_t user_id, int year,
                             struct user_month out[MONTHS_PER_YEAR])
{
    struct db_rows rows;
    enum status st = db_query(db, a, &rows,
                              "SELECT month, sent_count, sent_fen, received_count, received_fen FROM user_month "
                              "WHERE user_id = ? AND year = ?",
                              DB_PARAMS(DB_U64(user_id), DB_I64(year)));
    if (st != ST_OK)
        return st;
    memset(out, 0, MONTHS_PER_YEAR * sizeof *out);
    for (size_t i = 0; i < rows.count; i++) {
        uint64_t month = db_cell_u64(&rows, i, 0);
        if (month < 1 || month > MONTHS_PER_YEAR)
            return ST_CORRUPT;
        out[month - 1] = (struct user_month){ .sent_count = db_cell_u64(&rows, i, 1),
                                              .sent_fen = db_cell_i64(&rows, i, 2),
                                              .received_count = db_cell_u64(&rows, i, 3),
                                              .received_fen = db_cell_i64(&rows, i, 4) };
    }
    return ST_OK;
}

enum status user_totals_add_sent(struct db *db, uint64_t user_id, int64_t sent_ms, int64_t amount_fen)
{
    struct clock_date date = clock_zone_date(sent_ms);
    return db_exec(
        db, NULL,
        "INSERT INTO user_month (user_id, year, month, sent_count, sent_fen) VALUES (?, ?, ?, 1, ?) "
        "ON DUPLICATE KEY UPDATE sent_count = sent_count + 1, sent_fen = sent_fen + ?",
        DB_PARAMS(DB_U64(user_id), DB_I64(date.year), DB_I64(date.month), DB_I64(amount_fen), DB_I64(amount_fen)));
}

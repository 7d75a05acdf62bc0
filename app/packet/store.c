#include "packet/store.h"

#include <assert.h>
#include <string.h>

/* ---- rows ---- */

static uint64_t cell_u64_or(const struct db_rows *rows, size_t row, size_t column, uint64_t absent)
{
    return db_cell(rows, row, column).ptr == NULL ? absent : db_cell_u64(rows, row, column);
}

static int64_t cell_i64_or_0(const struct db_rows *rows, size_t row, size_t column)
{
    return db_cell(rows, row, column).ptr == NULL ? 0 : db_cell_i64(rows, row, column);
}

static bool cell_bytes32(const struct db_rows *rows, size_t row, size_t column, uint8_t *out)
{
    struct str cell = db_cell(rows, row, column);
    if (cell.ptr == NULL || cell.len != 32)
        return false;
    memcpy(out, cell.ptr, 32);
    return true;
}

enum status packet_from_row(const struct db_rows *rows, size_t row, size_t first_column, struct packet *out)
{
    size_t c = first_column;
    assert(c + PACKET_COLUMN_COUNT <= rows->columns);
    struct packet p = { .id = db_cell_u64(rows, row, c),
                        .sender_id = db_cell_u64(rows, row, c + 1),
                        .sender_name = db_cell(rows, row, c + 2),
                        .receiver_id = cell_u64_or(rows, row, c + 3, 0),
                        .receiver_name = db_cell(rows, row, c + 4),
                        .amount_fen = db_cell_i64(rows, row, c + 7),
                        .count = (uint32_t)db_cell_u64(rows, row, c + 8),
                        .share_max_fen = db_cell_i64(rows, row, c + 9),
                        .best_share_no = (uint32_t)cell_u64_or(rows, row, c + 10, PACKET_NO_SHARE),
                        .greeting = db_cell(rows, row, c + 11),
                        .grabbed_count = (uint32_t)db_cell_u64(rows, row, c + 15),
                        .grabbed_fen = db_cell_i64(rows, row, c + 16),
                        .refund_fen = db_cell_i64(rows, row, c + 17),
                        .created_ms = db_cell_i64(rows, row, c + 18),
                        .expires_ms = db_cell_i64(rows, row, c + 19),
                        .finished_ms = cell_i64_or_0(rows, row, c + 20),
                        .closed_ms = cell_i64_or_0(rows, row, c + 21),
                        .request_key = db_cell(rows, row, c + 22) };
    if (!packet_kind_from(db_cell(rows, row, c + 5), &p.kind) ||
        !split_method_from(db_cell(rows, row, c + 6), &p.split) ||
        !packet_state_from(db_cell(rows, row, c + 14), &p.state) || !cell_bytes32(rows, row, c + 12, p.seed) ||
        !cell_bytes32(rows, row, c + 13, p.commitment))
        return ST_CORRUPT;
    *out = p;
    return ST_OK;
}

static enum status packet_one(struct db *db, struct arena *a, struct packet *out, const char *sql,
                              const struct db_param *params, size_t count)
{
    struct db_rows rows;
    enum status st = db_query(db, a, &rows, sql, params, count);
    if (st != ST_OK)
        return st;
    return rows.count == 0 ? ST_NOT_FOUND : packet_from_row(&rows, 0, 0, out);
}

/* ---- one packet ---- */

enum status packet_find(struct db *db, struct arena *a, uint64_t packet_id, struct packet *out)
{
    return packet_one(db, a, out, "SELECT " PACKET_COLUMNS " FROM packet WHERE packet.id = ?",
                      DB_PARAMS(DB_U64(packet_id)));
}

enum status packet_find_locked(struct db *db, struct arena *a, uint64_t packet_id, struct packet *out)
{
    return packet_one(db, a, out, "SELECT " PACKET_COLUMNS " FROM packet WHERE packet.id = ? FOR UPDATE",
                      DB_PARAMS(DB_U64(packet_id)));
}

enum status packet_find_by_key(struct db *db, struct arena *a, uint64_t sender_id, struct str request_key,
                               struct packet *out)
{
    return packet_one(db, a, out,
                      "SELECT " PACKET_COLUMNS " FROM packet WHERE packet.sender_id = ? AND packet.request_key = ?",
                      DB_PARAMS(DB_U64(sender_id), DB_TEXT(request_key)));
}

static struct str str_of_bytes(const uint8_t *bytes, size_t len)
{
    return (struct str){ (const char *)bytes, len };
}

enum status packet_insert(struct db *db, const struct packet *p)
{
    bool exclusive = p->receiver_id != 0;
    bool has_best = p->best_share_no != PACKET_NO_SHARE;
    return db_exec(
        db, NULL,
        "INSERT INTO packet (id, sender_id, sender_name, receiver_id, receiver_name, kind, split, amount_fen, "
        "count, share_max_fen, best_share_no, greeting, seed, commitment, state, grabbed_count, "
        "grabbed_fen, refund_fen, created_ms, expires_ms, finished_ms, closed_ms, request_key) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        DB_PARAMS(DB_U64(p->id), DB_U64(p->sender_id), DB_TEXT(p->sender_name),
                  exclusive ? DB_U64(p->receiver_id) : DB_NULL, exclusive ? DB_TEXT(p->receiver_name) : DB_NULL,
                  DB_TEXT(packet_kind_name(p->kind)), DB_TEXT(split_method_name(p->split)), DB_I64(p->amount_fen),
                  DB_U64(p->count), DB_I64(p->share_max_fen), has_best ? DB_U64(p->best_share_no) : DB_NULL,
                  DB_TEXT(p->greeting), DB_BYTES(str_of_bytes(p->seed, sizeof p->seed)),
                  DB_BYTES(str_of_bytes(p->commitment, sizeof p->commitment)), DB_TEXT(packet_state_name(p->state)),
                  DB_U64(p->grabbed_count), DB_I64(p->grabbed_fen), DB_I64(p->refund_fen), DB_I64(p->created_ms),
                  DB_I64(p->expires_ms), p->finished_ms != 0 ? DB_I64(p->finished_ms) : DB_NULL,
                  p->closed_ms != 0 ? DB_I64(p->closed_ms) : DB_NULL, DB_TEXT(p->request_key)));
}

enum status packet_mark_open(struct db *db, uint64_t packet_id, bool *changed)
{
    uint64_t affected = 0;
    enum status st = db_exec(db, &affected, "UPDATE packet SET state = 'open' WHERE id = ? AND state = 'funding'",
                             DB_PARAMS(DB_U64(packet_id)));
    if (st == ST_OK && changed != NULL)
        *changed = affected != 0;
    return st;
}

/* ---- grabs ---- */

enum { GRAB_COLUMN_COUNT = 5 };
#define GRAB_COLUMNS "grab.share_no, grab.user_id, grab.nickname, grab.amount_fen, grab.grabbed_ms"

static struct grab grab_from_row(const struct db_rows *rows, size_t row)
{
    return (struct grab){ .share_no = (uint32_t)db_cell_u64(rows, row, 0),
                          .user_id = db_cell_u64(rows, row, 1),
                          .nickname = db_cell(rows, row, 2),
                          .amount_fen = db_cell_i64(rows, row, 3),
                          .grabbed_ms = db_cell_i64(rows, row, 4),
                          .settled = true };
}

static enum status grabs_list(struct db *db, struct arena *a, struct grab **out, size_t *out_count, const char *sql,
                              const struct db_param *params, size_t count)
{
    struct db_rows rows;
    enum status st = db_query(db, a, &rows, sql, params, count);
    if (st != ST_OK)
        return st;
    struct grab *list = arena_array(a, rows.count, sizeof *list);
    if (list == NULL && rows.count > 0)
        return ST_NO_MEMORY;
    for (size_t i = 0; i < rows.count; i++)
        list[i] = grab_from_row(&rows, i);
    *out = list;
    *out_count = rows.count;
    return ST_OK;
}

enum status packet_grabs(struct db *db, struct arena *a, uint64_t packet_id, uint32_t before, size_t limit,
                         struct grab **out, size_t *out_count)
{
    return grabs_list(db, a, out, out_count,
                      "SELECT " GRAB_COLUMNS " FROM grab WHERE packet_id = ? AND share_no < ? "
                      "ORDER BY share_no DESC LIMIT ?",
                      DB_PARAMS(DB_U64(packet_id), DB_U64(before), DB_U64(limit)));
}

enum status packet_grabs_between(struct db *db, struct arena *a, uint64_t packet_id, uint32_t first, uint32_t end,
                                 struct grab **out, size_t *out_count)
{
    return grabs_list(db, a, out, out_count,
                      "SELECT " GRAB_COLUMNS " FROM grab WHERE packet_id = ? AND share_no >= ? AND share_no < ? "
                      "ORDER BY share_no",
                      DB_PARAMS(DB_U64(packet_id), DB_U64(first), DB_U64(end)));
}

enum status packet_grab_of(struct db *db, struct arena *a, uint64_t packet_id, uint64_t user_id, struct grab *out)
{
    struct db_rows rows;
    enum status st = db_query(db, a, &rows, "SELECT " GRAB_COLUMNS " FROM grab WHERE packet_id = ? AND user_id = ?",
                              DB_PARAMS(DB_U64(packet_id), DB_U64(user_id)));
    if (st != ST_OK)
        return st;
    if (rows.count == 0)
        return ST_NOT_FOUND;
    *out = grab_from_row(&rows, 0);
    return ST_OK;
}

/* ---- records ---- */

/* The range's upper end as a key: rows below (ms, packet_id). No packet has id 0: (until_ms, 0) means t < until_ms. */
static struct record_cursor range_end(const struct record_range *range)
{
    struct record_cursor end = { .ms = range->until_ms, .packet_id = 0 };
    return range->has_cursor && range->cursor.ms < end.ms ? range->cursor : end;
}

enum status records_received_find(struct db *db, struct arena *a, uint64_t user_id, const struct record_range *range,
                                  size_t limit, struct received_row **out, size_t *out_count)
{
    struct record_cursor end = range_end(range);
    struct db_rows rows;
    enum status st =
        db_query(db, a, &rows,
                 "SELECT " GRAB_COLUMNS ", grab.packet_id, packet.kind, packet.greeting, packet.sender_id, "
                 "packet.sender_name, packet.grabbed_count = packet.count AND "
                 "COALESCE(packet.best_share_no = grab.share_no, FALSE) "
                 "FROM grab JOIN packet ON packet.id = grab.packet_id "
                 "WHERE grab.user_id = ? AND grab.grabbed_ms >= ? AND grab.grabbed_ms <= ? "
                 "AND (grab.grabbed_ms < ? OR grab.packet_id < ?) "
                 "ORDER BY grab.grabbed_ms DESC, grab.packet_id DESC LIMIT ?",
                 DB_PARAMS(DB_U64(user_id), DB_I64(range->from_ms), DB_I64(end.ms), DB_I64(end.ms),
                           DB_U64(end.packet_id), DB_U64(limit)));
    if (st != ST_OK)
        return st;
    struct received_row *list = arena_array(a, rows.count, sizeof *list);
    if (list == NULL && rows.count > 0)
        return ST_NO_MEMORY;
    for (size_t i = 0; i < rows.count; i++) {
        size_t c = GRAB_COLUMN_COUNT;
        list[i] = (struct received_row){ .grab = grab_from_row(&rows, i),
                                         .packet_id = db_cell_u64(&rows, i, c),
                                         .greeting = db_cell(&rows, i, c + 2),
                                         .sender_id = db_cell_u64(&rows, i, c + 3),
                                         .sender_name = db_cell(&rows, i, c + 4),
                                         .best = db_cell_u64(&rows, i, c + 5) != 0 };
        if (!packet_kind_from(db_cell(&rows, i, c + 1), &list[i].kind))
            return ST_CORRUPT;
    }
    *out = list;
    *out_count = rows.count;
    return ST_OK;
}

enum status records_sent_find(struct db *db, struct arena *a, uint64_t user_id, const struct record_range *range,
                              size_t limit, struct packet **out, size_t *out_count)
{
    struct record_cursor end = range_end(range);
    struct db_rows rows;
    enum status st = db_query(db, a, &rows,
                              "SELECT " PACKET_COLUMNS " FROM packet "
                              "WHERE packet.sender_id = ? AND packet.created_ms >= ? AND packet.created_ms <= ? "
                              "AND (packet.created_ms < ? OR packet.id < ?) "
                              "ORDER BY packet.created_ms DESC, packet.id DESC LIMIT ?",
                              DB_PARAMS(DB_U64(user_id), DB_I64(range->from_ms), DB_I64(end.ms), DB_I64(end.ms),
                                        DB_U64(end.packet_id), DB_U64(limit)));
    if (st != ST_OK)
        return st;
    struct packet *list = arena_array(a, rows.count, sizeof *list);
    if (list == NULL && rows.count > 0)
        return ST_NO_MEMORY;
    for (size_t i = 0; i < rows.count && st == ST_OK; i++)
        st = packet_from_row(&rows, i, 0, &list[i]);
    *out = list;
    *out_count = rows.count;
    return st;
}

static struct user_year user_year_from_row(const struct db_rows *rows, size_t row)
{
    return (struct user_year){ .year = (int)db_cell_u64(rows, row, 0),
                               .sent_count = db_cell_u64(rows, row, 1),
                               .sent_fen = db_cell_i64(rows, row, 2),
                               .received_count = db_cell_u64(rows, row, 3),
                               .received_fen = db_cell_i64(rows, row, 4),
                               .best_count = db_cell_u64(rows, row, 5) };
}

#define USER_YEAR_COLUMNS "year, sent_count, sent_fen, received_count, received_fen, best_count"

enum status user_years_find(struct db *db, struct arena *a, uint64_t user_id, struct user_year **out, size_t *out_count)
{
    struct db_rows rows;
    enum status st =
        db_query(db, a, &rows, "SELECT " USER_YEAR_COLUMNS " FROM user_year WHERE user_id = ? ORDER BY year DESC",
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
    enum status st = db_exec(db, NULL,
                             "INSERT INTO user_year (user_id, year, sent_count, sent_fen) VALUES (?, ?, 1, ?) "
                             "ON DUPLICATE KEY UPDATE sent_count = sent_count + 1, sent_fen = sent_fen + ?",
                             DB_PARAMS(DB_U64(user_id), DB_I64(date.year), DB_I64(amount_fen), DB_I64(amount_fen)));
    if (st != ST_OK)
        return st;
    return db_exec(
        db, NULL,
        "INSERT INTO user_month (user_id, year, month, sent_count, sent_fen) VALUES (?, ?, ?, 1, ?) "
        "ON DUPLICATE KEY UPDATE sent_count = sent_count + 1, sent_fen = sent_fen + ?",
        DB_PARAMS(DB_U64(user_id), DB_I64(date.year), DB_I64(date.month), DB_I64(amount_fen), DB_I64(amount_fen)));
}

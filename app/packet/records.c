#include "packet/records.h"

#include "packet/store.h"

/* The upper end of the range as a key; rows below (ms, packet_id) belong to it. No packet has id 0, so (until_ms, 0)
 * means: time < until_ms. */
static struct record_cursor range_end(const struct record_range *range)
{
    struct record_cursor end = { .ms = range->until_ms, .packet_id = 0 };
    return range->has_cursor && range->cursor.ms < end.ms ? range->cursor : end;
}

enum {
    COLUMN_PACKET,
    COLUMN_SHARE,
    COLUMN_AMOUNT,
    COLUMN_GRABBED,
    COLUMN_KIND,
    COLUMN_GREETING,
    COLUMN_SENDER,
    COLUMN_SENDER_NAME,
    COLUMN_BEST
};

/* The columns of grab are those of its key grab_received and of its primary key: no row of it is read. */
enum status records_received_find(struct db *db, struct arena *a, uint64_t user_id, const struct record_range *range,
                                  size_t limit, struct received_row **out, size_t *out_count)
{
    struct record_cursor end = range_end(range);
    struct db_rows rows;
    enum status st =
        db_query(db, a, &rows,
                 "SELECT grab.packet_id, grab.share_no, grab.amount_fen, grab.grabbed_ms, packet.kind, "
                 "packet.greeting, packet.sender_id, packet.sender_name, packet.grabbed_count = packet.count AND "
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
        list[i] = (struct received_row){ .packet_id = db_cell_u64(&rows, i, COLUMN_PACKET),
                                         .share_no = (uint32_t)db_cell_u64(&rows, i, COLUMN_SHARE),
                                         .amount_fen = db_cell_i64(&rows, i, COLUMN_AMOUNT),
                                         .grabbed_ms = db_cell_i64(&rows, i, COLUMN_GRABBED),
                                         .greeting = db_cell(&rows, i, COLUMN_GREETING),
                                         .sender_id = db_cell_u64(&rows, i, COLUMN_SENDER),
                                         .sender_name = db_cell(&rows, i, COLUMN_SENDER_NAME),
                                         .best = db_cell_u64(&rows, i, COLUMN_BEST) != 0 };
        if (!packet_kind_from(db_cell(&rows, i, COLUMN_KIND), &list[i].kind))
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

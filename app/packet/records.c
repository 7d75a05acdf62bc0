#include "packet/records.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
    COLUMN_SIDE,
    COLUMN_PACKET,
    COLUMN_MS,
    COLUMN_AMOUNT,
    COLUMN_SHARE,
    COLUMN_BEST,
    COLUMN_RETURNED,
    COLUMN_KIND,
    COLUMN_GREETING,
    COLUMN_SENDER,
    COLUMN_SENDER_NAME,
    COLUMN_COUNT,
    COLUMN_GRABBED,
    COLUMN_REFUND,
    COLUMN_STATE,
    COLUMN_EXPIRES,
    COLUMN_ENDED,
    COLUMN_RECEIVER_NAME,
    COLUMN_RECEIVER,
    COLUMN_FACE,
    COLUMN_NOTE,
    COLUMN_WITH_PERSON,
    COLUMN_PERSON_FEN
};

#define BEST                                                                                                           \
    "packet.grabbed_count = packet.count + packet.returned_count "                                                     \
    "AND COALESCE(packet.best_share_no = grab.share_no, FALSE)"
#define RETURNED "COALESCE(share_return.amount_fen, 0)"
#define RETURNED_TO_SENDER                                                                                             \
    "COALESCE((SELECT SUM(r.amount_fen) FROM share_return AS r "                                                       \
    "WHERE r.packet_id = packet.id AND r.position IS NULL), 0)"
#define OF_PACKET                                                                                                      \
    "packet.kind, packet.greeting, packet.sender_id, packet.sender_name, packet.count, "                               \
    "packet.grabbed_count - packet.returned_count, packet.refund_fen, packet.state, packet.expires_ms, "               \
    "packet.ended_ms IS NOT NULL, packet.receiver_name, packet.receiver_id, "

/* The rows of a side: the first columns, the tables, and whose they are. The key grab_received, which ends with the
 * primary key, has all columns of grab that are read. Without FORCE INDEX, MariaDB may look up the user alone in the
 * key and read all newer rows before the rows of the page. */
static const struct {
    const char *name, *select, *from, *where, *ms, *id;
} SIDES[] = {
    [RECORD_RECEIVED] = { .name = "received",
                          .select = "SELECT 'received', grab.packet_id, grab.grabbed_ms, grab.amount_fen, "
                                    "grab.share_no, " BEST ", " RETURNED ", " OF_PACKET "user.face, '', ",
                          .from =
                              " FROM grab FORCE INDEX (grab_received) STRAIGHT_JOIN packet "
                              "ON packet.id = grab.packet_id LEFT JOIN share_return "
                              "ON share_return.packet_id = grab.packet_id AND share_return.share_no = grab.share_no "
                              "LEFT JOIN user ON user.id = packet.sender_id",
                          .where = " WHERE grab.user_id = ",
                          .ms = "grab.grabbed_ms",
                          .id = "grab.packet_id" },
    [RECORD_SENT] = { .name = "sent",
                      .select =
                          "SELECT 'sent', packet.id, packet.created_ms, packet.amount_fen, 0, 0, " RETURNED_TO_SENDER
                          ", " OF_PACKET "user.face, packet.note, ",
                      .from = " FROM packet FORCE INDEX (packet_sent) LEFT JOIN user ON user.id = packet.receiver_id",
                      .where = " WHERE packet.sender_id = ",
                      .ms = "packet.created_ms",
                      .id = "packet.id" },
};

static bool asks_for_person(const struct record_query *query)
{
    return query->side == RECORD_SENT && query->person_id != 0;
}

/* Adds whether the person has a share of the packet or is a named receiver, and the share: each is one row by a unique
 * key. Exclusive packets of older programs name their receiver in the row of the packet only. */
static void person_append(struct buf *sql, const struct record_query *query)
{
    if (asks_for_person(query))
        buf_printf(sql,
                   "grab.user_id IS NOT NULL OR COALESCE(packet.receiver_id = %" PRIu64 ", FALSE) OR EXISTS "
                   "(SELECT 1 FROM packet_receiver FORCE INDEX (PRIMARY) WHERE packet_receiver.packet_id = packet.id "
                   "AND packet_receiver.user_id = %" PRIu64 "), grab.amount_fen - COALESCE(given.amount_fen, 0)",
                   query->person_id, query->person_id);
    else
        buf_cstr(sql, "0, NULL");
}

static void person_share_append(struct buf *sql, const struct record_query *query)
{
    if (asks_for_person(query))
        buf_printf(sql,
                   " LEFT JOIN grab FORCE INDEX (grab_once) ON grab.packet_id = packet.id AND grab.user_id = %" PRIu64
                   " LEFT JOIN share_return AS given FORCE INDEX (PRIMARY) ON given.packet_id = grab.packet_id "
                   "AND given.share_no = grab.share_no",
                   query->person_id);
}

static void side_append(struct buf *sql, const struct record_query *query, const struct db_page *page)
{
    buf_cstr(sql, SIDES[query->side].select);
    person_append(sql, query);
    buf_cstr(sql, SIDES[query->side].from);
    person_share_append(sql, query);
    buf_cstr(sql, SIDES[query->side].where);
    buf_u64(sql, query->user_id);
    db_page_append(sql, page, SIDES[query->side].ms, SIDES[query->side].id);
}

static bool record_read(const struct db_rows *rows, size_t row, struct record *out)
{
    struct str receiver = db_cell(rows, row, COLUMN_RECEIVER), person_fen = db_cell(rows, row, COLUMN_PERSON_FEN);
    *out = (struct record){ .packet_id = db_cell_u64(rows, row, COLUMN_PACKET),
                            .ms = db_cell_i64(rows, row, COLUMN_MS),
                            .amount_fen = db_cell_i64(rows, row, COLUMN_AMOUNT),
                            .greeting = db_cell(rows, row, COLUMN_GREETING),
                            .share_no = (uint32_t)db_cell_u64(rows, row, COLUMN_SHARE),
                            .sender_id = db_cell_u64(rows, row, COLUMN_SENDER),
                            .sender_name = db_cell(rows, row, COLUMN_SENDER_NAME),
                            .face = face_from(db_cell(rows, row, COLUMN_FACE)),
                            .note = str_or_empty(db_cell(rows, row, COLUMN_NOTE)),
                            .best = db_cell_u64(rows, row, COLUMN_BEST) != 0,
                            .returned_fen = db_cell_i64(rows, row, COLUMN_RETURNED),
                            .count = (uint32_t)db_cell_u64(rows, row, COLUMN_COUNT),
                            .grabbed_count = (uint32_t)db_cell_u64(rows, row, COLUMN_GRABBED),
                            .refund_fen = db_cell_i64(rows, row, COLUMN_REFUND),
                            .expires_ms = db_cell_i64(rows, row, COLUMN_EXPIRES),
                            .ended = db_cell_u64(rows, row, COLUMN_ENDED) != 0,
                            .receiver_id = receiver.ptr != NULL ? db_cell_u64(rows, row, COLUMN_RECEIVER) : 0,
                            .receiver_name = str_or_empty(db_cell(rows, row, COLUMN_RECEIVER_NAME)),
                            .with_person = db_cell_u64(rows, row, COLUMN_WITH_PERSON) != 0,
                            .person_fen = person_fen.ptr != NULL ? db_cell_i64(rows, row, COLUMN_PERSON_FEN) : 0 };
    return packet_kind_from(db_cell(rows, row, COLUMN_KIND), &out->kind) &&
           packet_state_from(db_cell(rows, row, COLUMN_STATE), &out->state);
}

static int record_order(const void *left, const void *right)
{
    const struct record *a = left, *b = right;
    return list_key_order(a->ms, a->packet_id, b->ms, b->packet_id);
}

/* Reads the rows of one side, and sorts them again: a UNION has no order. */
static enum status list_read(struct arena *a, const struct db_rows *rows, enum record_side side,
                             struct record_list *out)
{
    *out = (struct record_list){ .rows = arena_array(a, rows->count + 1, sizeof *out->rows) };
    if (out->rows == NULL)
        return ST_NO_MEMORY;
    for (size_t i = 0; i < rows->count; i++) {
        if (!str_equal(db_cell(rows, i, COLUMN_SIDE), str_from(SIDES[side].name)))
            continue;
        if (!record_read(rows, i, &out->rows[out->count++]))
            return ST_CORRUPT;
    }
    qsort(out->rows, out->count, sizeof *out->rows, record_order);
    return ST_OK;
}

enum status records_find(struct db *db, struct arena *a, const struct record_query *query, const struct db_page *page,
                         struct record_list *out)
{
    struct buf sql = { 0 };
    struct db_rows rows;
    side_append(&sql, query, page);
    enum status st = db_query_buf_prepared(db, a, &rows, &sql);
    buf_free(&sql);
    return st == ST_OK ? list_read(a, &rows, query->side, out) : st;
}

static enum status balance_read(const struct db_rows *rows, int64_t *out)
{
    for (size_t i = 0; i < rows->count; i++) {
        if (str_equal(db_cell(rows, i, COLUMN_SIDE), STR("balance"))) {
            *out = db_cell_i64(rows, i, COLUMN_AMOUNT);
            return ST_OK;
        }
    }
    return ST_NOT_FOUND;
}

enum status overview_find(struct db *db, struct arena *a, uint64_t user_id, size_t limit, struct overview *out)
{
    const struct db_page page = { .limit = limit };
    struct buf sql = { 0 };
    struct db_rows rows;
    for (enum record_side side = 0; side < RECORD_SIDES; side++) {
        const struct record_query query = { .user_id = user_id, .side = side };
        buf_char(&sql, '(');
        side_append(&sql, &query, &page);
        buf_cstr(&sql, ") UNION ALL ");
    }
    buf_cstr(&sql,
             "SELECT 'balance', NULL, NULL, balance_fen, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, "
             "NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM account WHERE id = ");
    buf_u64(&sql, user_id);
    enum status st = db_query_buf_prepared(db, a, &rows, &sql);
    buf_free(&sql);
    if (st == ST_OK)
        st = balance_read(&rows, &out->balance_fen);
    for (enum record_side side = 0; st == ST_OK && side < RECORD_SIDES; side++)
        st = list_read(a, &rows, side, &out->records[side]);
    return st;
}

#include "packet/inbox.h"

#include <inttypes.h>
#include <stdlib.h>

#include "mysql/db_page.h"

/* Each part reads a few rows by an index and then looks up the rows that belong to them. STRAIGHT_JOIN keeps this
 * order: the optimizer would begin with another table that it believes to be small. */

/* The number of rows that a part reads. */
#define LATEST_ROWS "100"
#define SENT_ROWS   "20" /* packets of the user of which thanks and returns are read */

enum {
    COLUMN_KIND,
    COLUMN_MS,
    COLUMN_PACKET,
    COLUMN_GREETING,
    COLUMN_SENDER,
    COLUMN_SENDER_NAME,
    COLUMN_OPENS,
    COLUMN_AMOUNT,
    COLUMN_TEXT,
    COLUMN_INTO_PACKET,
    COLUMN_COVER,
    COLUMN_EXCLUSIVE,
    COLUMN_SENDER_FACE
};

static const char *const NAMES[INBOX_KINDS] = {
    [INBOX_WAITING] = "waiting", [INBOX_REFUND] = "refund", [INBOX_THANKS] = "thanks", [INBOX_RETURN] = "return"
};

struct str inbox_kind_name(enum inbox_kind kind)
{
    return str_from(NAMES[kind]);
}

#define WAITING_COLUMNS                                                                                                \
    "SELECT 'waiting', packet.created_ms, packet.id, packet.greeting, packet.sender_id, packet.sender_name, "          \
    "packet.opens_ms, NULL, NULL, 0, packet.cover, packet.kind = 'exclusive', user.face "
/* A join instead of a subquery: the server would keep the subquery's first plan, a scan of all grabs made while there
 * were few (db_query_prepared). */
#define AND_TAKEN                                                                                                      \
    "LEFT JOIN user ON user.id = packet.sender_id "                                                                    \
    "LEFT JOIN grab FORCE INDEX (grab_once) ON grab.packet_id = packet.id AND grab.user_id = %" PRIu64 " "
#define NOT_TAKEN                                                                                                      \
    "packet.state IN ('funding', 'open') AND packet.grabbed_count < packet.count + packet.returned_count "             \
    "AND grab.user_id IS NULL "

static void waiting_append(struct buf *sql, uint64_t user_id, int64_t now_ms)
{
    buf_cstr(sql, WAITING_COLUMNS);
    buf_printf(sql,
               "FROM (SELECT packet_id "
               "FROM packet_receiver FORCE INDEX (packet_receiver_waiting) WHERE user_id = %" PRIu64
               " AND expires_ms > %" PRId64 " ORDER BY expires_ms DESC, packet_id DESC LIMIT " LATEST_ROWS
               ") AS latest "
               "STRAIGHT_JOIN packet ON packet.id = latest.packet_id " AND_TAKEN "WHERE " NOT_TAKEN
               "ORDER BY packet.created_ms DESC, packet.id DESC LIMIT %d",
               user_id, now_ms, user_id, INBOX_ITEMS_MAX);
}

/* Appends the packets that the user has looked at, without the user's own: those are among the sent ones. */
static void looked_append(struct buf *sql, uint64_t user_id, int64_t now_ms, const struct inbox_looked *looked)
{
    buf_printf(sql, " UNION ALL (" WAITING_COLUMNS "FROM packet " AND_TAKEN "WHERE packet.id IN ", user_id);
    db_ids(sql, looked->ids, looked->count);
    buf_printf(sql,
               " AND packet.kind <> 'exclusive' AND packet.receiver_count = 0 AND packet.sender_id <> %" PRIu64
               " AND packet.expires_ms > %" PRId64 " AND " NOT_TAKEN ")",
               user_id, now_ms);
}

static void refund_append(struct buf *sql, uint64_t user_id, int64_t now_ms)
{
    buf_printf(sql,
               "SELECT 'refund', latest.created_ms, packet.id, packet.greeting, NULL, NULL, NULL, latest.amount_fen, "
               "NULL, 0, NULL, 0, NULL FROM (SELECT kind, packet_id, amount_fen, created_ms, id FROM transfer "
               "FORCE INDEX (transfer_credit) WHERE credit_id = %" PRIu64 " AND created_ms > %" PRId64
               " ORDER BY created_ms DESC, id DESC LIMIT " LATEST_ROWS ") AS latest "
               "STRAIGHT_JOIN packet ON packet.id = latest.packet_id WHERE latest.kind = 'refund' "
               "ORDER BY latest.created_ms DESC, latest.id DESC LIMIT %d",
               user_id, now_ms - INBOX_SHOWN_MS, INBOX_ITEMS_MAX);
}

/* Appends the FROM of a query about the latest packets that the user has sent. */
static void sent_append(struct buf *sql, uint64_t user_id)
{
    buf_printf(sql,
               " FROM (SELECT id, greeting FROM packet FORCE INDEX (packet_sent) WHERE sender_id = %" PRIu64
               " ORDER BY created_ms DESC, id DESC LIMIT " SENT_ROWS ") AS latest ",
               user_id);
}

/* Appends the same, joined with the thanks for these packets. more: a join of further tables. */
static void thanks_from_append(struct buf *sql, uint64_t user_id, int64_t now_ms, const char *more)
{
    sent_append(sql, user_id);
    buf_printf(sql, "STRAIGHT_JOIN thanks ON thanks.packet_id = latest.id %sWHERE thanks.created_ms > %" PRId64, more,
               now_ms - INBOX_SHOWN_MS);
}

static void thanks_append(struct buf *sql, uint64_t user_id, int64_t now_ms)
{
    buf_cstr(sql,
             "SELECT 'thanks', thanks.created_ms, latest.id, latest.greeting, thanks.user_id, grab.nickname, NULL, "
             "NULL, thanks.text, 0, NULL, 0, user.face");
    thanks_from_append(sql, user_id, now_ms,
                       "STRAIGHT_JOIN grab ON grab.packet_id = thanks.packet_id AND grab.share_no = thanks.share_no "
                       "LEFT JOIN user ON user.id = thanks.user_id ");
    buf_printf(sql, " ORDER BY thanks.created_ms DESC, latest.id DESC LIMIT %d", INBOX_ITEMS_MAX);
}

/* Appends the shares that were given back, without the user's own: a sender can be a receiver, too. */
static void return_append(struct buf *sql, uint64_t user_id, int64_t now_ms)
{
    buf_cstr(sql, "SELECT 'return', share_return.returned_ms, latest.id, latest.greeting, share_return.user_id, "
                  "grab.nickname, NULL, share_return.amount_fen, NULL, share_return.position IS NOT NULL, NULL, "
                  "0, user.face");
    sent_append(sql, user_id);
    buf_printf(
        sql,
        "STRAIGHT_JOIN share_return ON share_return.packet_id = latest.id "
        "STRAIGHT_JOIN grab ON grab.packet_id = share_return.packet_id AND grab.share_no = share_return.share_no "
        "LEFT JOIN user ON user.id = share_return.user_id "
        "WHERE share_return.returned_ms > %" PRId64 " AND share_return.user_id <> %" PRIu64
        " ORDER BY share_return.returned_ms DESC, latest.id DESC LIMIT %d",
        now_ms - INBOX_SHOWN_MS, user_id, INBOX_ITEMS_MAX);
}

static void (*const PARTS[INBOX_KINDS])(struct buf *sql, uint64_t user_id, int64_t now_ms) = {
    [INBOX_WAITING] = waiting_append,
    [INBOX_REFUND] = refund_append,
    [INBOX_THANKS] = thanks_append,
    [INBOX_RETURN] = return_append,
};

static bool is_null(const struct db_rows *rows, size_t row, size_t column)
{
    return db_cell(rows, row, column).ptr == NULL;
}

static bool item_read(const struct db_rows *rows, size_t row, struct inbox_item *out)
{
    enum inbox_kind kind = 0;
    while (kind < INBOX_KINDS && !str_equal(db_cell(rows, row, COLUMN_KIND), inbox_kind_name(kind)))
        kind++;
    if (kind == INBOX_KINDS)
        return false;
    *out = (struct inbox_item){
        .kind = kind,
        .ms = db_cell_i64(rows, row, COLUMN_MS),
        .packet_id = db_cell_u64(rows, row, COLUMN_PACKET),
        .greeting = db_cell(rows, row, COLUMN_GREETING),
        .sender_id = is_null(rows, row, COLUMN_SENDER) ? 0 : db_cell_u64(rows, row, COLUMN_SENDER),
        .sender_name = db_cell(rows, row, COLUMN_SENDER_NAME),
        .sender_face = face_from(db_cell(rows, row, COLUMN_SENDER_FACE)),
        .opens_ms = is_null(rows, row, COLUMN_OPENS) ? 0 : db_cell_i64(rows, row, COLUMN_OPENS),
        .amount_fen = is_null(rows, row, COLUMN_AMOUNT) ? 0 : db_cell_i64(rows, row, COLUMN_AMOUNT),
        .text = db_cell(rows, row, COLUMN_TEXT),
        .into_packet = db_cell_u64(rows, row, COLUMN_INTO_PACKET) != 0,
        .cover = str_or_empty(db_cell(rows, row, COLUMN_COVER)),
        .exclusive = db_cell_u64(rows, row, COLUMN_EXCLUSIVE) != 0,
    };
    return true;
}

/* Orders packets that can be opened before those that open later. */
static int item_order(const void *left, const void *right)
{
    const struct inbox_item *a = left, *b = right;
    if (a->not_yet != b->not_yet)
        return a->not_yet ? 1 : -1;
    if (a->not_yet && a->opens_ms != b->opens_ms)
        return a->opens_ms < b->opens_ms ? -1 : 1;
    return list_key_order(a->ms, a->packet_id, b->ms, b->packet_id);
}

static bool is_looked(const struct inbox_looked *looked, uint64_t packet_id)
{
    for (size_t i = 0; looked != NULL && i < looked->count; i++)
        if (looked->ids[i] == packet_id)
            return true;
    return false;
}

bool inbox_thanked_before(const struct inbox *inbox, size_t item)
{
    for (size_t i = 0; i < item; i++)
        if (inbox->items[i].kind == INBOX_THANKS && inbox->items[i].sender_id == inbox->items[item].sender_id)
            return true;
    return false;
}

/* Counts the users who said thanks. There may be more when the limit of rows was reached. */
static enum status thankers_find(struct db *db, struct arena *a, uint64_t user_id, int64_t now_ms, struct inbox *inbox)
{
    size_t found = 0;
    for (size_t i = 0; i < inbox->count; i++) {
        if (inbox->items[i].kind != INBOX_THANKS)
            continue;
        found++;
        inbox->thankers += !inbox_thanked_before(inbox, i);
    }
    if (found < INBOX_ITEMS_MAX)
        return ST_OK;
    struct buf sql = BUF_EMPTY;
    struct db_rows rows;
    buf_cstr(&sql, "SELECT COUNT(DISTINCT thanks.user_id)");
    thanks_from_append(&sql, user_id, now_ms, "");
    enum status st = db_query_buf_prepared(db, a, &rows, &sql);
    buf_free(&sql);
    if (st == ST_OK)
        inbox->thankers = db_cell_u64(&rows, 0, 0);
    return st;
}

enum status inbox_find(struct db *db, struct arena *a, uint64_t user_id, int64_t now_ms,
                       const struct inbox_looked *looked, struct inbox *out)
{
    struct buf sql = BUF_EMPTY;
    struct db_rows rows;
    *out = (struct inbox){ .count = 0 };
    for (enum inbox_kind kind = 0; kind < INBOX_KINDS; kind++) {
        buf_cstr(&sql, kind > 0 ? " UNION ALL (" : "(");
        PARTS[kind](&sql, user_id, now_ms);
        buf_char(&sql, ')');
    }
    if (looked != NULL && looked->count > 0)
        looked_append(&sql, user_id, now_ms, looked);
    enum status st = db_query_buf_prepared(db, a, &rows, &sql);
    buf_free(&sql);
    if (st != ST_OK)
        return st;
    out->items = arena_array(a, rows.count + 1, sizeof *out->items);
    if (out->items == NULL)
        return ST_NO_MEMORY;
    for (; out->count < rows.count; out->count++) {
        struct inbox_item *item = &out->items[out->count];
        if (!item_read(&rows, out->count, item))
            return ST_CORRUPT;
        item->not_yet = item->opens_ms > now_ms;
        item->looked = is_looked(looked, item->packet_id);
    }
    qsort(out->items, out->count, sizeof *out->items, item_order);
    return thankers_find(db, a, user_id, now_ms, out);
}

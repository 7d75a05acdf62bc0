#include "packet/store.h"

#include <assert.h>
#include <string.h>

#include "base/clock.h"
#include "packet/split.h"

/* ---- rows ---- */

/* The order of PACKET_COLUMNS. */
enum {
    COLUMN_ID,
    COLUMN_SENDER,
    COLUMN_SENDER_NAME,
    COLUMN_RECEIVER,
    COLUMN_RECEIVER_NAME,
    COLUMN_KIND,
    COLUMN_SPLIT,
    COLUMN_AMOUNT,
    COLUMN_COUNT,
    COLUMN_SHARE_MAX,
    COLUMN_BEST,
    COLUMN_GREETING,
    COLUMN_SEED,
    COLUMN_COMMITMENT,
    COLUMN_STATE,
    COLUMN_GRABBED,
    COLUMN_GRABBED_FEN,
    COLUMN_REFUND,
    COLUMN_CREATED,
    COLUMN_EXPIRES,
    COLUMN_FINISHED,
    COLUMN_CLOSED,
    COLUMN_REQUEST_KEY,
    COLUMN_SHARE_MIN,
    COLUMN_OPENS,
    COLUMN_PHRASE_HASH,
    COLUMN_PHRASE_SEALED,
    COLUMN_COVER,
    COLUMN_RECEIVERS,
    COLUMN_ENDED,
    COLUMN_RETURNED,
    COLUMN_RETURNED_FEN,
    COLUMN_THANKS
};
_Static_assert(COLUMN_THANKS + 1 == PACKET_COLUMN_COUNT, "PACKET_COLUMNS has as many columns");

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

/* False when no setting has ever allowed such a packet. Memory is reserved by these numbers. */
static bool numbers_are_possible(const struct packet *p)
{
    return p->count >= 1 && p->count <= SPLIT_COUNT_MAX && p->amount_fen >= 1 && p->amount_fen <= SPLIT_TOTAL_FEN_MAX &&
           p->returned_count <= SPLIT_COUNT_MAX && p->returned_fen >= 0 &&
           p->returned_fen <= SPLIT_TOTAL_FEN_MAX * SPLIT_COUNT_MAX && p->receiver_count <= RECEIVERS_MAX;
}

enum status packet_from_row(const struct db_rows *rows, size_t row, size_t first_column, struct packet *out)
{
    size_t c = first_column;
    assert(c + PACKET_COLUMN_COUNT <= rows->columns);
    struct packet p = { .id = db_cell_u64(rows, row, c + COLUMN_ID),
                        .sender_id = db_cell_u64(rows, row, c + COLUMN_SENDER),
                        .sender_name = db_cell(rows, row, c + COLUMN_SENDER_NAME),
                        .receiver_id = cell_u64_or(rows, row, c + COLUMN_RECEIVER, 0),
                        .receiver_name = db_cell(rows, row, c + COLUMN_RECEIVER_NAME),
                        .amount_fen = db_cell_i64(rows, row, c + COLUMN_AMOUNT),
                        .count = (uint32_t)db_cell_u64(rows, row, c + COLUMN_COUNT),
                        .share_max_fen = db_cell_i64(rows, row, c + COLUMN_SHARE_MAX),
                        .best_share_no = (uint32_t)cell_u64_or(rows, row, c + COLUMN_BEST, PACKET_NO_SHARE),
                        .greeting = db_cell(rows, row, c + COLUMN_GREETING),
                        .grabbed_count = (uint32_t)db_cell_u64(rows, row, c + COLUMN_GRABBED),
                        .grabbed_fen = db_cell_i64(rows, row, c + COLUMN_GRABBED_FEN),
                        .refund_fen = db_cell_i64(rows, row, c + COLUMN_REFUND),
                        .created_ms = db_cell_i64(rows, row, c + COLUMN_CREATED),
                        .expires_ms = db_cell_i64(rows, row, c + COLUMN_EXPIRES),
                        .finished_ms = cell_i64_or_0(rows, row, c + COLUMN_FINISHED),
                        .closed_ms = cell_i64_or_0(rows, row, c + COLUMN_CLOSED),
                        .request_key = db_cell(rows, row, c + COLUMN_REQUEST_KEY),
                        .share_min_fen = db_cell_i64(rows, row, c + COLUMN_SHARE_MIN),
                        .opens_ms = cell_i64_or_0(rows, row, c + COLUMN_OPENS),
                        .phrase_hash = str_or_empty(db_cell(rows, row, c + COLUMN_PHRASE_HASH)),
                        .phrase_sealed = str_or_empty(db_cell(rows, row, c + COLUMN_PHRASE_SEALED)),
                        .cover = db_cell(rows, row, c + COLUMN_COVER),
                        .returned_shares = STR(""),
                        .receiver_count = (uint32_t)db_cell_u64(rows, row, c + COLUMN_RECEIVERS),
                        .ended_ms = cell_i64_or_0(rows, row, c + COLUMN_ENDED),
                        .returned_count = (uint32_t)db_cell_u64(rows, row, c + COLUMN_RETURNED),
                        .returned_fen = db_cell_i64(rows, row, c + COLUMN_RETURNED_FEN),
                        .thanks_count = (uint32_t)db_cell_u64(rows, row, c + COLUMN_THANKS) };
    if (!packet_kind_from(db_cell(rows, row, c + COLUMN_KIND), &p.kind) ||
        !split_method_from(db_cell(rows, row, c + COLUMN_SPLIT), &p.split) ||
        !packet_state_from(db_cell(rows, row, c + COLUMN_STATE), &p.state) ||
        !cell_bytes32(rows, row, c + COLUMN_SEED, p.seed) ||
        !cell_bytes32(rows, row, c + COLUMN_COMMITMENT, p.commitment) || !numbers_are_possible(&p))
        return ST_CORRUPT;
    *out = p;
    return ST_OK;
}

static enum status packet_one(struct db *db, struct arena *a, struct packet *out, const char *sql,
                              const struct db_param *params, size_t count)
{
    struct db_rows rows;
    enum status st = db_find(db, a, &rows, sql, params, count);
    return st == ST_OK ? packet_from_row(&rows, 0, 0, out) : st;
}

/* ---- one packet ---- */

enum status packet_find(struct db *db, struct arena *a, uint64_t packet_id, struct packet *out)
{
    return packet_one(db, a, out, "SELECT " PACKET_COLUMNS " FROM packet WHERE packet.id = ?",
                      DB_PARAMS(DB_U64(packet_id)));
}

enum status packet_find_face(struct db *db, struct arena *a, uint64_t packet_id, struct packet *out)
{
    struct db_rows rows;
    enum status st = db_find(db, a, &rows,
                             "SELECT kind, sender_name, receiver_name, greeting, cover, opens_ms, "
                             "packet_needs_phrase(id) FROM packet WHERE id = ?",
                             DB_PARAMS(DB_U64(packet_id)));
    if (st != ST_OK)
        return st;
    *out = (struct packet){ .id = packet_id,
                            .sender_name = db_cell(&rows, 0, 1),
                            .receiver_name = db_cell(&rows, 0, 2),
                            .greeting = db_cell(&rows, 0, 3),
                            .cover = db_cell(&rows, 0, 4),
                            .opens_ms = cell_i64_or_0(&rows, 0, 5),
                            .needs_phrase = cell_i64_or_0(&rows, 0, 6) != 0 };
    return packet_kind_from(db_cell(&rows, 0, 0), &out->kind) ? ST_OK : ST_CORRUPT;
}

enum status packet_find_sender(struct db *db, struct arena *a, uint64_t packet_id, struct packet *out)
{
    struct db_rows rows;
    enum status st =
        db_find(db, a, &rows, "SELECT sender_id, state, count, grabbed_count, created_ms FROM packet WHERE id = ?",
                DB_PARAMS(DB_U64(packet_id)));
    if (st != ST_OK)
        return st;
    *out = (struct packet){ .id = packet_id,
                            .sender_id = db_cell_u64(&rows, 0, 0),
                            .count = (uint32_t)db_cell_u64(&rows, 0, 2),
                            .grabbed_count = (uint32_t)db_cell_u64(&rows, 0, 3),
                            .created_ms = db_cell_i64(&rows, 0, 4) };
    return packet_state_from(db_cell(&rows, 0, 1), &out->state) ? ST_OK : ST_CORRUPT;
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

/* The list that packet_send takes. False: out of memory. */
static bool receiver_ids_append(struct buf *out, const struct receivers *r)
{
    for (size_t i = 0; i < r->count; i++) {
        buf_char(out, i == 0 ? '[' : ',');
        buf_u64(out, r->items[i].id);
    }
    if (r->count > 0)
        buf_char(out, ']');
    return !out->failed;
}

enum status packet_send(struct db *db, const struct packet *p, const struct receivers *receivers)
{
    const bool exclusive = p->receiver_id != 0;
    const struct clock_date month = clock_zone_date(p->created_ms);
    struct buf ids = BUF_EMPTY;
    enum status st = ST_NO_MEMORY;
    if (receiver_ids_append(&ids, receivers))
        st = db_exec_retried(
            db, "CALL packet_send(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            DB_PARAMS(DB_U64(p->id), DB_U64(p->sender_id), DB_TEXT(p->sender_name),
                      exclusive ? DB_U64(p->receiver_id) : DB_NULL, exclusive ? DB_TEXT(p->receiver_name) : DB_NULL,
                      DB_TEXT(packet_kind_name(p->kind)), DB_TEXT(split_method_name(p->split)), DB_I64(p->amount_fen),
                      DB_U64(p->count), DB_I64(p->share_max_fen), DB_I64(p->share_min_fen),
                      p->best_share_no != PACKET_NO_SHARE ? DB_U64(p->best_share_no) : DB_NULL, DB_TEXT(p->greeting),
                      DB_BYTES(str_of_bytes(p->seed, sizeof p->seed)),
                      DB_BYTES(str_of_bytes(p->commitment, sizeof p->commitment)), DB_I64(p->created_ms),
                      DB_I64(p->expires_ms), p->opens_ms != 0 ? DB_I64(p->opens_ms) : DB_NULL, DB_TEXT(p->request_key),
                      p->phrase_hash.len > 0 ? DB_BYTES(p->phrase_hash) : DB_NULL,
                      p->phrase_sealed.len > 0 ? DB_BYTES(p->phrase_sealed) : DB_NULL, DB_TEXT(str_or_empty(p->cover)),
                      DB_U64(p->receiver_count), ids.len > 0 ? DB_TEXT(buf_view(&ids)) : DB_NULL, DB_I64(month.year),
                      DB_I64(month.month)));
    buf_free(&ids);
    return st;
}

enum status packet_mark_open(struct db *db, uint64_t packet_id)
{
    return packets_mark_open(db, &packet_id, 1, NULL);
}

enum status packets_mark_open(struct db *db, const uint64_t *packet_ids, size_t count, uint64_t *changed)
{
    struct buf sql = BUF_EMPTY;
    buf_cstr(&sql, "UPDATE packet FORCE INDEX (PRIMARY) SET state = 'open' WHERE state = 'funding' AND id IN ");
    db_ids(&sql, packet_ids, count);
    enum status st = db_exec_buf(db, changed, &sql);
    buf_free(&sql);
    return st;
}

enum status packet_end(struct db *db, uint64_t packet_id, int64_t now_ms)
{
    return db_exec(db, NULL,
                   "UPDATE packet SET ended_ms = ?, expires_ms = ? WHERE id = ? AND state IN ('funding', 'open')"
                   " AND expires_ms > ? AND grabbed_count < count + returned_count",
                   DB_PARAMS(DB_I64(now_ms), DB_I64(now_ms), DB_U64(packet_id), DB_I64(now_ms)));
}

/* ---- grabs ---- */

struct grab grab_from_row(const struct db_rows *rows, size_t row)
{
    return (struct grab){ .share_no = (uint32_t)db_cell_u64(rows, row, 0),
                          .user_id = db_cell_u64(rows, row, 1),
                          .nickname = db_cell(rows, row, 2),
                          .amount_fen = db_cell_i64(rows, row, 3),
                          .grabbed_ms = db_cell_i64(rows, row, 4),
                          .settled = true,
                          .returned = db_cell_u64(rows, row, 5) != 0 };
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
    enum status st = db_find(db, a, &rows, "SELECT " GRAB_COLUMNS " FROM grab WHERE packet_id = ? AND user_id = ?",
                             DB_PARAMS(DB_U64(packet_id), DB_U64(user_id)));
    if (st != ST_OK)
        return st;
    *out = grab_from_row(&rows, 0);
    return ST_OK;
}

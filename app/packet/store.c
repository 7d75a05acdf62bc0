#include "packet/store.h"

#include <assert.h>
#include <string.h>

#include "base/clock.h"
#include "base/value.h"
#include "packet/split.h"

/* ---- rows ---- */

static int64_t cell_i64_or_0(const struct db_rows *rows, size_t row, size_t column)
{
    return db_cell(rows, row, column).ptr == NULL ? 0 : db_cell_i64(rows, row, column);
}

static bool bytes32_read(struct str cell, void *out)
{
    if (cell.ptr == NULL || cell.len != 32)
        return false;
    memcpy(out, cell.ptr, 32);
    return true;
}

/* Reads a cell into a member. False: a name or length that the schema does not allow. */
static bool cell_read(const struct db_rows *rows, size_t row, size_t column, enum packet_member_type type, void *out)
{
    const struct str cell = db_cell(rows, row, column);
    const bool absent = cell.ptr == NULL;
    switch (type) {
    case PACKET_TYPE_U64: *(uint64_t *)out = db_cell_u64(rows, row, column); return true;
    case PACKET_TYPE_OPT_U64: *(uint64_t *)out = absent ? 0 : db_cell_u64(rows, row, column); return true;
    case PACKET_TYPE_U32: *(uint32_t *)out = (uint32_t)db_cell_u64(rows, row, column); return true;
    case PACKET_TYPE_OPT_SHARE:
        *(uint32_t *)out = absent ? PACKET_NO_SHARE : (uint32_t)db_cell_u64(rows, row, column);
        return true;
    case PACKET_TYPE_I64: *(int64_t *)out = db_cell_i64(rows, row, column); return true;
    case PACKET_TYPE_OPT_I64: *(int64_t *)out = cell_i64_or_0(rows, row, column); return true;
    case PACKET_TYPE_KIND: return packet_kind_from(cell, out);
    case PACKET_TYPE_SPLIT: return split_method_from(cell, out);
    case PACKET_TYPE_STATE: return packet_state_from(cell, out);
    case PACKET_TYPE_BYTES32: return bytes32_read(cell, out);
    case PACKET_TYPE_TEXT:
    case PACKET_TYPE_OPT_TEXT:
    case PACKET_TYPE_OPT_BYTES: *(struct str *)out = str_or_empty(cell); return true;
    case PACKET_TYPE_BOOL:
    case PACKET_TYPE_FACE: break; /* in no column */
    }
    return false;
}

/* False when no setting has ever allowed such a packet. Readers reserve memory by these numbers, so they must be
 * possible. */
static bool numbers_are_possible(const struct packet *p)
{
    return p->count >= 1 && p->count <= SPLIT_COUNT_MAX && p->amount_fen >= 1 && p->amount_fen <= SPLIT_TOTAL_FEN_MAX &&
           p->returned_count <= SPLIT_COUNT_MAX && p->returned_fen >= 0 &&
           p->returned_fen <= SPLIT_TOTAL_FEN_MAX * SPLIT_COUNT_MAX && p->receiver_count <= RECEIVERS_MAX;
}

enum status packet_from_row(const struct db_rows *rows, size_t row, size_t first_column, struct packet *out)
{
    assert(first_column + PACKET_COLUMN_COUNT <= rows->columns);
    struct packet p = { .returned_shares = STR("") };
    size_t column = first_column;
    for (size_t i = 0; i < PACKET_MEMBER_COUNT; i++) {
        const struct packet_member *m = &packet_members[i];
        if ((m->use & PACKET_USE_COLUMN) != 0 && !cell_read(rows, row, column++, m->type, (char *)&p + m->offset))
            return ST_CORRUPT;
    }
    if (!numbers_are_possible(&p))
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

/* The value of a member as a parameter for its column. */
static struct db_param member_param(const struct packet *p, const struct packet_member *m)
{
    const void *value = (const char *)p + m->offset;
    const struct str *text = value;
    switch (m->type) {
    case PACKET_TYPE_U64: return DB_U64(*(const uint64_t *)value);
    case PACKET_TYPE_OPT_U64: return *(const uint64_t *)value != 0 ? DB_U64(*(const uint64_t *)value) : DB_NULL;
    case PACKET_TYPE_U32: return DB_U64(*(const uint32_t *)value);
    case PACKET_TYPE_OPT_SHARE:
        return *(const uint32_t *)value != PACKET_NO_SHARE ? DB_U64(*(const uint32_t *)value) : DB_NULL;
    case PACKET_TYPE_I64: return DB_I64(*(const int64_t *)value);
    case PACKET_TYPE_OPT_I64: return *(const int64_t *)value != 0 ? DB_I64(*(const int64_t *)value) : DB_NULL;
    case PACKET_TYPE_KIND: return DB_TEXT(packet_kind_name(*(const enum packet_kind *)value));
    case PACKET_TYPE_SPLIT: return DB_TEXT(split_method_name(*(const enum split_method *)value));
    case PACKET_TYPE_STATE: return DB_TEXT(packet_state_name(*(const enum packet_state *)value));
    case PACKET_TYPE_BYTES32: return DB_BYTES(((struct str){ value, 32 }));
    case PACKET_TYPE_TEXT: return DB_TEXT(str_or_empty(*text));
    case PACKET_TYPE_OPT_TEXT: return text->len > 0 ? DB_TEXT(*text) : DB_NULL;
    case PACKET_TYPE_OPT_BYTES: return text->len > 0 ? DB_BYTES(*text) : DB_NULL;
    case PACKET_TYPE_BOOL:
    case PACKET_TYPE_FACE: break; /* in no column */
    }
    return DB_NULL;
}

/* Appends the list of receivers' ids that packet_send_with takes. False: out of memory. */
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

/* Appends the members that the send sets, and the caps, as a JSON object; nothing when there are none of them. False:
 * out of memory. */
static bool json_append(struct buf *out, const struct packet *p, const struct send_caps *caps)
{
    for (size_t i = 0; i < PACKET_MEMBER_COUNT; i++) {
        const struct packet_member *m = &packet_members[i];
        if ((m->use & PACKET_USE_IN_JSON) == 0)
            continue;
        const struct db_param value = member_param(p, m);
        const bool is_text = value.type == DB_PARAM_TEXT;
        if (value.type == DB_PARAM_NULL || (is_text ? value.as.text.len == 0 : value.as.i64 == 0))
            continue;
        buf_char(out, out->len == 0 ? '{' : ',');
        value_json_string(out, str_from(m->name));
        buf_char(out, ':');
        if (is_text)
            value_json_string(out, value.as.text);
        else
            buf_i64(out, value.as.i64);
    }
    if (send_caps_set(caps)) {
        buf_char(out, out->len == 0 ? '{' : ',');
        buf_printf(out, "\"caps\":{\"from_ms\":%lld,\"to_ms\":%lld,\"fen\":%lld,\"count\":%lld}",
                   (long long)caps->from_ms, (long long)caps->to_ms, (long long)caps->fen_max,
                   (long long)caps->count_max);
    }
    if (out->len > 0)
        buf_char(out, '}');
    return !out->failed;
}

/* The parameters of the routine packet_send_with: one for each member, then the receivers' ids, year and month of the
 * send, and the JSON object. */
#define SENT_ONE(name, type, table, ...)  +((PACKET_USE_##table & PACKET_USE_IN_SEND) != 0)
#define SENT_MARK(name, type, table, ...) SENT_MARK_##table
#define SENT_MARK_KEY                     "?, "
#define SENT_MARK_SENT                    "?, "
#define SENT_MARK_JSON
#define SENT_MARK_COLUMN
#define SENT_MARK__
enum { SENT_COUNT = 0 PACKET_MEMBERS(SENT_ONE), SEND_PARAMS = SENT_COUNT + 4 };

enum status packet_send(struct db *db, const struct packet *p, const struct receivers *receivers,
                        const struct send_caps *caps)
{
    const struct clock_date month = clock_zone_date(p->created_ms);
    struct db_param params[SEND_PARAMS];
    struct buf ids = BUF_EMPTY, json = BUF_EMPTY;
    size_t count = 0;
    enum status st = ST_NO_MEMORY;
    for (size_t i = 0; i < PACKET_MEMBER_COUNT; i++)
        if ((packet_members[i].use & PACKET_USE_IN_SEND) != 0)
            params[count++] = member_param(p, &packet_members[i]);
    if (receiver_ids_append(&ids, receivers) && json_append(&json, p, caps)) {
        params[count++] = ids.len > 0 ? DB_TEXT(buf_view(&ids)) : DB_NULL;
        params[count++] = DB_I64(month.year);
        params[count++] = DB_I64(month.month);
        params[count++] = json.len > 0 ? DB_TEXT(buf_view(&json)) : DB_NULL;
        st = db_exec_retried(db, "CALL packet_send_with(" PACKET_MEMBERS(SENT_MARK) "?, ?, ?, ?)", params, count);
    }
    buf_free(&json);
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

enum status packet_end(struct db *db, uint64_t packet_id, int64_t now_ms, bool *ended)
{
    uint64_t changed = 0;
    enum status st =
        db_exec(db, &changed,
                "UPDATE packet SET ended_ms = ?, expires_ms = ? WHERE id = ? AND state IN ('funding', 'open')"
                " AND expires_ms > ? AND grabbed_count < count + returned_count",
                DB_PARAMS(DB_I64(now_ms), DB_I64(now_ms), DB_U64(packet_id), DB_I64(now_ms)));
    if (ended != NULL)
        *ended = st == ST_OK && changed > 0;
    return st;
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

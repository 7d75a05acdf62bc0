#include "settle/dead_letter.h"

#include "base/buf.h"
#include "live/event.h"
#include "packet/packet.h"
#include "redis/reply.h"

#define LETTER_COLUMNS                                                                                                 \
    "id, partition_no, event_id, COALESCE(packet_id, 0), content, reason, created_ms, resolved_ms IS NOT NULL"

static struct str cut(struct str s, size_t len_max)
{
    if (s.len > len_max)
        s.len = len_max;
    return s;
}

struct str dead_letter_content(struct arena *a, const redisReply *entry)
{
    struct buf b = BUF_EMPTY;
    const redisReply *fields = redis_reply_at(entry, 1), *one;
    for (size_t i = 0; b.len < DEAD_LETTER_CONTENT_MAX && (one = redis_reply_at(fields, i)) != NULL; i++) {
        if (i > 0)
            buf_char(&b, i % 2 == 0 ? '\n' : ' ');
        buf_str(&b, redis_reply_str(one));
    }
    struct str text = b.failed ? STR_NONE : arena_str(a, cut(buf_view(&b), DEAD_LETTER_CONTENT_MAX));
    buf_free(&b);
    return text;
}

uint64_t dead_letter_packet(struct str content, uint32_t partition, int64_t partitions)
{
    struct str value, rest;
    uint64_t id;
    (void)str_cut(content, ' ', &value);
    if (value.ptr == NULL || !str_to_u64(str_cut(value, ',', &rest), &id) ||
        packet_partition(id, partitions) != partition)
        return 0;
    return id;
}

size_t dead_letter_lines(struct str content)
{
    size_t lines = 1;
    for (size_t i = 0; i < content.len; i++)
        lines += content.ptr[i] == '\n';
    return lines;
}

bool dead_letter_joined(const struct live_event *events, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct live_event inner;
        struct str rest = events[i].type == LIVE_EVENT_GRAB ? str_after(events[i].nickname, STR(" g ")) : STR_NONE;
        if (rest.ptr != NULL && live_event_parse(events[i].id, STR("g"), rest, &inner))
            return true;
    }
    return false;
}

enum status dead_letter_events(struct arena *a, struct str content, struct live_event_id id, struct live_event **out,
                               size_t *count)
{
    size_t lines = dead_letter_lines(content);
    *count = 0;
    *out = arena_array(a, lines, sizeof **out);
    if (*out == NULL)
        return ST_NO_MEMORY;
    for (struct str rest = content, value; *count < lines; (*count)++) {
        struct live_event *e = &(*out)[*count];
        struct str field = str_cut(str_cut(rest, '\n', &rest), ' ', &value);
        if (!live_event_parse(id, field, value, e) || !live_entry_fits(&(*out)[0], e, lines))
            return ST_INVALID;
    }
    return ST_OK;
}

enum status dead_letter_add(struct db *db, const struct dead_letter *letter)
{
    char event[LIVE_EVENT_ID_MAX];
    return db_exec(db, NULL,
                   "INSERT INTO dead_letter (partition_no, event_id, packet_id, content, reason, created_ms)"
                   " VALUES (?, ?, ?, ?, ?, ?)",
                   DB_PARAMS(DB_U64(letter->partition), DB_TEXT(live_event_id_text(event, letter->event)),
                             letter->packet_id == 0 ? DB_NULL : DB_U64(letter->packet_id),
                             DB_BYTES(cut(letter->content, DEAD_LETTER_CONTENT_MAX)),
                             DB_TEXT(cut(letter->reason, DEAD_LETTER_REASON_MAX)), DB_I64(letter->created_ms)));
}

enum status dead_letter_packets(struct db *db, struct arena *a, uint32_t partition, uint64_t **out, size_t *count)
{
    struct db_rows rows;
    *count = 0;
    enum status st =
        db_query(db, a, &rows,
                 "SELECT DISTINCT packet_id FROM dead_letter WHERE partition_no = ? AND resolved_ms IS NULL"
                 " AND packet_id IS NOT NULL ORDER BY packet_id",
                 DB_PARAMS(DB_U64(partition)));
    if (st != ST_OK)
        return st;
    *out = arena_array(a, rows.count + 1, sizeof **out);
    if (*out == NULL)
        return ST_NO_MEMORY;
    for (; *count < rows.count; (*count)++)
        (*out)[*count] = db_cell_u64(&rows, *count, 0);
    return ST_OK;
}

enum status dead_letter_quarantined(struct db *db, struct arena *a, uint32_t partition, uint64_t packet_id,
                                    uint64_t before, bool *out)
{
    struct db_rows rows;
    enum status st = db_query(db, a, &rows,
                              "SELECT 1 FROM dead_letter WHERE partition_no = ? AND resolved_ms IS NULL"
                              " AND packet_id = ? AND (? = 0 OR id < ?) LIMIT 1",
                              DB_PARAMS(DB_U64(partition), DB_U64(packet_id), DB_U64(before), DB_U64(before)));
    *out = st == ST_OK && rows.count > 0;
    return st;
}

static bool letter_read(const struct db_rows *rows, size_t row, struct dead_letter *out)
{
    *out = (struct dead_letter){ .id = db_cell_u64(rows, row, 0),
                                 .partition = (uint32_t)db_cell_u64(rows, row, 1),
                                 .packet_id = db_cell_u64(rows, row, 3),
                                 .content = db_cell(rows, row, 4),
                                 .reason = db_cell(rows, row, 5),
                                 .created_ms = db_cell_i64(rows, row, 6),
                                 .resolved = db_cell_u64(rows, row, 7) != 0 };
    return live_event_id_parse(db_cell(rows, row, 2), &out->event);
}

enum status dead_letter_find(struct db *db, struct arena *a, uint64_t id, struct dead_letter *out)
{
    struct db_rows rows;
    enum status st =
        db_find(db, a, &rows, "SELECT " LETTER_COLUMNS " FROM dead_letter WHERE id = ?", DB_PARAMS(DB_U64(id)));
    if (st != ST_OK)
        return st;
    return letter_read(&rows, 0, out) ? ST_OK : ST_CORRUPT;
}

enum status dead_letter_list(struct db *db, struct arena *a, uint64_t packet_id, uint64_t after, uint32_t limit,
                             struct dead_letter **out, size_t *count)
{
    struct db_rows rows;
    *count = 0;
    enum status st = db_query(db, a, &rows,
                              "SELECT " LETTER_COLUMNS " FROM dead_letter WHERE resolved_ms IS NULL AND id > ?"
                              " AND (? = 0 OR packet_id = ?) ORDER BY id LIMIT ?",
                              DB_PARAMS(DB_U64(after), DB_U64(packet_id), DB_U64(packet_id), DB_U64(limit)));
    if (st != ST_OK)
        return st;
    *out = arena_array(a, rows.count + 1, sizeof **out);
    if (*out == NULL)
        return ST_NO_MEMORY;
    for (; *count < rows.count; (*count)++)
        if (!letter_read(&rows, *count, &(*out)[*count]))
            return ST_CORRUPT;
    return ST_OK;
}

enum status dead_letter_resolve(struct db *db, uint64_t id, bool replayed, int64_t now_ms)
{
    uint64_t changed = 0;
    enum status st = db_exec(
        db, &changed, "UPDATE dead_letter SET resolved_ms = ?, resolution = ? WHERE id = ? AND resolved_ms IS NULL",
        DB_PARAMS(DB_I64(now_ms), DB_TEXT(replayed ? STR("replayed") : STR("dropped")), DB_U64(id)));
    return st == ST_OK && changed == 0 ? ST_NOT_FOUND : st;
}

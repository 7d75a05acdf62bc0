#include "settle/trimmed.h"

#include <inttypes.h>

#include "base/buf.h"
#include "base/clock.h"
#include "live/keys.h"
#include "live/live.h"
#include "redis/reply.h"
#include "settle/dead_letter.h"
#include "settle/fault.h"

enum { PACKETS_PER_PAGE = LIVE_BATCH_MAX, LINE_NUMBERS_MAX = 100 };
static const size_t ARENA_CHUNK_BYTES = (size_t)64 << 10;
static const size_t ARENA_LIMIT_BYTES = (size_t)64 << 20;

struct trimmed {
    struct db *db;
    uint32_t partition;
    const struct trimmed_range *range;
    uint64_t letters;
};

static bool is_trimmed(const struct trimmed_range *r, struct live_event_id id)
{
    const bool none_follows = live_event_id_equal(r->first, LIVE_EVENT_NONE);
    return live_event_id_compare(id, r->cursor) > 0 && live_event_id_compare(id, r->last) <= 0 &&
           (none_follows || live_event_id_compare(id, r->first) < 0);
}

static enum status letter_write(struct trimmed *t, uint64_t packet_id, struct live_event_id id, const struct buf *lines)
{
    if (lines->failed)
        return ST_NO_MEMORY;
    enum status st = dead_letter_add(t->db, &(struct dead_letter){ .partition = t->partition,
                                                                   .event = id,
                                                                   .packet_id = packet_id,
                                                                   .content = buf_view(lines),
                                                                   .reason = settle_fault_text(FAULT_TRIMMED),
                                                                   .created_ms = clock_now_ms() });
    t->letters += st == ST_OK;
    return st == ST_EXISTS ? ST_OK : st;
}

/* Reads a packet's list of grabs from the first share that is not settled. The grabs of one entry follow each other.
 * The list ends at anything that the grab function does not write: an entry that can't be read, or more grabs than one
 * call has.
 */
static enum status list_read(struct trimmed *t, uint64_t packet_id, uint64_t share_no, const redisReply *list)
{
    struct buf lines = BUF_EMPTY;
    struct live_event_id id = LIVE_EVENT_NONE;
    struct live_order_entry grab;
    enum status st = ST_OK;
    for (size_t i = 0; st == ST_OK && redis_reply_at(list, i) != NULL; i++, share_no++) {
        if (!live_order_entry_parse(redis_reply_str(redis_reply_at(list, i)), &grab))
            break;
        if (!is_trimmed(t->range, grab.event))
            continue;
        if (lines.len > 0 && !live_event_id_equal(id, grab.event)) {
            st = letter_write(t, packet_id, id, &lines);
            buf_reset(&lines);
        }
        if (lines.len + grab.nickname.len + LINE_NUMBERS_MAX > DEAD_LETTER_CONTENT_MAX)
            break;
        id = grab.event;
        buf_printf(&lines, "%sg %" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRId64 ",%.*s", lines.len > 0 ? "\n" : "",
                   packet_id, share_no, grab.user_id, grab.amount_fen, STR_ARG(grab.nickname));
    }
    if (st == ST_OK && lines.len > 0)
        st = letter_write(t, packet_id, id, &lines);
    buf_free(&lines);
    return st;
}

/* rows: for each packet its id, and the numbers of the first and the last share that may be in the list. */
static enum status lists_read(struct settle *s, struct trimmed *t, const struct db_rows *rows)
{
    struct redis_call calls[PACKETS_PER_PAGE];
    enum status st = ST_OK;
    for (size_t i = 0; i < rows->count; i++) {
        struct live_keys keys;
        live_keys(&keys, db_cell_u64(rows, i, 0), s->stores->config->partitions);
        const struct str range[] = { STR("LRANGE"), keys.key[LIVE_KEY_ORDER], db_cell(rows, i, 1),
                                     db_cell(rows, i, 2) };
        redis_queue(s->stores->redis, &calls[i], range, 4);
    }
    redis_round(s->stores->redis);
    for (size_t i = 0; i < rows->count; i++) {
        const enum status read = status_idempotent(calls[i].status);
        if (st == ST_OK && read != ST_INVALID) /* not a list: then the grab function has not written the key */
            st = read;
        if (st == ST_OK && read == ST_OK)
            st = list_read(t, db_cell_u64(rows, i, 0), db_cell_u64(rows, i, 1), calls[i].reply);
        redis_call_free(&calls[i]);
    }
    return st;
}

enum status trimmed_letters_write(struct settle *s, struct db *db, uint32_t partition,
                                  const struct trimmed_range *range, uint64_t *letters)
{
    struct trimmed t = { .db = db, .partition = partition, .range = range };
    struct arena *a = arena_new(ARENA_CHUNK_BYTES, ARENA_LIMIT_BYTES);
    enum status st = a == NULL ? ST_NO_MEMORY : ST_OK;
    uint64_t after = 0;
    for (bool more = true; st == ST_OK && more;) {
        struct db_rows rows;
        arena_reset(a);
        st = db_query(db, a, &rows,
                      "SELECT id, grabbed_count, GREATEST(CAST(count AS SIGNED) + returned_count - 1, 0)"
                      " FROM packet WHERE state IN ('funding', 'open') AND id % ? = ? AND id > ?"
                      " ORDER BY id LIMIT ?",
                      DB_PARAMS(DB_I64(s->stores->config->partitions), DB_U64(partition), DB_U64(after),
                                DB_I64(PACKETS_PER_PAGE)));
        more = st == ST_OK && rows.count == PACKETS_PER_PAGE;
        if (st == ST_OK && rows.count > 0) {
            after = db_cell_u64(&rows, rows.count - 1, 0);
            st = lists_read(s, &t, &rows);
        }
    }
    arena_free(a);
    *letters = t.letters;
    return st;
}

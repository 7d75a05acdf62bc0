#include "settle/held.h"

#include "live/shut.h"
#include "packet/packet.h"
#include "settle/write.h"

struct held {
    const struct live *live;
    struct arena *arena;
    uint32_t partition;
};

/* The packets of the partition that have a letter. While a letter is unresolved, the packet's shares from grabbed_count
 * on are held; if the tables lack the packet, all its shares. */
static enum status holds_find(const struct held *h, struct db *db, struct live_hold **out, size_t *count)
{
    struct db_rows rows;
    *count = 0;
    enum status st = db_query(
        db, h->arena, &rows,
        "SELECT d.packet_id, COALESCE(p.grabbed_count, 0),"
        " COALESCE(p.state, 'open') <> 'closed' AND SUM(d.resolved_ms IS NULL) > 0 FROM dead_letter d"
        " LEFT JOIN packet p ON p.id = d.packet_id WHERE d.partition_no = ? AND d.packet_id % ? = d.partition_no"
        " GROUP BY d.packet_id, p.grabbed_count, p.state",
        DB_PARAMS(DB_U64(h->partition), DB_I64(h->live->partitions)));
    if (st != ST_OK)
        return st;
    *out = arena_array(h->arena, rows.count + 1, sizeof **out);
    if (*out == NULL)
        return ST_NO_MEMORY;
    for (; *count < rows.count; (*count)++) {
        bool has_letters = db_cell_u64(&rows, *count, 2) != 0;
        (*out)[*count] =
            (struct live_hold){ .packet_id = db_cell_u64(&rows, *count, 0),
                                .from_share = has_letters ? (uint32_t)db_cell_u64(&rows, *count, 1) : PACKET_NO_SHARE };
    }
    return ST_OK;
}

static enum status publish_body(struct db *db, void *ctx)
{
    const struct held *h = ctx;
    struct live_hold *holds = NULL;
    size_t count = 0;
    enum status st = settle_cursor_touch(db, h->partition);
    if (st == ST_OK)
        st = holds_find(h, db, &holds, &count);
    for (size_t sent = 0; st == ST_OK && sent < count; sent += LIVE_BATCH_MAX) {
        size_t left = count - sent;
        st = live_hold_all(h->live, holds + sent, left < LIVE_BATCH_MAX ? left : LIVE_BATCH_MAX);
    }
    return st;
}

enum status held_publish(struct db *db, const struct live *live, struct arena *a, uint32_t partition)
{
    struct held h = { .live = live, .arena = a, .partition = partition };
    struct live_hold *holds;
    size_t count;
    enum status st = holds_find(&h, db, &holds, &count);
    if (st == ST_OK && count > 0)
        st = db_transaction(db, publish_body, &h);
    return st == ST_CONFLICT || st == ST_UNKNOWN ? ST_UNAVAILABLE : st; /* the next call sends them again */
}

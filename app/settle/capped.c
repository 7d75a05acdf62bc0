#include "settle/capped.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "live/capped.h"
#include "live/event.h"

enum { FLAGS_MAX = 512 }; /* of a round */

/* The users who got a share in the day from from_ms. *count: how many, with repetitions. NULL: out of memory. */
static uint64_t *receivers_list(struct arena *a, const struct settle_write *w, int64_t from_ms, size_t *count)
{
    uint64_t *ids = arena_array(a, w->event_count, sizeof *ids);
    *count = 0;
    for (size_t i = 0; ids != NULL && i < w->event_count; i++)
        if (w->events[i].type == LIVE_EVENT_GRAB && w->events[i].id.ms >= (uint64_t)from_ms)
            ids[(*count)++] = w->events[i].user_id;
    return ids;
}

/* Reads who of them has received the cap: rows of user and sum. */
static enum status reached_find(struct settle *s, const uint64_t *ids, size_t count, int64_t from_ms,
                                struct db_rows *rows)
{
    struct buf sql = BUF_EMPTY;
    buf_cstr(&sql, "SELECT user_id, SUM(amount_fen) AS fen FROM grab FORCE INDEX (grab_received) WHERE user_id IN ");
    db_ids(&sql, ids, count);
    buf_printf(&sql, " AND grabbed_ms >= %lld GROUP BY user_id HAVING fen >= %lld", (long long)from_ms,
               (long long)s->stores->config->user_receive_day_fen);
    enum status st = db_query_buf(s->stores->db, s->arena, rows, &sql);
    buf_free(&sql);
    return st;
}

static enum status flags_write(struct settle *s, const struct db_rows *rows, int64_t now_ms, int64_t to_ms)
{
    struct redis_call calls[FLAGS_MAX];
    enum status st = ST_OK;
    for (size_t first = 0, count; first < rows->count; first += count) {
        count = rows->count - first < FLAGS_MAX ? rows->count - first : FLAGS_MAX;
        for (size_t i = 0; i < count; i++)
            live_capped_set_queue(&s->stores->live, &calls[i], db_cell_u64(rows, first + i, 0),
                                  (struct live_capped){ to_ms, db_cell_i64(rows, first + i, 1) }, now_ms);
        redis_round(s->stores->redis);
        for (size_t i = 0; i < count; i++) {
            st = st == ST_OK ? calls[i].status : st;
            redis_call_free(&calls[i]);
        }
    }
    return st;
}

void settle_capped_mark(struct settle *s, const struct settle_write *w)
{
    int64_t from_ms, to_ms;
    struct db_rows rows = { 0 };
    size_t count;
    if (s->stores->config->user_receive_day_fen == 0)
        return;
    clock_zone_day(w->now_ms, &from_ms, &to_ms);
    const uint64_t *ids = receivers_list(s->arena, w, from_ms, &count);
    enum status st = ids == NULL ? ST_NO_MEMORY : ST_OK;
    if (st == ST_OK && count > 0)
        st = reached_find(s, ids, count, from_ms, &rows);
    if (st == ST_OK)
        st = flags_write(s, &rows, w->now_ms, to_ms);
    if (st != ST_OK)
        log_warn("who has received enough today is not marked, their next share marks them", "status=%s",
                 status_name(st));
}

#include "settle/settle.h"

#include <stdlib.h>

#include "live/fence.h"
#include "settle/apply.h"
#include "settle/away.h"
#include "settle/publish.h"
#include "settle/read.h"

static const size_t ARENA_CHUNK_BYTES = (size_t)1 << 20;
static const size_t ARENA_LIMIT_BYTES = (size_t)256 << 20;

enum status settle_new(struct stores *stores, struct settle **out)
{
    if (stores->config->partitions < 1 || stores->config->partitions > CONFIG_PARTITIONS_MAX)
        return ST_INVALID;
    struct settle *s = calloc(1, sizeof *s);
    if (s == NULL)
        return ST_NO_MEMORY;
    s->stores = stores;
    s->partition_count = (uint32_t)stores->config->partitions;
    s->arena = arena_new(ARENA_CHUNK_BYTES, ARENA_LIMIT_BYTES);
    s->shares = shares_new();
    enum status st = s->arena == NULL || s->shares == NULL ? ST_NO_MEMORY : ST_OK;
    if (st != ST_OK) {
        settle_free(s);
        return st;
    }
    /* A batch may take longer than a page may: with a page's timeout a slow batch would be aborted and repeated without
     * end. */
    db_set_timeout_s(stores->db, SETTLE_DB_TIMEOUT_S);
    live_fences_set(stores->redis, stores->config);
    for (uint32_t i = 0; i < s->partition_count; i++)
        s->partitions[i] = (struct settle_partition){ .no = i,
                                                      .batch_max = (uint32_t)stores->config->settle_batch,
                                                      .entry_events = 1,
                                                      .backoff_ms = SETTLE_BACKOFF_MS_MIN };
    *out = s;
    return ST_OK;
}

void settle_free(struct settle *s)
{
    if (s == NULL)
        return;
    for (uint32_t i = 0; i < s->partition_count; i++) {
        settle_partition_clear(&s->partitions[i]);
        free(s->partitions[i].closed_ids);
    }
    arena_free(s->arena);
    shares_free(s->shares);
    free(s);
}

static enum status pass_group(struct settle *s, uint32_t first, uint32_t count, uint64_t *events)
{
    const enum status read = settle_read(s, first, count);
    enum status failed = read;
    for (uint32_t i = first; i < first + count; i++) {
        uint64_t settled;
        enum status st = settle_away_take(s, i, settle_apply(s, &s->partitions[i], &settled));
        *events += settled;
        /* A server whose replicas do not confirm the read may have grabs that get lost: once the position has passed
         * them, they would be shown as settled. */
        if (st == ST_OK && read == ST_OK && !settle_is_away(s, i))
            st = settle_away_take(s, i, settle_publish(s, &s->partitions[i]));
        if (failed == ST_OK)
            failed = st;
    }
    return failed;
}

enum status settle_pass(struct settle *s, uint64_t *events)
{
    enum status failed = ST_OK;
    *events = 0;
    s->pass_due = false;
    settle_away_begin(s);
    for (uint32_t first = 0, count; first < s->partition_count; first += count) {
        count = settle_read_group(s, first, s->partition_count - first);
        enum status st = pass_group(s, first, count, events);
        if (failed == ST_OK)
            failed = st;
    }
    return status_retry(failed); /* after an unknown outcome the next pass reads the cursor */
}

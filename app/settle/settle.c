#include "settle/settle.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "io/metrics.h"
#include "live/fence.h"
#include "settle/away.h"
#include "settle/commit.h"
#include "settle/fault.h"
#include "settle/publish.h"
#include "settle/read.h"
#include "settle/settle_internal.h"

static const size_t ARENA_CHUNK_BYTES = (size_t)1 << 20;
static const size_t ARENA_LIMIT_BYTES = (size_t)256 << 20;

enum status settle_new(struct stores *stores, struct settle **out)
{
    if (stores->config->partitions < 1 || stores->config->partitions > SETTLE_PARTITIONS_MAX)
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
    /* A batch may take longer than a page may. With a page's timeout a slow batch would be aborted and repeated
     * without end. */
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

void settle_partition_clear(struct settle_partition *p)
{
    redis_call_free(&p->call);
    free(p->events);
    free(p->entries);
    p->events = NULL;
    p->event_count = 0;
    p->entries = NULL;
    p->damaged = NULL;
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

/* ---- stopping and resuming ---- */

void settle_stop(struct settle_partition *p, const struct settle_fault *fault)
{
    char event[LIVE_EVENT_ID_MAX];
    live_event_id_text(event, live_event_id_equal(fault->event, LIVE_EVENT_NONE) ? p->last : fault->event);
    log_error("partition stopped", "partition=%u reason=\"%.*s\" packet=%llu event=%s retry_ms=%lld", p->no,
              STR_ARG(settle_fault_text(fault->kind)), (unsigned long long)fault->packet_id, event,
              (long long)p->backoff_ms);
    metrics_add(METRIC_SETTLE_STOPPED, 1);
    p->stopped = true;
    p->retry_ms = clock_monotonic_ms() + p->backoff_ms;
    p->backoff_ms = p->backoff_ms * 2 > SETTLE_BACKOFF_MS_MAX ? SETTLE_BACKOFF_MS_MAX : p->backoff_ms * 2;
}

void settle_search_end(struct settle *s, struct settle_partition *p)
{
    if (!settle_is_searching(s, p))
        return;
    p->batch_max = (uint32_t)s->stores->config->settle_batch;
    s->stream_repaired = true; /* recovery skipped its packets during the search */
}

void settle_partition_resume(struct settle *s, struct settle_partition *p)
{
    uint32_t full = (uint32_t)s->stores->config->settle_batch;
    if (p->stopped)
        log_info("partition resumed", "partition=%u", p->no);
    p->stopped = false;
    p->backoff_ms = SETTLE_BACKOFF_MS_MIN;
    if (p->batch_max > full / 2)
        settle_search_end(s, p);
    else
        p->batch_max *= 2;
}

bool settle_is_searching(const struct settle *s, const struct settle_partition *p)
{
    return p->batch_max < (uint32_t)s->stores->config->settle_batch;
}

/* ---- passes ---- */

static enum status pass_group(struct settle *s, uint32_t first, uint32_t count, uint64_t *events)
{
    const enum status read = settle_read(s, first, count);
    enum status failed = read;
    for (uint32_t i = first; i < first + count; i++) {
        uint64_t settled;
        enum status st = settle_away_take(s, i, settle_commit(s, &s->partitions[i], &settled));
        *events += settled;
        /* A server whose replicas do not confirm the read may have grabs that are lost: by the position they would be
         * shown as settled. */
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
    return status_retry(failed); /* an unknown outcome: the next pass reads the cursor */
}

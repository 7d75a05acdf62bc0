#include "settle/partition.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "io/metrics.h"

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

#include "settle/apply.h"

#include "base/clock.h"
#include "base/crash.h"
#include "base/log.h"
#include "base/security_event.h"
#include "io/metrics.h"
#include "live/event.h"
#include "live/shut.h"
#include "settle/capped.h"
#include "settle/cursor.h"
#include "settle/dead_letter.h"
#include "settle/fault.h"
#include "settle/publish.h"
#include "settle/write.h"

static void dead_letter_log(const struct settle_partition *p, struct live_event_id id, uint64_t packet_id,
                            struct str reason)
{
    char event[LIVE_EVENT_ID_MAX];
    live_event_id_text(event, id);
    log_error("dead letter written", "partition=%u event=%s packet=%llu reason=\"%.*s\"", p->no, event,
              (unsigned long long)packet_id, STR_ARG(reason));
}

static void forgery_log(const struct settle_partition *p, const struct live_event *e, enum settle_fault_kind fault)
{
    char event[LIVE_EVENT_ID_MAX];
    live_event_id_text(event, e->id);
    security_event_log(SECURITY_EVENT_FORGED, "partition=%u event_id=%s packet=%llu reason=\"%.*s\"", p->no, event,
                       (unsigned long long)e->packet_id, STR_ARG(settle_fault_text(fault)));
}

static enum status commit_written(struct settle *s, struct settle_partition *p, const struct settle_write *w)
{
    const struct live_event *last = &w->events[w->event_count - 1];
    size_t followers = w->letter_count - (w->last_fault != FAULT_NONE);
    p->last = last->id;
    p->unflushed = false;
    p->gap_accepted = false;
    metrics_add(METRIC_SETTLED, w->settled_count);
    metrics_add(METRIC_DEAD_LETTERS, w->letter_count);
    if (w->last_fault != FAULT_NONE)
        dead_letter_log(p, last->id, last->packet_id, settle_fault_text(w->last_fault));
    if (settle_fault_is_forgery(w->last_fault))
        forgery_log(p, last, w->last_fault);
    if (followers > 0)
        log_error("dead letters written for later events of the same packet", "partition=%u events=%zu", p->no,
                  followers);
    if (w->letter_count > 0) {
        p->held_due = true;
        s->pass_due = true;
    }
    metrics_add(METRIC_REFUNDED_FEN, (uint64_t)w->refunded_fen);
    settle_capped_mark(s, w);
    settle_partition_resume(s, p);
    return settle_publish_queue_closed(p, w->closed_ids, w->closed_count);
}

/* Another worker has moved the cursor. Perhaps it died before it published its dead letters and closed packets. */
static enum status cursor_moved(struct settle *s, struct settle_partition *p)
{
    struct live_event_id before = p->last;
    enum status st = settle_cursor_load(s, p);
    if (st == ST_OK && live_event_id_compare(p->last, before) < 0)
        p->gap = true; /* the tables were restored */
    return st;
}

/* Writes the first entry after the cursor, which can't be read, as a dead letter. */
static enum status letter_commit(struct settle *s, struct settle_partition *p, const redisReply *entry,
                                 struct dead_letter *letter)
{
    struct settle_write w = { .partition = p->no,
                              .cursor = p->last,
                              .now_ms = clock_now_ms(),
                              .redis = s->stores->redis,
                              .connection = p->call.connection };
    letter->content = dead_letter_content(s->arena, entry);
    if (letter->content.ptr == NULL)
        return ST_NO_MEMORY;
    if (letter->packet_id == 0)
        letter->packet_id = dead_letter_packet(letter->content, p->no, s->stores->config->partitions);
    enum status st = settle_write_letter(s->stores->db, s->arena, &w, letter);
    if (st == ST_CORRUPT || st == ST_EXISTS || st == ST_INVALID) {
        settle_stop(p, &(struct settle_fault){ .kind = FAULT_LETTER_REFUSED, .event = letter->event });
        return ST_OK;
    }
    if (st == ST_OK && w.outcome == SETTLE_MOVED)
        st = cursor_moved(s, p);
    if (st != ST_OK || w.outcome != SETTLE_WRITTEN)
        return st;
    crash_point("letter-after-commit");
    dead_letter_log(p, letter->event, letter->packet_id, letter->reason);
    metrics_add(METRIC_DEAD_LETTERS, 1);
    p->held_due = true;
    p->last = letter->event;
    p->unflushed = false;
    p->gap_accepted = false;
    settle_partition_resume(s, p);
    s->pass_due = true;
    return ST_OK;
}

/* Counts the entries of the batch that the fault may concern; *first: the first event of the first one. 0: the fault
 * names no packet and no event. */
static size_t fault_find(const struct settle_write *w, size_t *first)
{
    const struct settle_fault *fault = &w->fault;
    bool by_event = !live_event_id_equal(fault->event, LIVE_EVENT_NONE);
    size_t found = 0;
    *first = 0;
    for (size_t i = 0; i < w->event_count; i = settle_entry_end(w, i)) {
        const struct live_event *e = &w->events[i];
        if (by_event ? !live_event_id_equal(e->id, fault->event) : e->packet_id != fault->packet_id)
            continue;
        if (found++ == 0)
            *first = i;
    }
    return found;
}

static uint32_t entry_count(const struct settle_write *w)
{
    uint32_t count = 0;
    for (size_t i = 0; i < w->event_count; i = settle_entry_end(w, i))
        count++;
    return count;
}

/* The index after the first half of the entries: at least one. */
static size_t half_end(const struct settle_write *w)
{
    size_t end = 0;
    for (uint32_t left = (entry_count(w) + 1) / 2; left > 0; left--)
        end = settle_entry_end(w, end);
    return end;
}

/* Shuts a packet that is not in the tables; recovery only shuts packets of the tables. A key that is not a packet is
 * logged and skipped. */
static enum status unknown_packet_shut(struct settle *s, uint64_t packet_id)
{
    enum status st = status_idempotent(live_shut(&s->stores->live, &packet_id, 1));
    return st == ST_INVALID || st == ST_CORRUPT ? ST_OK : st;
}

/* Cuts a batch that contradicts the tables to the part that is tried next. If the fault concerns one entry, the batch
 * ends with this entry, which becomes a dead letter; if several, the batch ends with the first of them; if none is
 * named, in the middle. *stopped: the dead letter itself was refused, and the partition is stopped. */
static enum status batch_narrow(struct settle *s, struct settle_partition *p, struct settle_write *w, bool *stopped)
{
    size_t first, found = fault_find(w, &first);
    bool alone = settle_entry_end(w, 0) == w->event_count, one = found == 1 || alone;
    *stopped = alone && w->last_fault != FAULT_NONE;
    if (*stopped) {
        settle_stop(p, &(struct settle_fault){ .kind = FAULT_LETTER_REFUSED, .event = w->events[0].id });
        return ST_OK;
    }
    w->event_count = one || found > 1 ? settle_entry_end(w, first) : half_end(w);
    w->last_fault = one ? w->fault.kind : FAULT_NONE;
    w->drop_settled = true;
    p->batch_max = entry_count(w);
    s->pass_due = true;
    return one && w->fault.kind == FAULT_PACKET_UNKNOWN ? unknown_packet_shut(s, w->events[first].packet_id) : ST_OK;
}

static enum status batch_commit(struct settle *s, struct settle_partition *p, uint64_t *settled)
{
    struct settle_write w = { .partition = p->no,
                              .cursor = p->last,
                              .events = p->events,
                              .event_count = p->event_count,
                              .entries = p->entries,
                              .drop_settled = settle_is_searching(s, p),
                              .partitions = s->partition_count,
                              .shares = s->shares,
                              .now_ms = clock_now_ms(),
                              .redis = s->stores->redis,
                              .connection = p->call.connection };
    bool stopped = false;
    const int64_t begun_us = clock_monotonic_us();
    enum status st = settle_write(s->stores->db, s->arena, &w);
    while (st == ST_OK && w.outcome == SETTLE_FAULT && !stopped) { /* every iteration has fewer events to settle */
        arena_reset(s->arena);
        st = batch_narrow(s, p, &w, &stopped);
        if (st == ST_OK && !stopped)
            st = settle_write(s->stores->db, s->arena, &w);
    }
    if (st != ST_OK)
        return st;
    switch (w.outcome) {
    case SETTLE_WRITTEN:
        crash_point("settle-after-commit");
        if (w.refunded_fen > 0)
            crash_point("expire-after-refund");
        *settled = w.settled_count;
        metrics_observe(HISTOGRAM_SETTLE_BATCH, (int64_t)w.settled_count);
        metrics_observe(HISTOGRAM_SETTLE_SECONDS, clock_monotonic_us() - begun_us);
        return commit_written(s, p, &w);
    case SETTLE_BUSY:
    case SETTLE_FAULT: break;
    case SETTLE_MOVED: return cursor_moved(s, p);
    case SETTLE_BROKEN: settle_stop(p, &w.fault); break;
    }
    return ST_OK;
}

enum status settle_apply(struct settle *s, struct settle_partition *p, uint64_t *settled)
{
    enum status st = ST_OK;
    *settled = 0;
    arena_reset(s->arena);
    if (p->event_count > 0)
        st = batch_commit(s, p, settled);
    else if (p->damaged != NULL)
        st = letter_commit(
            s, p, p->damaged,
            &(struct dead_letter){ .event = p->damaged_id, .reason = settle_fault_text(FAULT_UNREADABLE) });
    if (st == ST_UNKNOWN)
        p->cursor_loaded = false; /* read it again: it shows whether the batch was committed */
    if (st != ST_OK)
        p->behind = false; /* a large batch may have taken too long for SETTLE_DB_TIMEOUT_S */
    settle_partition_clear(p);
    return st;
}

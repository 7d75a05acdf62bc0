#include "settle/settle.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/crash.h"
#include "base/log.h"
#include "io/metrics.h"
#include "live/fence.h"
#include "live/keys.h"
#include "live/shut.h"
#include "settle/dead_letter.h"
#include "settle/recover.h"
#include "settle/write.h"

enum { READ_PARTITIONS_MAX = 8 /* streams read in one round: bounds the memory of the replies */ };
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
    enum status st = s->arena == NULL ? ST_NO_MEMORY : ST_OK;
    if (st != ST_OK) {
        settle_free(s);
        return st;
    }
    /* A batch that takes longer than a page may is better than one that is given up and tried again for ever. */
    db_set_timeout_s(stores->db, SETTLE_DB_TIMEOUT_S);
    live_fence_set(stores->redis, stores->config);
    for (uint32_t i = 0; i < s->partition_count; i++)
        s->partitions[i] = (struct settle_partition){ .no = i,
                                                      .batch_max = (uint32_t)stores->config->settle_batch,
                                                      .backoff_ms = SETTLE_BACKOFF_MS_MIN };
    *out = s;
    return ST_OK;
}

/* Drops what was read. */
static void partition_forget(struct settle_partition *p)
{
    redis_call_free(&p->call);
    free(p->events);
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
        partition_forget(&s->partitions[i]);
        free(s->partitions[i].closed_ids);
    }
    arena_free(s->arena);
    free(s);
}

/* ---- stopping and going on ---- */

void settle_stop(struct settle_partition *p, const struct settle_fault *fault)
{
    char event[LIVE_EVENT_ID_MAX];
    live_event_id_text(event, live_event_id_equal(fault->event, LIVE_EVENT_NONE) ? p->last : fault->event);
    log_error("partition stopped", "partition=%u reason=\"%s\" packet=%llu event=%s retry_ms=%lld", p->no,
              fault->message, (unsigned long long)fault->packet_id, event, (long long)p->backoff_ms);
    metrics_add(METRIC_SETTLE_STOPPED, 1);
    p->stopped = true;
    p->retry_ms = clock_monotonic_ms() + p->backoff_ms;
    p->backoff_ms = p->backoff_ms * 2 > SETTLE_BACKOFF_MS_MAX ? SETTLE_BACKOFF_MS_MAX : p->backoff_ms * 2;
}

static void partition_go_on(const struct settle *s, struct settle_partition *p)
{
    uint32_t full = (uint32_t)s->stores->config->settle_batch;
    if (p->stopped)
        log_info("partition goes on", "partition=%u", p->no);
    p->stopped = false;
    p->backoff_ms = SETTLE_BACKOFF_MS_MIN;
    p->batch_max = p->batch_max > full / 2 ? full : p->batch_max * 2;
}

bool settle_is_searching(const struct settle *s, const struct settle_partition *p)
{
    return p->batch_max < (uint32_t)s->stores->config->settle_batch;
}

/* The stream is settled to its end. */
static void search_end(struct settle *s, struct settle_partition *p)
{
    if (!settle_is_searching(s, p))
        return;
    p->batch_max = (uint32_t)s->stores->config->settle_batch;
    s->mended = true; /* recovery passed its packets by */
}

/* ---- reading ---- */

static enum status read_queue(struct settle *s, struct settle_partition *p)
{
    char key[LIVE_KEY_MAX], from[LIVE_EVENT_ID_MAX], count[16];
    int digits = snprintf(count, sizeof count, "%u", p->batch_max + 1); /* and the cursor's own entry */
    assert(digits > 0 && (size_t)digits < sizeof count);
    const struct str args[] = { STR("XRANGE"), live_events_key(key, p->no), live_event_id_text(from, p->last), STR("+"),
                                STR("COUNT"),  { count, (size_t)digits } };
    redis_queue(s->stores->redis, &p->call, args, ARRAY_LEN(args));
    return p->call.status == ST_NO_MEMORY ? ST_NO_MEMORY : ST_OK;
}

static void damaged_found(struct settle_partition *p, const redisReply *entry, struct live_event_id id)
{
    if (live_event_id_compare(id, p->last) <= 0) { /* no id, so no way past it */
        settle_stop(p, &(struct settle_fault){ .message = "an entry without an id" });
        return;
    }
    p->damaged = entry;
    p->damaged_id = id;
}

/* From the reply to events. *gap: the first entry is not the cursor's. */
static enum status read_events(struct settle *s, struct settle_partition *p, bool *gap)
{
    const redisReply *reply = p->call.reply;
    *gap = false;
    if (p->call.status != ST_OK)
        return p->call.status;
    if (reply == NULL || reply->type != REDIS_REPLY_ARRAY)
        return ST_CORRUPT;
    size_t first = 0;
    struct live_event event;
    if (reply->elements > 0) {
        (void)live_event_read(reply->element[0], &event); /* the mark of a recovery is no event, but has an id */
        first = live_event_id_equal(event.id, p->last) && !live_event_id_equal(p->last, LIVE_EVENT_NONE) ? 1 : 0;
    }
    if (first == 0 && !live_event_id_equal(p->last, LIVE_EVENT_NONE) && !p->gap_known) {
        *gap = true;
        return ST_OK;
    }
    if (reply->elements == first) {
        search_end(s, p);
        return ST_OK;
    }
    /* Without the cursor's entry one more was read: a batch of one event is what a fault is narrowed down to. */
    size_t end = reply->elements - first > p->batch_max ? first + p->batch_max : reply->elements;
    p->events = calloc(end - first, sizeof *p->events);
    if (p->events == NULL)
        return ST_NO_MEMORY;
    p->entries = &reply->element[first];
    for (size_t i = first; i < end; i++) {
        if (live_event_read(reply->element[i], &event) != ST_OK) {
            /* What stands before it is settled first; then it is the first one, and becomes a dead letter. */
            if (p->event_count == 0)
                damaged_found(p, reply->element[i], event.id);
            break;
        }
        p->events[p->event_count++] = event;
    }
    return ST_OK;
}

enum status settle_read(struct settle *s, uint32_t first, uint32_t count, struct settle_partition **gap)
{
    int64_t now_ms = clock_monotonic_ms();
    struct settle_partition *asked[READ_PARTITIONS_MAX];
    uint32_t asked_count = 0;
    enum status st = ST_OK;
    assert(count <= READ_PARTITIONS_MAX);
    *gap = NULL;
    for (uint32_t i = first; st == ST_OK && i < first + count; i++) {
        struct settle_partition *p = &s->partitions[i];
        partition_forget(p);
        if (p->stopped && now_ms < p->retry_ms)
            continue;
        if (!p->known)
            st = settle_refresh(s, p);
        if (st == ST_OK)
            st = read_queue(s, p);
        if (st == ST_OK)
            asked[asked_count++] = p;
    }
    if (redis_queued(s->stores->redis))
        redis_round(s->stores->redis);
    for (uint32_t i = 0; i < asked_count; i++) {
        bool is_gap = false;
        asked[i]->connection = redis_connection(s->stores->redis);
        enum status read = read_events(s, asked[i], &is_gap);
        if (read == ST_INVALID || read == ST_CORRUPT) { /* not a stream: the other partitions go on */
            settle_stop(asked[i], &(struct settle_fault){ .message = "the stream can't be read" });
            read = ST_OK;
        }
        if (read == ST_OK && is_gap && *gap == NULL)
            *gap = asked[i];
        if (st == ST_OK)
            st = status_idempotent(read);
    }
    crash_point("settle-after-read");
    return st;
}

/* ---- settling ---- */

static void letter_log(const struct settle_partition *p, struct live_event_id id, uint64_t packet_id, struct str reason)
{
    char event[LIVE_EVENT_ID_MAX];
    live_event_id_text(event, id);
    log_error("an event became a dead letter", "partition=%u event=%s packet=%llu reason=\"%.*s\"", p->no, event,
              (unsigned long long)packet_id, STR_ARG(reason));
}

static enum status commit_written(struct settle *s, struct settle_partition *p, const struct settle_write *w)
{
    const struct live_event *last = &w->events[w->event_count - 1];
    size_t followers = w->put_aside - (w->contradicts != NULL);
    p->last = last->id;
    p->gap_known = false;
    metrics_add(METRIC_SETTLED, w->event_count - w->put_aside);
    metrics_add(METRIC_DEAD_LETTERS, w->put_aside);
    if (w->contradicts != NULL)
        letter_log(p, last->id, last->packet_id, str_from(w->contradicts));
    if (followers > 0)
        log_error("events follow a dead letter of their packet", "partition=%u events=%zu", p->no, followers);
    if (w->put_aside > 0) {
        p->held_due = true;
        s->again = true;
    }
    metrics_add(METRIC_REFUNDED_FEN, (uint64_t)w->refunded_fen);
    partition_go_on(s, p);
    return settle_closed_add(p, w->closed_ids, w->closed_count);
}

/* Another worker was faster. It may have died before it told Redis of its letters. */
static void cursor_moved(struct settle_partition *p, struct live_event_id cursor)
{
    p->last = cursor;
    p->held_due = true;
}

/* The first entry behind the cursor can't be read and becomes a dead letter. */
static enum status put_aside(struct settle *s, struct settle_partition *p, const redisReply *entry,
                             struct dead_letter *letter)
{
    struct settle_write w = { .partition = p->no,
                              .cursor = p->last,
                              .now_ms = clock_now_ms(),
                              .redis = s->stores->redis,
                              .connection = p->connection };
    letter->content = dead_letter_content(s->arena, entry);
    if (letter->content.ptr == NULL)
        return ST_NO_MEMORY;
    if (letter->packet_id == 0)
        letter->packet_id = dead_letter_packet(letter->content, p->no, s->stores->config->partitions);
    enum status st = settle_put_aside(s->stores->db, s->arena, &w, letter);
    if (st == ST_CORRUPT || st == ST_EXISTS || st == ST_INVALID) {
        settle_stop(p, &(struct settle_fault){ .message = "a dead letter is refused", .event = letter->event });
        return ST_OK;
    }
    if (st == ST_OK && w.outcome == SETTLE_MOVED)
        cursor_moved(p, w.cursor);
    if (st != ST_OK || w.outcome != SETTLE_WRITTEN)
        return st;
    crash_point("letter-after-commit");
    letter_log(p, letter->event, letter->packet_id, letter->reason);
    metrics_add(METRIC_DEAD_LETTERS, 1);
    p->held_due = true;
    p->last = letter->event;
    p->gap_known = false;
    partition_go_on(s, p);
    s->again = true;
    return ST_OK;
}

/* How many events of a batch the fault may be about, and the first of them; 0: it names no place. */
static size_t fault_find(const struct settle_write *w, size_t *first)
{
    const struct settle_fault *fault = &w->fault;
    bool by_event = !live_event_id_equal(fault->event, LIVE_EVENT_NONE);
    size_t found = 0;
    *first = 0;
    for (size_t i = 0; i < w->event_count; i++) {
        const struct live_event *e = &w->events[i];
        if (by_event ? !live_event_id_equal(e->id, fault->event) : e->packet_id != fault->packet_id)
            continue;
        if (found++ == 0)
            *first = i;
    }
    return found;
}

/* Nobody else shuts the doors of a packet that the tables do not know. What is no packet (logged) has none. */
static enum status unknown_shut(struct settle *s, uint64_t packet_id)
{
    enum status st = status_idempotent(live_busy(&s->stores->live, &packet_id, 1));
    return st == ST_INVALID || st == ST_CORRUPT ? ST_OK : st;
}

/* The batch contradicts: cut to what is tried next. When the fault is about one event, the batch ends with that, which
 * becomes a dead letter; when it is about several, with the first of them; when it names no place, in the middle.
 * *stopped: not even that can be written. */
static enum status fault_answer(struct settle *s, struct settle_partition *p, struct settle_write *w, bool *stopped)
{
    size_t first, found = fault_find(w, &first);
    bool one = found == 1 || w->event_count == 1;
    *stopped = w->event_count == 1 && w->contradicts != NULL;
    if (*stopped) {
        settle_stop(p, &(struct settle_fault){ .message = "a dead letter is refused", .event = w->events[0].id });
        return ST_OK;
    }
    w->event_count = one || found > 1 ? first + 1 : w->event_count / 2;
    w->contradicts = one ? w->fault.message : NULL;
    w->careful = true;
    p->batch_max = (uint32_t)w->event_count;
    s->again = true;
    return one && w->fault.packet_unknown ? unknown_shut(s, w->events[first].packet_id) : ST_OK;
}

static enum status batch_commit(struct settle *s, struct settle_partition *p, uint64_t *settled)
{
    struct settle_write w = { .partition = p->no,
                              .cursor = p->last,
                              .events = p->events,
                              .event_count = p->event_count,
                              .entries = p->entries,
                              .careful = settle_is_searching(s, p),
                              .now_ms = clock_now_ms(),
                              .redis = s->stores->redis,
                              .connection = p->connection };
    bool stopped = false;
    enum status st = settle_write(s->stores->db, s->arena, &w);
    while (st == ST_OK && w.outcome == SETTLE_FAULT && !stopped) { /* every turn has less to settle */
        arena_reset(s->arena);
        st = fault_answer(s, p, &w, &stopped);
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
        *settled = w.event_count - w.put_aside;
        return commit_written(s, p, &w);
    case SETTLE_BUSY:
    case SETTLE_FAULT: break;
    case SETTLE_MOVED: cursor_moved(p, w.cursor); break;
    case SETTLE_BROKEN: settle_stop(p, &w.fault); break;
    }
    return ST_OK;
}

enum status settle_commit(struct settle *s, struct settle_partition *p, uint64_t *settled)
{
    enum status st = ST_OK;
    *settled = 0;
    arena_reset(s->arena);
    if (p->event_count > 0)
        st = batch_commit(s, p, settled);
    else if (p->damaged != NULL)
        st = put_aside(s, p, p->damaged,
                       &(struct dead_letter){ .event = p->damaged_id, .reason = STR("it can't be read") });
    if (st == ST_UNKNOWN)
        p->known = false; /* the cursor tells whether it was committed */
    partition_forget(p);
    return st;
}

/* ---- passes ---- */

static enum status pass_group(struct settle *s, uint32_t first, uint32_t count, uint64_t *events)
{
    struct settle_partition *gap;
    enum status st = settle_read(s, first, count, &gap);
    if (st == ST_OK && gap != NULL) {
        st = recover_stream(s, gap);
        s->again = true;
    }
    for (uint32_t i = first; st == ST_OK && i < first + count; i++) {
        uint64_t settled;
        st = settle_commit(s, &s->partitions[i], &settled);
        *events += settled;
        if (st == ST_OK)
            st = settle_publish(s, &s->partitions[i]);
    }
    return st;
}

enum status settle_pass(struct settle *s, uint64_t *events)
{
    enum status st = ST_OK;
    *events = 0;
    s->again = false;
    for (uint32_t first = 0; st == ST_OK && first < s->partition_count; first += READ_PARTITIONS_MAX) {
        uint32_t left = s->partition_count - first;
        st = pass_group(s, first, left < READ_PARTITIONS_MAX ? left : READ_PARTITIONS_MAX, events);
    }
    return status_retry(st); /* the next pass finds out */
}

#include "settle/recover_packet.h"

#include <stdio.h>

#include "base/crash.h"
#include "base/log.h"
#include "base/security_event.h"
#include "io/metrics.h"
#include "io/metrics_processes.h"
#include "ledger/ledger.h"
#include "live/event.h"
#include "live/keys.h"
#include "live/live.h"
#include "live/load.h"
#include "live/shut.h"
#include "live/stream.h"
#include "packet/faces.h"
#include "packet/grab.h"
#include "packet/receivers.h"
#include "packet/returns.h"
#include "packet/store.h"
#include "packet/thanks.h"
#include "redis/reply.h"
#include "settle/dead_letter.h"
#include "settle/fault.h"
#include "settle/verify.h"
#include "settle/write.h"

enum {
    PENDING_EVENTS_MAX = 2000, /* unsettled events among which the events of a packet are searched */
    ARENA_CHUNK_BYTES = 65536
};
static const size_t ARENA_LIMIT_BYTES = (size_t)64 << 20;

/* A packet and its partition's stream in Redis, read in one round. */
struct snapshot {
    enum recover_state state;
    int64_t grabbed_fen; /* 0 if the packet is missing */
    bool settled;        /* the stream has no gap at the cursor, and no event of this packet after it */
    bool planted;        /* the key is no packet; nothing else was read (ST_INVALID) */
};

void recover_state_read(const redisReply *reply, enum recover_state *out)
{
    struct str state = redis_reply_str(reply);
    *out = state.ptr == NULL               ? RECOVER_MISSING
           : str_equal(state, STR("open")) ? RECOVER_OPEN
           : str_equal(state, STR("busy")) ? RECOVER_BUSY
                                           : RECOVER_CLOSED;
}

/* True if the stream has no gap at the cursor and no event of this packet after it. */
static bool events_settled(const redisReply *range, struct live_event_id cursor, struct live_event_id last,
                           uint64_t packet_id)
{
    struct live_event event;
    if (range == NULL || range->type != REDIS_REPLY_ARRAY || range->elements > PENDING_EVENTS_MAX)
        return false;
    size_t first = 0;
    if (range->elements > 0) {
        (void)live_entry_first(range->element[0], &event);
        first = live_event_id_equal(event.id, cursor) ? 1 : 0;
    }
    if (first == 0 && !live_event_id_equal(cursor, LIVE_EVENT_NONE) && !live_event_id_equal(cursor, last))
        return false; /* a gap: recover_gaps repairs it first */
    for (size_t i = first; i < range->elements; i++)
        if (live_entry_first(range->element[i], &event) != ST_OK || event.packet_id == packet_id)
            return false;
    return true;
}

/* Reads a snapshot in one round. The state is read before the events: a packet that is missing or shut gets no further
 * event. */
static enum status snapshot_read(struct settle *s, uint64_t packet_id, struct live_event_id cursor,
                                 struct snapshot *out)
{
    struct live_keys keys;
    char from[LIVE_EVENT_ID_MAX], count[16];
    struct redis_call calls[3] = { 0 };
    struct live_event_id last;
    live_keys(&keys, packet_id, s->stores->config->partitions);
    (void)snprintf(count, sizeof count, "%d", PENDING_EVENTS_MAX + 1);
    const struct str hmget[] = { STR("HMGET"), keys.key[LIVE_KEY_PACKET], STR("state"), STR("grabbed_fen") };
    const struct str info[] = { STR("XINFO"), STR("STREAM"), keys.key[LIVE_KEY_EVENTS] };
    const struct str range[] = {
        STR("XRANGE"),  keys.key[LIVE_KEY_EVENTS], live_event_id_text(from, cursor), STR("+"), STR("COUNT"),
        str_from(count)
    };
    redis_queue_confirmed(s->stores->redis, &calls[0], hmget, 4);
    redis_queue_confirmed(s->stores->redis, &calls[1], info, 3);
    redis_queue_confirmed(s->stores->redis, &calls[2], range, 6);
    redis_round(s->stores->redis);
    *out = (struct snapshot){ .state = RECOVER_MISSING, .planted = redis_reply_is_wrong_type(calls[0].reply) };
    enum status st = calls[0].status != ST_OK ? calls[0].status : calls[2].status;
    if (st == ST_OK)
        st = live_stream_last_id(&calls[1], &last);
    if (st == ST_OK) {
        const redisReply *fen = redis_reply_at(calls[0].reply, 1);
        recover_state_read(redis_reply_at(calls[0].reply, 0), &out->state);
        if (out->state != RECOVER_MISSING && (fen == NULL || !redis_reply_i64(fen, &out->grabbed_fen)))
            out->grabbed_fen = 0; /* no grab yet */
        out->settled = events_settled(calls[2].reply, cursor, last, packet_id);
    }
    for (size_t i = 0; i < 3; i++)
        redis_call_free(&calls[i]);
    return status_idempotent(st);
}

struct task {
    struct settle *s;
    struct arena *arena;
    uint64_t packet_id;
    int64_t now_ms;
    enum settle_fault_kind fault;
    bool loaded, refunded, left;
    int64_t refund_fen;
};

/* Recomputes all shares, also those that were given back, and sets the marks of the latter. */
static enum status shares_find(struct task *t, struct db *db, struct packet *p, int64_t **out)
{
    struct share_return *returns;
    size_t count;
    enum status st = returns_find(db, t->arena, p->id, &returns, &count);
    if (st != ST_OK)
        return st;
    *out = arena_array(t->arena, packet_share_total(p), sizeof **out);
    p->returned_shares = returns_text(t->arena, returns, count);
    if (*out == NULL || p->returned_shares.ptr == NULL)
        return ST_NO_MEMORY;
    st = returns_shares(p, returns, count, *out);
    if (st == ST_INVALID || st == ST_CORRUPT)
        t->fault = FAULT_SHARES_LOST;
    return st;
}

/* Rebuilds the packet in Redis from its seed, its returns and its settled grabs. */
static enum status packet_rebuild(struct task *t, struct db *db, struct packet *p)
{
    struct grab *grabs;
    size_t grab_count;
    enum live_code code;
    int64_t *shares;
    enum status st = packet_grabs_between(db, t->arena, p->id, 0, packet_share_total(p), &grabs, &grab_count);
    if (st == ST_OK)
        st = receivers_find(db, t->arena, p);
    if (st == ST_OK)
        st = shares_find(t, db, p, &shares);
    if (st == ST_OK)
        st = faces_find(db, t->arena, p, grabs, grab_count);
    struct live_settled *settled = st == ST_OK ? arena_array(t->arena, grab_count + 1, sizeof *settled) : NULL;
    if (settled == NULL)
        return st == ST_OK ? ST_NO_MEMORY : st;
    for (size_t i = 0; i < grab_count; i++) {
        if (grabs[i].share_no != i || grabs[i].amount_fen != shares[i]) {
            t->fault = FAULT_GRAB_MISMATCH;
            return ST_CORRUPT;
        }
        settled[i] = (struct live_settled){ .user_id = grabs[i].user_id,
                                            .nickname = grabs[i].nickname,
                                            .face = grabs[i].face,
                                            .amount_fen = grabs[i].amount_fen,
                                            .event = { .ms = (uint64_t)grabs[i].grabbed_ms } };
    }
    if (p->thanks_count > 0) { /* the worker writes them to Redis again, once it has the packet */
        st = thanks_mark_lost(db, p->id);
        if (st != ST_OK)
            return st;
    }
    st = live_load(&t->s->stores->live, p, shares, settled, (uint32_t)grab_count, LIVE_STATE_OPEN, &code);
    t->left = st == ST_OK && code == LIVE_NOT_YET;
    if (st != ST_OK || t->left)
        return st;
    if (code != LIVE_LOADED && code != LIVE_EXISTS) {
        t->fault = FAULT_REBUILD_REFUSED;
        return ST_CORRUPT;
    }
    crash_point("recover-after-load");
    t->loaded = code == LIVE_LOADED;
    return p->state == PACKET_FUNDING ? packet_mark_open(db, p->id) : ST_OK;
}

/* Refunds the rest without a close event: Redis has no unsettled event of the packet. A refund by a close event has the
 * same unique key (kind, packet, seq), so there can be only one refund. */
static enum status packet_refund(struct task *t, struct db *db, const struct packet *p)
{
    int64_t rest_fen = packet_total_fen(p) - p->grabbed_fen;
    if (rest_fen <= 0 || p->grabbed_count >= packet_share_total(p)) {
        t->fault = FAULT_NOT_CLOSED;
        return ST_CORRUPT;
    }
    crash_point("recover-before-refund");
    enum status st = ledger_refund(db, p->id, rest_fen, t->now_ms);
    if (st == ST_EXISTS || st == ST_INVALID || st == ST_NOT_FOUND) {
        t->fault = FAULT_REFUND_REFUSED;
        return ST_CORRUPT;
    }
    if (st != ST_OK)
        return st;
    crash_point("recover-after-refund");
    t->refunded = true;
    t->refund_fen = rest_fen;
    return db_exec(db, NULL, "UPDATE packet SET state = 'closed', refund_fen = ?, closed_ms = ? WHERE id = ?",
                   DB_PARAMS(DB_I64(rest_fen), DB_I64(t->now_ms), DB_U64(p->id)));
}

/* True when the tables let the packet be closed. The worker closes expired packets by its clock, which another worker's
 * may differ from. */
static bool packet_is_due(const struct packet *p, int64_t now_ms)
{
    return p->ended_ms != 0 || p->expires_ms <= now_ms + VERIFY_MARGIN_MS;
}

/* An ended packet is always closed by an event. An older copy of Redis has it open until its first expiry; the cursor,
 * which is behind the event then, shows that this copy is older. */
static bool packet_is_over_by_time(const struct packet *p, int64_t now_ms)
{
    return p->expires_ms <= now_ms && p->ended_ms == 0;
}

/* Call it before a packet in state funding that Redis lacks is loaded or refunded. Its sender may still load it,
 * whatever this clock says: a late load then finds a tombstone, and a packet that is loaded already is shut. Reads the
 * snapshot again. */
static enum status sender_keep_out(struct task *t, struct live_event_id cursor, struct snapshot *snapshot)
{
    enum status st = status_idempotent(live_shut(&t->s->stores->live, &t->packet_id, 1));
    return st == ST_OK ? snapshot_read(t->s, t->packet_id, cursor, snapshot) : st;
}

/* Removes a key of another type in place of the packet, which Redis then lacks. Reads the snapshot again. */
static enum status planted_remove(struct task *t, struct live_event_id cursor, struct snapshot *snapshot)
{
    security_event_log(SECURITY_EVENT_FORGED, "packet=%llu reason=\"its key is no packet\"",
                       (unsigned long long)t->packet_id);
    enum status st = status_idempotent(live_remove(&t->s->stores->live, t->packet_id));
    return st == ST_OK ? snapshot_read(t->s, t->packet_id, cursor, snapshot) : st;
}

static enum status packet_repair(struct task *t, struct db *db, struct packet *p, const struct snapshot *snapshot)
{
    if (snapshot->state == RECOVER_OPEN)
        return ST_OK; /* loaded meanwhile */
    if (!snapshot->settled)
        return ST_OK; /* its events are settled first */
    if (snapshot->state == RECOVER_CLOSED && !packet_is_due(p, t->now_ms)) {
        security_event_log(SECURITY_EVENT_FORGED, "packet=%llu reason=\"%.*s\"", (unsigned long long)p->id,
                           STR_ARG(settle_fault_text(FAULT_CLOSED_EARLY)));
        enum status st = status_idempotent(live_shut(&t->s->stores->live, &p->id, 1));
        return st == ST_OK ? packet_rebuild(t, db, p) : st;
    }
    if (snapshot->state == RECOVER_CLOSED) {
        /* The close event is lost. A closed packet takes no more grabs, so it can be refunded if all grabs are in the
         * tables. */
        if (snapshot->grabbed_fen != p->grabbed_fen) {
            t->fault = FAULT_CLOSED_SUM_MISMATCH;
            return ST_CORRUPT;
        }
        return packet_refund(t, db, p);
    }
    return packet_is_over_by_time(p, t->now_ms) ? packet_refund(t, db, p) : packet_rebuild(t, db, p);
}

static enum status packet_body(struct db *db, void *ctx)
{
    struct task *t = ctx;
    struct live_event_id cursor;
    struct packet p;
    struct snapshot snapshot;
    t->loaded = t->refunded = t->left = false;
    t->fault = FAULT_NONE;
    uint32_t partition = packet_partition(t->packet_id, t->s->stores->config->partitions);
    bool quarantined = false;
    enum status st = settle_cursor_lock(db, t->arena, partition, &cursor);
    if (st == ST_NOT_FOUND)
        return ST_OK; /* another worker has the partition */
    if (st == ST_OK)
        st = settle_cursor_touch(db, partition);
    if (st == ST_OK)
        st = packet_find_locked(db, t->arena, t->packet_id, &p);
    if (st == ST_CORRUPT)
        t->fault = FAULT_ROW_IMPOSSIBLE;
    if (st != ST_OK || p.state == PACKET_CLOSED)
        return st;
    /* Its dead letters decide what is right; the operator resolves them. */
    st = dead_letter_quarantined(db, t->arena, partition, t->packet_id, 0, &quarantined);
    if (st != ST_OK || quarantined)
        return st;
    st = snapshot_read(t->s, t->packet_id, cursor, &snapshot);
    if (snapshot.planted)
        st = planted_remove(t, cursor, &snapshot);
    if (st == ST_OK && p.state == PACKET_FUNDING && snapshot.state == RECOVER_MISSING && snapshot.settled)
        st = sender_keep_out(t, cursor, &snapshot);
    if (st == ST_OK)
        st = packet_repair(t, db, &p, &snapshot);
    if (st != ST_OK || !t->refunded)
        return st;
    /* Delete the keys before the commit: recovery does not visit closed packets. If the commit fails, the packet is
     * only missing in Redis, and the refund is repeated. */
    crash_point("recover-before-remove");
    st = live_tombstone(&t->s->stores->live, t->packet_id);
    crash_point("recover-after-remove");
    return st;
}

enum status recover_packet(struct settle *s, uint64_t packet_id, int64_t now_ms, struct recover_done *done)
{
    struct task t = { .s = s, .packet_id = packet_id, .now_ms = now_ms };
    uint32_t partition = packet_partition(packet_id, s->stores->config->partitions);
    if (settle_is_searching(s, &s->partitions[partition]) && !s->partitions[partition].stopped)
        return ST_OK;       /* its events are settled first; a check of each packet would slow the search down */
    metrics_process_beat(); /* a walk has many packets */
    t.arena = arena_new(ARENA_CHUNK_BYTES, ARENA_LIMIT_BYTES);
    if (t.arena == NULL)
        return ST_NO_MEMORY;
    /* A cheap check without a transaction: a packet may be in quarantine for days and is visited every second. */
    bool quarantined = false;
    enum status st = dead_letter_quarantined(s->stores->db, t.arena, partition, packet_id, 0, &quarantined);
    if (st == ST_OK && !quarantined)
        st = db_transaction(s->stores->db, packet_body, &t);
    if (t.refunded)
        crash_point("recover-after-commit");
    if (t.fault != FAULT_NONE || st == ST_CORRUPT || st == ST_INVALID || st == ST_NOT_FOUND) {
        struct str reason = t.fault != FAULT_NONE ? settle_fault_text(t.fault) : str_from(status_name(st));
        log_error("packet not recovered", "packet=%llu reason=\"%.*s\"", (unsigned long long)packet_id,
                  STR_ARG(reason));
        done->faults++;
        metrics_add(METRIC_RECOVERY_FAULTS, 1);
        st = ST_OK;
    } else if (st == ST_OK) {
        done->loaded += t.loaded;
        done->refunded += t.refunded;
        done->left += t.left;
        metrics_add(METRIC_RECOVERED_LOADED, t.loaded);
        metrics_add(METRIC_RECOVERED_REFUNDED, t.refunded);
        if (t.refunded)
            metrics_add(METRIC_REFUNDED_FEN, (uint64_t)t.refund_fen);
    }
    arena_free(t.arena);
    return status_retry(st);
}

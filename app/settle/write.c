#include "settle/write.h"

#include <assert.h>
#include <string.h>

#include "base/crash.h"
#include "live/event.h"
#include "live/keys.h"
#include "settle/fault.h"
#include "settle/rows_internal.h"

enum status settle_cursor_lock(struct db *db, struct arena *a, uint32_t partition, struct live_event_id *out)
{
    struct db_rows rows;
    enum status st =
        db_find(db, a, &rows, "SELECT last_id FROM stream_cursor WHERE partition_no = ? FOR UPDATE SKIP LOCKED",
                DB_PARAMS(DB_U64(partition)));
    if (st != ST_OK)
        return st;
    return live_event_id_parse(db_cell(&rows, 0, 0), out) ? ST_OK : ST_CORRUPT;
}

enum status settle_cursor_touch(struct db *db, uint32_t partition)
{
    return db_exec(db, NULL, "UPDATE stream_cursor SET updated_ms = updated_ms + 1 WHERE partition_no = ?",
                   DB_PARAMS(DB_U64(partition)));
}

static enum status cursor_move(struct db *db, const struct settle_write *w, struct live_event_id last)
{
    char text[LIVE_EVENT_ID_MAX];
    return db_exec(db, NULL, "UPDATE stream_cursor SET last_id = ?, updated_ms = ? WHERE partition_no = ?",
                   DB_PARAMS(DB_TEXT(live_event_id_text(text, last)), DB_I64(w->now_ms), DB_U64(w->partition)));
}

static bool contains(const uint64_t *ids, size_t count, uint64_t id)
{
    for (size_t i = 0; i < count; i++)
        if (ids[i] == id)
            return true;
    return false;
}

size_t settle_entry_end(const struct settle_write *w, size_t i)
{
    size_t end = i + 1;
    while (end < w->event_count && live_event_id_equal(w->events[end].id, w->events[i].id))
        end++;
    return end;
}

/* Writes the dead letters of the batch: entries of packets in quarantine, and the last entry if it has last_fault. The
 * events of all other entries become k->events. */
static enum status letters_add(struct settle_rows *k, struct db *db)
{
    struct settle_write *w = k->w;
    uint64_t *ids;
    size_t id_count;
    k->events = w->events;
    k->event_count = w->event_count;
    enum status st = dead_letter_packets(db, k->arena, w->partition, &ids, &id_count);
    if (st != ST_OK || (id_count == 0 && w->last_fault == FAULT_NONE))
        return st;
    k->events = arena_array(k->arena, w->event_count, sizeof *k->events);
    if (k->events == NULL)
        return ST_NO_MEMORY;
    k->event_count = 0;
    for (size_t i = 0, end; st == ST_OK && i < w->event_count; i = end) {
        const struct live_event *e = &w->events[i];
        end = settle_entry_end(w, i);
        enum settle_fault_kind reason = contains(ids, id_count, e->packet_id) ? FAULT_FOLLOWS_LETTER
                                        : end == w->event_count               ? w->last_fault
                                                                              : FAULT_NONE;
        if (reason == FAULT_NONE) {
            memcpy(&k->events[k->event_count], e, (end - i) * sizeof *e);
            k->event_count += end - i;
            continue;
        }
        w->letter_count++;
        st = dead_letter_add(db, &(struct dead_letter){ .partition = w->partition,
                                                        .event = e->id,
                                                        .packet_id = e->packet_id,
                                                        .content = dead_letter_content(k->arena, w->entries[i]),
                                                        .reason = settle_fault_text(reason),
                                                        .created_ms = w->now_ms });
    }
    return st;
}

/* True if the server of the partition is still connected by the connection over which the events were read. Call it
 * with the cursor's row locked: a worker that compares the next Redis process takes the same lock. */
static bool connection_unchanged(const struct settle_write *w)
{
    char key[LIVE_KEY_MAX];
    struct redis_call call;
    const struct str get[] = { STR("GET"), live_fence_key(key, w->partition) };
    bool unchanged = redis_do(w->redis, &call, get, 2) == ST_OK && call.connection == w->connection;
    redis_call_free(&call);
    return unchanged;
}

/* Locks the cursor's row. *ours: the cursor equals our copy; else outcome is set. */
static enum status cursor_take(struct db *db, struct arena *a, struct settle_write *w, bool *ours)
{
    struct live_event_id cursor;
    enum status st = settle_cursor_lock(db, a, w->partition, &cursor);
    *ours = false;
    if (st == ST_NOT_FOUND) {
        w->outcome = SETTLE_BUSY;
        return ST_OK;
    }
    if (st != ST_OK)
        return st;
    if (live_event_id_compare(cursor, w->cursor) != 0) {
        w->cursor = cursor;
        w->outcome = SETTLE_MOVED;
        return ST_OK;
    }
    if (w->redis != NULL && !connection_unchanged(w))
        return ST_UNAVAILABLE;
    w->outcome = SETTLE_WRITTEN;
    *ours = true;
    return ST_OK;
}

static enum status write_body(struct db *db, void *ctx)
{
    struct settle_rows *k = ctx;
    struct settle_write *w = k->w;
    bool ours;
    w->closed_count = 0;
    w->refunded_fen = 0;
    w->settled_count = w->letter_count = 0;
    enum status st = cursor_take(db, k->arena, w, &ours);
    if (st != ST_OK || !ours)
        return st;
    crash_point("settle-after-cursor-lock");
    st = letters_add(k, db);
    w->settled_count = k->event_count;
    if (st == ST_OK && k->event_count > 0)
        st = settle_rows_write(k, db);
    if (st == ST_OK)
        st = cursor_move(db, w, w->events[w->event_count - 1].id);
    crash_point("settle-before-commit");
    return st;
}

/* Sets outcome and fault after the server refused a statement. */
static void fault_from_status(enum status st, struct settle_write *w)
{
    w->outcome = SETTLE_FAULT;
    if (w->fault.kind != FAULT_NONE)
        return;
    if (st == ST_CORRUPT)
        w->outcome = SETTLE_BROKEN;
    w->fault.kind = st == ST_EXISTS ? FAULT_UNIQUE_KEY : st == ST_INVALID ? FAULT_CONSTRAINT : FAULT_TABLES;
}

enum status settle_write(struct db *db, struct arena *a, struct settle_write *w)
{
    assert(w->event_count > 0);
    struct settle_rows k = { .arena = a, .w = w, .drop_settled = w->drop_settled };
    w->fault = (struct settle_fault){ 0 };
    w->closed_ids = arena_array(a, w->event_count, sizeof *w->closed_ids);
    if (w->closed_ids == NULL)
        return ST_NO_MEMORY;
    enum status st = db_transaction(db, write_body, &k);
    /* The packets' rows are locked, so a duplicate key or a wrong sum has two possible causes: the same event was
     * settled before, or the stores contradict each other. Only the second try distinguishes them, because that costs a
     * query. */
    if (!k.drop_settled && (st == ST_EXISTS || (st == ST_CORRUPT && w->fault.kind != FAULT_NONE))) {
        k.drop_settled = true;
        w->fault = (struct settle_fault){ 0 };
        st = db_transaction(db, write_body, &k);
    }
    if (st == ST_CORRUPT || st == ST_EXISTS || st == ST_INVALID) {
        fault_from_status(st, w);
        st = ST_OK;
    }
    buf_free(&k.sql);
    return st;
}

/* ---- dead letters ---- */

struct letter_write {
    struct settle_write *w;
    struct dead_letter *letter;
    struct arena *arena;
};

static enum status letter_body(struct db *db, void *ctx)
{
    struct letter_write *k = ctx;
    bool ours;
    enum status st = cursor_take(db, k->arena, k->w, &ours);
    if (st != ST_OK || !ours)
        return st;
    st = dead_letter_add(db, k->letter);
    if (st == ST_OK)
        st = cursor_move(db, k->w, k->letter->event);
    crash_point("letter-before-commit");
    return st;
}

enum status settle_write_letter(struct db *db, struct arena *a, struct settle_write *w, struct dead_letter *letter)
{
    struct letter_write k = { .w = w, .letter = letter, .arena = a };
    letter->partition = w->partition;
    letter->created_ms = w->now_ms;
    return db_transaction(db, letter_body, &k);
}

struct replay {
    struct settle_rows rows;
    struct settle_replay *r;
    struct settle_write w;
};

/* Reads the letter under the lock of its partition's cursor, which excludes the worker and other replays. The touch
 * excludes them on other Galera nodes, where a worker could otherwise make a letter of a later entry. */
static enum status letter_take(struct replay *k, struct db *db, struct dead_letter *letter)
{
    enum status st = dead_letter_find(db, k->rows.arena, k->r->letter_id, letter);
    if (st == ST_OK)
        st = settle_cursor_touch(db, letter->partition);
    if (st == ST_OK)
        st = dead_letter_find(db, k->rows.arena, k->r->letter_id, letter);
    return st == ST_OK && letter->resolved ? ST_NOT_FOUND : st;
}

/* Reads the events to settle, from the letter or from the content given in its place. ST_NOT_FOUND: the outcome says
 * why they can't be used. */
static enum status replay_events(struct replay *k, const struct dead_letter *letter)
{
    struct settle_replay *r = k->r;
    bool stored = r->content.ptr == NULL;
    enum status st = dead_letter_events(k->rows.arena, stored ? letter->content : r->content, letter->event,
                                        &k->rows.events, &k->rows.event_count);
    if (st == ST_OK && stored && dead_letter_joined(k->rows.events, k->rows.event_count))
        st = ST_INVALID;
    if (st == ST_INVALID) {
        r->outcome = REPLAY_UNREADABLE;
        return ST_NOT_FOUND;
    }
    if (st == ST_OK && k->rows.event_count < dead_letter_lines(letter->content)) {
        r->outcome = REPLAY_INCOMPLETE;
        return ST_NOT_FOUND;
    }
    for (size_t i = 0; st == ST_OK && i < k->rows.event_count; i++)
        k->rows.events[i].follows = true; /* the operator has confirmed its time */
    return st;
}

/* The body of a replay. A refused replay returns ST_NOT_FOUND, which rolls back. */
static enum status replay_body(struct db *db, void *ctx)
{
    struct replay *k = ctx;
    struct settle_replay *r = k->r;
    struct dead_letter letter;
    bool earlier;
    k->w.closed_count = 0;
    k->w.fault = (struct settle_fault){ 0 };
    enum status st = letter_take(k, db, &letter);
    r->outcome = st == ST_NOT_FOUND ? REPLAY_MISSING : REPLAY_DONE;
    if (st == ST_OK)
        st = replay_events(k, &letter);
    if (st != ST_OK)
        return st;
    r->packet_id = k->rows.events[0].packet_id;
    st = dead_letter_quarantined(db, k->rows.arena, letter.partition, r->packet_id, letter.id, &earlier);
    if (st == ST_OK && earlier) {
        r->outcome = REPLAY_EARLIER;
        return ST_NOT_FOUND;
    }
    if (st == ST_OK)
        st = settle_rows_write(&k->rows, db);
    if (st == ST_OK)
        st = dead_letter_resolve(db, letter.id, true, r->now_ms);
    crash_point("replay-before-commit");
    return st;
}

enum status settle_replay(struct db *db, struct arena *a, struct settle_replay *r)
{
    uint64_t closed_id;
    struct replay k = { .r = r, .w = { .now_ms = r->now_ms, .shares = shares_new(), .closed_ids = &closed_id } };
    if (k.w.shares == NULL)
        return ST_NO_MEMORY;
    k.rows = (struct settle_rows){ .arena = a, .w = &k.w, .drop_settled = true };
    enum status st = db_transaction(db, replay_body, &k);
    crash_point("replay-after-commit");
    if (st == ST_OK)
        r->closed = k.w.closed_count > 0;
    if (st == ST_CORRUPT || st == ST_EXISTS || st == ST_INVALID) {
        fault_from_status(st, &k.w);
        r->fault = k.w.fault;
        r->outcome = REPLAY_FAULT;
        st = ST_OK;
    }
    buf_free(&k.rows.sql);
    shares_free(k.w.shares);
    return st == ST_NOT_FOUND ? ST_OK : st;
}

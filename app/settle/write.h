/* One batch of events as one MySQL transaction: the cursor's lock, the rows, the money, the cursor's move. */
#ifndef HB_SETTLE_WRITE_H
#define HB_SETTLE_WRITE_H

#include "base/arena.h"
#include "base/status.h"
#include "io/db.h"
#include "live/event.h"
#include "settle/batch.h"
#include "settle/dead_letter.h"

enum settle_outcome {
    SETTLE_WRITTEN, /* committed, with every event */
    SETTLE_BUSY,    /* another worker holds the partition */
    SETTLE_MOVED,   /* the cursor is not where we thought; nothing was written; cursor says where it is */
    SETTLE_FAULT,   /* an event that contradicts; nothing was written; fault says why */
    SETTLE_BROKEN   /* the tables themselves answer nonsense; nothing was written; fault says why */
};

struct settle_write {
    /* in */
    uint32_t partition;
    struct live_event_id cursor;       /* where we think it stands; out: where it stood when it was not there */
    struct live_event *events;         /* ascending ids, all behind the cursor */
    size_t event_count;                /* > 0 */
    redisReply *const *entries;        /* the same as Redis gave them: what becomes a dead letter is kept as it was */
    enum settle_fault_kind last_fault; /* not FAULT_NONE: why the last event becomes a dead letter, not money */
    bool careful; /* contradictions are expected: look for grabs that are settled already at once */
    int64_t now_ms;
    struct redis *redis; /* the events came over its connection of this number; NULL: from elsewhere */
    uint64_t connection;
    /* out */
    enum settle_outcome outcome;
    struct settle_fault fault;
    uint64_t *closed_ids; /* packets that are closed now, in the arena */
    size_t closed_count;
    int64_t refunded_fen;
    size_t put_aside; /* dead letters instead of money: of packets in quarantine, and the last with last_fault */
};

/* Writes nothing (ST_UNAVAILABLE) when the connection the events came over stands no more: the next Redis process may
 * not have them, and its fence may be open by now.
 * ST_OK: see outcome · ST_UNAVAILABLE, ST_CONFLICT: nothing was written, try again · ST_UNKNOWN: the connection was
 * lost at COMMIT: read the cursor · ST_NO_MEMORY. */
enum status settle_write(struct db *db, struct arena *a, struct settle_write *w);

/* Makes the entry behind the cursor a dead letter and moves the cursor past it, in one transaction. letter: event,
 * packet_id, content and reason are set. Of w partition, cursor and now_ms are read; outcome (WRITTEN, BUSY or MOVED)
 * and cursor are set. Returns as settle_write. */
enum status settle_put_aside(struct db *db, struct arena *a, struct settle_write *w, struct dead_letter *letter);

/* A dead letter is to be settled after all. */
struct settle_replay {
    /* in */
    uint64_t letter_id;
    struct str content; /* what the event should have said; STR_NONE: what it says */
    int64_t now_ms;
    /* out */
    enum {
        REPLAY_DONE,
        REPLAY_MISSING,    /* no such letter, or it is resolved */
        REPLAY_UNREADABLE, /* the content is no event */
        REPLAY_EARLIER,    /* an older letter of the packet comes first */
        REPLAY_FAULT       /* it contradicts the tables: fault says how */
    } outcome;
    struct settle_fault fault;
    uint64_t packet_id;
    bool closed; /* the packet is closed now: its live keys can go */
};
/* The worker of the partition waits meanwhile. Returns as settle_write. */
enum status settle_replay(struct db *db, struct arena *a, struct settle_replay *r);

/* Reads the cursor of a partition and locks its row until the transaction ends. ST_NOT_FOUND: there is no row, or
 * another worker has it. ST_CORRUPT: it is not a stream id. */
enum status settle_cursor_lock(struct db *db, struct arena *a, uint32_t partition, struct live_event_id *out);

#endif

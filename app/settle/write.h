/* Writes one batch of events in one MySQL transaction: locks the cursor, writes rows and money, moves the cursor. Also
 * dead letters, and their replay. */
#ifndef HB_SETTLE_WRITE_H
#define HB_SETTLE_WRITE_H

#include "base/arena.h"
#include "base/status.h"
#include "live/event.h"
#include "mysql/db.h"
#include "settle/batch.h"
#include "settle/dead_letter.h"
#include "settle/shares.h"

enum settle_outcome {
    SETTLE_WRITTEN, /* committed: every entry is settled or a dead letter */
    SETTLE_BUSY,    /* another worker holds the partition */
    SETTLE_MOVED,   /* the cursor differs from ours; nothing was written; cursor holds the value found */
    SETTLE_FAULT,   /* an event contradicts the tables; nothing was written; fault is set */
    SETTLE_BROKEN   /* the tables are inconsistent; nothing was written; fault is set */
};

struct settle_write {
    /* in */
    uint32_t partition;
    struct live_event_id cursor;       /* our copy of the cursor; SETTLE_MOVED replaces it by the value found */
    struct live_event *events;         /* events of whole entries; ascending ids, all after the cursor */
    size_t event_count;                /* > 0 */
    const redisReply *const *entries;  /* the raw entry of each event, for the content of dead letters */
    enum settle_fault_kind last_fault; /* unless FAULT_NONE: the last entry becomes a dead letter for this reason */
    bool drop_settled;                 /* drop settled grabs in the first try, not only after a duplicate key */
    int64_t partitions;                /* an event of a packet of another partition is a fault; 0: not checked */
    struct shares *shares;             /* of the worker */
    int64_t now_ms;
    /* the client by whose connection `connection` the events were read; NULL: they are not from Redis */
    struct redis *redis;
    uint64_t connection;
    /* out */
    enum settle_outcome outcome;
    struct settle_fault fault;
    uint64_t *closed_ids; /* packets that this batch closed, in the arena */
    size_t closed_count;
    int64_t refunded_fen;
    size_t settled_count; /* events that were settled */
    size_t letter_count;  /* dead letters: of packets in quarantine, and the last entry with last_fault */
};

/* The index after the entry that begins at event i. The events of an entry have one id; they are settled together or
 * become one dead letter. */
size_t settle_entry_end(const struct settle_write *w, size_t i);

/* Settles a batch. Writes nothing (ST_UNAVAILABLE) when the connection over which the events were read has been
 * replaced: another Redis process may lack the events, and its fence may be open. ST_OK: see outcome · ST_UNAVAILABLE,
 * ST_CONFLICT: nothing was written, try again · ST_UNKNOWN: the reply to COMMIT was lost, read the cursor ·
 * ST_NO_MEMORY. */
enum status settle_write(struct db *db, struct arena *a, struct settle_write *w);

/* Writes the entry after the cursor as a dead letter and moves the cursor to it, in one transaction. The caller sets
 * event, packet_id, content and reason of letter, and partition, cursor, now_ms, redis and connection of w; outcome
 * (WRITTEN, BUSY or MOVED) and cursor are set. Returns as settle_write; also ST_EXISTS, ST_INVALID and ST_CORRUPT when
 * the table refuses the letter. */
enum status settle_write_letter(struct db *db, struct arena *a, struct settle_write *w, struct dead_letter *letter);

/* Settling a dead letter by hand. */
struct settle_replay {
    /* in */
    uint64_t letter_id;
    struct str content; /* the corrected content; STR_NONE: the letter's own content */
    int64_t now_ms;
    /* out */
    enum {
        REPLAY_DONE,
        REPLAY_MISSING,    /* no such letter, or it is already resolved */
        REPLAY_UNREADABLE, /* the content can't be read as events */
        REPLAY_INCOMPLETE, /* it has fewer grabs than the letter: the others would be lost */
        REPLAY_EARLIER,    /* an older letter of the packet must be resolved first */
        REPLAY_FAULT       /* an event contradicts the tables: fault is set */
    } outcome;
    struct settle_fault fault;
    uint64_t packet_id;
    bool closed; /* the replay closed the packet: its live keys can be deleted */
};
/* Settles the letter in one transaction, under the lock of the partition's cursor; the worker skips the partition
 * meanwhile. Returns as settle_write. */
enum status settle_replay(struct db *db, struct arena *a, struct settle_replay *r);

/* Reads the cursor of a partition and locks its row until the transaction ends. Never waits. ST_NOT_FOUND: there is no
 * row, or another transaction has locked it · ST_CORRUPT: last_id is not a stream id. */
enum status settle_cursor_lock(struct db *db, struct arena *a, uint32_t partition, struct live_event_id *out);
/* Changes the row of the cursor, and so locks it until the transaction ends. It waits for the lock, which a worker does
 * not. A lock holds on one node of Galera only; two transactions that decide by the cursor on two nodes conflict at
 * COMMIT when both have written its row. ST_OK even when there is no row, or the status of the statement. */
enum status settle_cursor_touch(struct db *db, uint32_t partition);

#endif

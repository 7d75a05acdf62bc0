/* Dead letters: entries of the stream that can't be settled, kept in MySQL until the operator resolves them (replay or
 * drop). A packet with an unresolved letter is in quarantine: its later entries become dead letters, too, and recovery
 * skips it, because the missing events decide what is right. All other packets are settled as usual. */
#ifndef HB_SETTLE_DEAD_LETTER_H
#define HB_SETTLE_DEAD_LETTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "live/event.h"
#include "mysql/db.h"

/* Bytes; longer texts are cut. The largest entry, a crowd, needs about 21,000: 64 nicknames of 256 bytes. The column, a
 * BLOB, has 65,535. */
enum { DEAD_LETTER_CONTENT_MAX = 60000, DEAD_LETTER_REASON_MAX = 160 };

struct dead_letter {
    uint64_t id;
    uint32_t partition;
    struct live_event_id event; /* the id of the entry, and of its events */
    uint64_t packet_id;         /* 0: the entry names no packet */
    struct str content; /* a line for each event: its field, a blank, its value (no nickname has a line break) */
    struct str reason;
    int64_t created_ms;
    bool resolved;
};

/* The content of a stream entry, in a. STR_NONE: no memory. */
struct str dead_letter_content(struct arena *a, const redisReply *entry);
/* The packet id in a damaged entry; 0 if there is none or it belongs to another partition. */
uint64_t dead_letter_packet(struct str content, uint32_t partition, int64_t partitions);
/* How many events content has, if it can be read. */
size_t dead_letter_lines(struct str content);
/* Parses content into the events of the entry with this id. *out is in a and borrows from content. ST_INVALID: not
 * readable · ST_NO_MEMORY. */
enum status dead_letter_events(struct arena *a, struct str content, struct live_event_id id, struct live_event **out,
                               size_t *count);
/* True when a grab has another grab in its nickname: older programs, which did not know crowds, joined the grabs of a
 * crowd into one line. Only for content from the table: a person who types content may write such a nickname. Pure. */
bool dead_letter_joined(const struct live_event *events, size_t count);

/* Inserts a letter; call inside a transaction that has locked the partition's cursor. ST_EXISTS: this entry has a
 * letter. */
enum status dead_letter_add(struct db *db, const struct dead_letter *letter);
/* The packets of the partition with unresolved letters, in ascending order; *out is in a. */
enum status dead_letter_packets(struct db *db, struct arena *a, uint32_t partition, uint64_t **out, size_t *count);
/* *out: the packet is in quarantine. before: consider only letters with a lower id; 0: all. */
enum status dead_letter_quarantined(struct db *db, struct arena *a, uint32_t partition, uint64_t packet_id,
                                    uint64_t before, bool *out);
/* Reads one letter; its texts are in a. ST_NOT_FOUND. */
enum status dead_letter_find(struct db *db, struct arena *a, uint64_t id, struct dead_letter *out);
/* Unresolved letters with an id above after, oldest first, at most limit; packet_id 0: of all packets. *out is in a. */
enum status dead_letter_list(struct db *db, struct arena *a, uint64_t packet_id, uint64_t after, uint32_t limit,
                             struct dead_letter **out, size_t *count);
/* Marks a letter as resolved: replayed or dropped. ST_NOT_FOUND: no such letter, or it is already resolved. */
enum status dead_letter_resolve(struct db *db, uint64_t id, bool replayed, int64_t now_ms);

#endif

/* Dead letters: events that can't be settled, kept in MySQL until a person has looked at them. A packet with an
 * unresolved one is in quarantine: its later events become dead letters, too, and recovery leaves it alone, because
 * whatever is missing decides what is right. All other packets flow on. */
#ifndef HB_SETTLE_DEAD_LETTER_H
#define HB_SETTLE_DEAD_LETTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "io/db.h"
#include "live/event.h"

enum { DEAD_LETTER_CONTENT_MAX = 4000, DEAD_LETTER_REASON_MAX = 160 }; /* bytes; what is longer is cut */

struct dead_letter {
    uint64_t id;
    uint32_t partition;
    struct live_event_id event;
    uint64_t packet_id; /* 0: the event does not tell */
    struct str content; /* fields and values with a blank between */
    struct str reason;
    int64_t created_ms;
    bool resolved;
};

/* An entry of the stream as text. STR_NONE without memory. */
struct str dead_letter_content(struct arena *a, const redisReply *entry);
/* The packet that a damaged event names, if it can be one of this partition; else 0. */
uint64_t dead_letter_packet(struct str content, uint32_t partition, int64_t partitions);
/* From the text to the event of that id; false when it can't be read. The event borrows from content. */
bool dead_letter_event(struct str content, struct live_event_id id, struct live_event *out);

/* Inside a transaction that holds the cursor's lock. ST_EXISTS: this event is there already. */
enum status dead_letter_add(struct db *db, const struct dead_letter *letter);
/* Packets of the partition with unresolved letters, ascending. */
enum status dead_letter_packets(struct db *db, struct arena *a, uint32_t partition, uint64_t **out, size_t *count);
/* Whether the packet is in quarantine. before: only letters older than this one count; 0: all. */
enum status dead_letter_holds(struct db *db, struct arena *a, uint32_t partition, uint64_t packet_id, uint64_t before,
                              bool *out);
/* One letter; ST_NOT_FOUND. */
enum status dead_letter_find(struct db *db, struct arena *a, uint64_t id, struct dead_letter *out);
/* Unresolved letters behind after, oldest first; packet_id 0: of all packets. */
enum status dead_letter_list(struct db *db, struct arena *a, uint64_t packet_id, uint64_t after, uint32_t limit,
                             struct dead_letter **out, size_t *count);
/* Marks it as done. ST_NOT_FOUND: it is no more, or was before. */
enum status dead_letter_resolve(struct db *db, uint64_t id, bool replayed, int64_t now_ms);

#endif

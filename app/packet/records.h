/* The records of a user: packets received and packets sent, newest first, one page at a time. The texts of a result
 * live in the arena. */
#ifndef HB_PACKET_RECORDS_H
#define HB_PACKET_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "io/db.h"
#include "packet/grab.h"
#include "packet/packet.h"

/* The start of a page of records: only rows older than (ms, packet_id), compared in this order. */
struct record_cursor {
    int64_t ms;
    uint64_t packet_id;
};
/* A time range, from_ms <= time < until_ms, and the cursor of a further page. */
struct record_range {
    int64_t from_ms, until_ms;
    bool has_cursor;
    struct record_cursor cursor;
};

struct received_row {
    uint64_t packet_id;
    uint32_t share_no;
    int64_t amount_fen, grabbed_ms;
    enum packet_kind kind;
    struct str greeting;
    uint64_t sender_id;
    struct str sender_name;
    bool best; /* 手气最佳 of a finished packet */
};
/* Grabs of the user, and packets the user has sent, in the range; newest first, at most limit. *out is in the arena. */
enum status records_received_find(struct db *db, struct arena *a, uint64_t user_id, const struct record_range *range,
                                  size_t limit, struct received_row **out, size_t *out_count);
enum status records_sent_find(struct db *db, struct arena *a, uint64_t user_id, const struct record_range *range,
                              size_t limit, struct packet **out, size_t *out_count);

#endif

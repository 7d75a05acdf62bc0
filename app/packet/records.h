/* The records of a user: packets received and packets sent, newest first, one page at a time; and the overview: the
 * balance and the newest records. The texts of a result live in the arena. */
#ifndef HB_PACKET_RECORDS_H
#define HB_PACKET_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/badge.h"
#include "mysql/db.h"
#include "mysql/db_page.h"
#include "packet/packet.h"

enum record_side { RECORD_RECEIVED, RECORD_SENT, RECORD_SIDES };

/* One row: a share that the user has received, or a packet that the user has sent. */
struct record {
    uint64_t packet_id;
    int64_t ms;         /* received: of the grab; sent: when it was sent; pages are ordered by (ms, packet_id) */
    int64_t amount_fen; /* of the share, or of the packet */
    /* received: given back; sent: what the sender got back from receivers, without what went into the packet */
    int64_t returned_fen;
    enum packet_kind kind;
    struct str greeting;
    struct face face; /* of the sender; of a packet that was sent, of its only receiver */
    /* of a received share */
    uint32_t share_no;
    uint64_t sender_id;
    struct str sender_name;
    bool best; /* 手气最佳 of a finished packet */
    /* of a sent packet */
    uint32_t count, grabbed_count; /* grabbed_count: without what was given back into the packet */
    uint64_t receiver_id;          /* of an exclusive packet, else 0 */
    struct str receiver_name;      /* of an exclusive packet; empty: deleted */
    struct str note;               /* the sender's own */
    int64_t refund_fen;
    enum packet_state state;
    int64_t expires_ms;
    bool ended;         /* early, by its sender */
    bool with_person;   /* the person of the query is a named receiver or has a share of it */
    int64_t person_fen; /* the person's share of it: 0 when it was given back */
};

struct record_list {
    struct record *rows; /* newest first; in the arena */
    size_t count;
};

/* The user whose records are read, and the part of them that is wanted. */
struct record_query {
    uint64_t user_id;
    enum record_side side;
    uint64_t person_id; /* sets with_person and person_fen of sent packets; 0: nobody */
};

/* One page of a side. ST_CORRUPT: unknown kind or state · ST_NO_MEMORY · else as db_query. */
enum status records_find(struct db *db, struct arena *a, const struct record_query *query, const struct db_page *page,
                         struct record_list *out);

/* The balance of the wallet, and the newest records of each side. */
struct overview {
    int64_t balance_fen;
    struct record_list records[RECORD_SIDES]; /* at most limit of each side */
};
/* Reads balance and records with one SELECT. ST_NOT_FOUND: the user has no wallet · else as records_find. */
enum status overview_find(struct db *db, struct arena *a, uint64_t user_id, size_t limit, struct overview *out);

#endif

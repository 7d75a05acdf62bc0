/* One red packet as the database keeps it, and the words for its kind, split and state. Pure. */
#ifndef HB_PACKET_PACKET_H
#define HB_PACKET_PACKET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/random.h"
#include "base/str.h"
#include "packet/draw.h"

enum packet_kind {
    PACKET_LUCKY,    /* 拼手气: random shares */
    PACKET_EVEN,     /* 普通: equal shares */
    PACKET_EXCLUSIVE /* 专属: one share for one named receiver */
};

enum split_method { SPLIT_DOUBLE_AVERAGE, SPLIT_UNIFORM, SPLIT_GAUSSIAN, SPLIT_EVEN };

enum packet_state {
    PACKET_FUNDING,  /* paid for, not yet in Redis */
    PACKET_OPEN,     /* can be grabbed */
    PACKET_FINISHED, /* every share is grabbed; settlement may still be under way */
    PACKET_EXPIRED,  /* time ran out; the rest goes or went back to the sender */
    PACKET_CLOSED    /* everything settled, escrow zero */
};

#define PACKET_NO_SHARE UINT32_MAX /* best_share_no of a packet without a best share */

struct packet {
    uint64_t id;
    uint64_t sender_id;
    struct str sender_name; /* nickname when sent */
    uint64_t receiver_id;   /* exclusive only, else 0 */
    struct str receiver_name;
    enum packet_kind kind;
    enum split_method split;
    int64_t amount_fen; /* total */
    uint32_t count;
    int64_t share_max_fen;  /* limit of one share when it was sent: part of the draw; 0 in a packet read from Redis */
    uint32_t best_share_no; /* lucky only: the largest share, the first of equals; else PACKET_NO_SHARE */
    struct str greeting;
    uint8_t seed[SEED_BYTES];
    uint8_t commitment[HASH_BYTES]; /* SHA-256 of the seed */
    enum packet_state state;
    uint32_t grabbed_count; /* settled so far */
    int64_t grabbed_fen;
    int64_t refund_fen;
    int64_t created_ms;
    int64_t expires_ms;
    int64_t finished_ms; /* 0 until the last share is grabbed */
    int64_t closed_ms;   /* 0 until everything is settled */
    struct str request_key;
};

/* The words used in SQL, Redis and JSON ("lucky", "double-average", "open"). Never NULL. */
struct str packet_kind_name(enum packet_kind kind);
struct str split_method_name(enum split_method method);
struct str packet_state_name(enum packet_state state);
/* The way back; false, *out untouched, for any other word. */
bool packet_kind_from(struct str name, enum packet_kind *out);
bool split_method_from(struct str name, enum split_method *out);
bool packet_state_from(struct str name, enum packet_state *out);

/* The state that people see: open, finished or expired. Closed is accounting; a closed packet was grabbed to the end
 * or ran out of time. now_ms: an open packet past its time is expired, whether or not the worker was there. Pure. */
enum packet_state packet_state_shown(const struct packet *p, int64_t now_ms);

/* True when nobody can take a share any more, whatever a clock says: all are taken, or the packet is closed. p: as a
 * store keeps it, not as shown. The seed is told from then on. Pure. */
bool packet_is_over(const struct packet *p);

/* The partition that keeps everything of this packet. partitions ≥ 1. */
uint32_t packet_partition(uint64_t packet_id, int64_t partitions);

#endif

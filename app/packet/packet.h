/* One red packet as stored in MySQL, the names of its kind, split and state, and pure functions of its state. */
#ifndef HB_PACKET_PACKET_H
#define HB_PACKET_PACKET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/badge.h"
#include "base/random.h"
#include "base/str.h"
#include "packet/draw.h"

enum packet_kind {
    PACKET_LUCKY,    /* 拼手气: random shares */
    PACKET_EVEN,     /* 普通: equal shares; by total, the first ones may be a fen larger */
    PACKET_EXCLUSIVE /* 专属: one share for one named receiver */
};

enum split_method { SPLIT_DOUBLE_AVERAGE, SPLIT_UNIFORM, SPLIT_GAUSSIAN, SPLIT_EVEN };

enum packet_state {
    PACKET_FUNDING,  /* the money is in escrow; the settle worker has not seen it in Redis yet */
    PACKET_OPEN,     /* can be grabbed */
    PACKET_FINISHED, /* every share is grabbed; settlement may still be under way */
    PACKET_EXPIRED,  /* expired; the rest is or will be refunded to the sender */
    PACKET_CLOSED    /* everything is settled, the escrow is empty */
};

#define PACKET_NO_SHARE UINT32_MAX /* no share number; best_share_no: there is no best share */

struct packet {
    uint64_t id;
    uint64_t sender_id;
    struct str sender_name;  /* nickname at the time of sending */
    struct face sender_face; /* of a packet from Redis; in one from MySQL after faces_find */
    uint64_t receiver_id;    /* exclusive only, else 0 */
    struct str receiver_name;
    enum packet_kind kind;
    enum split_method split;
    int64_t amount_fen; /* total */
    uint32_t count;
    int64_t share_max_fen;  /* limit of one share when it was sent: part of the draw; 0 in a packet read from Redis */
    int64_t share_min_fen;  /* the smallest share: part of the draw; 0 in a packet read from Redis */
    uint32_t best_share_no; /* lucky only: the largest share, the first of equals; else PACKET_NO_SHARE */
    struct str greeting;
    uint8_t seed[SEED_BYTES];
    uint8_t commitment[HASH_BYTES]; /* SHA-256 of the seed */
    enum packet_state state;
    uint32_t grabbed_count; /* settled grabs */
    int64_t grabbed_fen;
    int64_t refund_fen;
    int64_t created_ms;
    int64_t expires_ms;
    int64_t finished_ms; /* when the last share was grabbed; 0: not yet */
    int64_t closed_ms;   /* when everything was settled; 0: not yet */
    struct str request_key;

    /* Options, which most packets do not have: 0 or empty then. */
    int64_t opens_ms;           /* it can be opened from then on; 0: from the beginning */
    struct str phrase_hash;     /* keyed hash of the passphrase, bytes */
    struct str phrase_sealed;   /* the passphrase, encrypted, bytes */
    bool needs_phrase;          /* only from packet_find_face, which reads no hash */
    struct str cover;           /* name of the envelope's cover */
    uint32_t receiver_count;    /* named receivers, who alone may open it; 0: everybody, or receiver_id alone */
    struct str receivers;       /* their ids in ascending order: ",10001,10002,"; see packet/receivers.h */
    struct str receiver_names;  /* the nicknames of the first of them, each with a line feed behind it */
    int64_t ended_ms;           /* when the sender ended it early */
    uint32_t returned_count;    /* shares given back into the packet, each of which became one more share at its end */
    int64_t returned_fen;       /* their sum */
    uint32_t thanks_count;      /* thanks of receivers */
    struct str returned_shares; /* as Redis has it: the numbers of all shares given back, "3,7"; empty from MySQL, where
                                   each grab tells it */
};

/* The names used in SQL, Redis and JSON ("lucky", "double-average", "open"). Never NULL. */
struct str packet_kind_name(enum packet_kind kind);
struct str split_method_name(enum split_method method);
struct str packet_state_name(enum packet_state state);
/* The reverse. False: unknown name, *out is unchanged. */
bool packet_kind_from(struct str name, enum packet_kind *out);
bool split_method_from(struct str name, enum split_method *out);
bool packet_state_from(struct str name, enum packet_state *out);

/* The state that users see: open, finished or expired. An open packet whose expiry has passed at now_ms is expired,
 * also before the settle worker has closed it. A closed packet is finished when every share is grabbed, else expired.
 * Pure. */
enum packet_state packet_state_shown(const struct packet *p, int64_t now_ms);

/* True before the scheduled opening of an open packet. p->state: as shown. Pure. */
bool packet_is_waiting(const struct packet *p, int64_t now_ms);

/* All shares and their sum: those of the draw, and each one that was given back into the packet. grabbed_count and
 * grabbed_fen count up to them. Pure. */
uint32_t packet_share_total(const struct packet *p);
int64_t packet_total_fen(const struct packet *p);
/* True when every share is grabbed. Pure. */
bool packet_is_taken(const struct packet *p);
/* The number and the sum of the grabbed shares that were not given back into the packet, as pages show them. Pure. */
uint32_t packet_taken_count(const struct packet *p);
int64_t packet_taken_fen(const struct packet *p);

/* True when no share can be grabbed any more, independent of any clock: all are grabbed, or the packet is closed. From
 * then on the seed is public. p->state: as stored, not as shown. Pure. */
bool packet_is_over(const struct packet *p);

/* The moment at which the packet can first be opened: when it is sent, or at its scheduled opening. Pure. */
int64_t packet_start_ms(const struct packet *p);

/* The time from the moment at which the packet could be opened to its expiry. Pure. */
int64_t packet_lifetime_ms(const struct packet *p);

/* The partition of the packet: packet_id modulo partitions. partitions ≥ 1 (asserted). */
uint32_t packet_partition(uint64_t packet_id, int64_t partitions);

#endif

/* One red packet as stored in MySQL, the names of its kind, split and state, and pure functions of its state. */
#ifndef HB_PACKET_PACKET_H
#define HB_PACKET_PACKET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/random.h"
#include "base/str.h"
#include "packet/draw.h"
#include "packet/members.h"

enum packet_kind {
    PACKET_LUCKY,    /* 拼手气: random shares */
    PACKET_EVEN,     /* 普通: equal shares; when a total can't be divided, the first shares have a fen more */
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

/* The members and what they mean: packet/members.h. Texts and bytes are borrowed. */
#define PACKET_DECLARE(name, type, ...) PACKET_DECLARE_##type(name);
#define PACKET_DECLARE_U64(name)        uint64_t name
#define PACKET_DECLARE_OPT_U64(name)    uint64_t name
#define PACKET_DECLARE_U32(name)        uint32_t name
#define PACKET_DECLARE_OPT_SHARE(name)  uint32_t name
#define PACKET_DECLARE_I64(name)        int64_t name
#define PACKET_DECLARE_OPT_I64(name)    int64_t name
#define PACKET_DECLARE_BOOL(name)       bool name
#define PACKET_DECLARE_KIND(name)       enum packet_kind name
#define PACKET_DECLARE_SPLIT(name)      enum split_method name
#define PACKET_DECLARE_STATE(name)      enum packet_state name
#define PACKET_DECLARE_BYTES32(name)    uint8_t name[32]
#define PACKET_DECLARE_FACE(name)       struct face name
#define PACKET_DECLARE_TEXT(name)       struct str name
#define PACKET_DECLARE_OPT_TEXT(name)   struct str name
#define PACKET_DECLARE_OPT_BYTES(name)  struct str name
struct packet {
    PACKET_MEMBERS(PACKET_DECLARE)
};
_Static_assert(SEED_BYTES == 32 && HASH_BYTES == 32, "BYTES32 is a seed or a hash");

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

/* The number and the sum of all shares: the drawn shares, and the shares that were given back into the packet. When all
 * are taken, grabbed_count and grabbed_fen have these values. Pure. */
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

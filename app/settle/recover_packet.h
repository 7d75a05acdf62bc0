/* Recovery of one packet from its row, its settled grabs and its state in Redis, under the lock of its partition's
 * cursor. settle/recover.h has the rules. */
#ifndef HB_SETTLE_RECOVER_PACKET_H
#define HB_SETTLE_RECOVER_PACKET_H

#include <stdint.h>

#include "base/status.h"
#include "redis/redis.h"
#include "settle/partition.h"

struct recover_done {
    uint64_t loaded;   /* loaded or rebuilt in Redis */
    uint64_t opened;   /* loaded by their senders, and now marked open in MySQL */
    uint64_t refunded; /* refunded without a close event */
    uint64_t left;     /* in state funding, missing in Redis, and left to their senders for some seconds */
    uint64_t faults;   /* packets that can't be recovered; logged */
};

/* The state of a packet in Redis. */
enum recover_state { RECOVER_MISSING, RECOVER_OPEN, RECOVER_CLOSED, RECOVER_BUSY };

/* Reads the state from the reply of HGET or HMGET for the field state. */
void recover_state_read(const redisReply *reply, enum recover_state *out);

/* Applies the rules to one packet. ST_OK also if the packet must wait for its events or is in quarantine, or
 * can't be recovered (logged, counted in done) · ST_UNAVAILABLE · ST_NO_MEMORY. */
enum status recover_packet(struct settle *s, uint64_t packet_id, int64_t now_ms, struct recover_done *done);

#endif

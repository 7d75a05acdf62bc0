/* The live packet: what Redis keeps of a packet from its loading until its grace time after the end has passed. The
 * scripts in lua/ decide; this file names the keys, packs the arguments and reads the replies without trust.
 *
 * Keys, all of one packet in one slot (NN: partition, ID: decimal id):
 *   hb:{pNN}:packet:ID   hash    sender, nickname, kind, split, count, amount, greeting, receiver, receiver_name,
 *                                expires_ms, created_ms, state, commitment, seed, best, grabbed_fen,
 *                                close_event (id of its `c` event, empty before), held (share_no of the first grab that
 *                                waits behind a dead letter: settle/held.h; not there or empty: none does)
 *   hb:{pNN}:shares:ID   string  one big-endian u32 fen a share
 *   hb:{pNN}:grabs:ID    hash    user id → share_no
 *   hb:{pNN}:order:ID    list    `user,fen,ms-seq,nickname`; the index is the share_no
 *   hb:{pNN}:events      stream  g `packet,share,user,fen,nickname` · c `packet,grabbed_count,grabbed_fen,rest_fen`
 *   hb:{pNN}:settled     string  id of the last settled event
 * and one of the server:
 *   hb:fence             string  its run_id and the number of partitions, once the settle worker has compared every
 *                                stream with its cursor */
#ifndef HB_LIVE_LIVE_H
#define HB_LIVE_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/config.h"
#include "base/status.h"
#include "io/redis.h"

/* What the scripts answer first; mirrored by lua/include/codes.lua, which a test compares. Never renumber. */
enum live_code {
    LIVE_BAD = 0,         /* the arguments contradict each other or the keys: nothing was written */
    LIVE_MISSING = 1,     /* Redis does not know the packet */
    LIVE_GRABBED = 2,     /* this call took a share */
    LIVE_ALREADY = 3,     /* grab: the same user has this share; close: was closed before */
    LIVE_NOT_FOR_YOU = 4, /* exclusive, and someone else is meant */
    LIVE_EMPTY = 5,       /* every share is taken */
    LIVE_EXPIRED = 6,     /* closed, or its time is over */
    LIVE_BUSY = 7,        /* being rebuilt: come back */
    LIVE_LOADED = 8,
    LIVE_EXISTS = 9,    /* load: was there, nothing was written */
    LIVE_CLOSED = 10,   /* this call closed it */
    LIVE_NOT_YET = 11,  /* close: Redis's clock has not reached expires_ms */
    LIVE_FINISHED = 12, /* close: every share is grabbed, there is nothing to give back */
    LIVE_VIEW = 13
};

/* What the calls need; borrowed, lives as long as the process (struct stores holds it). */
struct live {
    struct redis *redis;
    struct redis_script *load, *grab, *close, *view, *busy, *tombstone, *anchor, *fence, *hold;
    int64_t partitions;
};
/* ST_INVALID when a script is missing or takes another number of keys. */
enum status live_init(struct live *live, struct redis *redis, struct redis_scripts *scripts,
                      const struct config *config);

/* Several packets in one round: at most this many. */
#define LIVE_BATCH_MAX 500

#endif

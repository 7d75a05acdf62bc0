/* Packets in Redis, from loading until the grace time after their end has passed. The functions of lua/ make every
 * decision. The headers of this folder have one C function for each of them: it names the keys, passes the arguments
 * and checks the reply. struct live is what these functions need.
 *
 * Keys; all keys of a packet are in one slot (NN: partition, ID: decimal id):
 *   hb:{pNN}:packet:ID   hash    sender, nickname (a badge: base/badge.h), kind, split, count, amount, greeting,
 *                                receiver, receiver_name, expires_ms, created_ms, state, commitment, seed, best,
 *                                grabbed_fen, close_event (id of its `c` event; empty: not closed), held (share_no of
 *                                the first grab held behind a dead letter, settle/held.h; missing or empty: none),
 *                                conditions (1: it has opens_ms, receivers or phrase_hash, which decide grabs),
 *                                options (1: it has one of the fields that most packets do not have: OPTION in
 *                                packet/members.h), thanks:N (the thanks of the receiver of share N),
 *                                tries:USER and guesses:WHERE (wrong passphrases of a user, and of all users from
 *                                somewhere: lua/include/guesses.lua; a rebuild begins to count again). count and
 *                                amount include the shares that were given back into the packet
 *   hb:{pNN}:shares:ID   string  the shares in fen, each a big-endian u32
 *   hb:{pNN}:grabs:ID    hash    user id → share_no
 *   hb:{pNN}:order:ID    list    `user,fen,ms-seq,badge`; the index is the share_no
 *   hb:{pNN}:events      stream  an entry: c `packet,grabbed_count,grabbed_fen,rest_fen`, or for each grab of one call
 *                                g `packet,share,user,fen,badge`, all of one packet
 *   hb:{pNN}:settled     string  id of the last settled event
 *   hb:{pNN}:site        string  id and generation of the site (live/site.h)
 *   hb:{pNN}:fence       string  the run_id of the server, a blank, the number of partitions; set once the settle
 *                                worker has compared the partition's stream with its cursor */
#ifndef HB_LIVE_LIVE_H
#define HB_LIVE_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "config/config.h"
#include "redis/function.h"
#include "redis/redis.h"

/* The first element of every reply. The same as lua/include/codes.lua (a tidy test compares). Never renumber. */
enum live_code {
    LIVE_BAD = 0,           /* the arguments contradict each other or the keys; nothing was written */
    LIVE_MISSING = 1,       /* the packet is not in Redis */
    LIVE_GRABBED = 2,       /* this call took a share */
    LIVE_ALREADY = 3,       /* grab: the user has this share already; close: it was closed before */
    LIVE_NOT_FOR_YOU = 4,   /* the packet has receivers, and the user is not one of them */
    LIVE_EMPTY = 5,         /* every share is grabbed */
    LIVE_EXPIRED = 6,       /* closed, or its expiry has passed; load: it comes too late */
    LIVE_BUSY = 7,          /* shut for a rebuild */
    LIVE_LOADED = 8,        /* written */
    LIVE_EXISTS = 9,        /* load: the packet exists; anchor: the stream does not need one; nothing was written */
    LIVE_CLOSED = 10,       /* this call closed or deleted the packet */
    LIVE_NOT_YET = 11,      /* close: expires_ms has not passed on Redis's clock; grab: opens_ms has not; return: the
                               share before it is missing; load: its sender may still load it */
    LIVE_FINISHED = 12,     /* close: every share is grabbed, nothing to refund */
    LIVE_VIEW = 13,         /* view: the packet follows */
    LIVE_WRONG_PHRASE = 14, /* grab: another passphrase, or none */
    LIVE_TRIED_OUT = 15     /* grab: the user has typed too many wrong passphrases */
};

/* The connection and the functions, all borrowed. struct stores holds one for the life of the process. */
struct live {
    struct redis *redis;
    const struct redis_function *load, *grab, *close, *view, *busy, *tombstone, *anchor, *fence, *site, *hold, *thanks,
        *give_back, *erase;
    int64_t partitions;
};
/* Reads the functions of dir: redis_functions_read (redis/function.h), with the options of a packet as the include
 * "options" (packet/members.h): `local OPTIONS = {'NAME', …}`. */
enum status live_functions_read(const char *dir, struct redis_functions **out, char *error, size_t error_size);
/* Looks up the functions by name. ST_INVALID: one is missing or has a wrong number of keys: *missing is its file. */
enum status live_init(struct live *live, struct redis *redis, struct redis_functions *functions,
                      const struct config *config, const char **missing);

/* Most packets of a call that takes several, which is one round. */
#define LIVE_BATCH_MAX 500

#endif

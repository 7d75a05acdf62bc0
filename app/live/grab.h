/* A grab: one user takes the next share of a packet. Queue it, run a redis_round, read the reply. */
#ifndef HB_LIVE_GRAB_H
#define HB_LIVE_GRAB_H

#include "live/live.h"

/* The passphrase that a user has typed. hash: its phrase_hashes (packet/phrase.h). source: 8 bytes that stand for the
 * address it comes from and 8 for the network; wrong phrases of all users count for both. Empty: wrong phrases count
 * for the user alone. */
struct live_phrase {
    struct str hash, source;
};

/* Queues a grab. badge: the user's present badge (base/badge.h), stored with the grab. phrase: NULL: the user typed
 * none. While the fence is shut the call is not sent (ST_UNAVAILABLE). All grabs of a packet that are queued in one
 * round are one call of the function and one entry of the stream, in the order in which they were queued; each user
 * gets an answer of their own. */
void live_grab_queue(const struct live *live, struct redis_call *call, uint64_t packet_id, uint64_t user_id,
                     struct str badge, const struct live_phrase *phrase);
struct live_grab {
    enum live_code code;
    uint32_t share_no; /* share_no and amount_fen: GRABBED and ALREADY only */
    int64_t amount_fen;
    uint32_t count;      /* EMPTY only */
    uint32_t tries_left; /* WRONG_PHRASE only: further tries of this user */
    int64_t pause_ms;    /* TRIED_OUT only: until Redis accepts phrases again; 0: never from this user */
    int64_t opens_ms;    /* NOT_YET only: the packet can be opened from then on, by Redis's clock */
    bool returned;       /* ALREADY only: the share was given back */
    uint32_t left_count; /* GRABBED and ALREADY only: shares that can still be taken, 0 once the packet is over */
};
/* Reads the reply. The caller still frees call. ST_OK: see code: GRABBED ALREADY MISSING NOT_FOR_YOU EMPTY EXPIRED
 * NOT_YET WRONG_PHRASE TRIED_OUT BUSY · ST_UNAVAILABLE: not executed · ST_CONFLICT: Redis refused it (out of memory …),
 * not executed · ST_UNKNOWN: perhaps executed; a view or a second grab shows it · ST_CORRUPT: malformed reply (logged)
 * · ST_NO_MEMORY: not executed. */
enum status live_grab_read(const struct redis_call *call, struct live_grab *out);

#endif

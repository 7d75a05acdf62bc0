/* A receiver gives a share back: into the packet while it is open and somebody could take it, else to its sender.
 *
 * MySQL first: one transaction moves the money and decides where it goes, by the packet's locked row. Then the process
 * writes the return to Redis; when it dies in between, the settle worker does so (settle/tell.h). Settlement refunds
 * what the tables say, so it does not matter whether Redis closes the packet before or after. */
#ifndef HB_ACTS_GIVE_BACK_H
#define HB_ACTS_GIVE_BACK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "live/stores.h"
#include "packet/returns.h"

enum give_back_result {
    GIVE_BACK_DONE,        /* now or before */
    GIVE_BACK_NO_SHARE,    /* the user has no share of this packet, or there is no such packet */
    GIVE_BACK_UNSETTLED,   /* the share, or the packet's last one, is not settled yet: nothing was changed, try again */
    GIVE_BACK_NO_MONEY,    /* the wallet can't pay */
    GIVE_BACK_OWN,         /* the packet is over, and the user is its sender: there is nobody to give it to */
    GIVE_BACK_SENDER_GONE, /* the packet is over, and its sender has deleted the account */
    GIVE_BACK_TOO_MANY     /* an open packet without room for one more share (return_way): try again after its end */
};

struct give_back {
    enum give_back_result result;
    struct share_return share; /* with GIVE_BACK_DONE */
};

/* Gives back the share of the user, once: a repeat returns what the first call did. a: memory for rows.
 * ST_OK: see out · ST_UNAVAILABLE, ST_CONFLICT: nothing was changed · ST_UNKNOWN: perhaps done, repeat the call ·
 * ST_CORRUPT · ST_NO_MEMORY. */
enum status give_back(struct stores *stores, struct arena *a, uint64_t packet_id, uint64_t user_id, int64_t now_ms,
                      struct give_back *out);

/* Writes the returns of a packet to Redis, in their order: the pending ones, or all, when Redis has lost data. ST_OK:
 * also when Redis can't take them yet, or the packet is damaged there, which is logged (they stay pending; other
 * packets must not wait for one) · ST_UNAVAILABLE · ST_NO_MEMORY. */
enum give_back_which { GIVE_BACK_PENDING, GIVE_BACK_ALL };
enum status give_back_apply(struct stores *stores, struct arena *a, uint64_t packet_id, enum give_back_which which,
                            int64_t now_ms);
/* Writes one return to Redis, if it is pending. Returns as give_back_apply. */
enum status give_back_tell(struct stores *stores, struct arena *a, uint64_t packet_id, uint32_t share_no,
                           int64_t now_ms);

#endif

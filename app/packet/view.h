/* A packet as one visitor sees it at one moment, read from Redis (live/view.h) or MySQL. */
#ifndef HB_PACKET_VIEW_H
#define HB_PACKET_VIEW_H

#include <stddef.h>

#include "packet/grab.h"
#include "packet/packet.h"

/* Texts and rows are in the arena of the reader. */
struct packet_view {
    struct packet packet; /* grabbed_count, grabbed_fen and finished_ms include unsettled grabs; state is the shown one:
                             open, finished or expired; request_key is empty; refund_fen is set once the refund is
                             settled */
    bool busy;            /* shut for a rebuild: grabs are refused */
    bool over;            /* packet_is_over; may be false for an expired packet, as a clock can be set back */
    bool final;           /* finished, and every grab is settled in MySQL: there is no dead letter */
    int64_t now_ms;       /* the clock of the store that was read: Redis's, or ours for MySQL */
    bool has_mine;        /* mine is set */
    struct grab mine;     /* the visitor's own grab */
    struct grab *rows;    /* newest first */
    size_t row_count;
    uint32_t next; /* `after` of the next page; 0: this is the last page */
    /* The luckiest draw, perhaps without its thanks: set when the packet is finished and rows are the newest grabs
     * without this one; else NULL. */
    const struct grab *luckiest;
};

#endif

/* A packet as one visitor sees it at one moment, whichever store told it. */
#ifndef HB_PACKET_VIEW_H
#define HB_PACKET_VIEW_H

#include <stddef.h>

#include "packet/grab.h"
#include "packet/packet.h"

/* Texts live in the arena of whoever filled it. */
struct packet_view {
    struct packet packet; /* grabbed_count, grabbed_fen and finished_ms are up to the moment; state is what people
                              see: open, finished or expired; request_key is empty; refund_fen is set
                              once the refund has been settled */
    bool busy;            /* being rebuilt: grabs are refused for the moment */
    bool over;            /* packet_is_over: a packet past its time may not be, a clock can be put back */
    bool closed;          /* finished, and MySQL has settled every grab: none is a dead letter */
    int64_t now_ms;       /* Redis's clock */
    bool has_mine;
    struct grab mine;  /* the visitor's own grab */
    struct grab *rows; /* newest first */
    size_t row_count;
    uint32_t next; /* `after` of the next page, 0: there is none */
};

#endif

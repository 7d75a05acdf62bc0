/* A grab: one user has taken one share of a packet. */
#ifndef HB_PACKET_GRAB_H
#define HB_PACKET_GRAB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/badge.h"
#include "base/str.h"

struct grab {
    uint32_t share_no;
    uint64_t user_id;
    struct str nickname; /* at the time of the grab */
    struct face face;    /* the same; in a grab from MySQL the present face, after faces_find */
    int64_t amount_fen;
    int64_t grabbed_ms;
    bool settled;      /* the amount is in the wallet */
    bool returned;     /* given back, into the packet or to its sender */
    struct str thanks; /* the receiver's thanks; STR_NONE: none */
};

#endif

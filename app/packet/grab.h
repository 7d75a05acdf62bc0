/* A grab: a user has a share of a packet. */
#ifndef HB_PACKET_GRAB_H
#define HB_PACKET_GRAB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct grab {
    uint32_t share_no;
    uint64_t user_id;
    struct str nickname; /* when grabbed */
    int64_t amount_fen;
    int64_t grabbed_ms;
    bool settled; /* its money is in the wallet */
};

#endif

/* What a sender wants: the wishes behind a packet, checked against every rule, before it has an id or a seed. */
#ifndef HB_PACKET_ORDER_H
#define HB_PACKET_ORDER_H

#include "packet/packet.h"

/* What is to be done. All sums are within the limits and can be split. */
struct send_order {
    enum packet_kind kind;
    enum split_method split;
    int64_t amount_fen; /* of the whole packet */
    int64_t share_max_fen;
    int64_t lifetime_ms;
    uint32_t count;
    struct str greeting;      /* in the arena */
    bool greeting_by_default; /* nobody typed it */
    struct str to;            /* username, exclusive only, else empty */
    struct str request_key;   /* as given, or made for it */
};

#endif

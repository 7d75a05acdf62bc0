/* A validated request to send a packet: the values of the send form, before the packet has an id and a seed. */
#ifndef HB_PACKET_ORDER_H
#define HB_PACKET_ORDER_H

#include "packet/cover.h"
#include "packet/packet.h"
#include "packet/phrase.h"

/* What the typed amount of an even packet is. */
enum amount_of { AMOUNT_OF_SHARE, AMOUNT_OF_TOTAL };

/* The amounts are within the limits and can be split (packet/rules.h). */
struct send_order {
    enum packet_kind kind;
    enum split_method split;
    enum amount_of amount_of; /* what was typed; even only */
    int64_t amount_fen;       /* of the whole packet */
    int64_t share_min_fen;    /* lucky only, else 1 */
    int64_t share_max_fen;
    int64_t lifetime_ms;
    bool lifetime_by_default; /* the form field was empty */
    int64_t opens_ms;         /* it can be opened from then on; 0: from the beginning */
    uint32_t count;
    enum packet_cover cover;
    struct str greeting;      /* in the request's arena */
    bool greeting_by_default; /* the form field was empty */
    struct phrase phrase;     /* must be known by those who open it; empty: there is none */
    struct str_list to;       /* usernames of those who alone may open it, each once: one for an exclusive packet */
    struct str request_key;   /* the form's, or a generated one */
};

#endif

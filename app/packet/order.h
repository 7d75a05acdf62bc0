/* A validated request to send a packet: the values of the send form, before the packet has an id and a seed. */
#ifndef HB_PACKET_ORDER_H
#define HB_PACKET_ORDER_H

#include "packet/packet.h"
#include "packet/phrase.h"

/* The meaning of the typed amount of an even packet: one share, or the total. */
enum amount_of { AMOUNT_OF_SHARE, AMOUNT_OF_TOTAL };

struct send_order {
    /* Only members that the sender chooses are set; all others are 0. The amounts are within the limits and can be
     * split (packet/rules.h); the request key is the form's or a generated one. Texts are in the request's arena. */
    struct packet packet;
    enum amount_of amount_of; /* meaning of the typed amount; even only */
    int64_t lifetime_ms;
    bool lifetime_by_default; /* the form field was empty */
    bool greeting_by_default; /* the form field was empty */
    struct phrase phrase;     /* the receivers must know it; empty: there is none */
    struct str_list to;       /* usernames of the only users who may open it, each once: one for an exclusive packet */
};

/* True when this order made the packet p: all members that packet/members.h marks as COMPARED are the same, and so are
 * greeting, lifetime and passphrase. The caller has found p by the order's request key.
 * wanted: the packet that the order makes, after receivers_describe has set its receivers.
 * A greeting or lifetime that the sender left empty is not compared: the default greeting depends on the visitor's
 * language, the default lifetime on a setting. The lifetime of an ended packet is not compared: the end changed it.
 * keys: of KEY_PHRASE_HASH. False without memory, if the order has a phrase. */
bool order_matches(struct arena *a, struct key_pair keys, const struct send_order *order, const struct packet *wanted,
                   const struct packet *p);

#endif

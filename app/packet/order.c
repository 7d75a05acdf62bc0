#include "packet/order.h"

#include "packet/members.h"

/* True when the packet has the phrase of the order, or neither has one. */
static bool same_phrase(struct arena *a, struct key_pair keys, const struct send_order *order, const struct packet *p)
{
    if (p->phrase_hash.len == 0 || order->phrase.folded.len == 0)
        return p->phrase_hash.len == order->phrase.folded.len;
    return phrase_matches(a, keys, p->id, &order->phrase, p->phrase_hash);
}

bool order_matches(struct arena *a, struct key_pair keys, const struct send_order *order, const struct packet *wanted,
                   const struct packet *p)
{
    return packet_members_same(p, wanted) && (order->greeting_by_default || str_equal(p->greeting, wanted->greeting)) &&
           (order->lifetime_by_default || p->ended_ms != 0 || packet_lifetime_ms(p) == packet_lifetime_ms(wanted)) &&
           same_phrase(a, keys, order, p);
}

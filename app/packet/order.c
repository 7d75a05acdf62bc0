#include "packet/order.h"

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
    return p->kind == wanted->kind && p->split == wanted->split && p->amount_fen == wanted->amount_fen &&
           p->count == wanted->count && p->receiver_id == wanted->receiver_id && p->opens_ms == wanted->opens_ms &&
           str_equal(p->cover, wanted->cover) && p->receiver_count == wanted->receiver_count &&
           str_equal(p->receivers, wanted->receivers) && p->share_min_fen == wanted->share_min_fen &&
           (order->greeting_by_default || str_equal(p->greeting, wanted->greeting)) &&
           (order->lifetime_by_default || p->ended_ms != 0 || packet_lifetime_ms(p) == packet_lifetime_ms(wanted)) &&
           same_phrase(a, keys, order, p);
}

/* The page of an order: a sender, or a program, looks up the packet of a request key. */
#ifndef HB_PAGES_ORDER_SHOW_H
#define HB_PAGES_ORDER_SHOW_H

#include "web/exchange.h"

/* GET /orders/KEY → pages/order. NEED_USER, page pool. KEY: the request_key of a packet that this user has sent. 404:
 * no such packet yet, or KEY can't be a request key. A send that is still under way may appear a moment later;
 * repeating it with the same key is safe. Reads only MySQL, where the packet is as soon as its money is paid. A grab
 * counts once it is settled, usually within a tenth of a second.
 *   request_key
 *   id, kind, greeting, commitment (page: kind_lucky, kind_even, kind_exclusive)
 *   url              absolute (page: path "/p/ID")
 *   state            open|finished|expired (page: state_open, state_finished, state_expired,
 *                    state_ended: early, by its sender)
 *   amount_fen       of the whole packet (page: amount_text)
 *   count, grabbed_count, grabbed_fen    (page: grabbed_text)
 *   refund_fen       paid back to the sender (page: refund_text, only when there was a refund)
 *   created_at, expires_at    (page: created_text, expires_text)
 *   opens_at         from when it can be opened, null: from the beginning
 *   ended_at         when the sender ended it early, else null
 *   finished_at      when the last share was grabbed, else null
 *   closed_at        when everything was paid, the refund included: nothing changes after it; else null */
enum step order_show(struct exchange *x);

#endif

/* The step before an exclusive packet is paid for: its page names the person, because a mistyped username may
 * belong to another user. */
#ifndef HB_PAGES_SEND_CONFIRM_H
#define HB_PAGES_SEND_CONFIRM_H

#include "packet/order.h"
#include "packet/receivers.h"
#include "web/exchange.h"

/* True: the order is for one person, and its field `confirmed` does not name this username. The form of GET /send has
 * the field empty. Requests without the field, such as those of programs, are not asked, and JSON never is. */
bool send_confirm_needed(const struct exchange *x, const struct send_order *order);
/* Answers 200 with pages/send_confirm. order and receiver were checked.
 *
 * Model: receiver { id, nickname }; page-only: username, amount_text, greeting, fields [ { name, value } ]: what was
 * typed and the username as `confirmed`, posted to /send; back_url, the form with what was typed. */
void send_confirm(struct exchange *x, const struct send_order *order, const struct receiver *receiver);

#endif

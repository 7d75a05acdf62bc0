/* The step before the payment of a packet for named people: its page shows who they are, because a mistyped username
 * may belong to another user. */
#ifndef HB_PAGES_SEND_CONFIRM_H
#define HB_PAGES_SEND_CONFIRM_H

#include "packet/order.h"
#include "packet/receivers.h"
#include "web/exchange.h"

/* *needed: the sender must confirm the receivers. That is so for one receiver, or when the sender does not know all of
 * several (pages/people.h), unless the field `confirmed` has their usernames with blanks between. The form of GET /send
 * has this field: it names the receivers of a packet that is sent again, and the page's script adds a single receiver
 * who is picked by face. A request without the field, as from a program, needs no confirmation, and JSON never does.
 * Returns as db_query; ST_NO_MEMORY. */
enum status send_confirm_needed(struct exchange *x, const struct send_order *order, const struct receivers *receivers,
                                bool *needed);
/* Answers 200 with pages/send_confirm. The caller has checked order and receivers.
 *
 * Model:
 *   receiver          one receiver: { id, nickname, page: username }
 *   cover, cover_url  as cover_model
 * Page only:
 *   several         two or more receivers: { count, people [{ username, nickname, initial, hue }] }
 *   amount_text
 *   greeting, greeting_class  as pages/packet (pages/show_model.h)
 *   fields          [{ name, value }] that the page posts to /send: what was typed, and the usernames as `confirmed`
 *   back_url        the form with what was typed */
void send_confirm(struct exchange *x, const struct send_order *order, const struct receivers *receivers);

#endif

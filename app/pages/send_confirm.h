/* The step before a packet for named people is paid for: its page shows who they are, because a mistyped username may
 * belong to another user. */
#ifndef HB_PAGES_SEND_CONFIRM_H
#define HB_PAGES_SEND_CONFIRM_H

#include "packet/order.h"
#include "packet/receivers.h"
#include "web/exchange.h"

/* *needed: the order is for one person, or for several of whom the sender does not know all (pages/people.h), and its
 * field `confirmed` does not have their usernames with blanks between. The form of GET /send has the field, with the
 * receivers of the packet that is sent again; its script adds who is picked by face as the only one. Requests without
 * the field, such as requests of programs, need no confirmation, and JSON never does. Returns as db_query;
 * ST_NO_MEMORY. */
enum status send_confirm_needed(struct exchange *x, const struct send_order *order, const struct receivers *receivers,
                                bool *needed);
/* Answers 200 with pages/send_confirm. order and receivers were checked.
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

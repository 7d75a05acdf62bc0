/* The inbox on the home page, and the number of new items beside the link to that page in the navigation: items since
 * the user last looked at the home page. The number is counted at most once in NEWS_AGE_MS for a user, and kept in
 * Redis until then, so a page of the page pool costs one GET; a number that is a little old does no harm. MySQL has the
 * truth; without the key in Redis everything in the inbox counts as new. */
#ifndef HB_RECORDS_INBOX_H
#define HB_RECORDS_INBOX_H

#include "packet/inbox.h"
#include "web/exchange.h"

#define NEWS_AGE_MS ((int64_t)5000)

/* The number of new items, for the layout (struct services). 0 also when a store does not answer. May block. */
int64_t inbox_news_count(struct exchange *x);

/* The time until which the user has seen the inbox; 0: never. Marks everything in the inbox as seen, because the page
 * shows it now. */
int64_t inbox_news_seen(struct exchange *x, const struct inbox *inbox);

/* Adds the list `inbox`, the newest first: [{ kind waiting|refund|thanks|return, packet (its id),
 * greeting, at, page: at_text, url "/p/ID", new (after seen_ms), is_waiting, is_refund, is_thanks, is_return }], also:
 *   waiting  sender { id, nickname, page: initial, hue }, opens_at (null: from the beginning; page: opens_text),
 *            cover (its name; page: exclusive, for the user alone; not_yet)
 *   refund   amount_fen (page: amount_text)
 *   thanks   sender (the user who wrote them), text
 *   return   sender (the user who gave the share back), amount_fen, to "packet" or "sender" (page: into_packet)
 * Page only: has_waiting, waiting_count, waiting_one · has_news (anything else) · thanked, absent with fewer than two
 * thanks { people, people_one, faces [{ nickname, initial, hue }] (three people at most), new, more (there may be
 * others than those in the list) } */
void inbox_model(struct exchange *x, struct model *m, const struct inbox *inbox, int64_t seen_ms);

#endif

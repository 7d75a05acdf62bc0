/* 我的红包: what a user received and sent, by year and month, twenty at a time, from MySQL by key. */
#ifndef HB_PAGES_RECORDS_H
#define HB_PAGES_RECORDS_H

#include "packet/store.h"
#include "web/exchange.h"

enum { RECORDS_PAGE_ITEMS = 20, RECORDS_HOME_ITEMS = 5 };

/* Appends one item a row to list; the members are those described below. */
void records_received_model(struct exchange *x, struct model *m, struct value *list, const struct received_row *rows,
                            size_t count);
void records_sent_model(struct exchange *x, struct model *m, struct value *list, const struct packet *packets,
                        size_t count);

/* GET /records/received?year=YYYY&before=KEY and GET /records/sent?… → pages/records. NEED_USER.
 * An unknown year or cursor text is 400; a year without records is an empty list.
 *   year             number; without ?year the current one in the service's zone
 *   total_fen        of the year (page: total_text "12.34")
 *   count            packets of the year
 *   best_count       手气最佳 of the year; 0 on the sent page (page: count_one, best_count_one)
 *   months           [{ month 1 … 12, total_fen (page: total_text), count }], twelve of them in order
 *                    (page: name; middle, and of a month with anything in it bar { left, top, height }: places in the
 *                    drawing of the template)
 *   items            received: [{ packet: { id, kind, greeting, sender: { id, nickname, page: initial, hue },
 *                                           page: url "/p/ID", kind_lucky, kind_even, kind_exclusive bools },
 *                                 share_no, amount_fen (page: amount_text), grabbed_at (page: grabbed_at_text), best }]
 *                    sent:     [{ id, kind, greeting, amount_fen (page: amount_text), count, grabbed_count,
 *                                 state open|finished|expired, created_at (page: created_at_text),
 *                                 refund_fen (page: refund_text, only when there was a refund),
 *                                 page: url "/p/ID", kind_lucky, kind_even, kind_exclusive, state_finished and
 *                                 state_expired bools }]
 *   next             null, or the `before` of the next page (page: next_url)
 *   received, sent   page-only booleans: which of the two pages this is
 *   empty            page-only boolean: there are no items
 *   person           page-only { id, nickname, initial, hue }
 *   chart            page-only { max_text }, the largest month; absent in a year without any
 *   years            page-only [{ year, url, current }]: those with records and the shown one, newest first */
enum step records_received(struct exchange *x);
enum step records_sent(struct exchange *x);

#endif

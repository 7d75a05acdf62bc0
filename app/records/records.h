/* The records page 我的红包: packets that a user received or sent in a year, 20 a page, and the totals of the year and its
 * months, and of all years. Read from MySQL by keys, without OFFSET. */
#ifndef HB_RECORDS_RECORDS_H
#define HB_RECORDS_RECORDS_H

#include "packet/records.h"
#include "web/exchange.h"

enum { RECORDS_PAGE_ITEMS = 20, RECORDS_HOME_ITEMS = 5 };

/* Appends one item to list for each row. The members are as in `items` below. */
void records_model(struct exchange *x, struct model *m, struct value *list, enum record_side side,
                   const struct record_list *records);

/* GET /records/received?year=YYYY&before=KEY and GET /records/sent?… → pages/records. NEED_USER.
 * A malformed year or cursor is 400; a year without records is an empty list.
 * Filters, alone or together (records/filter.h): kind, state (of the packet, as users see it), person (a
 * username, or the nickname of one of one's people (pages/people.h): the sender of what was received; a named receiver
 * of what was sent, or a user with a share of it), q (part of the greeting), from and to (days YYYY-MM-DD in the
 * service's zone, both included), min and max (amounts: of the share that was received, of the whole packet that was
 * sent). With a filter, records of all years are listed unless year,
 * from or to is given. Empty fields count as absent. A malformed field is 422: pages/records without a list, with
 * `errors` and `error`. A page with filters may have fewer items than 20, or none, and a next one: the search reads a
 * limited number of records (packet/record_search.h).
 *   year             number; without ?year the current one in the service's zone
 *   total_fen        of the year (page: total_text "12.34")
 *   count            packets of the year
 *   best_count       手气最佳 of the year; 0 on the sent page (page: count_one, best_count_one)
 *   all_time         { total_fen, count, best_count } of all years (page: as above)
 *   all_time_more    page-only boolean: it differs from the sum of the year
 *   months           [{ month 1 … 12, total_fen (page: total_text), count }], twelve of them in order
 *                    (page: as records/months.h, and url of its records where there are some)
 *   items            received: [{ packet: { id, kind, greeting, sender: { id, nickname, page: initial, hue },
 *                                           page: url "/p/ID", kind_lucky, kind_even, kind_exclusive bools },
 *                                 share_no, amount_fen (page: amount_text), grabbed_at (page: grabbed_at_text), best,
 *                                 returned }]
 *                    sent:     [{ id, kind, greeting, amount_fen (page: amount_text), count, grabbed_count,
 *                                 state open|finished|expired, created_at (page: created_at_text),
 *                                 refund_fen (page: refund_text, only when there was a refund), page: taken_text (what
 *                                 the person of the filter has of a shared packet),
 *                                 page: url "/p/ID", kind_lucky, kind_even, kind_exclusive, state_open,
 *                                 state_finished and state_expired bools, to { nickname (empty: a deleted
 *                                 user), initial, hue, is_back: the money has come back } of an exclusive packet }]
 *                    the first one of each month has page-only month_begins { first: it is the first of the page,
 *                    name, and total_fen (page: total_text) of the month or, with a filter, heading_year }
 *   next             null, or the `before` of the next page (page: next_url; or, where a search was
 *                    paused, continue_url, and searched_text: the minute it has come to)
 *   received, sent   page-only booleans: which of the two pages this is
 *   received_url, sent_url   page-only: the two pages, with the same filter
 *   found            page-only { found_count, found_one, sum_text, taken_by, read_max }: what a filter finds, on its
 *                    first page; absent when it is nothing. sum_text: of shares without those given back, of packets
 *                    sent or, with taken_by (the name of a person), of this person's shares of them. read_max: of so
 *                    many newest records, when there may be more
 *   found_other      page-only, with a person: the same of the other side; absent when it is nothing
 *   has_items        page-only boolean
 *   empty            page-only boolean: there are no items, nor a search to continue
 *   first_url        page-only: the way back; only on a later page, which has no totals, years and chart
 *   chart            page-only { max_text }: the largest month; absent in a year with less than three months of records
 *   years            page-only [{ year, url, current }]: years with records, and the shown one; newest first
 *   all_years        page-only boolean: a filter that searches all years
 *   all_years_url    page-only: the same filter in all years; absent without a filter, and when it asks for days
 *   other_years      page-only boolean: years has more than the shown one
 *   csv_url          page-only: the same records as a file
 *   story_url        page-only: the story of the year (records/story.h); absent in a year without any records
 *   people           page-only: those whom the filter offers (pages/people.h)
 *   filter, filtered, chips   page-only: records/filter.h */
enum step records_received(struct exchange *x);
enum step records_sent(struct exchange *x);
/* GET /records/received.csv and GET /records/sent.csv, also the paths above when Accept names text/csv first: the same
 * query, all rows as a file (records/csv.h). NEED_USER. */
enum step records_received_csv(struct exchange *x);
enum step records_sent_csv(struct exchange *x);

#endif

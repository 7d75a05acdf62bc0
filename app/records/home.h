/* GET /: the balance and the latest records of the visitor; for guests, a welcome page. */
#ifndef HB_RECORDS_HOME_H
#define HB_RECORDS_HOME_H

#include "web/exchange.h"

/* GET / → pages/home. WANT_VISITOR.
 *   user             null for guests (the members below are then absent), else { id, username, nickname,
 *                    page: initial, hue }
 * A browser whose user has to accept terms is sent to /terms first.
 *   login_first      page-only, for guests: logging in is the first choice, not registering
 *   sending          false: the operator has paused sending
 *   balance_fen      (page: balance_text "12.34")
 *   received         the latest 5 of /records/received, items as in records/records.h
 *   inbox            records/inbox.h; the page, not the JSON, marks it as seen
 *   sent             the latest 5 of /records/sent
 *   newcomer         page-only boolean: all three lists are empty
 *   nudge            page-only account/nudge.h
 *   usual            page-only web/usual_amounts.h: gifts */
enum step home_show(struct exchange *x);

#endif

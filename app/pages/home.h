/* GET /: the balance and the latest records; logged out, a welcome. */
#ifndef HB_PAGES_HOME_H
#define HB_PAGES_HOME_H

#include "web/exchange.h"

/* GET / → pages/home. WANT_VISITOR.
 *   user             null when logged out (then nothing below is there), else { id, username, nickname,
 *                    page: initial, hue }
 *   balance_fen      (page: balance_text "12.34")
 *   received         the latest 5 of /records/received, items as in pages/records.h
 *   sent             the latest 5 of /records/sent */
enum step home_show(struct exchange *x);

#endif

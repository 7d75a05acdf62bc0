/* POST /p/ID/end: the sender ends a packet before its expiry and gets the rest back. */
#ifndef HB_PAGES_END_H
#define HB_PAGES_END_H

#include "web/exchange.h"

/* NEED_USER | SAME_ORIGIN, page pool. HTML: 303 /p/ID. JSON: 200 { state: "expired", or "finished" when every share was
 * taken before }. A repeat answers the same. Refused: 403 not-sender. */
enum step packet_end_post(struct exchange *x);

#endif

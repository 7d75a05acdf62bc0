/* POST /p/ID/return: a receiver gives a share back. */
#ifndef HB_PAGES_GIVE_BACK_H
#define HB_PAGES_GIVE_BACK_H

#include "web/exchange.h"

/* NEED_USER | SAME_ORIGIN, page pool. HTML: 303 /p/ID. JSON: 200 { returned_fen, to: "packet" | "sender" }; a repeat
 * answers the same. Refused: 404 no-share; 409 money-spent (the wallet can't pay), own-packet (the packet is over and
 * the visitor is its sender), sender-gone (the packet is over and its sender has deleted the account) or
 * too-many-returns (the packet is open, and it has taken back as many shares as it was sent with); 503 unsettled with
 * Retry-After (nothing was changed). */
enum step packet_return_post(struct exchange *x);

#endif

/* A receiver thanks the sender of a packet (acts/thanks.h). */
#ifndef HB_PAGES_THANKS_H
#define HB_PAGES_THANKS_H

#include "web/exchange.h"
#include "web/fields.h"

extern const struct field thanks_fields[]; /* the form of POST /p/ID/thanks */

/* POST /p/ID/thanks `text` (one line, at most 25 characters) → 303 /p/ID, JSON 200 { text }. Also after the end of the
 * packet. NEED_USER, page pool. 403 `no-share`: the visitor has no share · 409 `thanks-already`: the visitor has
 * thanked with another text (HTML: 303, the page shows it) · 422: the text is refused · 503 with Retry-After: the share
 * is not settled yet (HTML: the packet's page with the text, which its script sends again). The request does not wait
 * for the settlement, which another process does: many waiting requests would block all processes of the pool. */
enum step packet_thanks_post(struct exchange *x);

#endif

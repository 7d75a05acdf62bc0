/* GET /p/ID/poster: a sheet to print and to hang up: cover, sender, greeting, a large QR code, the time of the opening,
 * and whether a passphrase is needed. No amount, no total, and never the passphrase itself. Only the sender gets it;
 * everybody else gets 404, and so does the sender of an exclusive packet. */
#ifndef HB_PAGES_POSTER_H
#define HB_PAGES_POSTER_H

#include "web/exchange.h"

/* Members, JSON and page:
 *   id, sender { id, nickname; page: initial, hue }, greeting, cover
 *   opens_at      (page: opens_text) null: it can be opened already
 *   needs_phrase
 *   url
 * Page only: path, html_qr. */
enum step packet_poster(struct exchange *x);

#endif

/* GET /p/ID/card.png: a picture of a packet to share: cover, sender, greeting and QR code; also the Open Graph
 * picture of its page. It shows when the packet opens, but no amount and no passphrase; for an exclusive packet it
 * shows the receiver's name in place of the greeting. The sender's own cover is on the flap as long as it is stored.
 * Nothing else in the picture ever changes, so nginx caches it (nginx/site.conf), and many crawlers cost one drawing.
 * Drawing takes some tens of milliseconds and some tens of megabytes, so it has a separate pool, which reads only
 * MySQL.
 *
 * ?shape=wide (the default): 1200 × 630, for previews of links · tall: 1080 × 1440, to send or to print.
 * ?lang=zh-CN|en: the language; the visitor's when left out. An id in another spelling (upper case, say) is answered
 * 404: a picture has one address. */
#ifndef HB_PAGES_CARD_H
#define HB_PAGES_CARD_H

#include "web/exchange.h"
#include "web/fields.h"

extern const struct field card_fields[]; /* the query */

enum step packet_card(struct exchange *x);

#endif

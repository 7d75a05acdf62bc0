/* GET /p/ID/card.png: a picture of a packet to share: cover, sender, greeting and QR code; also the Open Graph
 * picture of its page. When it opens is on it; it has no amount and no passphrase; for an exclusive packet it has the
 * receiver's name in place of the greeting. A cover of the sender's own is on the flap as long as it is stored. Nothing
 * else of it ever changes, so nginx keeps it (nginx/site.conf), and a crowd of crawlers costs one drawing. Drawing
 * takes some tens of milliseconds and some tens of megabytes, so a pool of its own does it, which reads only MySQL.
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

/* GET /p/ID/screen: the big screen of an event: QR code, newest grabs, the luckiest, shares left. It needs no login and
 * is read from the back of a hall, so it shows names and amounts only when the sender wants that: for a link with the
 * packet's key, which only the sender's page shows, and in the sender's own session. Without the key it shows what the
 * envelope shows everybody. The answer is 404 for a wrong key, as for a mistyped id, and for an exclusive packet, which
 * is for one person. */
#ifndef HB_PAGES_SCREEN_H
#define HB_PAGES_SCREEN_H

#include "web/exchange.h"
#include "web/fields.h"

extern const struct field screen_fields[]; /* the query of GET /p/ID/screen */

/* Members, JSON and page: as show_packet_model, and
 *   left_count, url (of the packet), with_list (names and amounts are shown),
 *   top: of lucky packets with the list, the three largest shares so far [{ user, amount_fen; page: amount_text, place
 *   }], of equal shares the earlier one first; once the packet is finished, the best share of the draw is the first.
 *   Empty for packets of
 *     more than 2,000 shares
 *   luckiest: the first of them, null: none
 *   grabs: the newest, as in show_model; empty without the list
 * Page only: html_qr, address (of this page), crowd (the newest that are not in top), untouched (open, and no share is
 * taken), none_taken (over, and no share was taken), refresh: the entity tag while the packet is open. */
enum step packet_screen_hot(struct exchange *x);
/* Page pool: the same from MySQL, for packets that Redis does not have. */
enum step packet_screen_cold(struct exchange *x);

/* The path of a packet's screen with its key. In the request's arena; STR_NONE without memory. */
struct str screen_path(struct exchange *x, uint64_t packet_id);

#endif

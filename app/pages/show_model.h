/* The model of a packet's page, for all visitors and states. Redis (hot pool), the page cache and MySQL (page pool)
 * each fill a struct packet_view; the visitor decides which part of it is shown. */
#ifndef HB_PAGES_SHOW_MODEL_H
#define HB_PAGES_SHOW_MODEL_H

#include "packet/view.h"
#include "pages/page_cache.h"
#include "web/exchange.h"

enum { SHOW_ROWS = 50 }; /* grabs on a page */

/* True when the visitor may see the list of grabs: the sender, users with a share, and, once the packet is finished or
 * expired, every logged-in user who could have opened it: of a packet for named receivers only they. Pure. */
bool show_list_allowed(const struct packet *p, bool has_mine, uint64_t visitor_id);

/* True when the visitor sees the list and the page may change by itself: shares are left, the visitor's share is not
 * settled, or the sender's refund is not paid. The page then refreshes itself. Pure. */
bool show_may_change(const struct packet_view *view, uint64_t visitor_id);

/* Members, JSON and page:
 *   id, kind
 *   sender        { id, nickname, page: initial, hue }
 *   greeting      of an exclusive packet for its sender and its receiver only, else null
 *   cover
 *   state         open|finished|expired
 *   count         of the draw (page: count_one)
 *   grabbed_count without the shares that were given back into the packet
 *   amount_fen    sender only (page: amount_text)
 *   grabbed_fen   sender only (page: grabbed_text)
 *   screen_url    sender only; null for an exclusive packet
 *   expires_at    (page: expires_text)
 *   opens_at      null: from the beginning (page: opens_text)
 *   finished_at   null unless it is finished
 *   ended_at      null unless the sender has ended it early
 *   commitment
 *   seed          null while a share can be taken
 *   needs_phrase
 *   phrase        sender only; null: there is none
 *   note          the sender's note to self: sender only; null: there is none
 *   receivers     those who alone may open it, named: some of them; null: everybody
 *                 { count, named [{ nickname, page: first }], page: more { more_count, more_one } }
 *   mine          the visitor's share, null: none
 *                 { share_no, amount_fen, grabbed_at, settled, best, returned, thanks (null: none),
 *                 page: amount_text, time_text }
 *   grabs         [{ share_no, user { id, nickname, page: initial, hue }, amount_fen, grabbed_at, best, returned,
 *                 thanks, page: amount_text, time_text }]
 *   next
 * Page only:
 *   path, url, login_url, is_sender, is_open, is_finished, is_expired, is_lucky, is_even, is_exclusive, busy,
 *   greeting_class  " long", " run" or " latin": how the lines of the greeting break; nothing: of short clauses
 *   duration      finished: { days | hours | minutes | seconds, one: true when that is 1 }, the time from sending or
 *                 the scheduled opening to the last grab, rounded down to its largest unit
 *   lifetime      expired, and its sender did not end it: the time for which it could be opened, in the same form
 *   waiting       before the scheduled opening: { left_ms: until then, by the store's clock }
 *   can_open      show the coin, while waiting as soon as the time has come
 *   needs_login   a guest, and the packet can be opened
 *   login_first   logging in is the first choice of a guest (user/known_device.h)
 *   passkey_offer  the visitor has just registered for this packet and has a share: offer a passkey
 *   not_for_you   the packet is for others
 *   sold_out      finished, and the visitor has no share
 *   late          expired, and the visitor has no share
 *   may_thank     the visitor, who is not the sender, has a share and has not thanked: there is room for the form
 *   can_thank     the same, and the share is settled: show the form
 *   text, error, errors: of a refused form of thanks (pages/thanks.h)
 *   can_return    the visitor has a share and may give it back: show the form, hidden until the share is settled;
 *                 return_to_packet: it goes back into the packet
 *   can_end       the sender, while it is open: show the form to end it
 *   show_list, refund_text, next_url, flap_url (cover_flap), html_qr (sender, while open),
 *   luckiest      one of grabs: the best share, when it is not among the newest, which are shown
 *   html_rows: luckiest and grabs rendered by partials/packet_rows, when cached is given
 *   refresh: the answer's entity tag, when show_may_change; the handler adds it
 * cached: the view's rows from show_rows, borrowed; NULL: the rows are built from view. */
void show_model(struct exchange *x, const struct packet_view *view, const struct cached_rows *cached, struct model *m);

/* The members of the packet itself, for all visitors, and the list of grabs: the rows of view. */
void show_packet_model(struct exchange *x, struct model *m, const struct packet_view *view);
void show_grabs_model(struct model *m, struct value *grabs, const struct packet_view *view);

/* Adds the page-only member greeting_class, unless the greeting has short clauses only. */
void show_greeting_class(struct model *m, struct str greeting);

/* Renders the view's rows as HTML and JSON, which are the same for every visitor who may see the list. The texts are in
 * x's arena. ST_NO_MEMORY: also when the template is missing. */
enum status show_rows(struct exchange *x, const struct packet_view *view, struct cached_rows *out);

#endif

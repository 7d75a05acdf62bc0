/* The model of a packet's page: one for all visitors, states and stores. Redis (hot) and MySQL (cold) both fill a
 * struct packet_view; who looks decides what of it is shown. */
#ifndef HB_PAGES_SHOW_MODEL_H
#define HB_PAGES_SHOW_MODEL_H

#include "packet/view.h"
#include "pages/page_cache.h"
#include "web/exchange.h"

enum { SHOW_ROWS = 50 }; /* grabs a page */

/* True when the visitor may read the list of grabs: the sender, who grabbed, and, once the packet is finished or
 * expired, everyone who is logged in. Pure. */
bool show_list_allowed(const struct packet *p, bool has_mine, uint64_t visitor_id);

/* True when what the visitor sees of the list, or of the own share, may change by itself: shares are left, the
 * visitor's is not settled, or the sender waits for the rest. Pure. */
bool show_goes_on(const struct packet_view *view, uint64_t visitor_id);

/* Members, JSON and page:
 *   id, kind, sender{id, nickname, page: initial, hue}, greeting, state (open|finished|expired), count (page:
 *   count_one), grabbed_count,
 *   amount_fen, grabbed_fen (sender only; page: amount_text, grabbed_text), expires_at (page: expires_text),
 *   finished_at, commitment, seed (null while open),
 *   mine {share_no, amount_fen, grabbed_at, settled, best; page: amount_text, time_text} | null,
 *   grabs [{share_no, user{id, nickname, page: initial, hue}, amount_fen, grabbed_at, best; page: amount_text,
 *   time_text}], next
 * Page only:
 *   path, url, login_url, is_sender, is_open, is_finished, is_expired, is_lucky, is_even, is_exclusive, busy,
 *   took          finished: how long it took until the last share was gone, { days | hours | minutes | seconds: the
 *                 largest unit of which there is a whole one, alone; one: it is 1 }
 *   can_open      show the coin
 *   needs_login   logged out while it could be opened
 *   not_for_you   an exclusive packet seen by someone else
 *   sold_out      finished, and the visitor has none of it
 *   late          expired, and the visitor has none of it
 *   show_list, receiver_name, refund_text, next_url, html_qr (sender, while open),
 *   html_rows: what partials/packet_rows would make of grabs, when that is at hand
 *   refresh: the answer's tag, when show_goes_on; the handler adds it
 * ready: the view's rows as show_rows made them, borrowed; NULL: they are made anew. */
void show_model(struct exchange *x, const struct packet_view *view, const struct cached_rows *ready, struct model *m);

/* The view's rows as page and JSON show them to whoever may read the list: the same for all. Texts live in x's arena.
 * ST_NO_MEMORY: also when the template is missing. */
enum status show_rows(struct exchange *x, const struct packet_view *view, struct cached_rows *out);

#endif

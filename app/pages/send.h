/* GET and POST /send: a user pays for a red packet and sends it. */
#ifndef HB_PAGES_SEND_H
#define HB_PAGES_SEND_H

#include "web/exchange.h"

/* GET /send → pages/send. NEED_USER. ?to=USERNAME and ?again=PACKETID: pages/send_prefill.h; 404 when the visitor has
 * sent no such packet.
 *   balance_fen      (page: balance_text "12.34")
 *   request_key      a new one, for the hidden field of the form
 *   sending          false: the operator has paused sending
 *   send_day         pages/send_caps.h
 *   limits           { share_fen_max, packet_fen_max, shares_max, greeting_max, lifetime_ms }
 *                    page: share_text "200"; lifetime_ms is the default; opens_max is
 *                    the latest opening, for datetime-local
 *   lifetimes        [{ lifetime "24h", lifetime_ms }] that a sender can choose; page: span (view_span_model), selected
 *   lifetime_default page-only: the default as a span, an option of its own; absent when it is one of lifetimes
 *   greeting_default page-only: the greeting of the selected cover (placeholder, and the greeting when it is left
 *                    empty)
 *   people           [{ id, username, nickname, page: initial, hue }]: packet/people.h, at most 8
 *   people_more      page-only: the same of other receivers of the packet that is sent again, or answered
 *   named            page-only { some [{ nickname, first, initial, hue }], more { more_count, more_one } }: the
 *                    receivers, when all of them are among these people; else absent
 *   confirmed        page-only: the several receivers of the packet that is sent again, who need not be confirmed once
 *                    more; else absent
 *   back             page-only boolean: a gift that is sent back
 *   form             page-only: the typed texts, a member for each field, at first "" or from the query; and
 *                    request_key
 *   kind_lucky kind_even kind_exclusive    page-only booleans: exactly one is true (radio buttons)
 *   to_open more_open    page-only booleans: the receivers, the fields that few senders use are shown; else they are
 *                    folded away
 *   retype           page-only { phrase, opens_at }, booleans: of the packet that is sent again, these must be typed
 *                    again; absent: none
 *   deposited, deposited_before    page-only booleans: the sender comes back from a deposit (wallet/statement.h)
 *   amount_of_total  page-only boolean: total is selected, else share
 *   split_double_average split_uniform split_gaussian    page-only booleans: exactly one is true (select)
 * The fields of the form: send_fields (pages/send_form.h). */
enum step send_form_get(struct exchange *x);

/* POST /send. NEED_USER | SAME_ORIGIN. HTML: 303 /p/ID. JSON: 201 {id, url, commitment} with Location.
 * A form that a browser sends once more after REQUEST_PRESSED_MS (web/form.h): 200, pages/send with the model above and
 *   already          page-only { path, same }: the packet that it has sent; same: with the same fields
 * Refused: 422, pages/send again with the model above (form = the typed texts) plus
 *   errors           [{ field, message }]; a request key of another order: also already, and for programs order, the
 *                    address of that order
 *   error            page-only { FIELD: message } for each field of the form */
enum step send_form_post(struct exchange *x);

#endif

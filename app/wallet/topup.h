/* Top-ups: a user orders an amount, pays it on the page of a channel, and comes back (ledger/topup.h). The pages are
 * there only where a channel takes payments; an order of before is shown all the same. */
#ifndef HB_WALLET_TOPUP_H
#define HB_WALLET_TOPUP_H

#include "web/exchange.h"
#include "web/fields.h"

/* The form of /wallet/topup. */
struct topup_form {
    int64_t amount_fen;
    struct str channel; /* its name; empty: the only one */
    struct str request_key;
};
extern const struct field topup_fields[];

/* GET /wallet/topup?amount=AMOUNT&channel=NAME: pages/topup. 404: no channel takes payments.
 *
 * Model:
 *   channels      [ { name, note } ];        page-only: text (the note, or the name), chosen
 *   orders        the newest orders of the user, each as for topup_show, without its payments
 *   page-only:    has_orders, several (channels), form { amount, request_key }
 * After a refused order (422) also: errors [ { field, message } ], error { amount?, channel?, request_key? }. */
enum step topup_form_get(struct exchange *x);

/* POST /wallet/topup. HTML 303 to the order; JSON 201 with the model of topup_show. A repeat with the same request_key
 * gets the same order, also when its channel takes no payments by now. Refused: 422 with the form. */
enum step topup_form_post(struct exchange *x);

/* GET /wallet/topup/ID: pages/topup_order. 404: it is no order of the user.
 *
 * Model:
 *   id            number
 *   channel       its name;                  page-only: channel_text (the note, or the name)
 *   amount_fen    as ordered;                page-only: amount_text
 *   state         "waiting" | "paid" | "expired";  page-only: is_waiting, is_paid, is_expired
 *   paid_fen      of all payments;           page-only: paid_text, differs (from the order)
 *   pay_url       the signed link to the channel's page; null: there is none to pay on
 *   created_at, expires_at                   page-only: created_at_text, expires_at_text
 *   payments      [ { amount_fen, reference, reversed, created_at } ]; page-only: amount_text, created_at_text
 *   page-only:    url, again_url (a form for a new order like it), several (payments), taken_back_text (of
 *                 payments that were reversed; absent: none), long_total (of the sum that the page shows large:
 *                 web/view.h) */
enum step topup_show(struct exchange *x);

#endif

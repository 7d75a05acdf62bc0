/* Asking for a payment outside, in the auth pool, because it needs a proof (account/proof.h): a session
 * alone, in a browser that was left open or with a stolen cookie, pays nothing out. The money leaves the wallet at once
 * (ledger/withdrawal.h). */
#ifndef HB_WALLET_WITHDRAW_H
#define HB_WALLET_WITHDRAW_H

#include "web/exchange.h"
#include "web/fields.h"

/* amount, channel, account, the fields of a proof, request_key. */
extern const struct field withdraw_fields[];
/* The query of the page: amount, channel. */
extern const struct field withdraw_prefill_fields[];

/* Model of pages/withdraw:
 *   balance_fen   number;                    page-only: balance_text, long_total
 *   channels      [ { name, note, withdraw_min_fen, hint } ]: those that pay withdrawals;
 *                 page-only: text (the note, or the name), min_text (absent: any amount), has_more (a hint or
 *                 min_text), chosen
 *   request_key   a new one
 *   proofs        and page-only proof: proof_model
 *   page-only:    several: true when there is a choice; one:
 *                 the only channel, with the same members; all_url: fills in the whole balance, all_amount, which
 *                 people read as all_text; username; form { amount, channel, account } as typed */

/* Handler of GET /wallet/withdraw. 404 where no channel pays withdrawals. */
enum step withdraw_show(struct exchange *x);
/* Handler of POST /wallet/withdraw: 303 to the page of the transfer; JSON 201 { id, amount_fen, balance_fen, channel,
 * account, state, created_at }, also for a repeat with the same contents, whatever the channel allows by now. 422 with
 * messages at the fields. 404 as above. */
enum step withdraw_submit(struct exchange *x);

#endif

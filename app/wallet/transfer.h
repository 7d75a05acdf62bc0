/* The page of one transfer of the visitor, which also prints as a receipt. */
#ifndef HB_WALLET_TRANSFER_H
#define HB_WALLET_TRANSFER_H

#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "web/exchange.h"

/* Its path: "/wallet/transfers/17". In the arena; STR_NONE without memory. */
struct str transfer_url(struct arena *a, uint64_t id);

/* GET /wallet/transfers/ID: pages/transfer. 404, the same for all: a transfer of somebody else, or none.
 *
 * Model:
 *   id            number
 *   kind          as in the statement;         page-only: is_… as there
 *   amount_fen    signed number;               page-only: amount_text "+12.34" | "-12.34", income
 *   packet        26-character id or null;     page-only: packet_url
 *   created_at    RFC 3339;                    page-only: created_at_text
 *   channel, memo, reference   as in the statement; of a withdrawal the reference of its payment
 *   state         of a withdrawal: "pending" | "posted" | "voided";   page-only: is_pending, is_posted, is_voided
 *   account       of a withdrawal: where the user wanted to be paid; empty once the account was deleted
 *   reason        of a voided withdrawal
 *   ended_at      of a withdrawal: when it was posted or voided, or null;   page-only: ended_at_text
 *   corrects, corrected_by   the transfer that this one reverses, or that came back from it, and the other way: its
 *                 number or null;              page-only: corrects_url, corrected_by_url
 *   page-only:    sum_text (the amount without its sign), long_total, nickname, username, channel_text, and of
 *                 which kind it is: is_payout (a withdrawal or a void), is_topup (a credit that pays an order of a
 *                 top-up: topup, its number, and topup_url), or is_plain */
enum step transfer_show(struct exchange *x);

#endif

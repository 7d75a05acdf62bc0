/* What a user may still receive today, where the operator has set a cap (docs/explanation/money.md, "Caps"). */
#ifndef HB_WALLET_RECEIVE_DAY_H
#define HB_WALLET_RECEIVE_DAY_H

#include "base/value.h"
#include "web/exchange.h"

/* Adds receive_day: null without the cap user_receive_day_fen, else
 *   { left_fen      until the user opens no further packet in this day; 0: the cap is reached
 *     ends_at       the end of the day;      page-only: ends_text
 *     page-only:    left_text, near: little is left, reached }
 * Reads the user's shares of the day. Errors as db_query. */
enum status receive_day_model(struct exchange *x, struct model *m);

#endif

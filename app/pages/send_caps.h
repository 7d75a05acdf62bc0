/* What the operator allows to send: the caps of a day (packet/caps.h), and the setting sending. */
#ifndef HB_PAGES_SEND_CAPS_H
#define HB_PAGES_SEND_CAPS_H

#include "packet/order.h"
#include "web/exchange.h"

/* True when sending is off and the request has been answered so: 403. A form whose packet was sent before is not
 * answered: its repetition sends nothing. */
bool send_paused(struct exchange *x);

/* Adds a message beside the amount when the new order would be over a cap of today; x->state then keeps what
 * send_caps_problem says. Without caps it reads nothing. ST_OK: also with a message · else as db_query. */
enum status send_caps_check(struct exchange *x, const struct send_order *order, struct form_errors *errors);
/* Adds the members cap, left_fen and again_at to the problem of a form that send_caps_check has refused. */
void send_caps_problem(struct exchange *x, const struct form_errors *errors, struct model *problem);
/* Adds send_day: null without a cap of a day, else
 *   { left_fen, left_count    what the user can still send today; null where there is no such cap
 *     ends_at                 the end of the day
 *     page-only:  none: nothing is left, and of what: no_fen or no_count; few_fen { value }: what is left, where a
 *                 packet may be too large for it; few_count { value }: little is left; else absent; has_rest: none or
 *                 few_fen; ends_ms: how long the day still is; ends_text }
 * Errors as db_query. */
enum status send_day_model(struct exchange *x, struct model *m);

#endif

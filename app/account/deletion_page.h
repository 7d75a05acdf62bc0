/* Deleting one's account, in the auth pool: the form, and the farewell. */
#ifndef HB_ACCOUNT_DELETION_PAGE_H
#define HB_ACCOUNT_DELETION_PAGE_H

#include "web/exchange.h"
#include "web/fields.h"

/* username, password, give_up. */
extern const struct field deletion_fields[];

/* Model of pages/delete:
 *   balance_fen, packets_fen, packet_count, withdrawals_fen, withdrawal_count   what is given up: the wallet, the
 *         rest of open packets, and pending withdrawals that are not paid
 *   page: username, has_money, balance_text, packets (absent: none) { text, packet_count, packet_one },
 *         withdrawals (absent: none) { text, withdrawal_count, withdrawal_one }
 *   form { username, give_up } */

/* Handler of GET /account/delete. */
enum step deletion_show(struct exchange *x);
/* Handler of POST /account/delete: 303 /account/deleted, JSON 204; 422 for a wrong username or password, and while
 * there is money that the user does not give up. With 303 and 204 the deletion has begun (user/deletion.h). */
enum step deletion_submit(struct exchange *x);
/* Handler of GET /account/deleted: says what happens next. */
enum step deletion_done_show(struct exchange *x);

#endif

/* The withdrawals of a user that are not paid yet, as the wallet shows them. */
#ifndef HB_WALLET_PENDING_H
#define HB_WALLET_PENDING_H

#include <stdint.h>

#include "base/status.h"
#include "base/value.h"
#include "web/exchange.h"

enum { PENDING_SHOWN_MAX = 20 };

/* Adds the list `pending` of the visitor's newest pending withdrawals: see statement_show. count: how many there are;
 * with 0 it reads nothing. The same errors as db_query. */
enum status pending_model(struct exchange *x, struct model *m, uint64_t count);

#endif

/* The model of an order of a top-up, which pages, JSON and the export of the account share. */
#ifndef HB_WALLET_TOPUP_MODEL_H
#define HB_WALLET_TOPUP_MODEL_H

#include "base/value.h"
#include "ledger/topup.h"
#include "web/exchange.h"

/* Adds the members that topup_show (wallet/topup.h) describes, without payments. */
void topup_model(struct exchange *x, struct model *m, struct value *o, const struct topup *order);
/* Adds payments and several. */
void topup_payments_model(struct model *m, struct value *o, const struct topup *order);
/* The path of an order, in the arena. */
struct str topup_path(struct arena *a, uint64_t id);

#endif

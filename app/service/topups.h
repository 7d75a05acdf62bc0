/* POST /money/topups/ID/paid: the page of the token's channel has taken a payment of an order. */
#ifndef HB_SERVICE_TOPUPS_H
#define HB_SERVICE_TOPUPS_H

#include "web/fields.h"

extern const struct field topup_paid_fields[];
/* 201 when the credit was made now, 200 when it was there before, with the same body; 404: no order of this channel;
 * 409 when the reference belongs to another transfer, or the user's account is being deleted; 422 when a field is
 * wrong. */
enum step topup_paid_submit(struct exchange *x);

#endif

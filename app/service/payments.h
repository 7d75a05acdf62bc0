/* POST /money/credits and /money/debits: one payment into a wallet, or out of it, once for each reference. */
#ifndef HB_SERVICE_PAYMENTS_H
#define HB_SERVICE_PAYMENTS_H

#include "web/fields.h"

extern const struct field payment_fields[];
/* 201 when the transfer was made now, 200 when it was there before, with the same body; 409 when the reference belongs
 * to another one; 422 when a field is wrong. */
enum step credit_submit(struct exchange *x);
enum step debit_submit(struct exchange *x);

/* struct str: the reference of a payment, exactly as sent (ledger/external.h). */
extern const struct field_type FIELD_REFERENCE;
/* 409: the reference is in use in the channel, for something else. */
extern const struct problem REFERENCE_USED;

#endif

/* POST /money/credits and /money/debits: one payment into a wallet, or out of it, once for each reference. */
#ifndef HB_SERVICE_PAYMENTS_H
#define HB_SERVICE_PAYMENTS_H

#include "base/typed.h"
#include "web/fields.h"

extern const struct field payment_fields[];
/* 201 when the transfer was made now, 200 when it was there before, with the same body; 409 when the reference belongs
 * to another one; 422 when a field is wrong. */
enum step credit_submit(struct exchange *x);
enum step debit_submit(struct exchange *x);

/* Rows of a table for the reference and the amount of a payment: members of this struct. */
#define PAYMENT_REFERENCE_FIELD(form, reference, text, sample)                                                         \
    {                                                                                                                  \
        .name = "reference", .type = &FIELD_REFERENCE, .member = offsetof(form, reference), .required = true,          \
        .missing = "text/payment_reference_missing", .malformed = "text/payment_reference_malformed", .says = (text),  \
        .example = (sample)                                                                                            \
    }
#define PAYMENT_AMOUNT_FIELD(form, amount_fen, text)                                                                   \
    {                                                                                                                  \
        .name = "amount", .type = &FIELD_AMOUNT, .member = offsetof(form, amount_fen), .required = true, .min = 1,     \
        .max = TYPED_AMOUNT_MAX_FEN, .missing = "text/payment_amount_missing",                                         \
        .malformed = "text/payment_amount_malformed", .low = "text/payment_amount_zero",                               \
        .high = "text/payment_amount_max", .says = (text), .example = "88.00"                                          \
    }

/* struct str: the reference of a payment, exactly as sent (ledger/external.h). */
extern const struct field_type FIELD_REFERENCE;
/* 409: the reference is in use in the channel, for something else. */
extern const struct problem REFERENCE_USED;

#endif

/* The form of /send: its fields in a table, and the order that they make. No store is asked: balance and receiver are
 * judged where they are read. */
#ifndef HB_PAGES_SEND_FORM_H
#define HB_PAGES_SEND_FORM_H

#include "packet/order.h"
#include "web/fields.h"

/* A new field is a row here, a member of struct send_order, and a text for each message. */
extern const struct field send_fields[];

/* Reads the posted form. greeting_default: what an empty greeting becomes, in the sender's language; STR_NONE: no
 * memory. ST_OK: *out is complete, but for who the receiver is · ST_INVALID: *errors says why, in the order of the
 * table; of *out only request_key is fit for use · ST_NO_MEMORY. */
enum status send_order_read(struct exchange *x, struct str greeting_default, struct send_order *out,
                            struct form_errors *errors);

#endif

/* The form of /send: the table of its fields, and the order that they define. No function here accesses a store: the
 * sender's balance and the receiver are checked by the handler (pages/send.c). */
#ifndef HB_PAGES_SEND_FORM_H
#define HB_PAGES_SEND_FORM_H

#include "packet/order.h"
#include "web/fields.h"

/* The parts of the page that are folded away: who may open it, and the options that few senders use. */
enum send_fold { SEND_FOLD_TO = 1, SEND_FOLD_MORE, SEND_FOLDS };

/* To add a field: the recipe "…an option of a packet?" in docs/how-to/add.md. */
extern const struct field send_fields[];

/* Reads the posted form; it does not check whether the opening has passed. The greeting of the cover replaces an empty
 * greeting. ST_OK: *out is complete except for the receiver's id · ST_INVALID: *errors has the messages, in the order
 * of the table; only the request key is valid, and out->to if it was not refused · ST_NO_MEMORY. */
enum status send_order_read(struct exchange *x, struct send_order *out, struct form_errors *errors);

#endif

/* Finds the users whom a sender names as receivers, by their usernames. */
#ifndef HB_PAGES_SEND_RECEIVERS_H
#define HB_PAGES_SEND_RECEIVERS_H

#include <stdbool.h>

#include "packet/receivers.h"
#include "web/exchange.h"

/* Takes from the limits the look-up of so many names. False: refused, and the request is answered. */
bool names_take(struct exchange *x, size_t count);
/* Looks up the users whom a sender names as receivers, after names_take. No names: *out is empty. ST_INVALID: a
 * message is in errors, at the field `to`: the message lists every name that belongs to no user, or says that the
 * sender is one of the receivers. Texts are in the request's arena. */
enum status send_receivers_find(struct exchange *x, const struct str_list *names, struct receivers *out,
                                struct form_errors *errors);

#endif

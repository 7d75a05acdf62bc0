/* What may be sent: a typed form becomes an order, or messages beside its fields. Pure: limits come from the
 * configuration, nothing is looked up (balance and receiver are checked where they are read). */
#ifndef HB_PAGES_RULES_H
#define HB_PAGES_RULES_H

#include "base/arena.h"
#include "base/config.h"
#include "base/status.h"
#include "packet/order.h"
#include "web/form.h"

enum { GREETING_CODE_POINTS_MAX = 400, USERNAME_TYPED_BYTES_MAX = 128 /* in full width: 3 a character */ };

/* As typed; absent fields are empty. */
struct send_form {
    struct str kind;        /* empty = lucky */
    struct str amount;      /* yuan text: the total for lucky, one share for even and exclusive */
    struct str count;       /* ignored for exclusive */
    struct str greeting;    /* empty = greeting_default */
    struct str to;          /* username; exclusive only, ignored otherwise */
    struct str split;       /* lucky only, ignored otherwise; empty = double-average */
    struct str request_key; /* empty = the caller makes one */
    /* Not typed: what an empty greeting becomes, in the sender's language. STR_NONE: no memory. */
    struct str greeting_default;
};

/* Checks every field. ST_OK: *out is complete. ST_INVALID: *errors says why, at most one message a field, in the order
 * of the form. ST_NO_MEMORY. config is read for limits only. */
enum status rules_send(struct arena *a, const struct config *config, const struct send_form *form,
                       struct send_order *out, struct form_errors *errors);

/* Messages (names of texts) that depend on something looked up. */
#define RULES_TEXT_BALANCE      "text/balance_short"    /* field amount */
#define RULES_TEXT_NO_RECEIVER  "text/to_unknown"       /* field to */
#define RULES_TEXT_SELF         "text/to_self"          /* field to */
#define RULES_TEXT_OTHER_PACKET "text/request_key_used" /* field request_key: the key made another packet before */

/* fen as people write a limit: "200", "0.01", "12.5" → "12.50". In the arena; STR_NONE without memory. */
struct str rules_yuan_short(struct arena *a, int64_t fen);

#endif

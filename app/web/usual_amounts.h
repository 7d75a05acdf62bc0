/* The amounts that pages offer, so that nobody needs to type one: in smallest units, shown in the site's unit. */
#ifndef HB_WEB_USUAL_AMOUNTS_H
#define HB_WEB_USUAL_AMOUNTS_H

#include <stdint.h>

#include "base/value.h"

enum usual_amounts {
    USUAL_GIFTS,   /* lucky numbers: 6.66 … 188.00 */
    USUAL_DEPOSITS /* 50 … 500 */
};

/* Writes the link of an amount: a text in the arena of m, STR_NONE without memory. context: the caller's. */
typedef struct str usual_link(struct model *m, struct str amount, void *context);

/* Adds the page-only object name with those that are at most fen_max: { amounts [ { amount "6.66", as a form has it,
 * amount_text, as pages show it, url } ], stacked }; nothing when there are none. stacked: the symbol of the unit is
 * longer than one character, and stands above. */
void usual_amounts_model(struct model *m, struct value *object, const char *name, enum usual_amounts which,
                         int64_t fen_max, usual_link *link, void *context);

#endif

/* The fields of a passphrase: of the form that sets it, and of the form that opens a packet with it. */
#ifndef HB_PAGES_PHRASE_FIELD_H
#define HB_PAGES_PHRASE_FIELD_H

#include "packet/phrase.h"
#include "web/fields.h"

/* struct phrase. Blanks alone count as absent. Limits are in graphemes and code points, as of FIELD_LINE; a text that
 * is empty in its folded form is malformed. */
extern const struct field_type FIELD_PHRASE;
/* struct phrase: any text, never refused; a phrase that can't be one is just a wrong one. */
extern const struct field_type FIELD_PHRASE_TRIED;

#endif

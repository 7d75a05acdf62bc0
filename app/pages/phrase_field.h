/* The field of a passphrase: where it is set, and where it is asked for. */
#ifndef HB_PAGES_PHRASE_FIELD_H
#define HB_PAGES_PHRASE_FIELD_H

#include "packet/phrase.h"
#include "web/fields.h"

/* struct phrase. Blanks alone count as absent. Limits are in graphemes and code points, as of FIELD_LINE; text without
 * anything to compare is malformed. */
extern const struct field_type FIELD_PHRASE;
/* struct phrase: any text, never refused; a phrase that can't be one is just a wrong one. */
extern const struct field_type FIELD_PHRASE_TRIED;

#endif

/* Weights in the lists of Accept, Accept-Language and Accept-Encoding (RFC 9110, 12.4.2 and 12.5). Pure. */
#ifndef HB_WEB_ACCEPT_H
#define HB_WEB_ACCEPT_H

#include <stdbool.h>

#include "base/str.h"

#define MEDIA_JSON "application/json"
#define MEDIA_HTML "text/html"

/* The weight in thousandths of an item with these parameters (what is behind its first ';'): "q=0.8" is 800, no
 * parameter is 1000. A malformed weight is 0, which means "not acceptable". */
int accept_weight(struct str parameters);
/* True when the value of Accept-Encoding allows gzip. STR_NONE: false. */
bool accept_gzip(struct str accept_encoding);
/* True when Accept prefers the media type to another one: by the weight of the closest range that has it, and with
 * equal weights when it is named first. A type that only a range such as any (*) matches is not named.
 * application/problem+json is application/json. STR_NONE: false. */
bool accept_prefers(struct str accept, struct str media_type, struct str other);

#endif

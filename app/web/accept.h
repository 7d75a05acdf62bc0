/* Weights in the lists of Accept-Language and Accept-Encoding (RFC 9110, 12.4.2 and 12.5.3). Pure. */
#ifndef HB_WEB_ACCEPT_H
#define HB_WEB_ACCEPT_H

#include <stdbool.h>

#include "base/str.h"

/* The weight in thousandths of an item with these parameters (what is behind its first ';'): "q=0.8" is 800, no
 * parameter is 1000. A malformed weight is 0, which means "not acceptable". */
int accept_weight(struct str parameters);
/* True when the value of Accept-Encoding allows gzip. STR_NONE: false. */
bool accept_gzip(struct str accept_encoding);

#endif

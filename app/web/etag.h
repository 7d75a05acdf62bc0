/* Entity tags (RFC 9110, 8.8.3): whether If-None-Match names the tag of the answer, so that 304 is enough. */
#ifndef HB_WEB_ETAG_H
#define HB_WEB_ETAG_H

#include <stdbool.h>

#include "base/str.h"

/* True when the value of If-None-Match is * or lists the tag. Uses the weak comparison, as RFC 9110 requires for this
 * header: a W/ before a tag is ignored on both sides. The list ends at the first malformed tag. tag: with its quotes,
 * with or without W/. Pure. */
bool etag_matches(struct str if_none_match, struct str tag);

#endif

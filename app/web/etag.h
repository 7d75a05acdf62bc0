/* Entity tags (RFC 9110, 8.8.3): whether a client has already what it asks for. */
#ifndef HB_WEB_ETAG_H
#define HB_WEB_ETAG_H

#include <stdbool.h>

#include "base/str.h"

/* True when the value of If-None-Match is * or lists the tag, by the weak comparison that this header asks for: W/
 * counts on neither side. What is malformed ends the list. tag: with its quotes, with or without W/. Pure. */
bool etag_matches(struct str if_none_match, struct str tag);

#endif

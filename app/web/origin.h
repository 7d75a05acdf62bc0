/* The cross-origin guard: no tokens in forms; the browser itself says where a request comes from (the algorithm of
 * Go's http.CrossOriginProtection). */
#ifndef HB_WEB_ORIGIN_H
#define HB_WEB_ORIGIN_H

#include "base/str.h"

/* True when an unsafe request may go on: Sec-Fetch-Site is same-origin or none; or it is absent and Origin is
 * absent or names this host. Absent headers are STR_NONE. Pure. */
bool origin_allows(struct str sec_fetch_site, struct str origin, struct str host);

/* A `next` value: the path that a form leads to. Percent-encoded it is three times as long at most, and has to fit a
 * Location header that nginx takes (fastcgi_buffer_size). */
#define NEXT_BYTES_MAX 1024
/* It is made and followed only when it is a path of ours: starts with one '/', no second '/' or '\' behind it,
 * no control characters, no backslash anywhere, NEXT_BYTES_MAX at most. Pure. */
bool origin_own_path(struct str next);

#endif

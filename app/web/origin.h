/* The cross-origin guard against forged requests, and the check of `next` paths. The guard needs no tokens in forms:
 * the browser states the origin of a request in Sec-Fetch-Site or Origin. Same algorithm as Go's
 * http.CrossOriginProtection. */
#ifndef HB_WEB_ORIGIN_H
#define HB_WEB_ORIGIN_H

#include "base/str.h"

/* True when an unsafe request (POST) is allowed: Sec-Fetch-Site is same-origin or none; or it is absent, and Origin is
 * absent, names this host, or is the origin of base_url, which a proxy may have replaced in Host. A scheme's default
 * port counts as no port. Absent headers are STR_NONE. Pure. */
bool origin_allows(struct str sec_fetch_site, struct str origin, struct str host, struct str base_url);

/* Limit of a `next` value, the path to which a form redirects. Percent-encoding makes it at most three times as long,
 * and the Location header must fit into nginx's fastcgi_buffer_size. */
#define NEXT_BYTES_MAX 1024
/* True for a local path, the only kind of `next` that the service sends or follows: it starts with exactly one '/', has
 * no backslash, blank or control character, and at most NEXT_BYTES_MAX bytes. Pure. */
bool origin_path_is_local(struct str next);

#endif

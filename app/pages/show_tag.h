/* The entity tag of the answer to GET /p/ID. A client that names it in If-None-Match gets 304. */
#ifndef HB_PAGES_SHOW_TAG_H
#define HB_PAGES_SHOW_TAG_H

#include "packet/view.h"
#include "web/exchange.h"

/* A weak entity tag (RFC 9110, 8.8.1): a hash of everything on which the answer depends: the packet as the view shows
 * it to the visitor, the visitor, language, format, address, templates and static files. The tag is known before
 * anything is rendered, and is the same in every process, whether the view comes from the page cache, Redis or MySQL.
 * Weak, because it identifies the content and not its bytes: nginx also sends the answer compressed. In the request's
 * arena; STR_NONE without memory. */
struct str show_tag(struct exchange *x, const struct packet_view *view);

#endif

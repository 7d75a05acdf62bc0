/* The tag of the answer to GET /p/ID: whoever has that answer need not be sent it again. */
#ifndef HB_PAGES_SHOW_TAG_H
#define HB_PAGES_SHOW_TAG_H

#include "packet/view.h"
#include "web/exchange.h"

/* A weak entity tag, made of all that the answer depends on: the packet as view shows it to the visitor, who that is,
 * language and format, the address asked for, templates and static files. So it is known before anything is rendered,
 * and the same in every process, whether the view came from memory, Redis or MySQL. Weak, because it says what the
 * answer tells and not which bytes do; nginx sends the same answer compressed, too. In the request's arena; STR_NONE
 * without memory. */
struct str show_tag(struct exchange *x, const struct packet_view *view);

#endif

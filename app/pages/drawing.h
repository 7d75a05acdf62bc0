/* Drawing a template of templates/pictures as PNG, in the card pool. */
#ifndef HB_PAGES_DRAWING_H
#define HB_PAGES_DRAWING_H

#include "web/exchange.h"

/* The art of all covers, our own file static/covers.svg, for a member html_covers. In the request's arena; STR_NONE
 * without it, and the answer is incomplete then. */
struct str drawing_covers(struct exchange *x);
/* Renders the template ("pictures/story") with the model and draws it into out. Sizes are in pixels. */
enum status drawing_png(struct exchange *x, const char *template_name, const struct model *m, int width, int height,
                         struct buf *out);

#endif

/* Drawing a template of templates/pictures as PNG, in the card pool. */
#ifndef HB_PAGES_DRAWING_H
#define HB_PAGES_DRAWING_H

#include "web/exchange.h"

/* The art of all covers, our own file static/covers.svg, for a member html_covers. In the request's arena; STR_NONE
 * without it, and the answer is incomplete then. */
struct str drawing_covers(struct exchange *x);
/* The art of the drawn faces, of static/avatars.svg, for a member html_faces: face i is in the square of 48.8 at
 * (-4.4, DRAWING_FACE_STEP i - 6.8). In the request's arena; STR_NONE without it. */
enum { DRAWING_FACE_STEP = 60 };
struct str drawing_faces(struct exchange *x);
/* Adds the member photo: the picture with this hash (user/picture_store.h), as a URL. A picture that is gone or can't
 * be read adds nothing, like STR_NONE or an empty hash. ST_NO_MEMORY · else as db_query. */
enum status drawing_photo(struct exchange *x, struct model *m, struct str hash);
/* Renders the template ("pictures/story") with the model and draws it into out. Sizes are in pixels. */
enum status drawing_png(struct exchange *x, const char *template_name, const struct model *m, int width, int height,
                        struct buf *out);

#endif

/* The covers on pages: title and default greeting of each, and the radio group of the send form. Their pictures are in
 * static/covers.svg, by name. */
#ifndef HB_PAGES_COVERS_H
#define HB_PAGES_COVERS_H

#include "packet/cover.h"
#include "web/exchange.h"

/* The greeting of a packet whose sender wrote none, in the visitor's language. In the request's arena; STR_NONE without
 * memory. */
struct str cover_greeting(struct exchange *x, enum packet_cover cover);

/* The colours of the envelope for pictures, "#c03026": as in static/app.css, which has them for pages. */
struct cover_colours {
    struct str lit, paper, deep;
};
struct cover_colours cover_colours(enum packet_cover cover);

/* The path of the file with the flap and the sea of this cover only, for a page that must load fast. Borrowed. */
struct str cover_flap(struct exchange *x, struct str stored);

/* Adds cover: its name ("own": the sender's picture), and cover_url: the path of that picture, else null. */
void cover_model(struct model *m, struct value *object, struct str stored);

/* Page only: covers [{ name, the word of the field; title, greeting, chosen; cover and cover_url as cover_model; own:
 * of a picture its number }], the drawn ones, then the visitor's own. Exactly one is chosen: when own lacks the chosen
 * picture, the plain cover. chosen: as stored. */
void covers_model(struct exchange *x, struct model *m, struct str chosen, const struct str_list *own);

#endif

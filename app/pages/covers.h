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

/* Adds member cover, its name. */
void cover_model(struct model *m, struct value *object, struct str stored);

/* Page only: covers [{ name, title, greeting, chosen }], one of them chosen, and cover_title, the title of that
 * one. */
void covers_model(struct exchange *x, struct model *m, enum packet_cover chosen);

#endif

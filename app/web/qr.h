/* QR codes as inline SVG, by libqrencode. */
#ifndef HB_WEB_QR_H
#define HB_WEB_QR_H

#include "base/arena.h"
#include "base/str.h"

/* text (ASCII, at most 200 bytes) as one <svg> element, hidden from screen readers: the template around it says what it
 * is. Error correction M, quiet zone of four modules. STR("") for a longer text; STR_NONE without memory. */
struct str qr_svg(struct arena *a, struct str text);

#endif

/* QR codes as inline SVG, encoded by libqrencode. */
#ifndef HB_WEB_QR_H
#define HB_WEB_QR_H

#include "base/arena.h"
#include "base/str.h"

/* Returns text (ASCII, at most 200 bytes) as one <svg> element in the arena. Screen readers skip it, so the template
 * must describe it. Error correction level M, quiet zone of four modules. STR("") for a longer text; STR_NONE without
 * memory. */
struct str qr_svg(struct arena *a, struct str text);

#endif

/* Draws an SVG document as PNG by librsvg and cairo. The libraries are loaded when svg_png_open is called, not with the
 * program: with their fonts they take some tens of megabytes, and only one pool draws. A document can't load anything
 * from outside. */
#ifndef HB_IO_SVG_PNG_H
#define HB_IO_SVG_PNG_H

#include "base/buf.h"

struct svg_png;

/* Loads the libraries. ST_UNAVAILABLE: one is missing, and error (error_size bytes, the caller's) has the reason ·
 * ST_NO_MEMORY. The libraries stay loaded until the process ends; *out belongs to the caller (svg_png_close). */
enum status svg_png_open(struct svg_png **out, char *error, size_t error_size);
void svg_png_close(struct svg_png *s); /* NULL is allowed */

/* Draws the document into width × height pixels and appends the PNG to out. ST_INVALID: it is not SVG, which is
 * logged · ST_NO_MEMORY. */
enum status svg_png_draw(const struct svg_png *s, struct str svg, int width, int height, struct buf *out);

#endif

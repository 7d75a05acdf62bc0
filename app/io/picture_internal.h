/* Between the decoders of io/picture.c. */
#ifndef HB_IO_PICTURE_INTERNAL_H
#define HB_IO_PICTURE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/str.h"
#include "io/picture.h"

enum { PICTURE_CHANNELS = 4 }; /* red, green, blue, alpha; a byte each */

/* The square in the middle of a picture, reduced row by row: each of its pixels is the average of the area that it
 * covers, weighted by alpha. */
struct square {
    uint32_t source_side, left, top; /* of the part of the picture that is taken */
    uint32_t side;                   /* of the result: at most PICTURE_SIDE, and at most source_side */
    uint32_t row[PICTURE_SIDE * PICTURE_CHANNELS];
    uint64_t sum[PICTURE_SIDE * PICTURE_CHANNELS];
    uint32_t done; /* rows of the result */
    uint8_t pixels[PICTURE_SIDE * PICTURE_SIDE * PICTURE_CHANNELS];
};

/* True when a file may have this size. */
bool picture_size_allowed(uint32_t width, uint32_t height, uint64_t pixels_max);
/* width and height: 1 to PICTURE_SIDE_MAX. */
void square_begin(struct square *s, uint32_t width, uint32_t height);
/* Takes row y of the picture, from 0, each row once and in order. rgba: width pixels. */
void square_row(struct square *s, uint32_t y, const uint8_t *rgba);
/* Turns and mirrors the result as the value of the EXIF tag Orientation says; other values than 2 to 8 change nothing.
 */
void square_orient(struct square *s, unsigned orientation);

/* Puts what is transparent on white, so that a page's own colours don't show through. */
void square_flatten(struct square *s);

/* The value of the tag Orientation in the TIFF part of EXIF data; 1 (upright) without one. */
unsigned exif_orientation(struct str tiff);

/* The decoders: ST_INVALID as picture_square. */
enum status picture_jpeg(struct str file, uint64_t pixels_max, struct square *out);
enum status picture_png(struct str file, uint64_t pixels_max, struct square *out);
enum status picture_webp(struct str file, uint64_t pixels_max, struct square *out);

#endif

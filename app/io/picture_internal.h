/* What io/picture.c and its decoders share. */
#ifndef HB_IO_PICTURE_INTERNAL_H
#define HB_IO_PICTURE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/str.h"
#include "io/picture.h"

enum { PICTURE_CHANNELS = 4 }; /* red, green, blue, alpha; a byte each */

/* The part of a picture that is kept: the largest part of the wanted shape. It is reduced row by row: each pixel of the
 * result is the average of the area that it covers, weighted by alpha. */
struct cut {
    uint32_t source_width, source_height, left, top; /* of the part of the picture */
    uint32_t width, height;                          /* of the result: no larger than its shape and the part */
    uint32_t row[PICTURE_WIDTH_MAX * PICTURE_CHANNELS];
    uint64_t sum[PICTURE_WIDTH_MAX * PICTURE_CHANNELS];
    uint32_t done; /* rows of the result */
    uint8_t pixels[PICTURE_WIDTH_MAX * PICTURE_WIDTH_MAX * PICTURE_CHANNELS];
};

/* True when a file may have this size. */
bool picture_size_allowed(uint32_t width, uint32_t height, uint64_t pixels_max);
/* Chooses the part. width and height: of the picture, 1 to PICTURE_SIDE_MAX. orientation: the value that cut_orient
 * gets later; if it exchanges rows and columns, the sides of the shape are exchanged here, too. */
void cut_begin(struct cut *c, struct picture_want want, unsigned orientation, uint32_t width, uint32_t height);
/* Takes row y of the picture, from 0, each row once and in order. rgba: width pixels. */
void cut_row(struct cut *c, uint32_t y, const uint8_t *rgba);
/* True when the EXIF tag Orientation with this value changes rows and columns. */
bool orientation_lies(unsigned orientation);
/* Turns and mirrors the result as the value of the EXIF tag Orientation says; other values than 2 to 8 change nothing.
 * ST_NO_MEMORY. */
enum status cut_orient(struct cut *c, unsigned orientation);

/* Puts what is transparent on white, so that a page's own colours don't show through. */
void cut_flatten(struct cut *c);

/* The value of the tag Orientation in the TIFF part of EXIF data; 1 (upright) without one. */
unsigned exif_orientation(struct str tiff);

/* The decoders: ST_INVALID as picture_make. */
typedef enum status picture_decoder(struct str file, struct picture_want want, uint64_t pixels_max, struct cut *out);
picture_decoder picture_jpeg, picture_png, picture_webp;

#endif

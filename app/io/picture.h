/* Pictures that users upload: a JPEG, PNG or WebP file becomes a small WebP file of a given shape. Only pixels are
 * taken over: no metadata, no comment and no byte of the file. The libraries that decode have had bugs, so no process
 * that has keys, stores or connections calls picture_make: io/picture_child.h runs it in a process of its own. */
#ifndef HB_IO_PICTURE_H
#define HB_IO_PICTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/status.h"
#include "base/str.h"

#define PICTURE_WIDTH_MAX  720      /* pixels of the longer side of a result */
#define PICTURE_SIDE_MAX   12000    /* pixels of a file's longer side */
#define PICTURE_PIXELS_MAX 40000000 /* of a file */
#define PICTURE_BYTES_MAX  65535    /* of the result: a column of MySQL */

/* The shape of the result. A smaller picture is not enlarged, only cut to the shape. */
enum picture_shape {
    PICTURE_SQUARE, /* 160 × 160 */
    PICTURE_COVER,  /* 5 : 3, of 720 × 432, and of at most about 30 KB */
    PICTURE_SHAPES
};
/* Which part is kept of a picture that is too high for the shape. A picture that is too wide always keeps its
 * middle. */
enum picture_part {
    PICTURE_AUTO, /* of an upright picture the part near the top, where heads are; else the middle */
    PICTURE_TOP,
    PICTURE_MIDDLE,
    PICTURE_BOTTOM,
    PICTURE_PARTS
};
struct picture_want {
    enum picture_shape shape;
    enum picture_part part;
};
/* The words for shape and part in the command line of io/picture_child.h; forms use the words for the part. False:
 * there is no such word. */
struct str picture_shape_word(enum picture_shape shape);
bool picture_shape_from(struct str word, enum picture_shape *out);
struct str picture_part_word(enum picture_part part);
bool picture_part_from(struct str word, enum picture_part *out);

/* Makes a picture of the file and appends it to out. The picture is turned as the file's EXIF says; it shows the first
 * frame of an animation, and white where the file is transparent. A file with more than pixels_max pixels, or with a
 * side above PICTURE_SIDE_MAX, is refused by its header, before it is decoded. ST_INVALID: no such file, too large, cut
 * off or broken · ST_NO_MEMORY. */
enum status picture_make(struct str file, struct picture_want want, uint64_t pixels_max, struct buf *out);

/* True when the bytes can be a result of picture_make: a WebP file that begins with its pixels, with no metadata before
 * them. */
bool picture_is_result(struct str bytes);

#endif

/* Pictures that users upload: a JPEG, PNG or WebP file becomes a small square WebP file, cut from its middle, of its
 * pixels alone: no metadata, no comment and no byte of the file is kept. The libraries that decode have had bugs, so no
 * process that has keys, stores or connections calls picture_square: io/picture_child.h runs it in a process of its
 * own. */
#ifndef HB_IO_PICTURE_H
#define HB_IO_PICTURE_H

#include <stdint.h>

#include "base/buf.h"
#include "base/status.h"
#include "base/str.h"

#define PICTURE_SIDE       160      /* pixels; a smaller picture keeps its own side */
#define PICTURE_SIDE_MAX   12000    /* pixels of a file's longer side */
#define PICTURE_PIXELS_MAX 40000000 /* of a file */
#define PICTURE_BYTES_MAX  65535    /* of the result: a column of MySQL */

/* Appends the square of the file to out. It has the orientation that the file's EXIF says; of an animation it has the
 * first picture, and what is transparent is white. A file with more than pixels_max pixels, or with a side above
 * PICTURE_SIDE_MAX, is refused by its header, before it is decoded. ST_INVALID: no such file, too large, cut off or
 * broken · ST_NO_MEMORY. */
enum status picture_square(struct str file, uint64_t pixels_max, struct buf *out);

/* True when the bytes can be a result: a WebP file that begins with its pixels, so no metadata is before them. */
bool picture_is_result(struct str bytes);

#endif

/* A stored picture as part of an SVG document: librsvg of Debian 12 reads no WebP. */
#ifndef HB_IO_PICTURE_INLINE_H
#define HB_IO_PICTURE_INLINE_H

#include "base/buf.h"
#include "base/status.h"
#include "base/str.h"

/* Appends the URL "data:image/jpeg;base64,…" of the picture to out. webp: a result of picture_make, so it comes from
 * our own encoder; its kind and size are still checked before it is decoded. ST_INVALID: it is no such file ·
 * ST_NO_MEMORY. After an error out is as before. */
enum status picture_inline(struct str webp, struct buf *out);

#endif

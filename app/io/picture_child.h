/* Decodes a user's picture (io/picture.h) in a separate process, started for this picture, which can only read the file
 * and write the result: `hongbao picture SHAPE PART`, executed with an empty environment, so nothing of the caller's
 * memory, keys, connections and files is in it. When the decoder crashes, hangs or is taken over, only this picture is
 * lost. */
#ifndef HB_IO_PICTURE_CHILD_H
#define HB_IO_PICTURE_CHILD_H

#include <stddef.h>

#include "base/buf.h"
#include "base/status.h"
#include "base/str.h"
#include "io/picture.h"

#define PICTURE_FILE_BYTES_MAX ((size_t)4 << 20)
#define PICTURE_MS_MAX         5000 /* from the start of the process to its end */
#define PICTURE_PROGRAM        "/proc/self/exe"

/* Makes a picture of the file, which has at most PICTURE_FILE_BYTES_MAX, and appends it to out. program: the file of
 * hongbao. Blocks for up to PICTURE_MS_MAX. ST_INVALID: the file is no picture, is broken or too large, or the decoder
 * ended in another way than by its answer (logged) · ST_UNAVAILABLE: the process can't be started, or not be confined
 * (logged) · ST_NO_MEMORY. */
enum status picture_child_make(const char *program, struct str file, struct picture_want want, struct buf *out);

/* `hongbao picture SHAPE PART`: confines the process, then makes the picture of standard input and writes it to
 * standard output. Returns the exit code. */
int picture_child_run(struct picture_want want);

#endif

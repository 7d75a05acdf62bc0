/* A walk over a folder of the installed files. */
#ifndef HB_DOCTOR_FILE_WALK_H
#define HB_DOCTOR_FILE_WALK_H

#include <sys/stat.h>

typedef void file_walk_fn(void *ctx, const char *path, const struct stat *info);

/* Calls fn for the folder path and for each file and folder below it, at most eight folders deep. Symbolic links, and
 * names that begin with a dot, are left out; nothing happens when path does not exist. */
void file_walk(const char *path, file_walk_fn *fn, void *ctx);

#endif

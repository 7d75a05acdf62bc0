#include "doctor/file_walk.h"

#include <dirent.h>
#include <stdio.h>

enum { PATH_BYTES_MAX = 4096, FOLDERS_DEEP_MAX = 8 };

static void folder_walk(const char *path, unsigned depth, file_walk_fn *fn, void *ctx)
{
    char below[PATH_BYTES_MAX];
    struct stat info;
    DIR *folder = depth < FOLDERS_DEEP_MAX ? opendir(path) : NULL;
    if (folder == NULL)
        return;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        int len = snprintf(below, sizeof below, "%s/%s", path, entry->d_name);
        if (entry->d_name[0] == '.' || len < 0 || (size_t)len >= sizeof below || lstat(below, &info) != 0)
            continue;
        if (!S_ISLNK(info.st_mode))
            fn(ctx, below, &info);
        if (S_ISDIR(info.st_mode))
            folder_walk(below, depth + 1, fn, ctx);
    }
    (void)closedir(folder);
}

void file_walk(const char *path, file_walk_fn *fn, void *ctx)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return;
    fn(ctx, path, &info);
    folder_walk(path, 0, fn, ctx);
}

/* Sets from a folder: reads all of its templates, and finds later whether one of them has changed. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "mustache/mustache_internal.h"

enum { FOLDER_DEPTH_MAX = 8 };
static const struct str ENDING = { ".mustache", 9 };

/* ---- walking ---- */

typedef enum status visit_fn(void *ctx, const char *path, struct str name, const struct stat *info);

struct walk {
    visit_fn *visit;
    void *ctx;
    size_t root_len; /* length of "dir/" in path */
    char path[PATH_MAX];
    char *error;
    size_t error_size;
};

static enum status walk_problem(struct walk *w, enum status st, const char *problem)
{
    snprintf(w->error, w->error_size, "%s: %s", w->path, problem);
    return st;
}

static enum status walk_folder(struct walk *w, size_t path_len, unsigned depth);

/* One entry of the folder path[0 … folder_len). Its name is appended to path; the next entry overwrites it. */
static enum status walk_entry(struct walk *w, size_t folder_len, const char *entry, unsigned depth)
{
    struct stat info;
    size_t len = folder_len + 1 + strlen(entry);

    if (len >= sizeof w->path)
        return walk_problem(w, ST_UNAVAILABLE, "a path below is too long");
    w->path[folder_len] = '/';
    memcpy(w->path + folder_len + 1, entry, strlen(entry) + 1);
    if (stat(w->path, &info) != 0) /* removed since readdir, or a broken link */
        return errno == ENOENT ? ST_OK : walk_problem(w, ST_UNAVAILABLE, strerror(errno));
    if (S_ISDIR(info.st_mode))
        return walk_folder(w, len, depth + 1);
    if (!S_ISREG(info.st_mode) || len < w->root_len + ENDING.len ||
        memcmp(w->path + len - ENDING.len, ENDING.ptr, ENDING.len) != 0)
        return ST_OK;
    struct str name = { w->path + w->root_len, len - ENDING.len - w->root_len };
    return w->visit(w->ctx, w->path, name, &info);
}

static enum status walk_folder(struct walk *w, size_t path_len, unsigned depth)
{
    enum status st = ST_OK;
    const struct dirent *entry;

    if (depth > FOLDER_DEPTH_MAX)
        return walk_problem(w, ST_UNAVAILABLE, "too many folders within each other");
    DIR *dir = opendir(w->path);
    if (dir == NULL)
        return walk_problem(w, ST_UNAVAILABLE, strerror(errno));
    while (st == ST_OK && (entry = readdir(dir)) != NULL)
        if (entry->d_name[0] != '.')
            st = walk_entry(w, path_len, entry->d_name, depth);
    closedir(dir);
    return st;
}

/* Calls visit for each template file below dir, in any order. path and name are valid only during the call. */
static enum status walk(const char *dir, visit_fn *visit, void *ctx, char *error, size_t error_size)
{
    struct walk w = { .visit = visit, .ctx = ctx, .error = error, .error_size = error_size };
    size_t len = strlen(dir);

    while (len > 1 && dir[len - 1] == '/')
        len--;
    if (len >= sizeof w.path) {
        snprintf(error, error_size, "the path of the templates is too long");
        return ST_UNAVAILABLE;
    }
    memcpy(w.path, dir, len);
    w.root_len = len + 1;
    return walk_folder(&w, len, 0);
}

/* ---- fingerprints ---- */

static uint64_t mix(uint64_t hash, uint64_t n)
{
    hash = (hash ^ n) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ (hash >> 32);
}

/* Adds a file to the fingerprint of its folder. A sum, because readdir has no fixed order. */
static void fingerprint_add(uint64_t *fingerprint, struct str name, const struct stat *info)
{
    uint64_t hash = mix(1, value_hash(name));

    hash = mix(hash, (uint64_t)info->st_ino);
    hash = mix(hash, (uint64_t)info->st_size);
    hash = mix(hash, (uint64_t)info->st_mtim.tv_sec);
    hash = mix(hash, (uint64_t)info->st_mtim.tv_nsec);
    hash = mix(hash, (uint64_t)info->st_ctim.tv_sec);
    hash = mix(hash, (uint64_t)info->st_ctim.tv_nsec);
    *fingerprint += hash;
}

static enum status fingerprint_visit(void *ctx, const char *path, struct str name, const struct stat *info)
{
    (void)path;
    fingerprint_add(ctx, name, info);
    return ST_OK;
}

/* ---- loading ---- */

struct load {
    struct builder builder;
    uint64_t fingerprint;
};

/* Reads a whole file into the builder's arena. */
static enum status file_read(struct builder *b, const char *path, struct str *out)
{
    struct buf bytes = { .limit = MUSTACHE_SOURCE_BYTES_MAX };
    enum status st = buf_file(&bytes, path);

    if (st == ST_UNAVAILABLE)
        snprintf(b->error, b->error_size, "%s: %s", path, strerror(errno));
    if (st == ST_OK) {
        *out = arena_str(b->arena, buf_view(&bytes));
        st = out->ptr != NULL ? ST_OK : ST_NO_MEMORY;
    }
    buf_free(&bytes);
    return st;
}

static enum status load_visit(void *ctx, const char *path, struct str name, const struct stat *info)
{
    struct load *load = ctx;
    struct builder *b = &load->builder;
    struct mustache_source given = { .name = arena_str(b->arena, name), .file = arena_str(b->arena, str_from(path)) };

    if (given.name.ptr == NULL || given.file.ptr == NULL)
        return ST_NO_MEMORY;
    if (info->st_size > (off_t)MUSTACHE_SOURCE_BYTES_MAX) {
        snprintf(b->error, b->error_size, "%s:1:1: the file is larger than %zu bytes", path, MUSTACHE_SOURCE_BYTES_MAX);
        return ST_INVALID;
    }
    /* The file's times were read before its content, so a change in between is noticed later. */
    fingerprint_add(&load->fingerprint, name, info);
    enum status st = file_read(b, path, &given.text);
    return st == ST_OK ? builder_add(b, &given, 1) : st;
}

enum status mustache_set_load(const char *dir, const struct mustache_source *extra, size_t extra_count,
                              struct mustache_set **out, char *error, size_t error_size)
{
    struct load load = { .fingerprint = 0 };
    struct builder *b = &load.builder;
    struct mustache_set *set = NULL;
    enum status st = ST_NO_MEMORY;

    if (builder_open(b, error, error_size))
        st = walk(dir, load_visit, &load, error, error_size);
    if (st == ST_OK)
        st = builder_add(b, extra, extra_count);
    if (st == ST_OK)
        st = builder_finish(b, &set);
    if (st == ST_OK) {
        set->fingerprint = load.fingerprint;
        set->dir = strdup(dir);
        st = set->dir != NULL ? ST_OK : ST_NO_MEMORY;
    }
    if (st == ST_OK)
        *out = set;
    else
        mustache_set_free(set);
    return builder_close(b, st);
}

/* ---- changes ---- */

/* The fingerprint of the folder as it is now; 0 when a part of it can't be read. */
static uint64_t folder_fingerprint(const char *dir)
{
    char error[1];
    uint64_t fingerprint = 0;

    return walk(dir, fingerprint_visit, &fingerprint, error, sizeof error) == ST_OK ? fingerprint : 0;
}

bool mustache_set_changed(struct mustache_set *set)
{
    uint64_t fingerprint = set->dir != NULL ? folder_fingerprint(set->dir) : set->fingerprint;
    bool changed = fingerprint != set->fingerprint;

    set->fingerprint = fingerprint;
    return changed;
}

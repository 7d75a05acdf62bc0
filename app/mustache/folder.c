/* Sets from a folder: reading all of it, and knowing when it has changed. */
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
    size_t root_len; /* of "dir/" in path */
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

/* One entry of the folder that is path[0 … folder_len); path gets it and is cut again by the next one. */
static enum status walk_entry(struct walk *w, size_t folder_len, const char *entry, unsigned depth)
{
    struct stat info;
    size_t len = folder_len + 1 + strlen(entry);

    if (len >= sizeof w->path)
        return walk_problem(w, ST_UNAVAILABLE, "a path below is too long");
    w->path[folder_len] = '/';
    memcpy(w->path + folder_len + 1, entry, strlen(entry) + 1);
    if (stat(w->path, &info) != 0) /* removed meanwhile, or a link to nowhere */
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

/* Calls visit for each template file below dir, in no order. path and name die with the call. */
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

/* Adds a file to a fingerprint of a folder; the order of the files does not count. */
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
    struct workshop workshop;
    uint64_t fingerprint;
};

/* The whole file in the arena. */
static enum status file_read(struct workshop *w, const char *path, struct str *out)
{
    struct buf bytes = { .limit = MUSTACHE_SOURCE_BYTES_MAX };
    enum status st = buf_file(&bytes, path);

    if (st == ST_UNAVAILABLE)
        snprintf(w->error, w->error_size, "%s: %s", path, strerror(errno));
    if (st == ST_OK) {
        *out = arena_str(w->arena, buf_view(&bytes));
        st = out->ptr != NULL ? ST_OK : ST_NO_MEMORY;
    }
    buf_free(&bytes);
    return st;
}

/* Reads a file of the set: its bytes and its path, in the workshop's arena. */
static enum status load_file(struct load *load, const char *path, struct str name, const struct stat *info,
                             struct source *out)
{
    struct workshop *w = &load->workshop;

    if (info->st_size > (off_t)MUSTACHE_SOURCE_BYTES_MAX) {
        snprintf(w->error, w->error_size, "%s:1:1: the file is larger than %zu bytes", path, MUSTACHE_SOURCE_BYTES_MAX);
        return ST_INVALID;
    }
    *out = (struct source){ .name = arena_str(w->arena, name), .file = arena_str(w->arena, str_from(path)) };
    if (out->name.ptr == NULL || out->file.ptr == NULL)
        return ST_NO_MEMORY;
    fingerprint_add(&load->fingerprint, name, info); /* before reading: what changes while we read will be told */
    return file_read(w, path, &out->text);
}

static enum status load_visit(void *ctx, const char *path, struct str name, const struct stat *info)
{
    struct load *load = ctx;
    struct source src;
    enum status st = load_file(load, path, name, info, &src);

    return st == ST_OK ? workshop_add(&load->workshop, src) : st;
}

/* The path of a language's catalogue. False: too long, or not there, as error says. */
static bool catalogue_find(const char *dir, const char *language, char path[PATH_MAX], struct stat *info, char *error,
                           size_t error_size)
{
    int len = snprintf(path, PATH_MAX, "%s/text/%s.txt", dir, language);

    if (len < PATH_MAX && stat(path, info) == 0)
        return true;
    snprintf(error, error_size, "%s: %s", path, len < PATH_MAX ? strerror(errno) : "the path is too long");
    return false;
}

static enum status load_texts(struct load *load, const char *dir, const char *language)
{
    char path[PATH_MAX];
    struct workshop *w = &load->workshop;
    struct source catalogue;
    struct stat info;

    if (language == NULL)
        return ST_OK;
    if (!catalogue_find(dir, language, path, &info, w->error, w->error_size))
        return ST_UNAVAILABLE;
    enum status st = load_file(load, path, str_from(language), &info, &catalogue);
    return st == ST_OK ? texts_add(w, catalogue.file, catalogue.text) : st;
}

/* Remembers where the set came from, to see changes. */
static enum status set_origin(struct mustache_set *set, const char *dir, const char *language)
{
    set->dir = strdup(dir);
    set->language = language != NULL ? strdup(language) : NULL;
    return set->dir != NULL && (language == NULL || set->language != NULL) ? ST_OK : ST_NO_MEMORY;
}

enum status mustache_set_load(const char *dir, const char *language, struct mustache_set **out, char *error,
                              size_t error_size)
{
    struct load load = { .fingerprint = 0 };
    struct workshop *w = &load.workshop;
    struct mustache_set *set = NULL;
    enum status st = ST_NO_MEMORY;

    if (workshop_open(w, error, error_size))
        st = walk(dir, load_visit, &load, error, error_size);
    if (st == ST_OK)
        st = load_texts(&load, dir, language);
    if (st == ST_OK)
        st = workshop_finish(w, &set);
    if (st == ST_OK) {
        set->fingerprint = load.fingerprint;
        st = set_origin(set, dir, language);
    }
    if (st == ST_OK)
        *out = set;
    else
        mustache_set_free(set);
    return workshop_close(w, st);
}

/* ---- changes ---- */

/* 0: it can't be told, because something can't be read. */
static uint64_t set_fingerprint(const struct mustache_set *set)
{
    char path[PATH_MAX], error[1];
    struct stat info;
    uint64_t fingerprint = 0;

    if (walk(set->dir, fingerprint_visit, &fingerprint, error, sizeof error) != ST_OK)
        return 0;
    if (set->language == NULL)
        return fingerprint;
    if (!catalogue_find(set->dir, set->language, path, &info, error, sizeof error))
        return 0;
    fingerprint_add(&fingerprint, str_from(set->language), &info);
    return fingerprint;
}

bool mustache_set_changed(struct mustache_set *set)
{
    uint64_t fingerprint = set->dir != NULL ? set_fingerprint(set) : set->fingerprint;
    bool changed = fingerprint != set->fingerprint;

    set->fingerprint = fingerprint;
    return changed;
}

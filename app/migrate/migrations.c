#include "migrate/migrations.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

enum {
    VERSION_DIGITS = 4,
    NAME_BYTES_MAX = 120,
    FILE_BYTES_MAX = 4 << 20,
    PATH_BYTES_MAX = 512,
    ARENA_BYTES = 64 << 10,
    ARENA_BYTES_MAX = 64 << 20
};

static const struct str ENDING = STR(".sql");

struct folder {
    const char *path;
    FILE *out;
    struct migrations *found;
};

static void say(const struct folder *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(const struct folder *f, const char *format, ...)
{
    if (f->out == NULL)
        return;
    va_list args;
    va_start(args, format);
    (void)fputs("migrate: ", f->out);
    (void)vfprintf(f->out, format, args);
    va_end(args);
    (void)fputc('\n', f->out);
}

static enum status file_read(const struct folder *f, const char *file, struct str *out)
{
    char path[PATH_BYTES_MAX];
    struct buf text = { .limit = FILE_BYTES_MAX };
    int len = snprintf(path, sizeof path, "%s/%s", f->path, file);
    enum status st = len > 0 && (size_t)len < sizeof path ? buf_file(&text, path) : ST_UNAVAILABLE;
    if (st == ST_OK) {
        *out = arena_str(f->found->arena, buf_view(&text));
        st = out->ptr == NULL ? ST_NO_MEMORY : ST_OK;
    } else {
        say(f, "%s can't be read", file);
        st = st == ST_NO_MEMORY ? st : ST_INVALID;
    }
    buf_free(&text);
    return st;
}

/* NNNN_name.sql; false for any other name. */
static bool file_name_parse(struct str file, struct migration *out)
{
    if (file.len <= VERSION_DIGITS + 1 + ENDING.len || file.len > NAME_BYTES_MAX || file.ptr[VERSION_DIGITS] != '_' ||
        !str_ends(file, ENDING))
        return false;
    out->version = 0;
    for (size_t i = 0; i < VERSION_DIGITS; i++) {
        if (file.ptr[i] < '0' || file.ptr[i] > '9')
            return false;
        out->version = out->version * 10 + (uint32_t)(file.ptr[i] - '0');
    }
    out->name = str_slice(file, VERSION_DIGITS + 1, file.len - ENDING.len);
    out->file = file;
    return true;
}

static enum status file_add(const struct folder *f, const char *name)
{
    struct migration *one = &f->found->list[f->found->count];
    struct str file = arena_str(f->found->arena, str_from(name));
    if (file.ptr == NULL)
        return ST_NO_MEMORY;
    if (!file_name_parse(file, one)) {
        say(f, "%s is not named NNNN_name.sql", name);
        return ST_INVALID;
    }
    enum status st = file_read(f, name, &one->text);
    if (st != ST_OK)
        return st;
    hash_sha256(one->text.ptr, one->text.len, one->sha256);
    one->additive = str_starts(one->text, STR("-- additive: yes\n"));
    f->found->count++;
    return ST_OK;
}

static int is_migration(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && str_ends(str_from(entry->d_name), ENDING);
}

/* Adds every file, in the order of the versions. */
static enum status files_add(const struct folder *f)
{
    struct dirent **names;
    int count = scandir(f->path, &names, is_migration, alphasort);
    if (count < 0 && errno == ENOMEM)
        return ST_NO_MEMORY;
    if (count < 0) {
        say(f, "%s: %s", f->path, strerror(errno));
        return ST_INVALID;
    }
    f->found->list = arena_array(f->found->arena, (size_t)count, sizeof *f->found->list);
    enum status st = f->found->list == NULL ? ST_NO_MEMORY : ST_OK;
    for (int i = 0; st == ST_OK && i < count; i++)
        st = file_add(f, names[i]->d_name);
    for (int i = 0; i < count; i++)
        free(names[i]);
    free(names);
    return st;
}

/* Checks that every version from 1 on is there, once. */
static enum status versions_check(const struct folder *f)
{
    for (size_t i = 0; i < f->found->count; i++) {
        uint32_t version = f->found->list[i].version;
        if (version > i + 1 || version == 0) {
            say(f, "%04zu is missing in %s", i + 1, f->path);
            return ST_INVALID;
        }
        if (version < i + 1) {
            say(f, "there are two files %04u in %s", (unsigned)version, f->path);
            return ST_INVALID;
        }
    }
    return ST_OK;
}

enum status migrations_read(const char *sql_dir, struct migrations **m, FILE *out)
{
    char path[PATH_BYTES_MAX];
    struct arena *arena = arena_new(ARENA_BYTES, ARENA_BYTES_MAX);
    *m = arena == NULL ? NULL : arena_alloc(arena, sizeof **m);
    int len = snprintf(path, sizeof path, "%s/migrations", sql_dir);
    enum status st = *m == NULL || len < 0 || (size_t)len >= sizeof path ? ST_NO_MEMORY : ST_OK;
    if (st == ST_OK) {
        **m = (struct migrations){ .arena = arena };
        const struct folder folder = { .path = path, .out = out, .found = *m };
        st = files_add(&folder);
        if (st == ST_OK)
            st = versions_check(&folder);
    }
    if (st != ST_OK) {
        arena_free(arena);
        *m = NULL;
    }
    return st;
}

void migrations_free(struct migrations *m)
{
    if (m != NULL)
        arena_free(m->arena);
}

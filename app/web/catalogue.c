#include "web/catalogue.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "web/unit_texts.h"

enum { ARENA_CHUNK_BYTES = 64 << 10 };
static const size_t ARENA_BYTES_MAX = (size_t)128 << 20;

/* Writes the path of the catalogue's file, and its stamp. False: the file can't be read, and errno is set. */
static bool file_stat(const char *dir, enum language language, char path[PATH_MAX], struct catalogue_stamp *out)
{
    struct stat info;

    if (snprintf(path, PATH_MAX, "%s/text/%s.txt", dir, language_tag(language)) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    if (stat(path, &info) != 0)
        return false;
    *out = (struct catalogue_stamp){ (uint64_t)info.st_ino, (int64_t)info.st_size, (int64_t)info.st_ctim.tv_sec,
                                     (int64_t)info.st_ctim.tv_nsec };
    return true;
}

struct catalogue_stamp catalogue_stamp(const char *dir, enum language language)
{
    char path[PATH_MAX];
    struct catalogue_stamp stamp = { 0 };

    (void)file_stat(dir, language, path, &stamp);
    return stamp;
}

bool catalogue_stamp_equal(const struct catalogue_stamp *a, const struct catalogue_stamp *b)
{
    return a->inode == b->inode && a->bytes == b->bytes && a->changed_s == b->changed_s &&
           a->changed_ns == b->changed_ns;
}

/* ---- lines ---- */

/* Parses one line into *out, whose file and first_line are already set. Returns NULL, or a message that describes the
 * error. */
static const char *text_parse(struct arena *a, struct str line, struct mustache_source *out)
{
    struct str text;
    struct str key = str_trim(str_cut(line, '=', &text));

    if (text.ptr == NULL)
        return "a line is \"key = text\", this one has no =";
    if (key.len == 0 || !str_is_word(key))
        return "a key consists of letters, digits, - and _";
    out->name = arena_printf(a, "text/%.*s", STR_ARG(key));
    out->text = str_trim(text);
    out->first_column = (size_t)(out->text.ptr - line.ptr); /* all characters before the text are ASCII */
    return unit_amounts_expand(a, &out->text);
}

static size_t lines_count(struct str text)
{
    size_t count = 1;

    for (size_t i = 0; i < text.len; i++)
        count += text.ptr[i] == '\n';
    return count;
}

static enum status lines_parse(struct catalogue *c, enum language language, const char *path, char *error,
                               size_t error_size)
{
    struct str file = arena_str(c->arena, str_from(path)), rest = buf_view(&c->bytes);

    c->texts = arena_array(c->arena, UNIT_TEXTS + lines_count(rest), sizeof *c->texts);
    if (file.ptr == NULL || c->texts == NULL || !unit_texts(c->arena, language, c->texts))
        return ST_NO_MEMORY;
    c->count = UNIT_TEXTS;
    for (size_t number = 0; rest.len > 0; number++) {
        struct mustache_source *text = &c->texts[c->count];
        struct str line = str_cut(rest, '\n', &rest), content = str_trim(line);
        if (content.len == 0 || content.ptr[0] == '#')
            continue;
        *text = (struct mustache_source){ .file = file, .first_line = number };
        const char *problem = text_parse(c->arena, line, text);
        if (problem != NULL) {
            snprintf(error, error_size, "%s:%zu:1: %s", path, number + 1, problem);
            return ST_INVALID;
        }
        if (text->name.ptr == NULL || text->text.ptr == NULL)
            return ST_NO_MEMORY;
        c->count++;
    }
    return ST_OK;
}

/* ---- the file ---- */

static enum status file_read(struct catalogue *c, enum language language, const char *path, char *error,
                             size_t error_size)
{
    if (c->stamp.bytes > (int64_t)CATALOGUE_BYTES_MAX) {
        snprintf(error, error_size, "%s:1:1: the file is larger than %zu bytes", path, CATALOGUE_BYTES_MAX);
        return ST_INVALID;
    }
    c->bytes.limit = CATALOGUE_BYTES_MAX;
    c->arena = arena_new(ARENA_CHUNK_BYTES, ARENA_BYTES_MAX);
    if (c->arena == NULL)
        return ST_NO_MEMORY;
    enum status st = buf_file(&c->bytes, path);
    if (st == ST_UNAVAILABLE)
        snprintf(error, error_size, "%s: %s", path, strerror(errno));
    return st == ST_OK ? lines_parse(c, language, path, error, error_size) : st;
}

enum status catalogue_read(const char *dir, enum language language, struct catalogue *out, char *error,
                           size_t error_size)
{
    char path[PATH_MAX];
    struct catalogue c = { 0 };

    if (!file_stat(dir, language, path, &c.stamp)) {
        snprintf(error, error_size, "%s: %s", path, strerror(errno));
        return ST_UNAVAILABLE;
    }
    enum status st = file_read(&c, language, path, error, error_size);
    if (st == ST_NO_MEMORY)
        snprintf(error, error_size, "%s: no memory", path);
    if (st == ST_OK)
        *out = c;
    else
        catalogue_free(&c);
    return st;
}

void catalogue_free(struct catalogue *c)
{
    arena_free(c->arena);
    buf_free(&c->bytes);
    *c = (struct catalogue){ 0 };
}

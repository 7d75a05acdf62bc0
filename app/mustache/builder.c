/* The builder collects the sources of a set, sorts and parses them, and has them compiled. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "mustache/mustache_internal.h"

enum { BUILDER_CHUNK_BYTES = 64 << 10 };
static const size_t BUILDER_BYTES_MAX = (size_t)256 << 20;

bool builder_open(struct builder *b, char *error, size_t error_size)
{
    *b = (struct builder){ .error = error, .error_size = error_size };
    b->arena = arena_new(BUILDER_CHUNK_BYTES, BUILDER_BYTES_MAX);
    return b->arena != NULL;
}

enum status builder_close(struct builder *b, enum status st)
{
    if (st == ST_NO_MEMORY)
        snprintf(b->error, b->error_size, "no memory for the templates");
    arena_free(b->arena);
    return st;
}

enum status builder_error(struct builder *b, const struct source *src, size_t at, const char *format, ...)
{
    size_t line = src->first_line + 1, column = src->first_column + 1;
    char message[256];
    va_list args;

    for (size_t i = 0; i < at && i < src->text.len; i++) {
        unsigned char c = (unsigned char)src->text.ptr[i];
        if (c == '\n') {
            line++;
            column = 1;
        } else if ((c & 0xC0) != 0x80) { /* the first byte of a UTF-8 character */
            column++;
        }
    }
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    snprintf(b->error, b->error_size, "%.*s:%zu:%zu: %s", STR_ARG(src->file), line, column, message);
    return ST_INVALID;
}

/* ---- sources ---- */

/* Makes room for `more` sources. False: no memory. */
static bool sources_reserve(struct builder *b, size_t more)
{
    size_t cap = b->cap ? b->cap : 32;

    while (cap - b->count < more)
        cap *= 2;
    if (cap == b->cap)
        return true;
    struct source *sources = arena_array(b->arena, cap, sizeof *sources);
    if (sources == NULL)
        return false;
    if (b->count > 0)
        memcpy(sources, b->sources, b->count * sizeof *sources);
    b->sources = sources;
    b->cap = cap;
    return true;
}

enum status builder_add(struct builder *b, const struct mustache_source *given, size_t count)
{
    if (!sources_reserve(b, count))
        return ST_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        b->sources[b->count++] = (struct source){ .name = given[i].name,
                                                  .file = given[i].file.ptr != NULL ? given[i].file : given[i].name,
                                                  .first_line = given[i].first_line,
                                                  .first_column = given[i].first_column,
                                                  .text = given[i].text };
    return ST_OK;
}

int builder_name_compare(struct str a, struct str b)
{
    size_t len = a.len < b.len ? a.len : b.len;
    int order = len ? memcmp(a.ptr, b.ptr, len) : 0;

    return order ? order : (a.len > b.len) - (a.len < b.len);
}

static int source_compare(const void *a, const void *b)
{
    return builder_name_compare(((const struct source *)a)->name, ((const struct source *)b)->name);
}

struct source *builder_find(struct builder *b, struct str name)
{
    struct source key = { .name = name };

    return b->count ? bsearch(&key, b->sources, b->count, sizeof key, source_compare) : NULL;
}

/* ---- building ---- */

/* Sorts the sources by name and parses them. */
static enum status sources_parse(struct builder *b)
{
    enum status st = ST_OK;

    if (b->count > 0)
        qsort(b->sources, b->count, sizeof *b->sources, source_compare);
    for (size_t i = 1; i < b->count && st == ST_OK; i++)
        if (str_equal(b->sources[i - 1].name, b->sources[i].name))
            st = builder_error(b, &b->sources[i], 0, "there are two templates of this name");
    for (size_t i = 0; i < b->count && st == ST_OK; i++)
        st = parse_source(b, &b->sources[i]);
    return st;
}

/* Copies the names of the sources into the set. */
static enum status set_names(struct mustache_set *set, const struct builder *b)
{
    for (size_t i = 0; i < b->count; i++) {
        struct mustache *t = &set->templates[i];
        struct str name = b->sources[i].name;
        t->set = set;
        t->name = (uint32_t)set->pool.len;
        t->name_len = (uint32_t)name.len;
        buf_str(&set->pool, name);
    }
    set->count = b->count;
    return set->pool.failed ? ST_NO_MEMORY : ST_OK;
}

/* A hash of the names and texts of the sorted sources. */
static uint64_t sources_content(const struct builder *b)
{
    struct digest digest;
    uint8_t bytes[DIGEST_BYTES];
    uint64_t content;

    digest_begin(&digest);
    for (size_t i = 0; i < b->count; i++) {
        digest_text(&digest, b->sources[i].name);
        digest_text(&digest, b->sources[i].text);
    }
    digest_end(&digest, bytes);
    memcpy(&content, bytes, sizeof content);
    return content;
}

enum status builder_finish(struct builder *b, struct mustache_set **out)
{
    struct mustache_set *set = calloc(1, sizeof *set);
    struct mustache *templates = calloc(b->count + 1, sizeof *templates);
    enum status st = ST_NO_MEMORY;

    if (set == NULL || templates == NULL) {
        free(templates);
        goto undo;
    }
    set->templates = templates;
    st = sources_parse(b);
    if (st == ST_OK)
        st = compile_sources(b, set);
    if (st == ST_OK)
        st = set_names(set, b);
    if (st != ST_OK)
        goto undo;
    set->content = sources_content(b);
    *out = set;
    return ST_OK;

undo:
    mustache_set_free(set);
    return st;
}

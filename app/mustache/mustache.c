/* Sets of templates: compiled as a whole, and looked up by name. */
#include "mustache/mustache.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "mustache/mustache_internal.h"

enum { WORKSHOP_CHUNK_BYTES = 64 << 10 };
static const size_t WORKSHOP_BYTES_MAX = (size_t)256 << 20;

/* ---- the workshop ---- */

enum status workshop_error(struct workshop *w, const struct source *src, size_t at, const char *format, ...)
{
    size_t line = src->first_line + 1, column = 1;
    char message[256];
    va_list args;

    for (size_t i = 0; i < at && i < src->text.len; i++) {
        unsigned char c = (unsigned char)src->text.ptr[i];
        if (c == '\n') {
            line++;
            column = 1;
        } else if ((c & 0xC0) != 0x80) { /* not inside a character of UTF-8 */
            column++;
        }
    }
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    snprintf(w->error, w->error_size, "%.*s:%zu:%zu: %s", STR_ARG(src->file), line, column, message);
    return ST_INVALID;
}

enum status workshop_add(struct workshop *w, struct source src)
{
    if (w->count == w->cap) {
        size_t cap = w->cap ? w->cap * 2 : 32;
        struct source *sources = arena_array(w->arena, cap, sizeof *sources);
        if (sources == NULL)
            return ST_NO_MEMORY;
        if (w->count > 0)
            memcpy(sources, w->sources, w->count * sizeof *sources);
        w->sources = sources;
        w->cap = cap;
    }
    w->sources[w->count++] = src;
    return ST_OK;
}

static int name_compare(struct str a, struct str b)
{
    size_t len = a.len < b.len ? a.len : b.len;
    int order = len ? memcmp(a.ptr, b.ptr, len) : 0;

    return order ? order : (a.len > b.len) - (a.len < b.len);
}

static int source_compare(const void *a, const void *b)
{
    return name_compare(((const struct source *)a)->name, ((const struct source *)b)->name);
}

struct source *workshop_find(struct workshop *w, struct str name)
{
    struct source key = { .name = name };

    return w->count ? bsearch(&key, w->sources, w->count, sizeof key, source_compare) : NULL;
}

static enum status name_templates(const struct workshop *w, struct mustache_set *set)
{
    for (size_t i = 0; i < w->count; i++) {
        struct mustache *t = &set->templates[i];
        struct str name = w->sources[i].name;
        t->set = set;
        t->name = (uint32_t)set->pool.len;
        t->name_len = (uint32_t)name.len;
        t->name_hash = value_hash(name);
        buf_str(&set->pool, name);
    }
    set->count = w->count;
    return set->pool.failed ? ST_NO_MEMORY : ST_OK;
}

static enum status workshop_parse(struct workshop *w)
{
    enum status st = ST_OK;

    if (w->count > 0)
        qsort(w->sources, w->count, sizeof *w->sources, source_compare);
    for (size_t i = 1; i < w->count && st == ST_OK; i++)
        if (str_equal(w->sources[i - 1].name, w->sources[i].name))
            st = workshop_error(w, &w->sources[i], 0, "there are two templates of this name");
    for (size_t i = 0; i < w->count && st == ST_OK; i++)
        st = parse_source(w, &w->sources[i]);
    return st;
}

/* Of the sorted sources. */
static uint64_t workshop_content(const struct workshop *w)
{
    struct digest digest;
    uint8_t bytes[DIGEST_BYTES];
    uint64_t content;

    digest_begin(&digest);
    for (size_t i = 0; i < w->count; i++) {
        digest_text(&digest, w->sources[i].name);
        digest_text(&digest, w->sources[i].text);
    }
    digest_end(&digest, bytes);
    memcpy(&content, bytes, sizeof content);
    return content;
}

enum status workshop_finish(struct workshop *w, struct mustache_set **out)
{
    struct mustache_set *set = calloc(1, sizeof *set);
    struct mustache *templates = calloc(w->count + 1, sizeof *templates);
    enum status st = ST_NO_MEMORY;

    if (set == NULL || templates == NULL) {
        free(templates);
        goto undo;
    }
    set->templates = templates;
    st = workshop_parse(w);
    if (st == ST_OK)
        st = compile_sources(w, set);
    if (st == ST_OK)
        st = name_templates(w, set);
    if (st != ST_OK)
        goto undo;
    set->content = workshop_content(w);
    *out = set;
    return ST_OK;

undo:
    mustache_set_free(set);
    return st;
}

bool workshop_open(struct workshop *w, char *error, size_t error_size)
{
    *w = (struct workshop){ .error = error, .error_size = error_size };
    w->arena = arena_new(WORKSHOP_CHUNK_BYTES, WORKSHOP_BYTES_MAX);
    return w->arena != NULL;
}

enum status workshop_close(struct workshop *w, enum status st)
{
    if (st == ST_NO_MEMORY)
        snprintf(w->error, w->error_size, "no memory for the templates");
    arena_free(w->arena);
    return st;
}

/* ---- sets ---- */

enum status mustache_set_compile(const struct str *names, const struct str *sources, size_t count, bool missing_ok,
                                 struct mustache_set **out, char *error, size_t error_size)
{
    struct workshop w;
    enum status st = ST_NO_MEMORY;

    if (workshop_open(&w, error, error_size)) {
        w.missing_ok = missing_ok;
        st = ST_OK;
        for (size_t i = 0; i < count && st == ST_OK; i++)
            st = workshop_add(&w, (struct source){ .name = names[i], .file = names[i], .text = sources[i] });
        if (st == ST_OK)
            st = workshop_finish(&w, out);
    }
    return workshop_close(&w, st);
}

void mustache_set_free(struct mustache_set *set)
{
    if (set == NULL)
        return;
    free(set->ops);
    free(set->names);
    free(set->templates);
    free(set->dir);
    free(set->language);
    buf_free(&set->pool);
    free(set);
}

uint64_t mustache_set_content(const struct mustache_set *set)
{
    return set->content;
}

/* ---- looking up ---- */

struct str mustache_name(const struct mustache *t)
{
    return (struct str){ t->set->pool.ptr + t->name, t->name_len };
}

const struct mustache *mustache_find(const struct mustache_set *set, struct str name)
{
    uint32_t hash = value_hash(name);

    for (size_t i = 0; i < set->count; i++)
        if (set->templates[i].name_hash == hash && str_equal(mustache_name(&set->templates[i]), name))
            return &set->templates[i];
    return NULL;
}

const struct mustache *mustache_at(const struct mustache_set *set, size_t index)
{
    return index < set->count ? &set->templates[index] : NULL;
}

/* Sets of templates: from memory, and looked up by name. */
#include "mustache/mustache.h"

#include <stdlib.h>
#include <string.h>

#include "mustache/mustache_internal.h"

enum status mustache_set_compile(const struct mustache_source *sources, size_t count, bool missing_ok,
                                 struct mustache_set **out, char *error, size_t error_size)
{
    struct builder b;
    enum status st = ST_NO_MEMORY;

    if (builder_open(&b, error, error_size)) {
        b.missing_ok = missing_ok;
        st = builder_add(&b, sources, count);
        if (st == ST_OK)
            st = builder_finish(&b, out);
    }
    return builder_close(&b, st);
}

void mustache_set_free(struct mustache_set *set)
{
    if (set == NULL)
        return;
    free(set->ops);
    free(set->names);
    free(set->templates);
    free(set->dir);
    buf_free(&set->pool);
    free(set);
}

uint64_t mustache_set_content(const struct mustache_set *set)
{
    return set->content;
}

void mustache_set_separate(struct mustache_set *set, struct str separator)
{
    set->separator_len = separator.len < MUSTACHE_SEPARATOR_MAX ? separator.len : MUSTACHE_SEPARATOR_MAX;
    if (separator.len > 0)
        memcpy(set->separator, separator.ptr, set->separator_len);
}

struct str mustache_set_separator(const struct mustache_set *set)
{
    return (struct str){ set->separator, set->separator_len };
}

struct str mustache_name(const struct mustache *t)
{
    return (struct str){ t->set->pool.ptr + t->name, t->name_len };
}

static int template_compare(const void *name, const void *template)
{
    return builder_name_compare(*(const struct str *)name, mustache_name(template));
}

const struct mustache *mustache_find(const struct mustache_set *set, struct str name)
{
    return bsearch(&name, set->templates, set->count, sizeof *set->templates, template_compare);
}

const struct mustache *mustache_at(const struct mustache_set *set, size_t index)
{
    return index < set->count ? &set->templates[index] : NULL;
}

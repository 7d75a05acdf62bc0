#include "web/templates.h"

#include <stdio.h>

#include "base/buf.h"
#include "base/log.h"

enum { ERROR_MAX = 512 };

/* Sets how numbers are grouped, which the catalogue says. */
static enum status separator_set(struct mustache_set *set)
{
    const struct mustache *text = mustache_find(set, STR("text/thousands"));
    const struct value nothing = { .type = VALUE_OBJECT };
    struct buf separator = BUF_EMPTY;
    enum status st = text != NULL ? mustache_render(text, &nothing, &separator) : ST_OK;

    if (st == ST_OK)
        mustache_set_separate(set, buf_view(&separator));
    buf_free(&separator);
    return st;
}

static enum status set_load(const char *dir, enum language language, struct templates *t, char *error,
                            size_t error_size)
{
    struct catalogue c;
    enum status st = catalogue_read(dir, language, &c, error, error_size);

    if (st != ST_OK)
        return st;
    t->catalogues[language] = c.stamp;
    st = mustache_set_load(dir, c.texts, c.count, &t->sets[language], error, error_size);
    catalogue_free(&c);
    if (st == ST_OK)
        st = separator_set(t->sets[language]);
    return st;
}

/* Reports every needed template that dir lacks. The sets of all languages have the same templates. */
static enum status needed_check(const char *dir, const struct templates *t, char *error, size_t error_size)
{
    struct buf missing = BUF_EMPTY;

    for (size_t i = 0; t->needed != NULL && t->needed[i] != NULL; i++)
        if (templates_find(t, (enum language)0, str_from(t->needed[i])) == NULL)
            buf_printf(&missing, "%s%s.mustache", missing.len > 0 ? ", " : "", t->needed[i]);
    enum status st = missing.failed ? ST_NO_MEMORY : missing.len > 0 ? ST_INVALID : ST_OK;
    if (st == ST_INVALID)
        (void)snprintf(error, error_size, "%s: there is no %.*s", dir, (int)missing.len, missing.ptr);
    buf_free(&missing);
    return st;
}

enum status templates_load(const char *dir, struct templates *t, char *error, size_t error_size)
{
    struct templates fresh = { .needed = t->needed, .generation = t->generation + 1 };
    enum status st = ST_OK;

    for (int i = 0; i < LANGUAGES && st == ST_OK; i++)
        st = set_load(dir, (enum language)i, &fresh, error, error_size);
    if (st == ST_OK)
        st = needed_check(dir, &fresh, error, error_size);
    for (int i = 0; i < LANGUAGES && st == ST_OK; i++)
        fresh.hash = fresh.hash * 31 + mustache_set_content(fresh.sets[i]);
    if (st == ST_OK)
        *t = fresh;
    else
        templates_free(&fresh);
    return st;
}

/* True when a template or catalogue has changed since the last call. */
static bool files_changed(const char *dir, struct templates *t)
{
    bool changed = false;

    for (int i = 0; i < LANGUAGES; i++) {
        struct catalogue_stamp now = catalogue_stamp(dir, (enum language)i);
        changed |= mustache_set_changed(t->sets[i]);
        changed |= !catalogue_stamp_equal(&now, &t->catalogues[i]);
        t->catalogues[i] = now;
    }
    return changed;
}

void templates_refresh(const char *dir, struct templates *t)
{
    char error[ERROR_MAX], quoted[ERROR_MAX];

    if (!files_changed(dir, t))
        return;
    struct templates old = *t;
    if (templates_load(dir, t, error, sizeof error) != ST_OK) {
        log_error("templates not reloaded", "error=%s", log_quote(str_from(error), quoted, sizeof quoted));
        return;
    }
    templates_free(&old);
    log_info("templates reloaded", NULL);
}

void templates_free(struct templates *t)
{
    for (int i = 0; i < LANGUAGES; i++)
        mustache_set_free(t->sets[i]);
    *t = (struct templates){ 0 };
}

const struct mustache *templates_find(const struct templates *t, enum language language, struct str name)
{
    return t->sets[language] != NULL ? mustache_find(t->sets[language], name) : NULL;
}

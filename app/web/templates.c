#include "web/templates.h"

#include "base/log.h"

enum { ERROR_MAX = 512 };

enum status templates_load(const char *dir, struct templates *t, char *error, size_t error_size)
{
    struct templates fresh = { .made = t->made + 1 };
    enum status st = ST_OK;

    for (int i = 0; i < LANGUAGES && st == ST_OK; i++)
        st = mustache_set_load(dir, language_tag((enum language)i), &fresh.sets[i], error, error_size);
    for (int i = 0; i < LANGUAGES && st == ST_OK; i++)
        fresh.content = fresh.content * 31 + mustache_set_content(fresh.sets[i]);
    if (st == ST_OK)
        *t = fresh;
    else
        templates_free(&fresh);
    return st;
}

void templates_refresh(const char *dir, struct templates *t)
{
    struct templates old = *t;
    char error[ERROR_MAX], quoted[ERROR_MAX];
    bool changed = false;

    for (int i = 0; i < LANGUAGES; i++)
        changed |= mustache_set_changed(t->sets[i]);
    if (!changed)
        return;
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

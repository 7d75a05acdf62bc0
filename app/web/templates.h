/* All pages in all languages: one compiled set of templates each, with that language's texts already in place, so that
 * a request only chooses its set. */
#ifndef HB_WEB_TEMPLATES_H
#define HB_WEB_TEMPLATES_H

#include "mustache/mustache.h"
#include "web/language.h"

struct templates {
    struct mustache_set *sets[LANGUAGES];
    unsigned made;    /* how often they were compiled */
    uint64_t content; /* a hash of all of them: other templates, other pages */
};

/* Compiles the folder (mustache_set_load) with each language's catalogue. On anything but ST_OK *t is untouched and
 * error says why. */
enum status templates_load(const char *dir, struct templates *t, char *error, size_t error_size);
/* Compiles anew when a file has changed (./dev run); a broken one is logged once and the old sets stay in use. */
void templates_refresh(const char *dir, struct templates *t);
void templates_free(struct templates *t); /* all NULL is fine */

/* NULL when there is no such template. */
const struct mustache *templates_find(const struct templates *t, enum language language, struct str name);

#endif

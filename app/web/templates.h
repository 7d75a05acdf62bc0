/* The templates of all pages, compiled once per language: each set has the texts of its language (web/catalogue.h) in
 * place, so a request only chooses its set. */
#ifndef HB_WEB_TEMPLATES_H
#define HB_WEB_TEMPLATES_H

#include "mustache/mustache.h"
#include "web/catalogue.h"
#include "web/language.h"

struct templates {
    struct mustache_set *sets[LANGUAGES];
    struct catalogue_stamp catalogues[LANGUAGES]; /* of the files whose texts the sets have */
    unsigned made;                                /* how often they were compiled */
    uint64_t content;                             /* a hash of all names and texts */
};

/* Compiles the templates below dir with the texts of each language; errors are those of catalogue_read and
 * mustache_set_load. On an error *t is unchanged, and error (error_size bytes) holds a message. */
enum status templates_load(const char *dir, struct templates *t, char *error, size_t error_size);
/* Compiles them again when a file below dir has changed. If that fails, the error is logged once, and the old sets stay
 * in use. */
void templates_refresh(const char *dir, struct templates *t);
void templates_free(struct templates *t); /* all NULL is fine */

/* NULL when there is no such template. */
const struct mustache *templates_find(const struct templates *t, enum language language, struct str name);

#endif

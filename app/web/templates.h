/* The templates of all pages, compiled once for each language. Each compiled set includes the texts of its language
 * (web/catalogue.h), so a request only selects a set. Errors in the files are reported at load time. */
#ifndef HB_WEB_TEMPLATES_H
#define HB_WEB_TEMPLATES_H

#include "mustache/mustache.h"
#include "web/catalogue.h"
#include "web/language.h"

struct templates {
    const char *const *needed; /* names that a set must have, up to NULL; the caller's. NULL: none */
    struct mustache_set *sets[LANGUAGES];
    struct catalogue_stamp catalogues[LANGUAGES]; /* of the catalogues with which the sets were compiled */
    unsigned generation;                          /* incremented by each successful templates_load */
    uint64_t hash;                                /* hash of all templates and texts */
};

/* Compiles the templates below dir with the texts of each language. Status and message come from catalogue_read and
 * mustache_set_load; ST_INVALID also when a needed template is missing: the message names all. On an error *t is
 * unchanged, and error (error_size bytes) holds the message. */
enum status templates_load(const char *dir, struct templates *t, char *error, size_t error_size);
/* Compiles the templates again when a file below dir has changed. When that fails, the error is logged once for each
 * change, and the old sets stay in use. */
void templates_refresh(const char *dir, struct templates *t);
void templates_free(struct templates *t); /* a zeroed struct is allowed */

/* The template of that name. NULL: there is none. */
const struct mustache *templates_find(const struct templates *t, enum language language, struct str name);

#endif

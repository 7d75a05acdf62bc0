/* Static files carry a hash of their content in their public name: /static/app.1f3a9c0d2e.css. Computed once at
 * start; nginx strips the hash. */
#ifndef HB_WEB_ASSETS_H
#define HB_WEB_ASSETS_H

#include "base/status.h"
#include "base/value.h"

struct assets;
/* Hashes every file of the folder (not below it). ST_UNAVAILABLE when one can't be read; ST_NO_MEMORY also when one is
 * larger than 4 MiB or there are more than 64. */
enum status assets_load(const char *dir, struct assets **out);
void assets_free(struct assets *a);
/* A hash of all names with their hashes: other files, other pages. */
uint64_t assets_content(const struct assets *a);
/* Adds `asset` {"app_css": "/static/app.<hash>.css", …} to the object, page-only. */
void assets_model(const struct assets *a, struct model *m, struct value *object);

#endif

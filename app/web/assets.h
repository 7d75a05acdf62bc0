/* Static files have a hash of their content in their public name: /static/app.1f3a9c0d2e.css. The hashes are computed
 * once, at start. nginx removes the hash from the path and serves /static/app.css. */
#ifndef HB_WEB_ASSETS_H
#define HB_WEB_ASSETS_H

#include "base/status.h"
#include "base/value.h"

struct assets;
/* Hashes every file of the folder, without its subfolders. ST_UNAVAILABLE: the folder or a file can't be read ·
 * ST_NO_MEMORY: also when a file is larger than 4 MiB or there are more than 64 files. *out belongs to the caller
 * (assets_free). */
enum status assets_load(const char *dir, struct assets **out);
void assets_free(struct assets *a);
/* The first file ("app.css") that folder, made by deploy/static-copy.sh, lacks or has with other content. NULL: none.
 * Borrowed from a. */
const char *assets_uncopied(const struct assets *a, const char *folder);
/* A hash of all public names: it changes when any file changes. */
uint64_t assets_hash(const struct assets *a);
/* The public name of a file ("app.css"). Empty: there is no such file. Borrowed from a. */
struct str assets_url(const struct assets *a, struct str file);
/* Adds the page-only object `asset` {"app_css": "/static/app.<hash>.css", …} to object. */
void assets_model(const struct assets *a, struct model *m, struct value *object);

#endif

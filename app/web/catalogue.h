/* The texts of one language. They are in the file text/TAG.txt in the folder of the templates, where TAG is the
 * language's tag. Each line "key = text" defines a small template "text/KEY", which pages and other texts include by
 * {{>text/KEY}}. Empty lines, and lines that begin with #, are ignored. Blanks before and after key and text are
 * removed. Further texts come from the settings (web/unit_texts.h): the unit of money. In a text, "¥(12.34)" is an
 * amount in this unit. */
#ifndef HB_WEB_CATALOGUE_H
#define HB_WEB_CATALOGUE_H

#include "base/arena.h"
#include "base/buf.h"
#include "mustache/mustache.h"
#include "web/language.h"

#define CATALOGUE_BYTES_MAX ((size_t)1 << 20)

/* Identifies one state of the file: a different stamp means that the file has changed. All 0: the file can't be
 * read. */
struct catalogue_stamp {
    uint64_t inode;
    int64_t bytes;
    int64_t changed_s, changed_ns; /* its change time */
};

struct catalogue {
    struct mustache_source *texts; /* for mustache_set_load; point into bytes and arena */
    size_t count;
    struct catalogue_stamp stamp; /* taken before the file was read */
    struct arena *arena;
    struct buf bytes;
};

/* Reads the catalogue of a language from the template folder dir. ST_INVALID: a line is not "key = text", a key is not
 * a word, "¥(" has no ")", or the file is larger than CATALOGUE_BYTES_MAX; error then begins with
 * "file:line:column: " · ST_UNAVAILABLE: the file can't be read · ST_NO_MEMORY. On each of these *out is unchanged and
 * error (error_size bytes) holds a message. A syntax error inside a text is found later, by mustache_set_load. The
 * caller frees *out by catalogue_free. */
enum status catalogue_read(const char *dir, enum language language, struct catalogue *out, char *error,
                           size_t error_size);
void catalogue_free(struct catalogue *c); /* a zeroed struct is allowed */

struct catalogue_stamp catalogue_stamp(const char *dir, enum language language);
bool catalogue_stamp_equal(const struct catalogue_stamp *a, const struct catalogue_stamp *b);

#endif

/* The texts of one language: the file text/TAG.txt in the folder of the templates, TAG being the language's tag. Each
 * line "key = text" is a small template "text/KEY"; with {{>text/KEY}} it stands in a page or in another text. Empty
 * lines, and lines that begin with #, are ignored; the blanks around key and text are no part of them. */
#ifndef HB_WEB_CATALOGUE_H
#define HB_WEB_CATALOGUE_H

#include "base/arena.h"
#include "base/buf.h"
#include "mustache/mustache.h"
#include "web/language.h"

#define CATALOGUE_BYTES_MAX ((size_t)1 << 20)

/* The state of the file: if it is another one, the file has changed. All 0: the file can't be read. */
struct catalogue_stamp {
    uint64_t inode;
    int64_t bytes;
    int64_t changed_s, changed_ns; /* its change time */
};

struct catalogue {
    struct mustache_source *texts; /* for mustache_set_load; they borrow from bytes and arena */
    size_t count;
    struct catalogue_stamp stamp; /* taken before the file was read */
    struct arena *arena;
    struct buf bytes;
};

/* Reads the catalogue of the templates in dir. ST_INVALID: a line is no "key = text", a key is not a word, or the file
 * is larger than CATALOGUE_BYTES_MAX; error says "file:line:column: …". ST_UNAVAILABLE: the file can't be read.
 * ST_NO_MEMORY. On any of them *out is unchanged and error (error_size bytes) holds a message. An error inside a text
 * is found by mustache_set_load. */
enum status catalogue_read(const char *dir, enum language language, struct catalogue *out, char *error,
                           size_t error_size);
void catalogue_free(struct catalogue *c); /* all 0 is fine */

struct catalogue_stamp catalogue_stamp(const char *dir, enum language language);
bool catalogue_stamp_equal(const struct catalogue_stamp *a, const struct catalogue_stamp *b);

#endif

/* Mustache templates, compiled once and rendered many times. README.md in this folder is the introduction; this header
 * is the whole interface.
 *
 * A set holds all templates of a site. Compiling resolves partials, parents and blocks, so a template becomes one flat
 * program. Rendering reads no file, looks up no template and allocates only the output buffer.
 *
 * The language follows the official spec with inheritance, without lambdas and dynamic names. Where the spec leaves a
 * choice:
 * - These values are false: a missing name, null, false, 0, the empty text, the empty list. All others are true.
 * - An integer is written in decimal, a boolean as true or false; null, a list and an object are written as nothing.
 * - A text that is a number (value_page_number) is written with the set's separator between each three digits.
 * - {{name}} escapes & < > " ' ` as &amp; &lt; &gt; &quot; &#39; &#96;. {{{name}}} and {{&name}} escape nothing.
 * - A partial, parent or block on a line of its own indents every line of its content that is not empty; inside a
 *   line it indents nothing. Indents of nested and of recursive partials add up.
 * - A block on lines of its own ends with a line break: if its content has none at its end, one is added.
 * - Inside {{<parent}}…{{/parent}} everything except blocks is ignored. Two blocks of one name there are an error.
 * - A comment ends at the first closing delimiter. */
#ifndef HB_MUSTACHE_MUSTACHE_H
#define HB_MUSTACHE_MUSTACHE_H

#include "base/buf.h"
#include "base/status.h"
#include "base/value.h"

struct mustache_set; /* compiled templates; constant after compiling, except for mustache_set_changed */
struct mustache;     /* one template of a set; lives as long as the set */

#define MUSTACHE_DEPTH_MAX        64                  /* sections in sections; templates in templates */
#define MUSTACHE_SOURCE_BYTES_MAX ((size_t)1 << 20)   /* one template file */
#define MUSTACHE_STEPS_MAX        ((uint32_t)1 << 20) /* operations of all programs of a set together */
#define MUSTACHE_SEPARATOR_MAX    8                   /* bytes of the separator of thousands */

/* A template as text. Only name and text are required; the other members are for error messages. */
struct mustache_source {
    struct str name;     /* the name in partials and parents: {{>name}} */
    struct str text;     /* UTF-8 */
    struct str file;     /* the file that text comes from; STR_NONE: messages say name instead */
    size_t first_line;   /* where text begins in that file… */
    size_t first_column; /* …in lines and characters before it: 0, 0 is the file's first character */
};

/* Compiles every file *.mustache below the folder dir, and the extra_count sources of extra. A file's name in the set
 * is its path below dir without the ending: "pages/home". Files and folders whose name begins with a dot are ignored,
 * as are files with another ending. extra may be freed after the call.
 *
 * ST_INVALID: a source has an error, two have the same name, or a limit above is exceeded; error says
 * "file:line:column: …" (both from 1, columns in characters). ST_UNAVAILABLE: the folder or a file can't be read.
 * ST_NO_MEMORY. On any of them *out is unchanged, and error (the caller's, error_size bytes) holds a message that ends
 * with NUL. */
enum status mustache_set_load(const char *dir, const struct mustache_source *extra, size_t extra_count,
                              struct mustache_set **out, char *error, size_t error_size);
/* The same without a folder. missing_ok: a partial or parent that does not exist is empty, as the spec says, instead of
 * an error. */
enum status mustache_set_compile(const struct mustache_source *sources, size_t count, bool missing_ok,
                                 struct mustache_set **out, char *error, size_t error_size);
void mustache_set_free(struct mustache_set *set); /* NULL is fine */

/* The separator of thousands: at most MUSTACHE_SEPARATOR_MAX bytes, copied; a longer one is cut. A set begins without
 * one. It is changed only before the set is used. */
void mustache_set_separate(struct mustache_set *set, struct str separator);
struct str mustache_set_separator(const struct mustache_set *set); /* empty: none; lives as long as the set */

/* The template of that name; NULL: there is none. */
const struct mustache *mustache_find(const struct mustache_set *set, struct str name);
/* The template at index, counted from 0 in the order of names (by bytes); NULL: index is behind the last one. */
const struct mustache *mustache_at(const struct mustache_set *set, size_t index);
/* The template's name; lives as long as the set. */
struct str mustache_name(const struct mustache *t);

/* True when a template file of the set's folder was added, removed or changed, or became unreadable, since the set was
 * loaded or this function last returned true. The caller then loads a new set. Always false without a folder; extra
 * sources are the caller's to watch. */
bool mustache_set_changed(struct mustache_set *set);
/* A hash of all names and texts: equal in all processes that have compiled the same templates. */
uint64_t mustache_set_content(const struct mustache_set *set);

/* Appends the rendered template to out. ST_INVALID: recursive partials and sections are open more than
 * MUSTACHE_DEPTH_MAX deep; ST_NO_MEMORY: the buffer failed. On an error out->len is what it was before. */
enum status mustache_render(const struct mustache *t, const struct value *context, struct buf *out);

#endif

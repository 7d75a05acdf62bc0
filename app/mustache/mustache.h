/* Mustache (the official spec with inheritance; lambdas and dynamic names are left out). All templates of a folder
 * are compiled once into flat programs; partials and parents are resolved at that moment, so rendering touches no
 * file, no name table and no heap but the output buffer.
 *
 * Where the spec is silent:
 * - False are: nothing of that name, null, false, 0, the empty text and the empty list. Everything else is true.
 * - Null, lists and objects are written as nothing, a boolean as true or false, an integer in decimal.
 * - {{name}} escapes & < > " ' ` as &amp; &lt; &gt; &quot; &#39; &#96;. {{{name}}} and {{&name}} write the bytes.
 * - An indented partial, parent or block indents every line of its content that is not empty; one that stands inside
 *   a line indents nothing. A block whose tags have their lines for themselves fills whole lines: when what is put
 *   there lacks the last line break, it is added.
 * - Inside {{<parent}}…{{/parent}} only the blocks count; a block must not be given twice.
 * - A comment ends at the first closing delimiter. Page templates begin with a comment that shows their example
 *   context, {{! example: {"user": {"name": "小明"} } }}: neighbouring braces of the JSON are kept apart by a blank.
 * - A recursive partial may be indented; the indents add up. */
#ifndef HB_MUSTACHE_MUSTACHE_H
#define HB_MUSTACHE_MUSTACHE_H

#include "base/buf.h"
#include "base/status.h"
#include "base/value.h"

struct mustache_set; /* every template of a folder, compiled */
struct mustache;     /* one template of a set; lives as long as the set */

#define MUSTACHE_DEPTH_MAX        64                  /* sections in sections, templates in templates: see below */
#define MUSTACHE_SOURCE_BYTES_MAX ((size_t)1 << 20)   /* one template file */
#define MUSTACHE_STEPS_MAX        ((uint32_t)1 << 20) /* of all compiled programs of a set together */

/* Compiles every *.mustache below dir. Names are the path below dir without the ending: "pages/home". Files and
 * folders whose name begins with a dot are left alone. language: NULL, or "en": each line "key = text" of the catalogue
 * dir/text/en.txt is a template "text/KEY" besides, so that {{>text/KEY}} costs nothing when a page is rendered.
 * ST_INVALID: a missing partial or parent, an unbalanced section, an unclosed tag, nesting deeper than
 * MUSTACHE_DEPTH_MAX, more than MUSTACHE_STEPS_MAX: error says "file:line:column: …" (column: characters from 1).
 * ST_UNAVAILABLE: the folder or a file can't be read. On anything but ST_OK *out is untouched and all memory is
 * freed; error (error_size bytes, caller's) is NUL-terminated. */
enum status mustache_set_load(const char *dir, const char *language, struct mustache_set **out, char *error,
                              size_t error_size);
/* The same from memory (tests, the spec runner): count names and sources, which may die afterwards. missing_ok: a
 * missing partial is the empty string, as the spec wants it. A name given twice is ST_INVALID. */
enum status mustache_set_compile(const struct str *names, const struct str *sources, size_t count, bool missing_ok,
                                 struct mustache_set **out, char *error, size_t error_size);
void mustache_set_free(struct mustache_set *set); /* NULL is fine */
/* NULL when there is no such template. */
const struct mustache *mustache_find(const struct mustache_set *set, struct str name);
/* The template's name, "pages/home"; lives as long as the set. */
struct str mustache_name(const struct mustache *t);
/* The templates one by one, in the order of their names (bytes): index 0 … until NULL. */
const struct mustache *mustache_at(const struct mustache_set *set, size_t index);
/* True once for each change: a template file below the set's folder or its catalogue was added, removed or changed, or
 * can't be read any more. Never true for a set compiled from memory. */
bool mustache_set_changed(struct mustache_set *set);
/* A hash of the names and texts of all templates: the same in every process that has read the same ones. */
uint64_t mustache_set_content(const struct mustache_set *set);

/* Appends the page to out. ST_INVALID: more than MUSTACHE_DEPTH_MAX sections and recursive partials are open (a
 * recursive partial over deep data); ST_NO_MEMORY: the buffer failed. On an error out->len is what it was. */
enum status mustache_render(const struct mustache *t, const struct value *context, struct buf *out);

#endif

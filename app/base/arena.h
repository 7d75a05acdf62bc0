/* Memory that lives as long as one request: many allocations, freed all at once. The first chunk is kept over resets,
 * so a typical request never calls malloc.
 * The arena remembers a refused allocation until the next reset. A caller that did not check each result can ask at
 * the end whether anything is missing. */
#ifndef HB_BASE_ARENA_H
#define HB_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

struct arena;

/* chunk_bytes: size of the first chunk, kept for the arena's life. limit_bytes: all chunks together; beyond it
 * allocations fail. NULL without memory. Free with arena_free. */
struct arena *arena_new(size_t chunk_bytes, size_t limit_bytes);
void arena_free(struct arena *a); /* NULL is fine */
/* Frees everything except the first chunk. Every pointer handed out becomes invalid. */
void arena_reset(struct arena *a);
/* True when an allocation was refused since the last reset. */
bool arena_failed(const struct arena *a);

/* size bytes, zeroed, aligned for any type; NULL without memory or over the limit. */
void *arena_alloc(struct arena *a, size_t size);
/* count items of size bytes; NULL on overflow as well. */
void *arena_array(struct arena *a, size_t count, size_t size);
/* Copies; .ptr is NULL when there was no memory. The copy is NUL-terminated (not counted in .len). */
struct str arena_str(struct arena *a, struct str s);
char *arena_cstr(struct arena *a, struct str s); /* NUL-terminated copy or NULL */
struct str arena_printf(struct arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif

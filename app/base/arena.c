#include "base/arena.h"

#include <assert.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Under the address sanitizer memory that is not handed out is poisoned, so that a pointer kept over a reset is
 * caught like a use after free. */
#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
enum { GAP_BYTES = 16 };
#else
#define ASAN_POISON_MEMORY_REGION(ptr, size)   ((void)(ptr), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(ptr, size) ((void)(ptr), (void)(size))
enum { GAP_BYTES = 0 };
#endif

enum { ALIGNMENT = alignof(max_align_t), PRINTF_STACK_BYTES = 256 };

struct chunk {
    struct chunk *next; /* older */
    size_t size, used;
    alignas(max_align_t) unsigned char bytes[];
};

struct arena {
    struct chunk *chunks;  /* newest first; the first one made is the last of the list */
    struct chunk *current; /* where the next allocation is tried */
    size_t chunk_bytes, limit_bytes, total_bytes;
    bool failed; /* since the last reset */
};

static struct chunk *chunk_new(size_t size)
{
    struct chunk *c = size <= SIZE_MAX - sizeof *c ? malloc(sizeof *c + size) : NULL;

    if (c == NULL)
        return NULL;
    *c = (struct chunk){ .size = size };
    ASAN_POISON_MEMORY_REGION(c->bytes, size);
    return c;
}

static void chunk_free(struct chunk *c)
{
    ASAN_UNPOISON_MEMORY_REGION(c->bytes, c->size);
    free(c);
}

struct arena *arena_new(size_t chunk_bytes, size_t limit_bytes)
{
    assert(chunk_bytes > 0 && chunk_bytes <= limit_bytes);
    struct arena *a = malloc(sizeof *a);
    struct chunk *first = chunk_new(chunk_bytes);

    if (a == NULL || first == NULL) {
        free(a);
        if (first != NULL)
            chunk_free(first);
        return NULL;
    }
    *a = (struct arena){ .chunks = first,
                         .current = first,
                         .chunk_bytes = chunk_bytes,
                         .limit_bytes = limit_bytes,
                         .total_bytes = chunk_bytes };
    return a;
}

void arena_free(struct arena *a)
{
    if (a == NULL)
        return;
    arena_reset(a);
    chunk_free(a->chunks);
    free(a);
}

void arena_reset(struct arena *a)
{
    struct chunk *c = a->chunks;

    while (c->next != NULL) {
        struct chunk *older = c->next;
        chunk_free(c);
        c = older;
    }
    c->used = 0;
    ASAN_POISON_MEMORY_REGION(c->bytes, c->size);
    a->chunks = a->current = c;
    a->total_bytes = c->size;
    a->failed = false;
}

bool arena_failed(const struct arena *a)
{
    return a->failed;
}

static void *refuse(struct arena *a)
{
    a->failed = true;
    return NULL;
}

/* A chunk with room for size bytes, or NULL. */
static struct chunk *arena_grow(struct arena *a, size_t size)
{
    size_t left = a->limit_bytes - a->total_bytes;
    size_t chunk_bytes = size > a->chunk_bytes ? size : a->chunk_bytes;

    if (size > left)
        return NULL;
    if (chunk_bytes > left)
        chunk_bytes = left;
    struct chunk *c = chunk_new(chunk_bytes);
    if (c == NULL)
        return NULL;
    c->next = a->chunks;
    a->chunks = c;
    a->total_bytes += chunk_bytes;
    /* One large object must not waste what is left of the current chunk. */
    if (c->size - size >= a->current->size - a->current->used)
        a->current = c;
    return c;
}

void *arena_alloc(struct arena *a, size_t size)
{
    if (size > SIZE_MAX - ALIGNMENT - GAP_BYTES)
        return refuse(a);
    size_t rounded = (size + GAP_BYTES + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    struct chunk *c = a->current;

    if (rounded > c->size - c->used) {
        c = arena_grow(a, rounded);
        if (c == NULL)
            return refuse(a);
    }
    void *p = c->bytes + c->used;
    c->used += rounded;
    ASAN_UNPOISON_MEMORY_REGION(p, size);
    return memset(p, 0, size);
}

void *arena_array(struct arena *a, size_t count, size_t size)
{
    size_t total;

    return __builtin_mul_overflow(count, size, &total) ? refuse(a) : arena_alloc(a, total);
}

char *arena_cstr(struct arena *a, struct str s)
{
    char *copy = s.len < SIZE_MAX ? arena_alloc(a, s.len + 1) : refuse(a);

    if (copy != NULL && s.len)
        memcpy(copy, s.ptr, s.len);
    return copy;
}

struct str arena_str(struct arena *a, struct str s)
{
    const char *copy = arena_cstr(a, s);

    return copy != NULL ? (struct str){ copy, s.len } : STR_NONE;
}

struct str arena_printf(struct arena *a, const char *format, ...)
{
    char stack[PRINTF_STACK_BYTES];
    va_list args;

    va_start(args, format);
    int n = vsnprintf(stack, sizeof stack, format, args);
    va_end(args);
    if (n < 0)
        return (struct str){ refuse(a), 0 };
    size_t len = (size_t)n;
    if (len < sizeof stack)
        return arena_str(a, (struct str){ stack, len });

    char *text = arena_alloc(a, len + 1);
    if (text == NULL)
        return STR_NONE;
    va_start(args, format);
    n = vsnprintf(text, len + 1, format, args);
    va_end(args);
    assert(n >= 0 && (size_t)n == len);
    return (struct str){ text, len };
}

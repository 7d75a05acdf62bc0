/* A growable byte buffer. Appending returns no error: when the buffer can't grow, `failed` is set and later appends do
 * nothing; the owner checks `failed` once at the end. */
#ifndef HB_BASE_BUF_H
#define HB_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/status.h"
#include "base/str.h"

struct buf {
    char *ptr;
    size_t len;
    size_t cap;
    size_t limit; /* never grows beyond; 0 = BUF_LIMIT_DEFAULT */
    bool failed;
};

#define BUF_LIMIT_DEFAULT ((size_t)64 << 20)
#define BUF_EMPTY         ((struct buf){ 0 })

void buf_free(struct buf *b);  /* frees the bytes and zeroes every member except limit */
void buf_reset(struct buf *b); /* len = 0, failed = false, memory kept */
/* Makes room for `more` bytes behind len. False, and failed is set: there is no memory or the limit is reached. */
bool buf_reserve(struct buf *b, size_t more);
void buf_u64(struct buf *b, uint64_t n); /* decimal */
void buf_i64(struct buf *b, int64_t n);
/* A decimal number ("-1234567.50") as people read it: with a minus (U+2212), not a hyphen, and with the separator,
 * which may be empty, between each three digits before its point: "−1,234,567.50". */
void buf_number(struct buf *b, struct str number, struct str separator);
void buf_printf(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Appends a file's content. ST_UNAVAILABLE: it can't be opened or read, errno says why · ST_NO_MEMORY: it is larger
 * than the limit or there is no memory, failed is set. */
enum status buf_file(struct buf *b, const char *path);

/* Rendering a page is mostly appending, so the common case is inline. */
static inline void buf_bytes(struct buf *b, const void *bytes, size_t len)
{
    if (len == 0)
        return;
    if ((b->failed || len > b->cap - b->len) && !buf_reserve(b, len))
        return;
    memcpy(b->ptr + b->len, bytes, len);
    b->len += len;
}

static inline void buf_str(struct buf *b, struct str s)
{
    buf_bytes(b, s.ptr, s.len);
}

static inline void buf_cstr(struct buf *b, const char *cstr)
{
    buf_bytes(b, cstr, strlen(cstr));
}

static inline void buf_char(struct buf *b, char c)
{
    if ((b->failed || b->len == b->cap) && !buf_reserve(b, 1))
        return;
    b->ptr[b->len++] = c;
}

/* A view of the content, valid until the next append. */
static inline struct str buf_view(const struct buf *b)
{
    return (struct str){ b->ptr, b->len };
}

#endif

#include "base/buf.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define MINUS "\u2212"

enum { CAP_FIRST_BYTES = 256, FILE_PART_BYTES = 4096, DIGITS_PER_GROUP = 3 };

void buf_free(struct buf *b)
{
    free(b->ptr);
    *b = (struct buf){ .limit = b->limit };
}

void buf_reset(struct buf *b)
{
    b->len = 0;
    b->failed = false;
}

bool buf_reserve(struct buf *b, size_t more)
{
    size_t limit = b->limit ? b->limit : BUF_LIMIT_DEFAULT;

    if (b->failed)
        return false;
    if (more <= b->cap - b->len)
        return true;
    if (b->len > limit || more > limit - b->len) {
        b->failed = true;
        return false;
    }
    size_t want = b->len + more;
    size_t cap = b->cap > limit / 2 ? limit : b->cap * 2;
    if (cap < CAP_FIRST_BYTES)
        cap = CAP_FIRST_BYTES < limit ? CAP_FIRST_BYTES : limit;
    if (cap < want)
        cap = want;
    char *grown = realloc(b->ptr, cap);
    if (grown == NULL) {
        b->failed = true;
        return false;
    }
    b->ptr = grown;
    b->cap = cap;
    return true;
}

void buf_u64(struct buf *b, uint64_t n)
{
    char digits[STR_U64_MAX];

    buf_str(b, str_u64(digits, n));
}

void buf_i64(struct buf *b, int64_t n)
{
    if (n < 0)
        buf_char(b, '-');
    buf_u64(b, n < 0 ? 0 - (uint64_t)n : (uint64_t)n);
}

void buf_number(struct buf *b, struct str number, struct str separator)
{
    size_t sign = number.len > 0 && (number.ptr[0] == '-' || number.ptr[0] == '+') ? 1 : 0, end = sign;

    while (end < number.len && number.ptr[end] >= '0' && number.ptr[end] <= '9')
        end++;
    for (size_t i = 0; i < number.len; i++) {
        if (i > sign && i < end && (end - i) % DIGITS_PER_GROUP == 0)
            buf_str(b, separator);
        if (i < sign && number.ptr[i] == '-')
            buf_cstr(b, MINUS);
        else
            buf_char(b, number.ptr[i]);
    }
}

void buf_printf(struct buf *b, const char *format, ...)
{
    va_list args;

    if (b->failed)
        return;
    size_t room = b->cap - b->len;
    va_start(args, format);
    int n = vsnprintf(room ? b->ptr + b->len : NULL, room, format, args);
    va_end(args);
    if (n < 0) {
        b->failed = true;
        return;
    }
    size_t len = (size_t)n;
    if (len >= room) { /* vsnprintf needs one more byte, for its NUL */
        if (!buf_reserve(b, len + 1))
            return;
        va_start(args, format);
        n = vsnprintf(b->ptr + b->len, len + 1, format, args);
        va_end(args);
        assert(n >= 0 && (size_t)n == len);
    }
    b->len += len;
}

enum status buf_file(struct buf *b, const char *path)
{
    FILE *file = fopen(path, "re");
    size_t n;

    if (file == NULL)
        return ST_UNAVAILABLE;
    do {
        char part[FILE_PART_BYTES];
        errno = 0;
        n = fread(part, 1, sizeof part, file);
        buf_bytes(b, part, n);
    } while (n > 0 && !b->failed);
    int why = ferror(file) ? errno : 0;
    fclose(file);
    errno = why;
    return why ? ST_UNAVAILABLE : b->failed ? ST_NO_MEMORY : ST_OK;
}

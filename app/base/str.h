/* A borrowed slice of bytes. Not NUL-terminated; never owns its memory. Positions and lengths are in bytes. */
#ifndef HB_BASE_STR_H
#define HB_BASE_STR_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct str {
    const char *ptr;
    size_t len;
};

/* Several slices. */
struct str_list {
    struct str *items;
    size_t count;
};

/* The slice of a string literal. */
#define STR(literal) ((struct str){ "" literal, sizeof(literal) - 1 })
#define STR_NONE     ((struct str){ NULL, 0 }) /* absent, or lost for want of memory */
/* For printf("%.*s", STR_ARG(s)). Slices longer than INT_MAX do not occur: requests are limited. */
#define STR_ARG(s) (int)(s).len, (s).ptr

/* The slice of a NUL-terminated string; NULL gives STR_NONE. */
struct str str_from(const char *cstr);
/* The slice itself; STR("") for an absent one. */
struct str str_or_empty(struct str s);
bool str_equal(struct str a, struct str b);
/* The order of the bytes: less than 0, 0 or more than 0. A text comes before those that it begins. */
int str_compare(struct str a, struct str b);
bool str_equal_fold(struct str a, struct str b); /* ASCII letters compare without case */
bool str_starts(struct str s, struct str prefix);
bool str_ends(struct str s, struct str suffix);
/* Position of the first byte c, or s.len. */
size_t str_index(struct str s, char c);
/* Position of the first needle, or s.len. needle is not empty. */
size_t str_find(struct str s, struct str needle);

/* The bytes from position `from` up to, but not including, `to`; from <= to <= s.len. */
static inline struct str str_slice(struct str s, size_t from, size_t to)
{
    assert(from <= to && to <= s.len);
    return (struct str){ from > 0 ? s.ptr + from : s.ptr, to - from };
}

/* s without its first n bytes; n <= s.len. */
static inline struct str str_skip(struct str s, size_t n)
{
    return str_slice(s, n, s.len);
}

/* When *s starts with prefix, skips it. Returns whether it did. */
bool str_skip_prefix(struct str *s, struct str prefix);
/* Returns the part of s after the first mark; STR_NONE if s holds no mark. The part is empty, but its ptr is not NULL,
 * if s ends with that mark. mark must not be empty. */
struct str str_after(struct str s, struct str mark);
/* Cuts s at the first c: returns what is before it; *rest is what follows (STR_NONE when c is absent). */
struct str str_cut(struct str s, char c, struct str *rest);
struct str str_trim(struct str s); /* ASCII blanks on both ends */
/* True when s holds only A–Z, a–z, 0–9, '_' and '-' (base64url, keys of forms), or nothing. */
bool str_is_word(struct str s);

/* Reads the whole slice as a decimal number without sign, blanks or leading zeros (except "0"). False on anything else
 * or on overflow; *out is untouched then. */
bool str_to_u64(struct str s, uint64_t *out);
bool str_to_i64(struct str s, int64_t *out); /* as above, with an optional leading '-'; "-0" is no number */

#define STR_U64_MAX 20 /* digits of UINT64_MAX */
/* Writes n in decimal at the end of out, which is the caller's. Returns a view of the digits; there is no NUL. */
struct str str_u64(char out[STR_U64_MAX], uint64_t n);

#endif

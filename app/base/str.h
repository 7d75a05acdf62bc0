/* A borrowed slice of bytes. Not NUL-terminated; never owns its memory. */
#ifndef HB_BASE_STR_H
#define HB_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct str {
    const char *ptr;
    size_t len;
};

#define STR(literal) ((struct str){ "" literal, sizeof(literal) - 1 })
#define STR_NONE     ((struct str){ NULL, 0 }) /* absent, or lost for want of memory */
/* For printf("%.*s", STR_ARG(s)). Slices longer than INT_MAX do not occur: requests are limited. */
#define STR_ARG(s) (int)(s).len, (s).ptr

/* The slice of a NUL-terminated string; NULL gives STR_NONE. */
struct str str_from(const char *cstr);
/* The slice itself; STR("") for an absent one. */
struct str str_or_empty(struct str s);
bool str_equal(struct str a, struct str b);
bool str_equal_fold(struct str a, struct str b); /* ASCII letters compare without case */
bool str_starts(struct str s, struct str prefix);
/* Position of byte c, or s.len. */
size_t str_index(struct str s, char c);
/* Cuts s at the first c: returns what is before it; *rest is what follows (STR_NONE when c is absent). */
struct str str_cut(struct str s, char c, struct str *rest);
struct str str_trim(struct str s); /* ASCII blanks on both ends */
/* Only A–Z, a–z, 0–9, '_' and '-' (base64url, keys of forms); true for the empty slice. */
bool str_is_word(struct str s);

/* Whole slice as a decimal number without sign, blanks or leading zeros (except "0"). False on anything else
 * or on overflow; *out is untouched then. */
bool str_to_u64(struct str s, uint64_t *out);
bool str_to_i64(struct str s, int64_t *out); /* as above, with an optional leading '-'; "-0" is no number */

#endif

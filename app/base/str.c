#include "base/str.h"

#include <string.h>

struct str str_from(const char *cstr)
{
    return cstr != NULL ? (struct str){ cstr, strlen(cstr) } : STR_NONE;
}

struct str str_or_empty(struct str s)
{
    return s.ptr != NULL ? s : STR("");
}

bool str_equal(struct str a, struct str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

int str_compare(struct str a, struct str b)
{
    const size_t len = a.len < b.len ? a.len : b.len;
    const int order = len == 0 ? 0 : memcmp(a.ptr, b.ptr, len);
    return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

static char ascii_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool str_equal_fold(struct str a, struct str b)
{
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++)
        if (ascii_lower(a.ptr[i]) != ascii_lower(b.ptr[i]))
            return false;
    return true;
}

bool str_starts(struct str s, struct str prefix)
{
    return s.len >= prefix.len && str_equal(str_slice(s, 0, prefix.len), prefix);
}

bool str_ends(struct str s, struct str suffix)
{
    return s.len >= suffix.len && str_equal(str_skip(s, s.len - suffix.len), suffix);
}

size_t str_index(struct str s, char c)
{
    const char *at = s.len ? memchr(s.ptr, c, s.len) : NULL;
    return at != NULL ? (size_t)(at - s.ptr) : s.len;
}

size_t str_find(struct str s, struct str needle)
{
    assert(needle.len > 0);
    const char *at = s.len ? memmem(s.ptr, s.len, needle.ptr, needle.len) : NULL;
    return at != NULL ? (size_t)(at - s.ptr) : s.len;
}

bool str_skip_prefix(struct str *s, struct str prefix)
{
    if (!str_starts(*s, prefix))
        return false;
    *s = str_skip(*s, prefix.len);
    return true;
}

struct str str_after(struct str s, struct str mark)
{
    size_t at = str_find(s, mark);

    return at < s.len ? str_skip(s, at + mark.len) : STR_NONE;
}

struct str str_cut(struct str s, char c, struct str *rest)
{
    size_t at = str_index(s, c);

    *rest = at < s.len ? str_skip(s, at + 1) : STR_NONE;
    return str_slice(s, 0, at);
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

struct str str_trim(struct str s)
{
    while (s.len && is_blank(s.ptr[0]))
        s = str_skip(s, 1);
    while (s.len && is_blank(s.ptr[s.len - 1]))
        s.len--;
    return s;
}

bool str_is_word(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!letter && !(c >= '0' && c <= '9') && c != '_' && c != '-')
            return false;
    }
    return true;
}

bool str_to_u64(struct str s, uint64_t *out)
{
    uint64_t n = 0;

    if (s.len == 0 || (s.len > 1 && s.ptr[0] == '0'))
        return false;
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] < '0' || s.ptr[i] > '9')
            return false;
        if (__builtin_mul_overflow(n, 10U, &n) || __builtin_add_overflow(n, (unsigned)(s.ptr[i] - '0'), &n))
            return false;
    }
    *out = n;
    return true;
}

bool str_to_i64(struct str s, int64_t *out)
{
    const uint64_t magnitude_max = (uint64_t)INT64_MAX;
    bool negative = s.len && s.ptr[0] == '-';
    uint64_t n;

    if (negative)
        s = str_skip(s, 1);
    if (!str_to_u64(s, &n) || n > magnitude_max + negative || (negative && n == 0))
        return false;
    /* -(n - 1) - 1 reaches INT64_MIN without overflow. */
    *out = negative ? -(int64_t)(n - 1) - 1 : (int64_t)n;
    return true;
}

struct str str_u64(char out[STR_U64_MAX], uint64_t n)
{
    size_t at = STR_U64_MAX;

    do {
        out[--at] = (char)('0' + n % 10);
        n /= 10;
    } while (n);
    return (struct str){ out + at, STR_U64_MAX - at };
}

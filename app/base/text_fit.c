#include "base/text_fit.h"

#include <assert.h>
#include <string.h>
#include <utf8proc.h>

#include "base/buf.h"
#include "base/utf8.h"

#define ELLIPSIS "…"

enum { PICTOGRAPHS_FIRST = 0x1f000, PICTOGRAPHS_LAST = 0x1ffff };

enum { WIDTH_NARROW = 40, WIDTH_NORMAL = 64, WIDTH_LARGE = 80, WIDTH_FULL = 100 };

static uint32_t ascii_width(char c)
{
    if (strchr(" !'(),./:;I[\\]`fijlrt|", c) != NULL)
        return WIDTH_NARROW;
    if (strchr("%&@MWmw", c) != NULL)
        return WIDTH_FULL;
    return c >= 'A' && c <= 'Z' ? WIDTH_LARGE : WIDTH_NORMAL;
}

/* A grapheme cluster is as wide as its first code point. */
static uint32_t cluster_width(struct str cluster)
{
    utf8proc_int32_t code;
    if ((cluster.ptr[0] & 0x80) == 0)
        return ascii_width(cluster.ptr[0]);
    if (utf8proc_iterate((const utf8proc_uint8_t *)cluster.ptr, (utf8proc_ssize_t)cluster.len, &code) < 0)
        return WIDTH_FULL;
    return utf8proc_charwidth(code) > 1 || code >= 0x2000 ? WIDTH_FULL : WIDTH_LARGE;
}

uint32_t text_width(struct str s)
{
    uint32_t width = 0;
    while (s.len > 0) {
        struct str cluster = utf8_first_grapheme(s);
        width += cluster_width(cluster);
        s = str_skip(s, cluster.len);
    }
    return width;
}

/* False for U+FFFE and U+FFFF, which XML does not allow, and for pictographs and flags, for which there is no font. */
static bool code_is_drawable(utf8proc_int32_t code)
{
    return code >= 0 && code != 0xfffe && code != 0xffff && (code < PICTOGRAPHS_FIRST || code > PICTOGRAPHS_LAST);
}

static bool cluster_is_drawable(struct str cluster)
{
    while (cluster.len > 0) {
        utf8proc_int32_t code;
        utf8proc_ssize_t bytes =
            utf8proc_iterate((const utf8proc_uint8_t *)cluster.ptr, (utf8proc_ssize_t)cluster.len, &code);
        if (bytes <= 0 || !code_is_drawable(code))
            return false;
        cluster = str_skip(cluster, (size_t)bytes);
    }
    return true;
}

static struct str drawable_text(struct arena *a, struct str s)
{
    struct buf out = BUF_EMPTY;
    while (s.len > 0) {
        struct str cluster = utf8_first_grapheme(s);
        if (cluster_is_drawable(cluster))
            buf_str(&out, cluster);
        s = str_skip(s, cluster.len);
    }
    struct str copy = out.failed ? STR_NONE : arena_str(a, buf_view(&out));
    buf_free(&out);
    return copy;
}

/* Bytes of the longest start of s that is at most width_max wide; at least one cluster. */
static size_t line_bytes(struct str s, uint32_t width_max)
{
    size_t bytes = 0, blank = 0;
    uint32_t width = 0, blank_width = 0;
    while (bytes < s.len) {
        struct str cluster = utf8_first_grapheme(str_slice(s, bytes, s.len));
        if (cluster.ptr[0] == ' ') {
            blank = bytes;
            blank_width = width;
        }
        width += cluster_width(cluster);
        if (width > width_max && bytes > 0)
            return 2 * blank_width >= width_max ? blank : bytes;
        bytes += cluster.len;
    }
    return bytes;
}

size_t text_fit(struct arena *a, struct str s, uint32_t width_max, struct str *lines, size_t lines_max)
{
    assert(lines_max > 0 && width_max >= 2 * WIDTH_FULL);
    struct str rest = str_trim(drawable_text(a, s));
    size_t count = 0;
    while (rest.len > 0 && count < lines_max) {
        size_t bytes = line_bytes(rest, width_max);
        bool cut = bytes < rest.len && count + 1 == lines_max;
        if (cut)
            bytes = line_bytes(rest, width_max - WIDTH_FULL);
        struct str line = str_trim(str_slice(rest, 0, bytes));
        lines[count] = cut ? arena_printf(a, "%.*s" ELLIPSIS, STR_ARG(line)) : line;
        if (lines[count++].ptr == NULL)
            return 0;
        rest = str_trim(str_slice(rest, bytes, rest.len));
    }
    return count;
}

/* The bytes up to and including the mark that is nearest to the middle and leaves two lines within width_max; 0: there
 * is none in the middle half. */
static size_t mark_bytes(struct str s, uint32_t width_max)
{
    static const char *const marks[] = { "，", "。", "！", "？", "；", "：", "、", ",", "!", "?", ";" };
    const uint32_t whole = text_width(s);
    uint32_t width = 0, nearest = whole / 4;
    size_t found = 0;
    for (size_t bytes = 0; bytes < s.len;) {
        struct str cluster = utf8_first_grapheme(str_slice(s, bytes, s.len));
        bytes += cluster.len;
        width += cluster_width(cluster);
        uint32_t off = 2 * width > whole ? 2 * width - whole : whole - 2 * width;
        bool fits = width <= width_max && whole - width <= width_max && bytes < s.len;
        for (size_t i = 0; i < sizeof marks / sizeof marks[0] && fits && off / 2 <= nearest; i++)
            if (str_equal(cluster, str_from(marks[i]))) {
                found = bytes;
                nearest = off / 2;
            }
    }
    return found;
}

size_t text_balance(struct arena *a, struct str s, uint32_t width_max, struct str lines[2])
{
    struct str text = str_trim(drawable_text(a, s));
    size_t count = text_fit(a, text, width_max, lines, 2);
    uint32_t whole = text_width(text);
    if (count < 2 || whole > 2 * width_max)
        return count;
    size_t mark = mark_bytes(text, width_max);
    if (mark > 0) {
        lines[0] = str_trim(str_slice(text, 0, mark));
        lines[1] = str_trim(str_slice(text, mark, text.len));
        return 2;
    }
    /* The narrowest width that holds the same text in two lines. */
    for (uint32_t width = whole / 2 > 2 * WIDTH_FULL ? whole / 2 : 2 * WIDTH_FULL; width < width_max; width += 10) {
        size_t first = line_bytes(text, width);
        struct str rest = str_trim(str_slice(text, first, text.len));
        if (line_bytes(rest, width) == rest.len) {
            lines[0] = str_trim(str_slice(text, 0, first));
            lines[1] = rest;
            return 2;
        }
    }
    return count;
}

#include "base/utf8.h"

#include <assert.h>
#include <string.h>
#include <utf8proc.h>

#include "base/array.h"

enum {
    SEQUENCE_BYTES_MAX = 4,
    MIDDLE_DOT = 0xb7,
    ZWNJ = 0x200c,
    ZWJ = 0x200d,
    HYPHEN = 0x2010, /* and the dashes up to HORIZONTAL_BAR */
    HORIZONTAL_BAR = 0x2015,
    MINUS = 0x2212,
    RATIO = 0x2236,
    SMALL_FIRST = 0xfe50,
    IDEOGRAPHIC_STOP = 0x3002,
    HALFWIDTH_STOP = 0xff61,
    FULLWIDTH_FIRST = 0xff01,
    FULLWIDTH_LAST = 0xff5e,
    FULLWIDTH_SHIFT = 0xfee0, /* to ASCII */
    BRAILLE_BLANK = 0x2800,
    COMBINING_FIRST = 0x300, /* every code point below is its own NFC and its own cluster */
    MARKS_MAX = 32,          /* marks in a row: more than any cluster keeps */
};

/* Bytes of the code point at the start of s, and the code point; 0 when s is empty or its start is broken. */
static size_t decode(struct str s, utf8proc_int32_t *code)
{
    if (s.len == 0)
        return 0;
    if ((s.ptr[0] & 0x80) == 0) { /* ASCII, as nearly all bytes are; without a call */
        *code = s.ptr[0];
        return 1;
    }
    size_t bytes = s.len < SEQUENCE_BYTES_MAX ? s.len : SEQUENCE_BYTES_MAX;
    utf8proc_ssize_t n = utf8proc_iterate((const utf8proc_uint8_t *)s.ptr, (utf8proc_ssize_t)bytes, code);
    return n > 0 ? (size_t)n : 0;
}

size_t utf8_sequence(struct str s)
{
    utf8proc_int32_t code;

    return decode(s, &code);
}

bool utf8_valid(struct str s)
{
    const uint64_t ones = 0x0101010101010101U, tops = 0x8080808080808080U;

    while (s.len) {
        uint64_t word;
        if (s.len >= sizeof word) {
            memcpy(&word, s.ptr, sizeof word);
            /* skips eight bytes of ASCII without a NUL at once */
            if (((word | ((word - ones) & ~word)) & tops) == 0) {
                s = str_skip(s, sizeof word);
                continue;
            }
        }
        size_t step = utf8_sequence(s);
        if (step == 0 || s.ptr[0] == '\0')
            return false;
        s = str_skip(s, step);
    }
    return true;
}

/* Takes the first code point from s, which is valid and not empty. */
static utf8proc_int32_t take(struct str *s)
{
    utf8proc_int32_t code;
    size_t n = decode(*s, &code);

    assert(n > 0);
    *s = str_skip(*s, n);
    return code;
}

size_t utf8_codepoints(struct str s)
{
    size_t count = 0;

    for (size_t i = 0; i < s.len; i++)
        count += ((unsigned char)s.ptr[i] & 0xc0) != 0x80; /* all bytes except continuation bytes */
    return count;
}

/* The grapheme clusters of s, and how many of them are wide. */
static size_t clusters(struct str s, size_t *wide)
{
    size_t count = 0;
    utf8proc_int32_t state = 0, before = 0;

    *wide = 0;
    while (s.len) {
        utf8proc_int32_t code = take(&s);
        if (count == 0 || utf8proc_grapheme_break_stateful(before, code, &state)) {
            count++;
            *wide += (code >= 0x1100 && code <= 0x115f) || code >= 0x2600;
        }
        before = code;
    }
    return count;
}

size_t utf8_graphemes(struct str s)
{
    size_t wide;
    return clusters(s, &wide);
}

size_t utf8_width(struct str s)
{
    size_t wide, count = clusters(s, &wide);
    return wide + (count - wide + 1) / 2;
}

struct str utf8_first_grapheme(struct str s)
{
    struct str rest = s, first = { s.ptr, 0 };
    utf8proc_int32_t state = 0, before = 0;

    while (rest.len) {
        utf8proc_int32_t code;
        size_t n = decode(rest, &code);
        if (first.len && (n == 0 || utf8proc_grapheme_break_stateful(before, code, &state)))
            break;
        first.len += n > 0 ? n : 1;
        if (n == 0)
            break;
        rest = str_skip(rest, n);
        before = code;
    }
    return first;
}

static bool is_blank(utf8proc_int32_t code, const utf8proc_property_t *property)
{
    return property->category == UTF8PROC_CATEGORY_CC || property->category == UTF8PROC_CATEGORY_ZS ||
           property->category == UTF8PROC_CATEGORY_ZL || property->category == UTF8PROC_CATEGORY_ZP ||
           code == BRAILLE_BLANK;
}

/* Invisible by itself, but emoji and scripts are written with it. */
static bool is_joiner(utf8proc_int32_t code)
{
    return code == ZWJ || code == ZWNJ || (code >= 0xfe00 && code <= 0xfe0f) || /* variation selectors */
           (code >= 0xe0100 && code <= 0xe01ef) || (code >= 0x180b && code <= 0x180d) || code == 0x180f;
}

/* Characters that draw nothing by their definition, although Unicode counts them as symbols and letters: the place of
 * an object, a note without a head, two blanks of hieroglyphs, a filler; also code points that are no characters, and
 * those reserved for future invisible characters. */
static bool is_empty(utf8proc_int32_t code)
{
    return code == 0xfffc || code == 0x1d159 || code == 0x13441 || code == 0x13442 || code == 0x16fe4 ||
           (code & 0xfffe) == 0xfffe || (code >= 0xfdd0 && code <= 0xfdef) || code == 0x2065 ||
           (code >= 0xfff0 && code <= 0xfff8) || (code >= 0xe0000 && code <= 0xe0fff);
}

static bool is_invisible(const utf8proc_property_t *property)
{
    /* Some Arabic, Syriac and Kaithi format characters are visible: they enclose the digits behind them. */
    return property->ignorable ||
           (property->category == UTF8PROC_CATEGORY_CF && property->boundclass != UTF8PROC_BOUNDCLASS_PREPEND);
}

/* Draws nothing without a character before it. */
static bool is_attached(utf8proc_int32_t code, const utf8proc_property_t *property)
{
    return is_joiner(code) || property->category == UTF8PROC_CATEGORY_MN || property->category == UTF8PROC_CATEGORY_ME;
}

/* True for private and unassigned characters, for which most readers have no font. False in the range of emoji and
 * ideographs: a newer Unicode may have assigned them. */
static bool is_unknown(utf8proc_int32_t code, const utf8proc_property_t *property)
{
    return property->category == UTF8PROC_CATEGORY_CO ||
           (property->category == UTF8PROC_CATEGORY_CN && !(code >= 0x1f000 && code <= 0x3ffff));
}

/* Copies s to out (room for s.len bytes) without invisible characters and with single blanks between words; returns
 * the length. s is valid. *plain: NFC changes nothing in it. */
static size_t copy_visible(struct str s, char *out, bool *plain)
{
    size_t n = 0, marks = 0;
    bool blank = false, visible = false;

    *plain = true;
    while (s.len) {
        const char *from = s.ptr;
        utf8proc_int32_t code = take(&s);
        const utf8proc_property_t *property = utf8proc_get_property(code);
        if (is_blank(code, property)) {
            blank = n > 0;
            continue;
        }
        if (!is_joiner(code)) {
            if (is_invisible(property))
                continue;
            visible = true;
        }
        /* Sorting the marks of one letter is quadratic in their number. */
        marks = property->combining_class > 0 ? marks + 1 : 0;
        if (marks > MARKS_MAX)
            continue;
        if (blank)
            out[n++] = ' ';
        blank = false;
        memcpy(out + n, from, (size_t)(s.ptr - from));
        n += (size_t)(s.ptr - from);
        if (code >= COMBINING_FIRST)
            *plain = false;
    }
    return visible ? n : 0;
}

/* Composes s by the options (NFC, and what the options add): *count code points in the arena. NULL without memory. s is
 * valid. */
static utf8proc_int32_t *compose(struct arena *a, struct str s, utf8proc_option_t options, size_t *count)
{
    const utf8proc_uint8_t *bytes = (const utf8proc_uint8_t *)s.ptr;
    utf8proc_ssize_t len = (utf8proc_ssize_t)s.len;
    utf8proc_ssize_t n = utf8proc_decompose(bytes, len, NULL, 0, options);

    assert(n >= 0);
    utf8proc_int32_t *codes = arena_array(a, (size_t)n + 1, sizeof *codes);
    if (codes == NULL)
        return NULL;
    n = utf8proc_decompose(bytes, len, codes, n, options);
    assert(n >= 0);
    n = utf8proc_normalize_utf32(codes, n, options);
    assert(n >= 0);
    *count = (size_t)n;
    return codes;
}

/* Encodes the code points to out, UTF8_CLUSTER_MAX of each grapheme cluster; returns the length. Clusters are counted
 * in the result, because the next cluster may join the beginning of a long cluster whose rest was cut. */
static size_t encode_clusters(const utf8proc_int32_t *codes, size_t count, char *out)
{
    utf8proc_int32_t state = 0, last = 0;
    size_t len = 0, in_cluster = 0;

    for (size_t i = 0; i < count; i++) {
        utf8proc_int32_t state_before = state;
        if (len == 0 || utf8proc_grapheme_break_stateful(last, codes[i], &state))
            in_cluster = 0;
        if (in_cluster == UTF8_CLUSTER_MAX) {
            state = state_before;
            continue;
        }
        utf8proc_ssize_t n = utf8proc_encode_char(codes[i], (utf8proc_uint8_t *)out + len);
        assert(n > 0 && n <= SEQUENCE_BYTES_MAX);
        len += (size_t)n;
        in_cluster++;
        last = codes[i];
    }
    return len;
}

enum status utf8_clean(struct arena *a, struct str s, struct str *out)
{
    size_t count;
    bool plain;

    if (!utf8_valid(s))
        return ST_INVALID;
    char *visible = arena_alloc(a, s.len + 1);
    if (visible == NULL)
        return ST_NO_MEMORY;
    struct str text = { visible, copy_visible(s, visible, &plain) };
    if (plain) {
        *out = text;
        return ST_OK;
    }
    const utf8proc_int32_t *codes = compose(a, text, UTF8PROC_STABLE | UTF8PROC_COMPOSE, &count);
    char *encoded = codes != NULL ? arena_array(a, count + 1, SEQUENCE_BYTES_MAX) : NULL;
    if (encoded == NULL)
        return ST_NO_MEMORY;
    *out = (struct str){ encoded, encode_clusters(codes, count, encoded) };
    return ST_OK;
}

/* Copies s to out (room for s.len bytes) without empty characters and without marks that have no character before them;
 * returns the length. 0: every character is invisible or unknown. s is valid. */
static size_t copy_drawn(struct str s, char *out)
{
    size_t n = 0;
    bool visible = false;

    while (s.len) {
        const char *from = s.ptr;
        utf8proc_int32_t code = take(&s);
        const utf8proc_property_t *property = utf8proc_get_property(code);
        bool attached = is_attached(code, property);
        if (is_empty(code) || (attached && !visible))
            continue;
        visible =
            visible || !(attached || is_blank(code, property) || is_invisible(property) || is_unknown(code, property));
        memcpy(out + n, from, (size_t)(s.ptr - from));
        n += (size_t)(s.ptr - from);
    }
    return visible ? n : 0;
}

enum status utf8_clean_shown(struct arena *a, struct str s, struct str *out)
{
    if (!utf8_valid(s))
        return ST_INVALID;
    char *drawn = arena_alloc(a, s.len + 1);
    if (drawn == NULL)
        return ST_NO_MEMORY;
    return utf8_clean(a, (struct str){ drawn, copy_drawn(s, drawn) }, out);
}

/* True for ASCII without NUL. */
static bool is_ascii(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] == '\0' || (unsigned char)s.ptr[i] > 0x7f)
            return false;
    return true;
}

/* s, which is ASCII, in lower case. NULL without memory. */
static struct str ascii_lower(struct arena *a, struct str s)
{
    char *lower = arena_alloc(a, s.len + 1);
    for (size_t i = 0; lower != NULL && i < s.len; i++)
        lower[i] = (char)(s.ptr[i] >= 'A' && s.ptr[i] <= 'Z' ? s.ptr[i] - 'A' + 'a' : s.ptr[i]);
    return (struct str){ lower, s.len };
}

enum status utf8_fold_case(struct arena *a, struct str s, struct str *out)
{
    size_t count;

    if (is_ascii(s)) {
        struct str lower = ascii_lower(a, s);
        if (lower.ptr != NULL)
            *out = lower;
        return lower.ptr == NULL ? ST_NO_MEMORY : ST_OK;
    }
    if (!utf8_valid(s))
        return ST_INVALID;
    const utf8proc_option_t options = UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT | UTF8PROC_CASEFOLD;
    const utf8proc_int32_t *codes = compose(a, s, options, &count);
    char *encoded = codes != NULL ? arena_array(a, count + 1, SEQUENCE_BYTES_MAX) : NULL;
    if (encoded == NULL)
        return ST_NO_MEMORY;
    size_t len = 0;
    for (size_t i = 0; i < count; i++)
        len += (size_t)utf8proc_encode_char(codes[i], (utf8proc_uint8_t *)encoded + len);
    *out = (struct str){ encoded, len };
    return ST_OK;
}

enum status utf8_opaque(struct arena *a, struct str s, struct str *out)
{
    size_t count;

    *out = s;
    if (is_ascii(s))
        return ST_OK;
    if (!utf8_valid(s))
        return ST_INVALID;
    const utf8proc_int32_t *codes = compose(a, s, UTF8PROC_STABLE | UTF8PROC_COMPOSE, &count);
    char *encoded = codes != NULL ? arena_array(a, count + 1, SEQUENCE_BYTES_MAX) : NULL;
    if (encoded == NULL)
        return ST_NO_MEMORY;
    size_t len = 0;
    for (size_t i = 0; i < count; i++) {
        bool is_space = utf8proc_get_property(codes[i])->category == UTF8PROC_CATEGORY_ZS;
        len += (size_t)utf8proc_encode_char(is_space ? ' ' : codes[i], (utf8proc_uint8_t *)encoded + len);
    }
    *out = (struct str){ encoded, len };
    return ST_OK;
}

static bool is_dash(utf8proc_int32_t code)
{
    return (code >= HYPHEN && code <= HORIZONTAL_BAR) || code == MINUS;
}

/* A full stop or dash that keyboards write in place of the ASCII one, as ASCII; 0: another character. */
static char stop_or_dash(utf8proc_int32_t code)
{
    if (code == IDEOGRAPHIC_STOP || code == HALFWIDTH_STOP)
        return '.';
    return is_dash(code) ? '-' : '\0';
}

/* The ASCII key for which keyboards write this character, or the first of several characters that look alike; otherwise
 * the character itself. In UTF-8 never longer than the character. */
static utf8proc_int32_t keyboard_key(utf8proc_int32_t code)
{
    static const struct {
        utf8proc_int32_t first, last, key;
    } marks[] = {
        { 0x2018, 0x201b, '\'' },       { 0x201c, 0x201f, '"' },        { 0x00b4, 0x00b4, '\'' },
        { 0x02b9, 0x02b9, '\'' },       { 0x02bb, 0x02bc, '\'' },       { 0x2032, 0x2032, '\'' },
        { 0x2035, 0x2035, '\'' },       { 0x2039, 0x203a, '\'' },       { 0x00ab, 0x00ab, '"' },
        { 0x00bb, 0x00bb, '"' },        { 0x2033, 0x2033, '"' },        { 0x2036, 0x2036, '"' },
        { 0x301d, 0x301f, '"' },        { 0x3001, 0x3001, ',' },        { 0x301c, 0x301c, '~' },
        { 0x3010, 0x3010, '[' },        { 0x3011, 0x3011, ']' },        { 0x3008, 0x3008, '<' },
        { 0x300a, 0x300a, '<' },        { 0x3009, 0x3009, '>' },        { 0x300b, 0x300b, '>' },
        { 0x2044, 0x2044, '/' },        { 0x2215, 0x2215, '/' },        { 0x2022, 0x2022, MIDDLE_DOT },
        { 0x2027, 0x2027, MIDDLE_DOT }, { 0x30fb, 0x30fb, MIDDLE_DOT },
    };
    if (code < 0x80)
        return code;
    for (size_t i = 0; i < ARRAY_LEN(marks); i++)
        if (code >= marks[i].first && code <= marks[i].last)
            return marks[i].key;
    char ascii = stop_or_dash(code);
    return ascii != '\0' ? ascii : code;
}

/* Copies s without joiners, with the keys that the keyboard has replaced, and with single hyphens. s is valid. NULL
 * without memory. */
static struct str keyboard_fold(struct arena *a, struct str s)
{
    char *folded = arena_alloc(a, s.len + 1);
    size_t len = 0;
    while (folded != NULL && s.len > 0) {
        utf8proc_int32_t key = keyboard_key(take(&s));
        if (is_joiner(key) || (key == '-' && len > 0 && folded[len - 1] == '-'))
            continue;
        len += (size_t)utf8proc_encode_char(key, (utf8proc_uint8_t *)folded + len);
    }
    return (struct str){ folded, len };
}

enum status utf8_fold_alike(struct arena *a, struct str s, struct str *out)
{
    struct str text;

    if (!utf8_valid(s))
        return ST_INVALID;
    text = keyboard_fold(a, s); /* before NFKC, which decomposes an acute accent into a blank and a mark */
    if (text.ptr == NULL || utf8_fold_case(a, text, &text) != ST_OK)
        return ST_NO_MEMORY;
    text = keyboard_fold(a, text); /* NFKC has made such marks of compatibility forms */
    if (text.ptr == NULL)
        return ST_NO_MEMORY;
    *out = text;
    return ST_OK;
}

/* The ASCII character for this one; 0: there is none. */
static char ascii_of(utf8proc_int32_t code)
{
    static const char small[] = ",\0.\0;:?!-(){}\0\0#&*+-<>=\0\\$%@"; /* from SMALL_FIRST on */
    if (code < 0x80)
        return (char)code;
    if (code >= FULLWIDTH_FIRST && code <= FULLWIDTH_LAST)
        return (char)(code - FULLWIDTH_SHIFT);
    if (code >= SMALL_FIRST && (size_t)(code - SMALL_FIRST) < sizeof small)
        return small[code - SMALL_FIRST];
    return code == RATIO ? ':' : stop_or_dash(code);
}

/* True for visible ASCII, which folding does not change. */
static bool is_visible_ascii(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] <= ' ' || s.ptr[i] > '~')
            return false;
    return true;
}

enum status utf8_fold_pasted(struct arena *a, struct str s, struct str *out)
{
    if (is_visible_ascii(s)) {
        *out = s;
        return ST_OK;
    }
    if (!utf8_valid(s))
        return ST_INVALID;
    char *folded = arena_alloc(a, s.len + 1);
    if (folded == NULL)
        return ST_NO_MEMORY;

    size_t len = 0;
    bool blank = false;
    while (s.len) {
        const char *from = s.ptr;
        utf8proc_int32_t code = take(&s);
        const utf8proc_property_t *property = utf8proc_get_property(code);
        if (is_blank(code, property)) {
            blank = len > 0;
            continue;
        }
        if (is_invisible(property) || is_empty(code))
            continue;
        if (blank)
            folded[len++] = ' ';
        blank = false;
        char ascii = ascii_of(code);
        if (ascii != '\0') {
            folded[len++] = ascii;
        } else {
            memcpy(folded + len, from, (size_t)(s.ptr - from));
            len += (size_t)(s.ptr - from);
        }
    }
    *out = (struct str){ folded, len };
    return ST_OK;
}

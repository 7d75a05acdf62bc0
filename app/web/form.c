#include "web/form.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/random.h"
#include "base/utf8.h"

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* The byte of the %XX at position i; -1: it is malformed. */
static int escaped_byte(struct str s, size_t i)
{
    int high = s.len - i > 2 ? hex_digit(s.ptr[i + 1]) : -1;
    int low = s.len - i > 2 ? hex_digit(s.ptr[i + 2]) : -1;
    return high < 0 || low < 0 ? -1 : high << 4 | low;
}

/* Decodes the byte at *i and moves *i behind it: '+' is a blank, %XX a byte. -1: a percent sign without two hex digits,
 * which browsers and curl never send. */
static int byte_next(struct str s, size_t *i)
{
    char c = s.ptr[*i];
    int byte = c == '%' ? escaped_byte(s, *i) : c == '+' ? ' ' : (unsigned char)c;
    *i += c == '%' ? 3 : 1;
    return byte;
}

/* ST_INVALID: malformed, or no UTF-8. */
static enum status text_decode(struct arena *a, struct str s, struct str *out)
{
    char *bytes = arena_alloc(a, s.len + 1);
    size_t len = 0;
    if (bytes == NULL)
        return ST_NO_MEMORY;
    for (size_t i = 0; i < s.len;) {
        int byte = byte_next(s, &i);
        if (byte < 0)
            return ST_INVALID;
        bytes[len++] = (char)byte;
    }
    *out = (struct str){ bytes, len };
    return utf8_valid(*out) ? ST_OK : ST_INVALID;
}

/* True when text, decoded, is the name. A malformed text is no name. */
static bool encodes(struct str text, struct str name)
{
    size_t i = 0;
    for (size_t k = 0; k < name.len; k++)
        if (i >= text.len || byte_next(text, &i) != (unsigned char)name.ptr[k])
            return false;
    return i == text.len;
}

static const struct form_field *field_find(const struct form *f, struct str name)
{
    for (size_t i = 0; i < f->count; i++)
        if (str_equal(f->fields[i].name, name))
            return &f->fields[i];
    return NULL;
}

/* Adds the field of NAME=VALUE. */
static enum status pair_add(struct arena *a, struct str pair, struct form *out)
{
    struct form_field field;
    struct str value;
    struct str name = str_cut(pair, '=', &value);
    if (out->count == FORM_FIELDS_MAX)
        return ST_INVALID;
    enum status st = text_decode(a, name, &field.name);
    if (st == ST_OK)
        st = text_decode(a, value, &field.value);
    if (st != ST_OK)
        return st;
    if (field_find(out, field.name) != NULL)
        return ST_INVALID;
    out->fields[out->count++] = field;
    return ST_OK;
}

enum status form_parse(struct arena *a, struct str text, struct form *out)
{
    out->count = 0;
    while (text.len > 0) {
        struct str pair = str_cut(text, '&', &text);
        enum status st = pair.len > 0 ? pair_add(a, pair, out) : ST_OK;
        if (st != ST_OK)
            return st;
    }
    return ST_OK;
}

enum status form_pick(struct arena *a, struct str text, struct str name, struct form *out)
{
    while (text.len > 0) {
        struct str value;
        struct str pair = str_cut(text, '&', &text);
        enum status st = encodes(str_cut(pair, '=', &value), name) ? pair_add(a, pair, out) : ST_OK;
        if (st != ST_OK)
            return st;
    }
    return ST_OK;
}

struct str form_get(const struct form *f, const char *name, bool *present)
{
    const struct form_field *field = field_find(f, str_from(name));
    if (present != NULL)
        *present = field != NULL;
    return field != NULL ? field->value : STR("");
}

struct str form_decode_loosely(struct arena *a, struct str text)
{
    char *bytes = arena_alloc(a, text.len + 1);
    size_t len = 0;
    if (bytes == NULL)
        return STR_NONE;
    for (size_t i = 0; i < text.len; i++) {
        int byte = text.ptr[i] == '%' ? escaped_byte(text, i) : -1;
        bytes[len++] = byte >= 0 ? (char)byte : text.ptr[i];
        if (byte >= 0)
            i += 2;
    }
    return (struct str){ bytes, len };
}

static bool is_plain(char c, bool is_address)
{
    static const char plain[] = "/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    return is_address ? (unsigned char)c < 0x80 : memchr(plain, c, sizeof plain - 1) != NULL;
}

static struct str encode(struct arena *a, struct str text, bool is_address)
{
    static const char hex[] = "0123456789ABCDEF";
    char *bytes = arena_array(a, text.len + 1, 3);
    size_t len = 0;
    if (bytes == NULL)
        return STR_NONE;
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        bool plain = is_plain(text.ptr[i], is_address);
        bytes[len++] = plain ? text.ptr[i] : '%';
        if (plain)
            continue;
        bytes[len++] = hex[c >> 4];
        bytes[len++] = hex[c & 15U];
    }
    return (struct str){ bytes, len };
}

struct str form_encode(struct arena *a, struct str text)
{
    return encode(a, text, false);
}

struct str form_ascii(struct arena *a, struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!is_plain(text.ptr[i], true))
            return encode(a, text, true);
    return text;
}

bool request_key_valid(struct str key)
{
    return key.len > 0 && key.len <= REQUEST_KEY_MAX && str_is_word(key);
}

struct str request_key_new(struct arena *a)
{
    uint64_t high = random_u64(), low = random_u64();
    return arena_printf(a, "%016" PRIx64 "%016" PRIx64, high, low);
}

bool form_overlaps(const struct form *form, struct str query)
{
    while (query.len > 0) {
        struct str value;
        struct str name = str_cut(str_cut(query, '&', &query), '=', &value);
        for (size_t i = 0; i < form->count; i++)
            if (encodes(name, form->fields[i].name))
                return true;
    }
    return false;
}

bool form_failed(const struct form_errors *e, const char *field)
{
    for (size_t i = 0; i < e->count; i++)
        if (strcmp(e->items[i].field, field) == 0)
            return true;
    return false;
}

void form_fail(struct form_errors *e, const char *field, const char *text)
{
    form_fail_with(e, field, text, STR(""));
}

void form_fail_with(struct form_errors *e, const char *field, const char *text, struct str value)
{
    if (form_failed(e, field))
        return;
    assert(e->count < FORM_FIELDS_MAX);
    e->items[e->count++] = (struct form_error){ field, text, value };
}

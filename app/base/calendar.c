#include "base/calendar.h"

#include "base/clock.h"
#include "base/utf8.h"

enum { LINE_BYTES_MAX = 75 };

/* Bytes on the current line, and the sink. */
struct line {
    struct buf *out;
    size_t len;
};

/* Appends a character, whole, on a continuation line if it does not fit. That line begins with a blank, which
 * counts. */
static void character_put(struct line *line, struct str bytes)
{
    if (line->len + bytes.len > LINE_BYTES_MAX) {
        buf_cstr(line->out, "\r\n ");
        line->len = 1;
    }
    buf_str(line->out, bytes);
    line->len += bytes.len;
}

/* The characters that a text has in place of this one; empty: the character is left out. */
static struct str escaped(struct str character)
{
    switch (character.ptr[0]) {
    case '\n': return STR("\\n");
    case '\\': return STR("\\\\");
    case ',': return STR("\\,");
    case ';': return STR("\\;");
    default: return (unsigned char)character.ptr[0] < ' ' || character.ptr[0] == '\x7f' ? STR("") : character;
    }
}

static void line_put(struct buf *out, const char *name, struct str value, bool is_text)
{
    struct line line = { .out = out };
    character_put(&line, str_from(name));
    character_put(&line, STR(":"));
    while (value.len > 0) {
        size_t len = utf8_sequence(value);
        struct str character = { value.ptr, len > 0 ? len : 1 };
        character_put(&line, is_text ? escaped(character) : character);
        value = (struct str){ value.ptr + character.len, value.len - character.len };
    }
    buf_cstr(out, "\r\n");
}

void calendar_line(struct buf *out, const char *name, struct str value)
{
    line_put(out, name, value, false);
}

void calendar_text(struct buf *out, const char *name, struct str text)
{
    line_put(out, name, text, true);
}

struct str calendar_time(int64_t ms, char *out)
{
    /* "2026-11-20T08:00:00.000Z" without its separators and its fraction. */
    char text[CLOCK_TEXT_MAX];
    size_t len = 0;
    (void)clock_rfc3339_format(ms, text);
    for (const char *at = text; *at != '\0' && *at != '.'; at++)
        if (*at != '-' && *at != ':')
            out[len++] = *at;
    out[len++] = 'Z';
    out[len] = '\0';
    return (struct str){ out, len };
}

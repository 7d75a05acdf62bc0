#include "web/csv.h"

#include <assert.h>

#include "base/array.h"

void csv_begin(struct buf *out)
{
    buf_cstr(out, "\xef\xbb\xbf");
}

/* When one of the words is at the front of *text, skips it. */
static bool word_skip(struct str *text, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (str_skip_prefix(text, str_from(words[i])))
            return true;
    return false;
}

/* True when a cell that begins with text may be taken for a formula. Programs differ in the blanks and quotes that they
 * drop first; those in East Asia also read the full-width forms. */
static bool is_formula(struct str text)
{
    static const char *const marks[] = { "=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠" };
    static const char *const dropped[] = { " ", "\"", "\u00a0", "\u3000", "\u200b", "\ufeff" };
    while (word_skip(&text, dropped, ARRAY_LEN(dropped)))
        continue;
    return word_skip(&text, marks, ARRAY_LEN(marks));
}

/* True for a character that separates cells or rows in some program. The comma is not one of them: a program that does
 * not separate by commas would not see the cells of this file either. */
static bool is_separator(char c)
{
    return c == ';' || c == '\t' || c == '\r' || c == '\n';
}

static bool needs_quotes(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] == '"' || text.ptr[i] == ',' || is_separator(text.ptr[i]))
            return true;
    return false;
}

void csv_cell(struct buf *out, struct str text)
{
    bool quotes = needs_quotes(text);
    if (quotes)
        buf_char(out, '"');
    if (is_formula(text))
        buf_char(out, '\'');
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '"')
            buf_char(out, '"');
        buf_char(out, text.ptr[i]);
        if (is_separator(text.ptr[i]) && is_formula(str_skip(text, i + 1)))
            buf_char(out, '\'');
    }
    if (quotes)
        buf_char(out, '"');
    buf_char(out, ',');
}

void csv_exact(struct buf *out, struct str text)
{
    buf_char(out, '"');
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '"')
            buf_char(out, '"');
        buf_char(out, text.ptr[i]);
    }
    buf_cstr(out, "\",");
}

void csv_number(struct buf *out, struct str number)
{
    buf_str(out, number);
    buf_char(out, ',');
}

void csv_header(struct buf *out, const char *const *columns, size_t count)
{
    for (size_t i = 0; i < count; i++)
        csv_cell(out, str_from(columns[i]));
    csv_row_end(out);
}

void csv_row_end(struct buf *out)
{
    if (out->failed)
        return;
    assert(out->len > 0 && out->ptr[out->len - 1] == ',');
    out->len--;
    buf_cstr(out, "\r\n");
}

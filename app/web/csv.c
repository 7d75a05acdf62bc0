#include "web/csv.h"

#include <assert.h>

#include "base/array.h"

void csv_begin(struct buf *out)
{
    buf_cstr(out, "\xef\xbb\xbf");
}

/* Spreadsheet programs in East Asia also read the full-width forms. */
static bool is_formula(struct str text)
{
    static const char *const marks[] = { "=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠" };
    for (size_t i = 0; i < ARRAY_LEN(marks); i++)
        if (str_starts(text, str_from(marks[i])))
            return true;
    return false;
}

static bool needs_quotes(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] == '"' || text.ptr[i] == ',' || text.ptr[i] == '\r' || text.ptr[i] == '\n')
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
    }
    if (quotes)
        buf_char(out, '"');
    buf_char(out, ',');
}

void csv_row_end(struct buf *out)
{
    if (out->failed)
        return;
    assert(out->len > 0 && out->ptr[out->len - 1] == ',');
    out->len--;
    buf_cstr(out, "\r\n");
}

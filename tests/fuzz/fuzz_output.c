/* Texts in CSV files and JSON: a reader gets back what was written, whatever it is. The input is cut at its NUL bytes
 * into cells. */
#include <jansson.h>
#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "base/value.h"
#include "fuzz.h"
#include "web/csv.h"

enum { CELLS_MAX = 16 };

/* Reads one cell as RFC 4180 defines it, and the end of the cell: a comma, or the end of the row. */
static struct str cell_read(const char **p, const char *end)
{
    struct buf cell = { .limit = (size_t)1 << 24 };
    bool quoted = *p < end && **p == '"';
    *p += quoted;
    while (*p < end) {
        if (quoted && **p == '"' && (*p + 1 == end || (*p)[1] != '"')) {
            ++*p;
            quoted = false;
            break;
        }
        if (!quoted && (**p == ',' || **p == '\r'))
            break;
        assert(quoted || (**p != '"' && **p != '\n'));
        *p += quoted && **p == '"';
        buf_char(&cell, **p);
        ++*p;
    }
    assert(!quoted && *p < end && (**p == ',' || **p == '\r'));
    struct str text = arena_str(fuzz_arena, str_or_empty(buf_view(&cell)));
    buf_free(&cell);
    return text;
}

/* True when got is the text of a cell, except for apostrophes before what a program may take for a formula: at the
 * front, or after what separates cells in some program. */
static bool cell_is(struct str got, struct str text)
{
    bool front = true;
    size_t at = 0;
    for (size_t i = 0; i < got.len; i++) {
        assert(!front || strchr("=+-@\t\r", got.ptr[i]) == NULL);
        bool same = at < text.len && got.ptr[i] == text.ptr[at];
        if (!same && !(front && got.ptr[i] == '\''))
            return false;
        at += same;
        front = same && strchr(";\t\r\n", got.ptr[i]) != NULL;
    }
    return at == text.len;
}

static void csv_check(const struct str *cells, size_t count)
{
    struct buf out = { .limit = (size_t)1 << 24 };
    csv_begin(&out);
    for (size_t i = 0; i < count; i++)
        csv_cell(&out, cells[i]);
    csv_row_end(&out);
    assert(!out.failed && memcmp(out.ptr, "\xEF\xBB\xBF", 3) == 0);
    const char *p = out.ptr + 3, *end = out.ptr + out.len;
    for (size_t i = 0; i < count; i++) {
        struct str got = cell_read(&p, end);
        assert(cell_is(got, cells[i]));
        assert(*p == (i + 1 < count ? ',' : '\r'));
        p++;
    }
    assert(p + 1 == end && *p == '\n');
    buf_free(&out);
}

static void json_check(struct str text)
{
    struct buf out = { .limit = (size_t)1 << 24 };
    value_json_string(&out, text);
    assert(!out.failed);
    for (size_t i = 0; i < out.len; i++)
        assert(strchr("<>&", out.ptr[i]) == NULL);
    json_t *read = json_loadb(out.ptr, out.len, JSON_DECODE_ANY, NULL);
    assert(read != NULL && json_is_string(read));
    struct str got = { json_string_value(read), json_string_length(read) };
    assert(!utf8_valid(text) || str_equal(got, text));
    json_decref(read);
    buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str cells[CELLS_MAX], rest = fuzz_text(data, size);
    size_t count = 0;
    fuzz_begin();
    while (rest.ptr != NULL && count < CELLS_MAX)
        cells[count++] = str_cut(rest, '\0', &rest);
    for (size_t i = 0; i < count; i++)
        json_check(cells[i]);
    if (count > 0)
        csv_check(cells, count);
    return 0;
}

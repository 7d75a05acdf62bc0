#include "io/csv_reader.h"

#include <csv.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/utf8.h"

struct csv_reader {
    FILE *file;
    struct csv_parser parser;
    struct csv_row header;
    struct str header_cells[CSV_COLUMNS_MAX];
    struct buf header_text;
    /* The row that is read: */
    struct buf text;
    size_t ends[CSV_COLUMNS_MAX]; /* of its cells in text */
    size_t count;                 /* of its cells; more than CSV_COLUMNS_MAX: too many */
    struct str cells[CSV_COLUMNS_MAX];
    bool done;      /* its end was seen */
    uint64_t line;  /* of the next byte */
    uint64_t begin; /* the line where the row begins; 0: it has not begun */
    size_t bytes;   /* of the row so far */
    bool after_cr;  /* the last byte was a CR, so an LF ends no further line */
    bool ended;     /* the file has */
};

/* ---- what libcsv calls ---- */

static void cell_add(void *bytes, size_t len, void *ctx)
{
    struct csv_reader *r = ctx;
    buf_bytes(&r->text, bytes, len);
    if (r->count < CSV_COLUMNS_MAX)
        r->ends[r->count] = r->text.len;
    r->count++;
}

static void row_end(int mark, void *ctx)
{
    struct csv_reader *r = ctx;
    (void)mark;
    r->done = true;
}

/* ---- bytes ---- */

static void lines_count(struct csv_reader *r, char c)
{
    if (c == '\r' || (c == '\n' && !r->after_cr))
        r->line++;
    r->after_cr = c == '\r';
}

static bool parse(struct csv_reader *r, char c)
{
    return csv_parse(&r->parser, &c, 1, cell_add, row_end, r) == 1;
}

/* What the parser refused. */
static enum status refused(struct csv_reader *r, const char **why)
{
    if (csv_error(&r->parser) != CSV_EPARSE)
        return ST_NO_MEMORY;
    *why = "a quotation mark is at a wrong place: in a cell it is doubled, and the cell stands in quotation marks";
    return ST_INVALID;
}

/* The last line may lack its end. */
static enum status file_end(struct csv_reader *r, const char **why)
{
    if (ferror(r->file))
        return ST_UNAVAILABLE;
    r->ended = true;
    if (csv_fini(&r->parser, cell_add, row_end, r) == 0)
        return r->done ? ST_OK : ST_NOT_FOUND;
    if (csv_error(&r->parser) != CSV_EPARSE)
        return ST_NO_MEMORY;
    *why = "a quotation mark is not closed";
    return ST_INVALID;
}

/* Reads up to the end of a row. */
static enum status row_read(struct csv_reader *r, const char **why)
{
    buf_reset(&r->text);
    r->count = r->bytes = 0;
    r->begin = 0;
    r->done = false;
    if (r->ended)
        return ST_NOT_FOUND;
    while (!r->done) {
        int c = getc_unlocked(r->file);
        if (c == EOF)
            return file_end(r, why);
        if (r->begin == 0 && c != '\n' && c != '\r' && c != ' ' && c != '\t')
            r->begin = r->line;
        if (r->begin != 0 && r->bytes++ == CSV_ROW_BYTES_MAX) {
            *why = "a row has more than 16384 bytes: is a quotation mark not closed?";
            return ST_INVALID;
        }
        if (!parse(r, (char)c))
            return refused(r, why);
        lines_count(r, (char)c);
    }
    return ST_OK;
}

/* ---- rows ---- */

static void cells_cut(const struct csv_reader *r, struct str text, struct str *cells)
{
    size_t from = 0;
    for (size_t i = 0; i < r->count; i++) {
        cells[i] = str_slice(text, from, r->ends[i]);
        from = r->ends[i];
    }
}

/* Each cell: half of a sequence may be in another one. */
static bool cells_are_utf8(const struct csv_row *row)
{
    for (size_t i = 0; i < row->count; i++)
        if (!utf8_valid(row->cells[i]))
            return false;
    return true;
}

/* A separator at the end of the line makes one empty cell more. */
static void trailing_drop(struct csv_reader *r, size_t wanted)
{
    while (r->count > wanted && r->count <= CSV_COLUMNS_MAX && r->ends[r->count - 1] == r->ends[r->count - 2])
        r->count--;
}

enum status csv_reader_next(struct csv_reader *r, struct csv_row *out, uint64_t *line, const char **why)
{
    enum status st;
    do
        st = row_read(r, why);
    while (st == ST_OK && r->text.len == 0 && !r->text.failed);
    if (st == ST_OK && r->text.failed)
        st = ST_NO_MEMORY;
    *line = r->begin != 0 ? r->begin : r->line;
    if (st != ST_OK)
        return st;
    trailing_drop(r, r->header.count);
    *out = (struct csv_row){ .line = *line, .count = r->count, .cells = r->cells };
    if (r->count == r->header.count)
        cells_cut(r, str_or_empty(buf_view(&r->text)), r->cells);
    out->fault = r->count < r->header.count   ? "it has fewer cells than the header"
                 : r->count > r->header.count ? "it has more cells than the header: put a cell with a separator in "
                                                "quotation marks"
                 : !cells_are_utf8(out)       ? "it is not UTF-8: save the file as UTF-8"
                                              : NULL;
    if (out->fault != NULL)
        out->count = 0;
    return ST_OK;
}

/* ---- the header ---- */

/* Skips a byte order mark, and finds the separator: the first one of the first line. False: the file can't be read
 * twice. */
static bool begin(FILE *file, char *separator)
{
    static const char mark[] = "\xef\xbb\xbf";
    int c = 0;
    for (size_t i = 0; i < sizeof mark - 1; i++)
        if (getc_unlocked(file) != (unsigned char)mark[i]) {
            rewind(file);
            break;
        }
    long first = ftell(file);
    for (int i = 0; i < CSV_ROW_BYTES_MAX && (c = getc_unlocked(file)) != EOF && c != ',' && c != ';'; i++)
        if (c == '\n')
            break;
    *separator = c == ';' ? ';' : ',';
    return first >= 0 && fseek(file, first, SEEK_SET) == 0;
}

static enum status header_read(struct csv_reader *r, const char **why)
{
    enum status st = row_read(r, why);
    if (st == ST_NOT_FOUND) {
        *why = "the file is empty";
        return ST_INVALID;
    }
    if (st != ST_OK)
        return st;
    if (r->text.failed)
        return ST_NO_MEMORY;
    if (r->count > CSV_COLUMNS_MAX) {
        *why = "the header has too many columns";
        return ST_INVALID;
    }
    trailing_drop(r, 1);
    r->header_text = r->text; /* the rows get a buffer of their own */
    r->text = BUF_EMPTY;
    cells_cut(r, str_or_empty(buf_view(&r->header_text)), r->header_cells);
    r->header = (struct csv_row){ .line = r->begin, .count = r->count, .cells = r->header_cells };
    if (cells_are_utf8(&r->header))
        return ST_OK;
    *why = "the header is not UTF-8: save the file as CSV, UTF-8";
    return ST_INVALID;
}

enum status csv_reader_new(FILE *file, struct csv_reader **out, const char **why)
{
    char separator;
    struct csv_reader *r = calloc(1, sizeof *r);
    if (r == NULL)
        return ST_NO_MEMORY;
    *r = (struct csv_reader){ .file = file, .line = 1 };
    if (csv_init(&r->parser, CSV_STRICT | CSV_STRICT_FINI) != 0) {
        free(r);
        return ST_NO_MEMORY;
    }
    enum status st = ST_UNAVAILABLE;
    if (begin(file, &separator)) {
        csv_set_delim(&r->parser, (unsigned char)separator);
        st = header_read(r, why);
    }
    if (st == ST_OK)
        *out = r;
    else
        csv_reader_free(r);
    return st;
}

void csv_reader_free(struct csv_reader *r)
{
    if (r == NULL)
        return;
    csv_free(&r->parser);
    buf_free(&r->header_text);
    buf_free(&r->text);
    free(r);
}

const struct csv_row *csv_reader_header(const struct csv_reader *r)
{
    return &r->header;
}

int csv_reader_column(const struct csv_reader *r, struct str name)
{
    int found = CSV_COLUMN_NONE;
    for (size_t i = 0; i < r->header.count; i++)
        if (str_equal_fold(r->header.cells[i], name))
            found = found == CSV_COLUMN_NONE ? (int)i : CSV_COLUMN_TWICE;
    return found;
}

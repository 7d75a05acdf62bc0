/* A file of credits: io/csv_reader and money/payment. Each row that is read has as many cells as the header, of
 * valid UTF-8, and lines only go up. */
#include <stdio.h>

#include "base/utf8.h"
#include "fuzz.h"
#include "io/csv_reader.h"
#include "ledger/external.h"
#include "money/payment.h"

static void payment_check(const struct csv_row *row)
{
    struct payment p;
    const char *why = NULL;
    const struct payment_typed typed = { row->cells[0], row->cells[row->count / 2], row->cells[row->count - 1],
                                         row->cells[row->count / 3] };
    enum status st = payment_read(fuzz_arena, &typed, &p, &why);
    assert(st == ST_OK || (st == ST_INVALID && why != NULL) || st == ST_NO_MEMORY);
    if (st == ST_OK)
        assert(p.amount_fen > 0 && p.amount_fen <= 999999999 && reference_is_valid(p.reference) &&
               utf8_codepoints(p.memo) <= MEMO_CODE_POINTS_MAX);
}

static void rows_check(struct csv_reader *r)
{
    const size_t columns = csv_reader_header(r)->count;
    struct csv_row row;
    uint64_t line, before = 0;
    const char *why = NULL;
    enum status st;
    while ((st = csv_reader_next(r, &row, &line, &why)) == ST_OK) {
        assert(line == row.line && line >= before);
        before = line;
        assert(row.fault != NULL || row.count == columns);
        for (size_t i = 0; i < row.count; i++)
            assert(utf8_valid(row.cells[i]) && row.cells[i].len <= CSV_ROW_BYTES_MAX);
        if (row.fault == NULL)
            payment_check(&row);
    }
    assert(st == ST_NOT_FOUND || (st == ST_INVALID && why != NULL));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct csv_reader *r = NULL;
    const char *why = NULL;
    fuzz_begin();
    FILE *file = size > 0 ? fmemopen((void *)(uintptr_t)data, size, "r") : NULL; /* only read */
    if (file == NULL)
        return 0;
    enum status st = csv_reader_new(file, &r, &why);
    assert(st == ST_OK || (st == ST_INVALID && why != NULL));
    if (st == ST_OK)
        rows_check(r);
    csv_reader_free(r);
    (void)fclose(file);
    return 0;
}

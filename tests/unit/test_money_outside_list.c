/* money/outside_list: what the list of a channel may look like. */
#include "money/outside_list.h"
#include "support/test.h"

enum { ARENA_BYTES = 1 << 20, TEXT_MAX = 1024 };

/* The rows as "+FEN reference username memo time/", "!" for a row with a fault; "?" when the file is no list. */
static const char *rows_text(const char *file)
{
    static char text[TEXT_MAX];
    static const char ways[] = { [LISTED_IN] = '+', [LISTED_OUT] = '-', [LISTED_REVERSE] = '=' };
    struct arena *a = arena_new(1024, ARENA_BYTES);
    struct outside_list *list = NULL;
    struct listed row;
    const char *why = NULL, *fault = NULL;
    uint64_t line = 0;
    size_t at = 0;
    FILE *in = fmemopen((void *)(uintptr_t)file, strlen(file), "r"); /* only read */
    assert_non_null(in);
    text[0] = '\0';
    enum status st = outside_list_open(in, &list, &why);
    while (st == ST_OK && (st = outside_list_next(list, a, &row, &fault, &line, &why)) == ST_OK)
        at += fault != NULL ? (size_t)snprintf(text + at, sizeof text - at, "!/")
                            : (size_t)snprintf(text + at, sizeof text - at, "%c%d %.*s %.*s %.*s %.*s/", ways[row.way],
                                               (int)row.amount_fen, STR_ARG(row.reference), STR_ARG(row.username),
                                               STR_ARG(row.memo), STR_ARG(row.time));
    if (st != ST_NOT_FOUND) {
        assert_int_equal(st, ST_INVALID);
        assert_non_null(why);
        (void)snprintf(text + at, sizeof text - at, "?");
    }
    outside_list_close(list);
    (void)fclose(in);
    arena_free(a);
    return text;
}

TEST(the_lists_of_banks_and_providers_are_read)
{
    static const struct {
        const char *file, *rows;
    } cases[] = {
        { "reference,amount\nR 1,8\n", "+800 R 1   /" },
        { "\xef\xbb\xbf"
          "Time;AMOUNT;Memo;Username;Reference;balance\r\n30.11. 3:10;-1,234.50;A\tB;@Alice;R;9\r\n",
          "-123450 R alice A B 30.11. 3:10/" },
        { "reference,amount\nR,+8\nS,\xe2\x88\x92"
          "8\nT,\xef\xbc\x8d\xc2\xa5"
          "8\n",
          "+800 R   /-800 S   /-800 T   /" },
        { "kind,reference,amount\nIN,A,1\ncredit,B,1\nout,C,1\ndebit,D,-1\npost,E,1\nreverse,F,1\n"
          "reverse,G,-1\n,H,-1\n",
          "+100 A   /+100 B   /-100 C   /-100 D   /-100 E   /=100 F   /-100 G   /-100 H   /" },
        { "reference,amount\n,8\nR,\nR,0\nR,x\nR,--8\nR\n\xe7\xba\xa2,8\nR,99999999\nS,8\n",
          "!/!/!/!/!/!/!/!/+800 S   /" },
        { "kind,reference,amount\nin,R,-8\nCR?,R,8\n", "!/!/" },
        { "reference,amount,memo\nR,8,\xff\nS,8,s\n", "!/+800 S  s /" },
        { "reference,amount\n", "" },
        { "reference,sum\nR,8\n", "?" },
        { "amount\n8\n", "?" },
        { "reference,amount,Amount\nR,8,8\n", "?" },
        { "reference,amount\n\"R,8\n", "?" },
        { "", "?" },
    };
    EACH (c, cases)
        if (strcmp(rows_text(c->file), c->rows) != 0)
            fail_msg("\"%s\": %s instead of %s", c->file, rows_text(c->file), c->rows);
}

TESTS(NULL, NULL)

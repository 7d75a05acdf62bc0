#include "money/outside_list.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/utf8.h"
#include "io/csv_reader.h"
#include "ledger/external.h"
#include "money/payment.h"
#include "user/account.h"

enum { REFERENCE, AMOUNT, KIND, USERNAME, TIME, MEMO, UNIT, COLUMN_COUNT };

struct outside_list {
    struct csv_reader *reader;
    int columns[COLUMN_COUNT]; /* as csv_reader_column */
    uint64_t rows;
};

/* ---- the header ---- */

static const char *header_read(struct outside_list *l)
{
    static const char *const names[COLUMN_COUNT] = {
        "reference", "amount", "kind", "username", "time", "memo", "unit"
    };
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        l->columns[i] = csv_reader_column(l->reader, str_from(names[i]));
        if (l->columns[i] == CSV_COLUMN_TWICE)
            return "the header has a column twice";
    }
    return l->columns[REFERENCE] < 0 ? "the header has no column reference: it names reference and amount, with commas "
                                       "or semicolons between"
           : l->columns[AMOUNT] < 0  ? "the header has no column amount"
                                     : NULL;
}

enum status outside_list_open(FILE *file, struct outside_list **out, const char **why)
{
    struct outside_list *l = calloc(1, sizeof *l);
    if (l == NULL)
        return ST_NO_MEMORY;
    enum status st = csv_reader_new(file, &l->reader, why);
    if (st == ST_OK && (*why = header_read(l)) != NULL)
        st = ST_INVALID;
    if (st == ST_OK)
        *out = l;
    else
        outside_list_close(l);
    return st;
}

void outside_list_close(struct outside_list *l)
{
    if (l == NULL)
        return;
    csv_reader_free(l->reader);
    free(l);
}

/* ---- rows ---- */

/* The cell, in the arena; empty when the file has no such column, or the arena has failed. */
static struct str cell(const struct outside_list *l, struct arena *a, const struct csv_row *row, size_t column)
{
    return l->columns[column] < 0 ? STR("") : str_or_empty(arena_str(a, row->cells[l->columns[column]]));
}

/* What the column kind says. False: no word of it. */
static bool kind_read(struct str folded, enum listed_way *out)
{
    static const struct {
        const char *word;
        enum listed_way way;
    } words[] = { { "in", LISTED_IN },     { "credit", LISTED_IN }, { "out", LISTED_OUT },
                  { "debit", LISTED_OUT }, { "post", LISTED_OUT },  { "reverse", LISTED_REVERSE } };
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_equal_fold(folded, str_from(words[i].word))) {
            *out = words[i].way;
            return true;
        }
    return false;
}

/* Reads amount, unit and kind. ST_INVALID: *fault says why. */
static enum status money_read(const struct outside_list *l, struct arena *a, const struct csv_row *row,
                              struct listed *out, const char **fault)
{
    struct str amount, kind;
    enum status st = utf8_fold_pasted(a, cell(l, a, row, AMOUNT), &amount);
    if (st == ST_OK)
        st = utf8_fold_pasted(a, cell(l, a, row, KIND), &kind);
    if (st != ST_OK) {
        *fault = "a text is not UTF-8";
        return st;
    }
    const bool is_minus = str_skip_prefix(&amount, STR("-"));
    (void)(is_minus || str_skip_prefix(&amount, STR("+")));
    out->way = is_minus ? LISTED_OUT : LISTED_IN;
    if (kind.len > 0) {
        if (!kind_read(kind, &out->way))
            *fault = "the kind is none of in, out, credit, debit, post and reverse";
        else if (is_minus && out->way == LISTED_IN)
            *fault = "the kind says in, and the amount has a minus";
        else if (is_minus)
            out->way = LISTED_OUT;
    }
    st = *fault != NULL ? ST_INVALID : payment_unit_check(a, cell(l, a, row, UNIT), fault);
    return st == ST_OK ? payment_amount_read(a, amount, &out->amount_fen, fault) : st;
}

/* A text for people, as it may be shown. */
static enum status shown_read(struct arena *a, struct str typed, struct str *out)
{
    *out = STR("");
    return typed.len == 0 ? ST_OK : utf8_clean_shown(a, typed, out);
}

static enum status texts_read(const struct outside_list *l, struct arena *a, const struct csv_row *row,
                              struct listed *out, const char **fault)
{
    enum status st = ST_OK;
    out->reference = cell(l, a, row, REFERENCE);
    if (!reference_is_valid(out->reference)) {
        *fault = out->reference.len == 0 ? "there is no reference"
                                         : "a reference has 1 to 64 characters of ASCII, and no blank at its ends";
        return ST_INVALID;
    }
    out->username = username_fold(a, cell(l, a, row, USERNAME));
    if (out->username.ptr == NULL)
        return ST_NO_MEMORY;
    st = shown_read(a, cell(l, a, row, TIME), &out->time);
    return st == ST_OK ? payment_line_read(a, cell(l, a, row, MEMO), MEMO_CODE_POINTS_MAX, &out->memo, fault) : st;
}

enum status outside_list_next(struct outside_list *l, struct arena *a, struct listed *out, const char **fault,
                              uint64_t *line, const char **why)
{
    struct csv_row row;
    enum status st = csv_reader_next(l->reader, &row, line, why);
    if (st != ST_OK)
        return st;
    if (++l->rows > OUTSIDE_LIST_ROWS_MAX) {
        *why = "the list has more than 1000000 rows: split it";
        return ST_INVALID;
    }
    *out = (struct listed){ .line = row.line };
    *fault = row.fault;
    if (*fault == NULL)
        st = texts_read(l, a, &row, out, fault);
    if (st == ST_OK && *fault == NULL)
        st = money_read(l, a, &row, out, fault);
    if (arena_failed(a))
        return ST_NO_MEMORY;
    return st == ST_INVALID && *fault != NULL ? ST_OK : st;
}

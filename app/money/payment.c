#include "money/payment.h"

#include <stdlib.h>

#include "base/money.h"
#include "base/typed.h"
#include "base/utf8.h"
#include "ledger/external.h"
#include "user/account.h"

enum { SHOWN_CODE_POINTS_MAX = 40 }; /* of a wrong text */

static const char NOT_UTF8[] = "a text is not UTF-8";

/* The amount is wrong: says why, and which text it is. */
static enum status amount_refuse(struct arena *a, struct str what, struct str typed, const char **why)
{
    struct str shown;
    size_t len = 0;
    enum status st = utf8_clean_shown(a, typed, &shown);
    if (st != ST_OK)
        return st;
    for (size_t i = 0; i < SHOWN_CODE_POINTS_MAX && len < shown.len; i++)
        len += utf8_sequence(str_skip(shown, len));
    *why = arena_printf(a, "%.*s: %.*s%s", STR_ARG(what), (int)len, shown.ptr, len < shown.len ? "…" : "").ptr;
    return *why == NULL ? ST_NO_MEMORY : ST_INVALID;
}

enum status payment_amount_read(struct arena *a, struct str typed, int64_t *out_fen, const char **why)
{
    struct str folded;
    int64_t fen = 0;
    enum status st = utf8_fold_pasted(a, typed, &folded);
    if (st == ST_NO_MEMORY)
        return st;
    *why = st != ST_OK ? NOT_UTF8 : folded.len == 0 ? "there is no amount" : NULL;
    if (*why != NULL)
        return ST_INVALID;
    if (!typed_amount(folded, &fen))
        return amount_refuse(a, arena_printf(a, "the amount is no amount of %.*s", STR_ARG(money_unit_says(a))), typed,
                             why);
    if (fen == INT64_MAX)
        return amount_refuse(
            a, arena_printf(a, "the amount is more than %.*s", STR_ARG(money_text(a, TYPED_AMOUNT_MAX_FEN))), typed,
            why);
    *why = fen == 0 ? "the amount is 0" : NULL;
    *out_fen = fen;
    return fen == 0 ? ST_INVALID : ST_OK;
}

enum status payment_unit_check(struct arena *a, struct str unit, const char **why)
{
    const char *code = money_unit()->code;
    if (unit.len == 0 || str_equal(unit, str_from(code)))
        return ST_OK;
    *why = arena_printf(a, "the column unit does not say %s, the unit of this site", code).ptr;
    return *why == NULL ? ST_NO_MEMORY : ST_INVALID;
}

enum status payment_line_read(struct arena *a, struct str typed, size_t code_points_max, struct str *out,
                              const char **why)
{
    struct str line;
    enum status st = typed.len == 0 ? ST_OK : utf8_clean_shown(a, typed, &line);
    if (typed.len == 0)
        line = STR("");
    if (st == ST_INVALID)
        *why = NOT_UTF8;
    if (st != ST_OK)
        return st;
    if (utf8_codepoints(line) > code_points_max) {
        *why = code_points_max == MEMO_CODE_POINTS_MAX ? "the memo has more than 400 characters"
                                                       : "the text has more than 200 characters";
        return ST_INVALID;
    }
    *out = line;
    return ST_OK;
}

enum status payment_read(struct arena *a, const struct payment_typed *typed, struct payment *out, const char **why)
{
    struct payment p = { .reference = typed->reference };
    if (!utf8_valid(typed->username)) {
        *why = NOT_UTF8;
        return ST_INVALID;
    }
    p.username = username_fold(a, typed->username);
    if (p.username.ptr == NULL)
        return ST_NO_MEMORY;
    if (p.username.len == 0) {
        *why = "there is no username";
        return ST_INVALID;
    }
    enum status st = payment_amount_read(a, typed->amount, &p.amount_fen, why);
    if (st == ST_OK && !reference_is_valid(typed->reference)) {
        *why = typed->reference.len == 0 ? "there is no reference"
                                         : "a reference has 1 to 64 characters of ASCII, and no blank at its ends";
        st = ST_INVALID;
    }
    if (st == ST_OK)
        st = payment_line_read(a, typed->memo, MEMO_CODE_POINTS_MAX, &p.memo, why);
    if (st == ST_OK)
        *out = p;
    return st;
}

/* ---- users ---- */

static int by_username(const void *a, const void *b)
{
    const struct payment *const *left = a, *const *right = b;
    return str_compare((*left)->username, (*right)->username);
}

/* Both are in the order of the names. */
static void ids_merge(struct payment **sorted, size_t count, const struct db_rows *rows)
{
    size_t row = 0;
    for (size_t i = 0; i < count; i++) {
        while (row < rows->count && str_compare(db_cell(rows, row, 1), sorted[i]->username) < 0)
            row++;
        if (row < rows->count && str_equal(db_cell(rows, row, 1), sorted[i]->username))
            sorted[i]->user_id = db_cell_u64(rows, row, 0);
    }
}

enum status payments_users_find(struct db *db, struct arena *a, struct payment *const *payments, size_t count)
{
    struct db_rows rows;
    struct buf sql = BUF_EMPTY;
    size_t sorted_count = 0;
    struct payment **sorted = arena_array(a, count + 1, sizeof(struct payment *));
    if (sorted == NULL)
        return ST_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        if (username_valid(payments[i]->username)) /* no other name is one, or can be compared with the column */
            sorted[sorted_count++] = payments[i];
    if (sorted_count == 0)
        return ST_OK;
    qsort(sorted, sorted_count, sizeof(struct payment *), by_username);
    buf_cstr(&sql, "SELECT id, username FROM user WHERE deleting_ms IS NULL AND username IN (");
    for (size_t i = 0; i < sorted_count; i++) {
        db_comma(&sql, i);
        db_append(db, &sql, &DB_TEXT(sorted[i]->username));
    }
    buf_cstr(&sql, ") ORDER BY CAST(username AS BINARY)");
    enum status st = db_query_buf(db, a, &rows, &sql);
    buf_free(&sql);
    if (st == ST_OK)
        ids_merge(sorted, sorted_count, &rows);
    return st;
}

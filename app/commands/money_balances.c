#include "base/array.h"
#include "base/money.h"
#include "base/typed.h"
#include "base/utf8.h"
#include "commands/money_internal.h"
#include "money/balances.h"
#include "web/csv.h"

/* "-" and the id of a user follow a prefix. */
enum { PREFIX_MAX = REFERENCE_MAX - 1 - STR_U64_MAX };

struct listing {
    struct money *money;
    struct buf out;
    bool begun;
};

static void row_json(struct listing *l, const struct balance *b)
{
    struct model model;
    model_init(&model, l->money->arena);
    value_int(&model, &model.root, "user_id", (int64_t)b->user.id);
    value_text(&model, &model.root, "username", b->user.username);
    value_text(&model, &model.root, "nickname", b->user.nickname);
    value_int(&model, &model.root, "balance_fen", b->fen);
    value_text(&model, &model.root, "state", str_from(user_state_word(&b->user)));
    money_json_item(&l->out, &model, !l->begun);
}

/* An import reads the first four columns. */
static void row_csv(struct listing *l, const struct balance *b)
{
    const struct str prefix = money_value(l->money, MONEY_REFERENCE_PREFIX);
    csv_cell(&l->out, b->user.username);
    money_cell(&l->out, b->fen);
    if (prefix.len > 0)
        csv_cell(&l->out, arena_printf(l->money->arena, "%.*s-%" PRIu64, STR_ARG(prefix), b->user.id));
    else
        csv_cell(&l->out, STR(""));
    csv_cell(&l->out, STR("")); /* memo */
    csv_cell(&l->out, b->user.nickname);
    csv_cell(&l->out, str_from(user_state_word(&b->user)));
    money_unit_cell(&l->out);
    csv_row_end(&l->out);
}

static void row_text(struct listing *l, const struct balance *b)
{
    char amount[MONEY_TEXT_MAX];
    (void)money_format(b->fen, amount);
    buf_printf(&l->out, "%-32.*s %16s  %-8s  %.*s\n", STR_ARG(b->user.username), amount, user_state_word(&b->user),
               STR_ARG(b->user.nickname));
}

static enum status page_print(void *ctx, const struct balance *rows, size_t count)
{
    struct listing *l = ctx;
    for (size_t i = 0; i < count; i++) {
        if (money_has(l->money, MONEY_JSON))
            row_json(l, &rows[i]);
        else if (money_has(l->money, MONEY_CSV))
            row_csv(l, &rows[i]);
        else
            row_text(l, &rows[i]);
        l->begun = true;
    }
    if (arena_failed(l->money->arena))
        return ST_NO_MEMORY;
    return money_flush(&l->out);
}

static void list_begin(struct listing *l)
{
    static const char *const columns[] = { "username", "amount", "reference", "memo", "nickname", "state", "unit" };
    if (money_has(l->money, MONEY_JSON))
        buf_printf(&l->out, "{%s,\"balances\":[", money_unit_json(l->money));
    if (money_has(l->money, MONEY_CSV)) {
        csv_begin(&l->out);
        csv_header(&l->out, columns, ARRAY_LEN(columns));
    }
}

/* With --csv the sums go to stderr: an import would take them for a row. */
static enum status sums_print(struct listing *l, const struct balances *b)
{
    char sum[MONEY_TEXT_MAX], wallets[MONEY_TEXT_MAX];
    if (money_has(l->money, MONEY_JSON)) {
        buf_printf(&l->out, "],\"users\":%" PRIu64 ",\"sum_fen\":%" PRId64 ",\"wallets_fen\":%" PRId64 "}\n", b->users,
                   b->sum_fen, b->wallets_fen);
        return money_flush(&l->out);
    }
    (void)money_format(b->sum_fen, sum);
    (void)money_format(b->wallets_fen, wallets);
    (void)fprintf(money_has(l->money, MONEY_CSV) ? stderr : stdout, "%" PRIu64 " users, %s; all wallets %s %s\n",
                  b->users, sum, wallets, money_unit()->code);
    return ST_OK;
}

/* ---- the command ---- */

static enum status min_read(struct money *m, int64_t *out_fen)
{
    struct str folded;
    const struct str typed = money_value(m, MONEY_MIN);
    *out_fen = money_has(m, MONEY_ALL) ? 0 : 1;
    if (!money_has(m, MONEY_MIN))
        return ST_OK;
    if (money_has(m, MONEY_ALL))
        return money_misread(m, "--all and --min exclude each other");
    enum status st = utf8_fold_pasted(m->arena, typed, &folded);
    if (st == ST_INVALID || (st == ST_OK && (!typed_amount(folded, out_fen) || *out_fen == INT64_MAX)))
        return money_misread(m, "%.*s is no amount of %.*s", STR_ARG(typed), STR_ARG(money_unit_says(m->arena)));
    return st;
}

/* No reference with it looks like a formula, or needs quotation marks. */
static enum status prefix_check(struct money *m)
{
    const struct str prefix = money_value(m, MONEY_REFERENCE_PREFIX);
    bool valid = prefix.len > 0 && prefix.len <= PREFIX_MAX;
    if (!money_has(m, MONEY_REFERENCE_PREFIX))
        return ST_OK;
    if (!money_has(m, MONEY_CSV))
        return money_misread(m, "--reference-prefix is for --csv");
    for (size_t i = 0; valid && i < prefix.len; i++) {
        const char c = prefix.ptr[i];
        const bool is_alnum = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
        valid = is_alnum || (i > 0 && (c == '-' || c == '.' || c == '_' || c == '/'));
    }
    return valid ? ST_OK
                 : money_misread(m, "a prefix has 1 to %d letters and digits of ASCII, or - . _ / behind the first one",
                                 PREFIX_MAX);
}

enum status money_balances(struct money *m)
{
    struct listing l = { .money = m, .out = BUF_EMPTY };
    struct balances b = { .page = page_print, .ctx = &l };
    enum status st = min_read(m, &b.min_fen);
    if (st == ST_OK)
        st = prefix_check(m);
    if (st != ST_OK)
        return st;
    list_begin(&l);
    st = balances_read(m->db, m->arena, &b);
    if (st == ST_OK)
        st = sums_print(&l, &b);
    buf_free(&l.out);
    if (st == ST_CORRUPT)
        return money_refuse(m, st, "a wallet has no user, or a cell can't be read; run hongbao audit");
    return st;
}

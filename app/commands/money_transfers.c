#include "base/array.h"
#include "base/clock.h"
#include "base/money.h"
#include "commands/money_internal.h"
#include "money/models.h"
#include "web/csv.h"

struct lines {
    struct transfers_query query;
    struct transfer_line *rows;
};

static enum status lines_next(struct money *m, void *ctx, size_t *count)
{
    struct lines *lines = ctx;
    return transfers_page(m->db, m->arena, &lines->query, &lines->rows, count);
}

static void line_model(struct model *model, struct value *object, const void *ctx, size_t row)
{
    transfer_line_model(model, object, &((const struct lines *)ctx)->rows[row]);
}

static void line_csv(struct buf *out, const void *ctx, size_t row)
{
    const struct transfer_line *t = &((const struct lines *)ctx)->rows[row];
    money_id_cell(out, t->id);
    money_time_cell(out, t->created_ms);
    csv_cell(out, t->kind);
    csv_cell(out, t->username);
    money_cell(out, t->amount_fen);
    csv_cell(out, t->reference);
    csv_cell(out, t->memo);
    csv_cell(out, t->author);
    csv_cell(out, t->interface);
    if (t->reverses != 0)
        money_id_cell(out, t->reverses);
    else
        csv_cell(out, STR(""));
}

static void line_text(struct buf *out, const void *ctx, size_t row)
{
    const struct transfer_line *t = &((const struct lines *)ctx)->rows[row];
    char created[CLOCK_TEXT_MAX], amount[MONEY_TEXT_MAX];
    (void)clock_rfc3339_format(t->created_ms, created);
    (void)money_format(t->amount_fen, amount);
    buf_printf(out, "transfer %" PRIu64 "  %s  %.*s  %.*s  %s  reference %.*s", t->id, created, STR_ARG(t->kind),
               STR_ARG(t->username), amount, STR_ARG(t->reference));
    if (t->reverses != 0)
        buf_printf(out, "  reverses %" PRIu64, t->reverses);
    buf_printf(out, "  by %.*s (%.*s)", STR_ARG(t->author), STR_ARG(t->interface));
    if (t->memo.len > 0)
        buf_printf(out, "  %.*s", STR_ARG(t->memo));
    buf_char(out, '\n');
}

enum status money_transfers(struct money *m)
{
    static const char *const columns[] = { "id",        "created_at", "kind",   "username",  "amount",
                                           "reference", "memo",       "author", "interface", "reverses" };
    static const struct money_list list = { "transfers", columns,    ARRAY_LEN(columns), TRANSFERS_PAGE_ROWS,
                                            lines_next,  line_model, line_csv,           line_text };
    struct lines lines = { .query = { .channel_id = 0 } };
    struct channel channel;
    enum status st = money_days_read(m, &lines.query.from_ms, &lines.query.until_ms);
    if (st == ST_OK && money_has(m, MONEY_AFTER))
        st = money_id_read(m, money_value(m, MONEY_AFTER), &lines.query.after);
    if (st == ST_OK)
        st = money_channel_find(m, &channel);
    if (st != ST_OK)
        return st;
    lines.query.channel_id = channel.id;
    return money_list_print(m, &list, &lines);
}

#include "base/array.h"
#include "base/clock.h"
#include "base/money.h"
#include "commands/money_internal.h"
#include "money/models.h"
#include "web/csv.h"

static void line_json(struct buf *out, struct arena *a, const struct transfer_line *t, bool is_first)
{
    struct model model;
    model_init(&model, a);
    transfer_line_model(&model, &model.root, t);
    money_json_item(out, &model, is_first);
}

static void line_csv(struct buf *out, const struct transfer_line *t)
{
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
    csv_row_end(out);
}

static void line_text(struct buf *out, const struct transfer_line *t)
{
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

static void list_begin(struct money *m, struct buf *out)
{
    static const char *const columns[] = { "id",        "created_at", "kind",   "username",  "amount",
                                           "reference", "memo",       "author", "interface", "reverses" };
    if (money_has(m, MONEY_JSON))
        buf_cstr(out, "{\"transfers\":[");
    if (money_has(m, MONEY_CSV)) {
        csv_begin(out);
        csv_header(out, columns, ARRAY_LEN(columns));
    }
}

static enum status pages_print(struct money *m, struct transfers_query *query, struct buf *out)
{
    struct transfer_line *lines = NULL;
    size_t count = TRANSFERS_PAGE_ROWS;
    enum status st = ST_OK;
    list_begin(m, out);
    while (st == ST_OK && count == TRANSFERS_PAGE_ROWS) {
        const bool is_first = query->after_id == 0;
        arena_reset(m->arena);
        st = transfers_page(m->db, m->arena, query, &lines, &count);
        for (size_t i = 0; st == ST_OK && i < count; i++)
            if (money_has(m, MONEY_JSON))
                line_json(out, m->arena, &lines[i], is_first && i == 0);
            else if (money_has(m, MONEY_CSV))
                line_csv(out, &lines[i]);
            else
                line_text(out, &lines[i]);
        if (st == ST_OK)
            st = money_flush(out);
    }
    if (st == ST_OK && money_has(m, MONEY_JSON)) {
        buf_cstr(out, "]}\n");
        st = money_flush(out);
    }
    return st;
}

enum status money_transfers(struct money *m)
{
    struct transfers_query query = { .channel_id = 0 };
    struct channel channel;
    struct buf out = BUF_EMPTY;
    enum status st = money_days_read(m, &query.from_ms, &query.until_ms);
    if (st == ST_OK)
        st = money_channel_find(m, &channel);
    if (st != ST_OK)
        return st;
    query.channel_id = channel.id;
    st = pages_print(m, &query, &out);
    buf_free(&out);
    return st;
}

#include "commands/money_internal.h"
#include "mysql/db_durable.h"
#include "web/csv.h"

static void row_append(struct money *m, const struct money_list *list, const void *ctx, struct buf *out, size_t row,
                       bool is_first)
{
    struct model model;
    if (money_has(m, MONEY_JSON)) {
        model_init(&model, m->arena);
        list->row_model(&model, &model.root, ctx, row);
        money_json_item(out, &model, is_first);
    } else if (money_has(m, MONEY_CSV)) {
        list->row_csv(out, ctx, row);
        money_unit_cell(out);
        csv_row_end(out);
    } else {
        list->row_text(out, ctx, row);
    }
}

static enum status pages_print(struct money *m, const struct money_list *list, void *ctx, struct buf *out)
{
    enum status st = ST_OK;
    size_t count = list->page_rows;
    for (bool is_first = true; st == ST_OK && count == list->page_rows; is_first = false) {
        arena_reset(m->arena);
        st = list->next(m, ctx, &count);
        if (st == ST_OK && count > 0) /* who reads the list books the rows, or pays them */
            st = status_idempotent(db_durable(m->db, db_connections(m->db)));
        for (size_t i = 0; st == ST_OK && i < count; i++)
            row_append(m, list, ctx, out, i, is_first && i == 0);
        if (st == ST_OK)
            st = money_flush(out);
    }
    return st;
}

enum status money_list_print(struct money *m, const struct money_list *list, void *ctx)
{
    struct buf out = BUF_EMPTY;
    if (money_has(m, MONEY_JSON))
        buf_printf(&out, "{%s,\"%s\":[", money_unit_json(m), list->name);
    if (money_has(m, MONEY_CSV)) {
        csv_begin(&out);
        for (size_t i = 0; i < list->column_count; i++)
            csv_cell(&out, str_from(list->columns[i]));
        csv_cell(&out, STR("unit"));
        csv_row_end(&out);
    }
    enum status st = pages_print(m, list, ctx, &out);
    if (st == ST_OK && money_has(m, MONEY_JSON)) {
        buf_cstr(&out, "]}\n");
        st = money_flush(&out);
    }
    buf_free(&out);
    return st;
}

#include "wallet/pending.h"

#include "mysql/db.h"
#include "wallet/transfer.h"
#include "web/view.h"

enum { COLUMN_HOLD, COLUMN_AMOUNT, COLUMN_CREATED, COLUMN_NAME, COLUMN_NOTE, COLUMN_DESTINATION };

static void row_model(struct model *m, struct value *list, const struct db_rows *rows, size_t row)
{
    struct value *o = value_add_object(m, list);
    const struct str name = db_cell(rows, row, COLUMN_NAME), note = db_cell(rows, row, COLUMN_NOTE);
    const uint64_t hold_id = db_cell_u64(rows, row, COLUMN_HOLD);
    value_int(m, o, "transfer", (int64_t)hold_id);
    value_page_text(m, o, "url", transfer_url(m->arena, hold_id));
    view_money_model(m, o, "amount_fen", "amount_text", db_cell_i64(rows, row, COLUMN_AMOUNT));
    value_text(m, o, "channel", name);
    value_page_text(m, o, "channel_text", note.len > 0 ? note : name);
    value_text(m, o, "account", db_cell(rows, row, COLUMN_DESTINATION));
    view_time_model(m, o, "created_at", "created_at_text", db_cell_i64(rows, row, COLUMN_CREATED));
}

enum status pending_model(struct exchange *x, struct model *m, uint64_t count)
{
    struct value *list = value_list(m, &m->root, "pending");
    struct db_rows rows;
    value_page_bool(m, &m->root, "has_pending", count > 0);
    if (count == 0)
        return ST_OK;
    enum status st =
        db_query(x->app->stores.db, x->arena, &rows,
                 "SELECT w.hold_id, w.amount_fen, w.created_ms, c.name, c.note, w.destination FROM withdrawal AS w"
                 " JOIN channel AS c ON c.id = w.channel_id WHERE w.user_id = ? AND w.state = 'pending'"
                 " ORDER BY w.id DESC LIMIT ?",
                 DB_PARAMS(DB_U64(x->visitor.user_id), DB_U64(PENDING_SHOWN_MAX)));
    for (size_t i = 0; st == ST_OK && i < rows.count; i++)
        row_model(m, list, &rows, i);
    return st;
}

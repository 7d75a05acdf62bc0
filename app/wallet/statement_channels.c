#include "wallet/statement_channels.h"

enum { COLUMN_ID, COLUMN_NAME, COLUMN_NOTE, COLUMN_MEMO, COLUMN_REFERENCE, COLUMN_STATE, COLUMN_TOPUP };

static bool has_channel(const struct statement_entry *entry)
{
    return entry->kind == TRANSFER_CREDIT || entry->kind == TRANSFER_DEBIT || entry->kind == TRANSFER_REVERSE ||
           entry->kind == TRANSFER_WITHDRAW || entry->kind == TRANSFER_VOID;
}

static void entries_fill(struct statement *s, const struct db_rows *rows)
{
    for (size_t row = 0; row < rows->count; row++)
        for (size_t i = 0; i < s->count; i++)
            if (has_channel(&s->entries[i]) && s->entries[i].id == db_cell_u64(rows, row, COLUMN_ID))
                s->entries[i].channel = (struct statement_channel){
                    .name = db_cell(rows, row, COLUMN_NAME),
                    .note = db_cell(rows, row, COLUMN_NOTE),
                    .memo = db_cell(rows, row, COLUMN_MEMO),
                    .reference = db_cell(rows, row, COLUMN_REFERENCE),
                    .state = db_cell(rows, row, COLUMN_STATE),
                    .is_topup = db_cell(rows, row, COLUMN_TOPUP).ptr != NULL,
                };
}

enum status statement_channels_read(struct db *db, struct arena *a, struct statement *s)
{
    uint64_t *ids = arena_array(a, s->count + 1, sizeof *ids);
    struct buf sql = BUF_EMPTY;
    struct db_rows rows;
    size_t count = 0;
    if (ids == NULL)
        return ST_NO_MEMORY;
    for (size_t i = 0; i < s->count; i++)
        if (has_channel(&s->entries[i]))
            ids[count++] = s->entries[i].id;
    if (count == 0)
        return ST_OK;
    buf_cstr(&sql,
             "SELECT e.transfer_id, c.name, c.note, e.memo, e.reference, NULL, p.topup_id FROM external_transfer AS e"
             " JOIN channel AS c ON c.id = e.channel_id"
             " LEFT JOIN topup_payment AS p ON p.transfer_id = e.transfer_id WHERE e.transfer_id IN ");
    db_ids(&sql, ids, count);
    buf_cstr(&sql, " UNION ALL SELECT w.end_id, c.name, c.note, w.reason, NULL, NULL, NULL FROM withdrawal AS w"
                   " JOIN channel AS c ON c.id = w.channel_id WHERE w.end_id IN ");
    db_ids(&sql, ids, count);
    buf_cstr(&sql, " UNION ALL SELECT w.hold_id, c.name, c.note, '', NULL, w.state, NULL FROM withdrawal AS w"
                   " JOIN channel AS c ON c.id = w.channel_id WHERE w.hold_id IN ");
    db_ids(&sql, ids, count);
    enum status st = db_query_buf(db, a, &rows, &sql);
    buf_free(&sql);
    if (st == ST_OK)
        entries_fill(s, &rows);
    return st;
}

void statement_channel_model(struct model *m, struct value *o, const struct statement_entry *entry)
{
    const struct statement_channel *c = &entry->channel;
    if (c->name.ptr == NULL)
        return;
    value_text(m, o, "channel", c->name);
    value_text(m, o, "memo", c->memo);
    if (c->reference.ptr != NULL)
        value_text(m, o, "reference", c->reference);
    if (c->state.ptr != NULL) {
        value_text(m, o, "state", c->state);
        value_page_bool(m, o, "is_pending", str_equal(c->state, STR("pending")));
    }
    value_page_bool(m, o, "is_topup", c->is_topup);
    value_page_text(m, o, "channel_text", c->note.len > 0 ? c->note : c->name);
}

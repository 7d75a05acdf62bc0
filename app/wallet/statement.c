#include "wallet/statement.h"

#include <inttypes.h>

#include "base/money.h"
#include "base/public_id.h"
#include "web/field_types.h"
#include "web/respond.h"
#include "web/view.h"

enum { COLUMN_ID, COLUMN_KIND, COLUMN_AMOUNT, COLUMN_PACKET, COLUMN_CREATED };

static enum status entry_read(const struct db_rows *rows, size_t row, struct statement_entry *out)
{
    if (!transfer_kind_read(db_cell(rows, row, COLUMN_KIND), &out->kind))
        return ST_CORRUPT;
    out->transfer_id = db_cell_u64(rows, row, COLUMN_ID);
    out->amount_fen = db_cell_i64(rows, row, COLUMN_AMOUNT);
    out->packet_id = db_cell(rows, row, COLUMN_PACKET).ptr != NULL ? db_cell_u64(rows, row, COLUMN_PACKET) : 0;
    out->created_ms = db_cell_i64(rows, row, COLUMN_CREATED);
    return ST_OK;
}

/* Each half walks its own index backwards and stops after a page, however long the account's history is. One entry
 * more than a page is asked for, to know whether there is a next page. */
enum status statement_read(struct db *db, struct arena *a, uint64_t account_id, uint64_t before, struct statement *out)
{
    static const char sql[] = "(SELECT id, kind, amount_fen, packet_id, created_ms FROM transfer"
                              " WHERE credit_id = ? AND id < ? ORDER BY id DESC LIMIT ?)"
                              " UNION ALL "
                              "(SELECT id, kind, -amount_fen, packet_id, created_ms FROM transfer"
                              " WHERE debit_id = ? AND id < ? ORDER BY id DESC LIMIT ?)"
                              " ORDER BY id DESC LIMIT ?";
    const struct db_param limit = DB_I64(STATEMENT_PAGE_ENTRIES + 1);
    struct db_rows rows;
    enum status st = db_query(
        db, a, &rows, sql,
        DB_PARAMS(DB_U64(account_id), DB_U64(before), limit, DB_U64(account_id), DB_U64(before), limit, limit));
    if (st != ST_OK)
        return st;
    *out = (struct statement){ 0 };
    out->count = rows.count < STATEMENT_PAGE_ENTRIES ? rows.count : STATEMENT_PAGE_ENTRIES;
    for (size_t i = 0; i < out->count; i++) {
        st = entry_read(&rows, i, &out->entries[i]);
        if (st != ST_OK)
            return st;
    }
    if (rows.count > STATEMENT_PAGE_ENTRIES)
        out->next = out->entries[STATEMENT_PAGE_ENTRIES - 1].transfer_id;
    return ST_OK;
}

/* ---- the page ---- */

static void entry_model(struct exchange *x, struct model *m, struct value *list, const struct statement_entry *entry)
{
    struct value *o = value_add_object(m, list);
    bool income = entry->amount_fen > 0;
    struct str amount = money_text(m->arena, entry->amount_fen);

    value_text(m, o, "kind", str_from(transfer_kind_name(entry->kind)));
    value_page_bool(m, o, "is_deposit", entry->kind == TRANSFER_DEPOSIT);
    value_page_bool(m, o, "is_send", entry->kind == TRANSFER_SEND);
    value_page_bool(m, o, "is_grab", entry->kind == TRANSFER_GRAB);
    value_page_bool(m, o, "is_refund", entry->kind == TRANSFER_REFUND);
    value_int(m, o, "amount_fen", entry->amount_fen);
    value_page_text(m, o, "amount_text", arena_printf(m->arena, "%s%.*s", income ? "+" : "", STR_ARG(amount)));
    value_page_bool(m, o, "income", income);
    if (entry->packet_id != 0) {
        struct str id = public_id_text(m->arena, &x->app->id_key, entry->packet_id);
        value_text(m, o, "packet", id);
        value_page_text(m, o, "packet_url", arena_printf(m->arena, "/p/%.*s", STR_ARG(id)));
    } else {
        value_null(m, o, "packet");
    }
    view_time_model(m, o, "created_at", "created_at_text", entry->created_ms);
}

struct reading {
    struct arena *arena;
    uint64_t account_id;
    uint64_t before;
    int64_t balance_fen;
    struct statement statement;
};

static enum status reading_body(struct db *db, void *ctx)
{
    struct reading *r = ctx;
    enum status st = ledger_balance(db, r->arena, r->account_id, &r->balance_fen);
    return st == ST_OK ? statement_read(db, r->arena, r->account_id, r->before, &r->statement) : st;
}

enum status statement_model(struct exchange *x, struct model *m, uint64_t before, struct str typed_amount,
                            struct str request_key)
{
    struct reading r = { .arena = x->arena, .account_id = x->visitor.user_id, .before = before };
    /* One instant for both: the newest entry is always in the balance. */
    enum status st = db_snapshot(x->app->stores.db, reading_body, &r);
    const struct statement *s = &r.statement;

    if (st != ST_OK)
        return st;
    view_money_model(m, &m->root, "balance_fen", "balance_text", r.balance_fen);
    struct value *entries = value_list(m, &m->root, "entries");
    for (size_t i = 0; i < s->count; i++)
        entry_model(x, m, entries, &s->entries[i]);
    if (s->next != 0) {
        struct str next = arena_printf(x->arena, "%" PRIu64, s->next);
        value_text(m, &m->root, "next", next);
        value_page_text(m, &m->root, "next_url", arena_printf(x->arena, "/wallet?before=%.*s", STR_ARG(next)));
    } else {
        value_null(m, &m->root, "next");
    }
    if (x->app->stores.config->demo) {
        struct value *form = value_page_object(m, &m->root, "form");
        value_page_text(m, form, "amount", typed_amount);
        value_page_text(m, form, "request_key", request_key);
    }
    return ST_OK;
}

static const struct field statement_fields[] = {
    { .name = "before", .type = &FIELD_NUMBER, .min = 1 },
    { .name = NULL },
};

enum step statement_show(struct exchange *x)
{
    uint64_t before = STATEMENT_NEWEST;
    struct model m;

    if (!query_read(x, statement_fields, &before)) {
        respond_problem(x, &PROBLEM_BAD_REQUEST);
        return STEP_DONE;
    }
    model_init(&m, x->arena);
    enum status st = statement_model(x, &m, before, STR(""), request_key_new(x->arena));
    if (st == ST_OK)
        respond_model(x, 200, "pages/wallet", &m);
    else
        respond_status(x, st);
    return STEP_DONE;
}

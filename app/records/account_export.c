#include "records/account_export.h"

#include "account/account_page.h"
#include "packet/record_search.h"
#include "packet/thanks.h"
#include "records/export_limit.h"
#include "records/records.h"
#include "user/cover_store.h"
#include "user/invitation_store.h"
#include "user/store.h"
#include "wallet/statement.h"
#include "wallet/topup_model.h"
#include "web/respond.h"
#include "web/view.h"

/* The parts of the file, in their order. A list is written in several parts, one for each page of rows. */
enum place { PLACE_HEAD, PLACE_SENT, PLACE_RECEIVED, PLACE_STATEMENT, PLACE_TOPUPS, PLACE_END };

/* An export under way; in the request's arena. */
struct account_export {
    enum place place;      /* the content of the next part */
    struct list_key below; /* of a list: where it continues */
    bool list_begun;       /* the list has an item already */
};

/* Appends the items of a model's list to a list of the file. */
static void items_append(struct exchange *x, struct account_export *export, const struct value *list)
{
    for (const struct value *item = list->as.list.first; item != NULL; item = item->next) {
        if (export->list_begun)
            buf_char(&x->body, ',');
        export->list_begun = true;
        value_json(&x->body, item);
    }
}

/* Adds the versions of the terms that the user has accepted. */
static enum status terms_append(struct exchange *x, struct model *m)
{
    struct terms_row *rows;
    size_t count;
    enum status st = terms_of_user(x->app->stores.db, x->arena, x->visitor.user_id, &rows, &count);
    if (st != ST_OK)
        return st;
    struct value *list = value_list(m, &m->root, "terms");
    for (size_t i = 0; i < count; i++) {
        struct value *item = value_add_object(m, list);
        value_text(m, item, "version", rows[i].version);
        view_moment_model(m, item, "accepted_at", rows[i].accepted_ms);
    }
    return ST_OK;
}

static enum status head_append(struct exchange *x)
{
    struct db *db = x->app->stores.db;
    struct model m;
    const struct statement_query query = { .account_id = x->visitor.user_id, .limit = 1 };
    struct statement statement;
    struct str_list own = { NULL, 0 };
    int64_t created_ms = 0;
    enum status st = account_model(x, &m);
    if (st == ST_OK)
        st = covers_find(db, x->arena, x->visitor.user_id, &own);
    if (st == ST_OK)
        st = user_created_find(db, x->arena, x->visitor.user_id, &created_ms);
    if (st == ST_OK)
        st = statement_read(db, x->arena, &query, &statement);
    if (st != ST_OK)
        return st == ST_NOT_FOUND ? ST_CORRUPT : st; /* every user has a wallet */
    view_moment_model(&m, &m.root, "created_at", created_ms);
    view_moment_model(&m, &m.root, "exported_at", x->now_ms);
    value_int(&m, &m.root, "balance_fen", statement.balance_fen);
    struct value *covers = value_list(&m, &m.root, "covers");
    for (size_t i = 0; i < own.count; i++)
        view_cover_model(&m, value_add_object(&m, covers), STR("own"), own.items[i]);
    st = terms_append(x, &m);
    if (st == ST_OK)
        st = m.failed ? ST_NO_MEMORY : ST_OK;
    if (st != ST_OK)
        return st;
    value_json(&x->body, &m.root);
    if (x->body.len > 0)
        x->body.len--; /* without its last brace, the object continues */
    return ST_OK;
}

/* Adds what the records page does not show. */
static enum status items_complete(struct exchange *x, struct model *m, struct value *list, enum record_side side,
                                  const struct record_list *records)
{
    struct str *thanks = arena_array(x->arena, records->count + 1, sizeof *thanks);
    uint64_t *ids = arena_array(x->arena, records->count + 1, sizeof *ids);
    if (thanks == NULL || ids == NULL)
        return ST_NO_MEMORY;
    for (size_t i = 0; i < records->count; i++)
        ids[i] = records->rows[i].packet_id;
    enum status st = side == RECORD_SENT
                         ? ST_OK
                         : thanks_of_user(x->app->stores.db, x->arena, x->visitor.user_id, ids, records->count, thanks);
    size_t i = 0;
    for (struct value *item = list->as.list.first; st == ST_OK && item != NULL; item = item->next, i++) {
        value_int(m, item, "returned_fen", records->rows[i].returned_fen);
        if (side == RECORD_RECEIVED && thanks[i].ptr != NULL)
            value_text(m, item, "thanks", thanks[i]);
        else if (side == RECORD_RECEIVED)
            value_null(m, item, "thanks");
    }
    return st;
}

/* Appends the next records of a side. */
static enum status records_append(struct exchange *x, struct account_export *export, enum record_side side)
{
    const struct record_query query = { .user_id = x->visitor.user_id, .side = side };
    const struct db_page page = { .below = export->below, .limit = ACCOUNT_EXPORT_PART_ROWS };
    const struct record_filter every = { 0 };
    struct record_result found;
    struct model m;
    enum status st = records_search(x->app->stores.db, x->arena, &query, &page, &every, x->now_ms, &found);
    if (st != ST_OK)
        return st;
    model_init(&m, x->arena);
    struct value *list = value_list(&m, &m.root, "items");
    records_model(x, &m, list, side, &found.records);
    st = m.failed ? ST_NO_MEMORY : items_complete(x, &m, list, side, &found.records);
    if (st != ST_OK || m.failed)
        return st == ST_OK ? ST_NO_MEMORY : st;
    items_append(x, export, list);
    export->below = found.rest;
    return ST_OK;
}

static enum status statement_append(struct exchange *x, struct account_export *export)
{
    const struct statement_query query = { .account_id = x->visitor.user_id,
                                           .below = export->below,
                                           .limit = ACCOUNT_EXPORT_PART_ROWS };
    struct statement statement;
    struct model m;
    enum status st = statement_read(x->app->stores.db, x->arena, &query, &statement);
    if (st != ST_OK)
        return st == ST_NOT_FOUND ? ST_CORRUPT : st;
    model_init(&m, x->arena);
    struct value *list = value_list(&m, &m.root, "items");
    statement_entries_model(x, &m, list, &statement);
    if (m.failed)
        return ST_NO_MEMORY;
    items_append(x, export, list);
    export->below = (struct list_key){ 0 };
    if (statement.more) {
        const struct statement_entry *last = &statement.entries[statement.count - 1];
        export->below = (struct list_key){ true, last->created_ms, last->id };
    }
    return ST_OK;
}

/* Appends the next orders of top-ups, by their numbers. */
static enum status topups_append(struct exchange *x, struct account_export *export)
{
    struct topup *orders = NULL;
    size_t count = 0;
    struct model m;
    enum status st = topup_list(x->app->stores.db, x->arena, x->visitor.user_id, export->below.id,
                                ACCOUNT_EXPORT_PART_ROWS, &orders, &count);
    if (st != ST_OK)
        return st;
    model_init(&m, x->arena);
    struct value *list = value_list(&m, &m.root, "items");
    for (size_t i = 0; i < count; i++)
        topup_model(x, &m, value_add_object(&m, list), &orders[i]);
    if (m.failed)
        return ST_NO_MEMORY;
    items_append(x, export, list);
    export->below = (struct list_key){ 0 };
    if (count == ACCOUNT_EXPORT_PART_ROWS)
        export->below = (struct list_key){ true, orders[count - 1].created_ms, orders[count - 1].id };
    return ST_OK;
}

static enum status part_append(struct exchange *x, bool *more)
{
    struct account_export *export = x->state;
    static const char *const NAMES[] = { [PLACE_SENT] = ",\"sent\":[",
                                         [PLACE_RECEIVED] = ",\"received\":[",
                                         [PLACE_STATEMENT] = ",\"statement\":[",
                                         [PLACE_TOPUPS] = ",\"topups\":[" };
    bool is_list = export->place > PLACE_HEAD && export->place < PLACE_END;
    enum status st = ST_OK;
    if (is_list && !export->below.given) {
        buf_cstr(&x->body, NAMES[export->place]);
        export->list_begun = false;
    }
    switch (export->place) {
    case PLACE_HEAD: st = head_append(x); break;
    case PLACE_SENT: st = records_append(x, export, RECORD_SENT); break;
    case PLACE_RECEIVED: st = records_append(x, export, RECORD_RECEIVED); break;
    case PLACE_STATEMENT: st = statement_append(x, export); break;
    case PLACE_TOPUPS: st = topups_append(x, export); break;
    case PLACE_END: buf_cstr(&x->body, "}\n"); break;
    }
    if (st != ST_OK)
        return st;
    if (is_list && !export->below.given)
        buf_char(&x->body, ']');
    if (!export->below.given)
        export->place++;
    *more = export->place <= PLACE_END;
    return ST_OK;
}

enum step account_export(struct exchange *x)
{
    if (!export_limit_take(x))
        return STEP_DONE;
    struct account_export *export = arena_alloc(x->arena, sizeof *export);
    if (export == NULL) {
        respond_status(x, ST_NO_MEMORY);
        return STEP_DONE;
    }
    *export = (struct account_export){ .place = PLACE_HEAD };
    x->state = export;
    respond_header(x, "Content-Disposition", STR("attachment; filename=\"hongbao-account.json\""));
    respond_stream(x, STR("application/json"), part_append);
    return STEP_DONE;
}

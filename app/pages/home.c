#include "pages/home.h"

#include "ledger/ledger.h"
#include "packet/records.h"
#include "packet/store.h"
#include "pages/records.h"
#include "web/respond.h"
#include "web/view.h"

struct home {
    int64_t balance_fen;
    struct received_row *received;
    size_t received_count;
    struct packet *sent;
    size_t sent_count;
};

static enum status home_find(struct exchange *x, struct home *home)
{
    static const struct record_range all_time = { .from_ms = 0, .until_ms = INT64_MAX };
    struct db *db = x->app->stores.db;
    uint64_t user_id = x->visitor.user_id;
    enum status st = ledger_balance(db, x->arena, user_id, &home->balance_fen);
    if (st == ST_NOT_FOUND)
        return ST_CORRUPT;
    if (st == ST_OK) {
        st = records_received_find(db, x->arena, user_id, &all_time, RECORDS_HOME_ITEMS, &home->received,
                                   &home->received_count);
    }
    if (st == ST_OK)
        st = records_sent_find(db, x->arena, user_id, &all_time, RECORDS_HOME_ITEMS, &home->sent, &home->sent_count);
    return st;
}

static void home_model(struct exchange *x, struct model *m, const struct home *home)
{
    struct value *root = &m->root;
    struct value *user = value_object(m, root, "user");
    value_int(m, user, "id", (int64_t)x->visitor.user_id);
    value_text(m, user, "username", x->visitor.username);
    value_text(m, user, "nickname", x->visitor.nickname);
    view_avatar_model(m, user, x->visitor.user_id, x->visitor.nickname);
    view_money_model(m, root, "balance_fen", "balance_text", home->balance_fen);
    records_received_model(x, m, value_list(m, root, "received"), home->received, home->received_count);
    records_sent_model(x, m, value_list(m, root, "sent"), home->sent, home->sent_count);
}

enum step home_show(struct exchange *x)
{
    struct model m;
    model_init(&m, x->arena);
    if (x->visitor.user_id == 0) {
        value_null(&m, &m.root, "user");
        respond_model(x, 200, "pages/home", &m);
        return STEP_DONE;
    }
    struct home home;
    enum status st = home_find(x, &home);
    if (st != ST_OK) {
        respond_status(x, st);
        return STEP_DONE;
    }
    home_model(x, &m, &home);
    respond_model(x, 200, "pages/home", &m);
    return STEP_DONE;
}

#include "pages/home.h"

#include "packet/records.h"
#include "pages/records.h"
#include "web/respond.h"
#include "web/view.h"

static void home_model(struct exchange *x, struct model *m, const struct overview *home)
{
    struct value *root = &m->root;
    struct value *user = value_object(m, root, "user");
    value_int(m, user, "id", (int64_t)x->visitor.user_id);
    value_text(m, user, "username", x->visitor.username);
    value_text(m, user, "nickname", x->visitor.nickname);
    view_avatar_model(m, user, x->visitor.user_id, x->visitor.nickname);
    view_money_model(m, root, "balance_fen", "balance_text", home->balance_fen);
    records_model(x, m, value_list(m, root, "received"), RECORD_RECEIVED, &home->records[RECORD_RECEIVED]);
    records_model(x, m, value_list(m, root, "sent"), RECORD_SENT, &home->records[RECORD_SENT]);
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
    struct overview home;
    enum status st = overview_find(x->app->stores.db, x->arena, x->visitor.user_id, RECORDS_HOME_ITEMS, &home);
    if (st != ST_OK) {
        respond_status(x, st == ST_NOT_FOUND ? ST_CORRUPT : st); /* every user has a wallet */
        return STEP_DONE;
    }
    home_model(x, &m, &home);
    respond_model(x, 200, "pages/home", &m);
    return STEP_DONE;
}

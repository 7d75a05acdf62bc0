#include "records/home.h"

#include "account/nudge.h"
#include "account/terms_page.h"
#include "base/money.h"
#include "packet/records.h"
#include "pages/looked.h"
#include "records/inbox.h"
#include "records/records.h"
#include "user/known_device.h"
#include "web/respond.h"
#include "web/usual_amounts.h"
#include "web/view.h"

/* The data of the visitor that the home page shows. */
struct home {
    struct overview overview;
    struct inbox inbox;
    int64_t seen_ms;
};

static enum status home_find(struct exchange *x, struct home *out)
{
    struct db *db = x->app->stores.db;
    enum status st = overview_find(db, x->arena, x->visitor.user_id, RECORDS_HOME_ITEMS, &out->overview);
    if (st == ST_NOT_FOUND)
        return ST_CORRUPT; /* every user has a wallet */
    struct inbox_looked looked;
    looked_read(x, &looked);
    return st == ST_OK ? inbox_find(db, x->arena, x->visitor.user_id, x->now_ms, &looked, &out->inbox) : st;
}

static bool home_is_empty(const struct home *home)
{
    const struct record_list *records = home->overview.records;
    return records[RECORD_RECEIVED].count + records[RECORD_SENT].count + home->inbox.count == 0;
}

/* The form of a packet with this amount. */
static struct str gift_link(struct model *m, struct str amount, void *context)
{
    (void)context;
    return arena_printf(m->arena, "/send?amount=%.*s", STR_ARG(str_or_empty(amount)));
}

/* The largest amount that is proposed to a newcomer, who has sent nothing today. */
static int64_t gift_fen_max(const struct config *config)
{
    const int64_t day_fen = config->user_send_day_fen;
    return day_fen > 0 && day_fen < config->share_fen_max ? day_fen : config->share_fen_max;
}

static void home_model(struct exchange *x, struct model *m, const struct home *home)
{
    struct value *root = &m->root;
    struct value *user = value_object(m, root, "user");
    value_int(m, user, "id", (int64_t)x->visitor.user_id);
    value_text(m, user, "username", x->visitor.username);
    value_text(m, user, "nickname", x->visitor.nickname);
    view_avatar_model(m, user, x->visitor.user_id, x->visitor.nickname, &x->visitor.face);
    value_bool(m, root, "sending", x->app->stores.config->sending);
    view_total_model(m, root, "balance_fen", "balance_text", home->overview.balance_fen);
    records_model(x, m, value_list(m, root, "received"), RECORD_RECEIVED, &home->overview.records[RECORD_RECEIVED]);
    records_model(x, m, value_list(m, root, "sent"), RECORD_SENT, &home->overview.records[RECORD_SENT]);
    inbox_model(x, m, &home->inbox, home->seen_ms);
    value_page_bool(m, root, "newcomer", home_is_empty(home));
    if (home->overview.balance_fen > 0 || home->overview.records[RECORD_RECEIVED].count > 0)
        nudge_model(x, m);
    usual_amounts_model(m, root, "usual", USUAL_GIFTS, gift_fen_max(x->app->stores.config), gift_link, NULL);
}

enum step home_show(struct exchange *x)
{
    struct model m;
    model_init(&m, x->arena);
    view_unit_model(&m, &m.root);
    value_text(&m, &m.root, "unit_symbol", str_from(money_unit()->symbol));
    if (x->visitor.user_id == 0) {
        value_null(&m, &m.root, "user");
        value_page_bool(&m, &m.root, "login_first", known_device_login_first(x));
        respond_model(x, 200, "pages/home", &m);
        return STEP_DONE;
    }
    if (!x->wants_json && terms_due(x, x->visitor.user_id)) {
        respond_see_other(x, STR("/terms"));
        return STEP_DONE;
    }
    struct home home = { .seen_ms = 0 };
    enum status st = home_find(x, &home);
    if (st != ST_OK) {
        respond_status(x, st);
        return STEP_DONE;
    }
    if (!x->wants_json && x->method == METHOD_GET) /* the visitor sees the inbox now */
        home.seen_ms = inbox_news_seen(x, &home.inbox);
    home_model(x, &m, &home);
    respond_model(x, 200, "pages/home", &m);
    return STEP_DONE;
}

#include "wallet/receive_day.h"

#include "base/clock.h"
#include "packet/caps.h"
#include "web/view.h"

enum status receive_day_model(struct exchange *x, struct model *m)
{
    const int64_t cap_fen = x->app->stores.config->user_receive_day_fen;
    int64_t from_ms, to_ms, fen;
    if (cap_fen == 0) {
        value_null(m, &m->root, "receive_day");
        return ST_OK;
    }
    clock_zone_day(x->now_ms, &from_ms, &to_ms);
    enum status st = receive_day_read(x->app->stores.db, x->arena, x->visitor.user_id, from_ms, &fen);
    if (st != ST_OK)
        return st;
    struct value *o = value_object(m, &m->root, "receive_day");
    view_money_model(m, o, "left_fen", "left_text", fen < cap_fen ? cap_fen - fen : 0);
    view_time_model(m, o, "ends_at", "ends_text", to_ms);
    value_page_bool(m, o, "near", fen < cap_fen && cap_is_near(cap_fen, fen));
    value_page_bool(m, o, "reached", fen >= cap_fen);
    return ST_OK;
}

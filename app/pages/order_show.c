#include "pages/order_show.h"

#include "base/money.h"
#include "mysql/db_durable.h"
#include "packet/store.h"
#include "pages/present.h"
#include "web/respond.h"
#include "web/view.h"

static const struct problem PROBLEM_NO_ORDER = { 404, "not-found", "text/order_unknown", "text/order_unknown_detail",
                                                 0 };

static void packet_model(struct exchange *x, struct model *m, const struct packet *p)
{
    struct value *root = &m->root;
    value_text(m, root, "id", present_packet_id(x, p->id));
    value_text(m, root, "url", present_packet_url(x, p->id));
    value_page_text(m, root, "path", present_packet_path(x, p->id));
    present_kind(m, root, p->kind);
    value_text(m, root, "greeting", p->greeting);
    value_text(m, root, "commitment", present_hex(x->arena, p->commitment, sizeof p->commitment));
}

static void state_model(struct exchange *x, struct model *m, const struct packet *p)
{
    struct value *root = &m->root;
    enum packet_state state = packet_state_shown(p, x->now_ms);
    value_text(m, root, "state", packet_state_name(state));
    value_page_bool(m, root, "state_open", state == PACKET_OPEN);
    value_page_bool(m, root, "state_finished", state == PACKET_FINISHED);
    value_page_bool(m, root, "state_expired", state == PACKET_EXPIRED && p->ended_ms == 0);
    value_page_bool(m, root, "state_ended", state == PACKET_EXPIRED && p->ended_ms != 0);
    value_int(m, root, "count", p->count);
    value_int(m, root, "grabbed_count", packet_taken_count(p));
    view_time_model(m, root, "created_at", "created_text", p->created_ms);
    view_time_model(m, root, "expires_at", "expires_text", p->expires_ms);
    view_moment_model(m, root, "opens_at", p->opens_ms);
    view_moment_model(m, root, "finished_at", p->finished_ms);
    view_moment_model(m, root, "ended_at", p->ended_ms);
    view_moment_model(m, root, "closed_at", p->closed_ms);
}

static void money_model(struct model *m, const struct packet *p)
{
    struct value *root = &m->root;
    view_money_model(m, root, "amount_fen", "amount_text", p->amount_fen);
    view_money_model(m, root, "grabbed_fen", "grabbed_text", packet_taken_fen(p));
    value_int(m, root, "refund_fen", p->refund_fen);
    if (p->refund_fen > 0)
        value_page_number(m, root, "refund_text", money_text(m->arena, p->refund_fen));
}

enum step order_show(struct exchange *x)
{
    struct packet packet;
    struct model m;
    struct str key = x->params.key;
    enum status st = ST_NOT_FOUND;
    if (request_key_valid(key))
        st = packet_find_by_key(x->app->stores.db, x->arena, x->visitor.user_id, key, &packet);
    if (st == ST_NOT_FOUND) {
        respond_problem(x, &PROBLEM_NO_ORDER);
        return STEP_DONE;
    }
    if (st == ST_OK) /* a program asks here whether its order was carried out */
        st = status_idempotent(db_durable(x->app->stores.db, db_connections(x->app->stores.db)));
    if (st != ST_OK) {
        respond_status(x, st);
        return STEP_DONE;
    }
    model_init(&m, x->arena);
    value_text(&m, &m.root, "request_key", key);
    packet_model(x, &m, &packet);
    state_model(x, &m, &packet);
    money_model(&m, &packet);
    respond_header(x, "X-Robots-Tag", STR("noindex"));
    respond_model(x, 200, "pages/order", &m);
    return STEP_DONE;
}

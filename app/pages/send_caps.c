#include "pages/send_caps.h"

#include "base/clock.h"
#include "base/money.h"
#include "io/metrics.h"
#include "packet/caps.h"
#include "packet/rules.h"
#include "packet/store.h"
#include "web/respond.h"
#include "web/text.h"
#include "web/view.h"

static const struct problem PROBLEM_PAUSED = { 403, "sending-paused", "text/sending_paused",
                                               "text/sending_paused_detail", 0 };

bool send_paused(struct exchange *x)
{
    struct packet earlier;
    const struct str key = form_get(&x->form, "request_key", NULL);
    if (x->app->stores.config->sending)
        return false;
    enum status st = request_key_valid(key)
                         ? packet_find_by_key(x->app->stores.db, x->arena, x->visitor.user_id, key, &earlier)
                         : ST_NOT_FOUND;
    if (st == ST_OK)
        return false;
    if (st == ST_NOT_FOUND)
        respond_problem(x, &PROBLEM_PAUSED);
    else
        respond_status(x, st);
    return true;
}

/* The cap that refuses an order. */
struct cap_reached {
    bool by_count;    /* user_send_day_count; otherwise user_send_day_fen */
    int64_t left_fen; /* of that; 0 by count */
    int64_t again_ms; /* the next day begins */
};

/* Which cap the order would break; false: none. */
static bool cap_find(const struct send_caps *caps, const struct send_day *sent, int64_t amount_fen,
                     struct cap_reached *out)
{
    *out = (struct cap_reached){ .by_count = caps->count_max > 0 && sent->count >= caps->count_max,
                                 .again_ms = caps->to_ms };
    if (!out->by_count && caps->fen_max > sent->fen)
        out->left_fen = caps->fen_max - sent->fen;
    return out->by_count || (caps->fen_max > 0 && amount_fen > out->left_fen);
}

enum status send_caps_check(struct exchange *x, const struct send_order *order, struct form_errors *errors)
{
    const struct send_caps caps = send_caps_at(x->app->stores.config, x->now_ms);
    struct send_day sent;
    if (!send_caps_set(&caps) || errors->count > 0)
        return ST_OK;
    struct cap_reached *reached = arena_alloc(x->arena, sizeof *reached);
    if (reached == NULL)
        return ST_NO_MEMORY;
    enum status st = send_day_read(x->app->stores.db, x->arena, x->visitor.user_id, &caps, &sent);
    if (st != ST_OK || !cap_find(&caps, &sent, order->packet.amount_fen, reached))
        return st;
    metrics_add(reached->by_count ? METRIC_CAPPED_SEND_COUNT : METRIC_CAPPED_SEND_FEN, 1);
    if (reached->by_count)
        form_fail(errors, "amount", "text/send_cap_count");
    else if (reached->left_fen == 0)
        form_fail(errors, "amount", "text/send_cap_reached");
    else
        form_fail_with(errors, "amount", "text/send_cap_left", text_number(x, money_text(x->arena, reached->left_fen)));
    x->state = reached;
    return ST_OK;
}

void send_caps_problem(struct exchange *x, const struct form_errors *errors, struct model *problem)
{
    const struct cap_reached *reached = x->state;
    if (reached == NULL || !form_failed(errors, "amount"))
        return;
    value_text(problem, &problem->root, "cap",
               str_from(reached->by_count ? "user_send_day_count" : "user_send_day_fen"));
    value_int(problem, &problem->root, "left_fen", reached->left_fen);
    value_text(problem, &problem->root, "again_at", clock_rfc3339(x->arena, reached->again_ms));
}

/* What is left of a cap; null without it. */
static void left_model(struct model *m, struct value *o, const char *name, int64_t cap, int64_t left)
{
    if (cap > 0)
        value_int(m, o, name, left);
    else
        value_null(m, o, name);
}

/* What the page says beside the amount: that nothing is left, else what is left, where it may be what refuses. */
static void rest_model(struct exchange *x, struct model *m, struct value *o, const struct send_caps *caps,
                       const struct send_day *left)
{
    const struct config *config = x->app->stores.config;
    const bool no_fen = caps->fen_max > 0 && left->fen == 0, no_count = caps->count_max > 0 && left->count == 0;
    const bool none = no_fen || no_count;
    const bool few_fen =
        !none && caps->fen_max > 0 &&
        (left->fen < rules_total_fen_max(config) || cap_is_near(caps->fen_max, caps->fen_max - left->fen));
    value_page_bool(m, o, "none", none);
    value_page_bool(m, o, "no_fen", no_fen);
    value_page_bool(m, o, "no_count", no_count && !no_fen);
    value_page_bool(m, o, "has_rest", none || few_fen);
    value_page_int(m, o, "ends_ms", caps->to_ms - x->now_ms);
    if (few_fen)
        value_page_number(m, value_page_object(m, o, "few_fen"), "value", money_text(m->arena, left->fen));
    if (!none && caps->count_max > 0 && cap_is_near(caps->count_max, caps->count_max - left->count))
        value_page_int(m, value_page_object(m, o, "few_count"), "value", left->count);
}

enum status send_day_model(struct exchange *x, struct model *m)
{
    const struct send_caps caps = send_caps_at(x->app->stores.config, x->now_ms);
    struct send_day sent;
    if (!send_caps_set(&caps)) {
        value_null(m, &m->root, "send_day");
        return ST_OK;
    }
    enum status st = send_day_read(x->app->stores.db, x->arena, x->visitor.user_id, &caps, &sent);
    if (st != ST_OK)
        return st;
    const struct send_day left = { .fen = sent.fen < caps.fen_max ? caps.fen_max - sent.fen : 0,
                                   .count = sent.count < caps.count_max ? caps.count_max - sent.count : 0 };
    struct value *o = value_object(m, &m->root, "send_day");
    left_model(m, o, "left_fen", caps.fen_max, left.fen);
    left_model(m, o, "left_count", caps.count_max, left.count);
    view_time_model(m, o, "ends_at", "ends_text", caps.to_ms);
    rest_model(x, m, o, &caps, &left);
    return ST_OK;
}

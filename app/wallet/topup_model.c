#include "wallet/topup_model.h"

#include <inttypes.h>

#include "base/money.h"
#include "wallet/topup_link.h"
#include "web/view.h"

enum state { WAITING, PAID, EXPIRED };
static const char *const STATE_NAMES[] = { [WAITING] = "waiting", [PAID] = "paid", [EXPIRED] = "expired" };

struct str topup_path(struct arena *a, uint64_t id)
{
    return arena_printf(a, "/wallet/topup/%" PRIu64, id);
}

static enum state state_of(const struct exchange *x, const struct topup *order)
{
    return order->paid ? PAID : x->now_ms < order->expires_ms ? WAITING : EXPIRED;
}

/* The link to the channel's page; STR_NONE also without memory, which the arena remembers. */
static struct str pay_url(struct exchange *x, const struct topup *order)
{
    const struct config *config = x->app->stores.config;
    const struct str path = topup_path(x->arena, order->id);
    char key[TOPUP_KEY_MAX];
    if (order->channel.url.len == 0 || path.ptr == NULL)
        return STR_NONE;
    const struct topup_link link = { order->id, order->amount_fen, order->expires_ms,
                                     arena_printf(x->arena, "%s%.*s", config->base_url, STR_ARG(path)) };
    topup_key(keys_get(&config->keys, KEY_TOPUPS), order->channel.name, key);
    const struct str url =
        link.return_url.ptr == NULL ? STR_NONE : topup_link_text(x->arena, order->channel.url, key, &link);
    sodium_memzero(key, sizeof key);
    return url;
}

/* The form of a new order like this one. */
static struct str again_url(struct arena *a, const struct topup *order)
{
    char amount[MONEY_TEXT_MAX];
    (void)money_format(order->amount_fen, amount);
    return arena_printf(a, "/wallet/topup?amount=%s&channel=%.*s", amount, STR_ARG(order->channel.name));
}

void topup_model(struct exchange *x, struct model *m, struct value *o, const struct topup *order)
{
    const struct topup_channel *c = &order->channel;
    const enum state state = state_of(x, order);
    value_int(m, o, "id", (int64_t)order->id);
    value_text(m, o, "channel", c->name);
    value_page_text(m, o, "channel_text", c->note.len > 0 ? c->note : c->name);
    /* the page shows one of the two sums large */
    (order->paid ? view_money_model : view_total_model)(m, o, "amount_fen", "amount_text", order->amount_fen);
    value_text(m, o, "state", str_from(STATE_NAMES[state]));
    value_page_bool(m, o, "is_waiting", state == WAITING);
    value_page_bool(m, o, "is_paid", state == PAID);
    value_page_bool(m, o, "is_expired", state == EXPIRED);
    (order->paid ? view_total_model : view_money_model)(m, o, "paid_fen", "paid_text", order->paid_fen);
    value_page_bool(m, o, "differs", order->paid && order->paid_fen != order->amount_fen);
    value_text_or_null(m, o, "pay_url", state == WAITING ? pay_url(x, order) : STR_NONE);
    view_time_model(m, o, "created_at", "created_at_text", order->created_ms);
    view_time_model(m, o, "expires_at", "expires_at_text", order->expires_ms);
    value_page_text(m, o, "url", topup_path(x->arena, order->id));
    value_page_text(m, o, "again_url", again_url(x->arena, order));
}

void topup_payments_model(struct model *m, struct value *o, const struct topup *order)
{
    struct value *list = value_list(m, o, "payments");
    int64_t taken_back_fen = 0;
    for (size_t i = 0; i < order->payment_count; i++) {
        const struct topup_payment *p = &order->payments[i];
        struct value *row = value_add_object(m, list);
        view_money_model(m, row, "amount_fen", "amount_text", p->amount_fen);
        value_text(m, row, "reference", p->reference);
        value_bool(m, row, "reversed", p->reversed_by != 0);
        view_time_model(m, row, "created_at", "created_at_text", p->created_ms);
        taken_back_fen += p->reversed_by != 0 ? p->amount_fen : 0;
    }
    if (taken_back_fen > 0)
        value_page_number(m, o, "taken_back_text", money_text(m->arena, taken_back_fen));
    value_page_bool(m, o, "several", order->payment_count > 1);
}

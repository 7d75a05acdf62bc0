#include "base/array.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/money.h"
#include "commands/money_internal.h"
#include "config/config.h"
#include "ledger/topup.h"
#include "money/models.h"
#include "money/payment.h"
#include "wallet/topup_link.h"
#include "web/csv.h"

enum { PAGE_ROWS = 500 };

/* ---- what a channel has for top-ups ---- */

enum status money_topup_url_read(struct money *m, struct str *out)
{
    *out = money_value(m, MONEY_TOPUP_URL);
    const char *mistake = out->len == 0 ? NULL : topup_url_mistake(*out);
    return mistake == NULL ? ST_OK : money_misread(m, "--topup-url: %s", mistake);
}

static enum status url_set(struct money *m, const struct channel *c, struct str url)
{
    enum status st = topup_url_set(m->db, c->id, url);
    if (st == ST_NOT_FOUND)
        return money_refuse(m, st, "the channel %.*s takes no payments", STR_ARG(c->name));
    if (st != ST_OK)
        return status_idempotent(st);
    log_info("money", "action=topup-url channel=%.*s url=%.*s author=%s", STR_ARG(c->name), STR_ARG(url),
             money_author_quoted(m));
    (void)printf("top-ups: %.*s\n", STR_ARG(url.len > 0 ? url : STR("none")));
    return ST_OK;
}

enum status money_topup_settings(struct money *m, struct str name)
{
    struct channel c;
    if (!money_has(m, MONEY_TOPUP_URL) && !money_has(m, MONEY_TOPUP_KEY))
        return ST_OK;
    enum status st = channel_find(m->db, m->arena, name, &c);
    if (st == ST_OK && money_has(m, MONEY_TOPUP_URL))
        st = url_set(m, &c, money_value(m, MONEY_TOPUP_URL));
    if (st != ST_OK || !money_has(m, MONEY_TOPUP_KEY))
        return st;
    char key[TOPUP_KEY_MAX];
    topup_key(keys_get(&m->config->keys, KEY_TOPUPS), c.name, key);
    log_info("money", "action=topup-key channel=%.*s author=%s", STR_ARG(c.name), money_author_quoted(m));
    (void)printf("key of its page, secret: %s\n", key);
    sodium_memzero(key, sizeof key);
    return ST_OK;
}

/* ---- topups ---- */

struct topups_page {
    struct topup_waiting *rows;
    uint64_t after; /* the last order of the page before */
};

static enum status orders_next(struct money *m, void *ctx, size_t *count)
{
    struct topups_page *p = ctx;
    enum status st = topup_waiting_find(m->db, m->arena, p->after, PAGE_ROWS, &p->rows, count);
    if (st == ST_OK && *count > 0)
        p->after = p->rows[*count - 1].id;
    return st;
}

static void order_model(struct model *model, struct value *object, const void *ctx, size_t row)
{
    const struct topup_waiting *o = &((const struct topups_page *)ctx)->rows[row];
    value_int(model, object, "id", (int64_t)o->id);
    value_text(model, object, "created_at", clock_rfc3339(model->arena, o->created_ms));
    value_text(model, object, "expires_at", clock_rfc3339(model->arena, o->expires_ms));
    value_text(model, object, "username", o->username);
    value_int(model, object, "user_id", (int64_t)o->user_id);
    value_text(model, object, "channel", o->channel);
    value_int(model, object, "amount_fen", o->amount_fen);
}

static void order_csv(struct buf *out, const void *ctx, size_t row)
{
    const struct topup_waiting *o = &((const struct topups_page *)ctx)->rows[row];
    money_id_cell(out, o->id);
    money_time_cell(out, o->created_ms);
    money_time_cell(out, o->expires_ms);
    csv_cell(out, o->username);
    csv_cell(out, o->channel);
    money_cell(out, o->amount_fen);
}

static void order_text(struct buf *out, const void *ctx, size_t row)
{
    const struct topup_waiting *o = &((const struct topups_page *)ctx)->rows[row];
    char created[CLOCK_TEXT_MAX], amount[MONEY_TEXT_MAX];
    (void)clock_rfc3339_format(o->created_ms, created);
    (void)money_format(o->amount_fen, amount);
    buf_printf(out, "order %" PRIu64 "  %s  %.*s  %s  channel %.*s%s\n", o->id, created, STR_ARG(o->username), amount,
               STR_ARG(o->channel), o->expires_ms <= clock_now_ms() ? "  expired" : "");
}

enum status money_topups(struct money *m)
{
    static const char *const columns[] = { "id", "created_at", "expires_at", "username", "channel", "amount" };
    static const struct money_list list = { "topups",    columns,     ARRAY_LEN(columns), PAGE_ROWS,
                                            orders_next, order_model, order_csv,          order_text };
    return money_list_print(m, &list, &(struct topups_page){ .after = 0 });
}

/* ---- paid ---- */

static enum status paid_print(struct money *m, const struct topup_paid *paid)
{
    char amount[MONEY_TEXT_MAX], ordered[MONEY_TEXT_MAX];
    if (money_has(m, MONEY_JSON)) {
        struct model model;
        model_init(&model, m->arena);
        topup_paid_model(&model, &model.root, paid);
        value_text(&model, &model.root, "channel", paid->order.channel);
        value_bool(&model, &model.root, "repeated", paid->repeated);
        return money_json_print(&model);
    }
    (void)money_format(paid->amount_fen, amount);
    (void)money_format(paid->order.amount_fen, ordered);
    (void)printf("order %" PRIu64 "  paid  %.*s  %s  reference %.*s  transfer %" PRIu64 "%s%s%s\n", paid->id,
                 STR_ARG(paid->order.username), amount, STR_ARG(paid->reference), paid->made.id,
                 paid->amount_fen != paid->order.amount_fen ? "  ordered " : "",
                 paid->amount_fen != paid->order.amount_fen ? ordered : "", paid->repeated ? "  was so before" : "");
    return ST_OK;
}

static enum status paid_refused(struct money *m, const struct topup_paid *paid, enum status st)
{
    if (st == ST_EXISTS)
        return money_refuse(m, st, "the reference %.*s belongs to another transfer; nothing is changed",
                            STR_ARG(paid->reference));
    if (st == ST_NOT_FOUND && paid->is_leaving)
        return money_refuse(m, st,
                            "the account of order %" PRIu64 " is being deleted: pay the money back outside; nothing is"
                            " changed",
                            paid->id);
    if (st == ST_NOT_FOUND)
        return money_refuse(m, st, "there is no order %" PRIu64, paid->id);
    return st;
}

enum status money_paid(struct money *m)
{
    struct topup_paid paid = { .amount_fen = 0 };
    const char *why = NULL;
    enum status st = money_id_read(m, m->args.words[0], &paid.id);
    if (st == ST_OK)
        st = money_reference_read(m, &paid.reference);
    if (st == ST_OK && money_has(m, MONEY_AMOUNT) &&
        (st = payment_amount_read(m->arena, money_value(m, MONEY_AMOUNT), &paid.amount_fen, &why)) == ST_INVALID)
        return money_misread(m, "%s", why);
    if (st != ST_OK)
        return st;
    st = topup_paid(m->db, m->arena, &paid, &m->author, clock_now_ms());
    if (st != ST_OK)
        return paid_refused(m, &paid, st);
    log_info("money",
             "action=topup-paid channel=%.*s interface=command topup_id=%" PRIu64 " transfer_id=%" PRIu64
             " user_id=%" PRIu64 " amount_fen=%" PRId64 " repeated=%d author=%s",
             STR_ARG(paid.order.channel), paid.id, paid.made.id, paid.order.user_id, paid.amount_fen, paid.repeated,
             money_author_quoted(m));
    return paid_print(m, &paid);
}

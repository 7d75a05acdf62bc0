#include "base/array.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/money.h"
#include "commands/money_internal.h"
#include "config/config.h"
#include "ledger/topup.h"
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

static void order_json(struct buf *out, struct arena *a, const struct topup_waiting *o, bool is_first)
{
    struct model model;
    model_init(&model, a);
    value_int(&model, &model.root, "id", (int64_t)o->id);
    value_text(&model, &model.root, "created_at", clock_rfc3339(a, o->created_ms));
    value_text(&model, &model.root, "expires_at", clock_rfc3339(a, o->expires_ms));
    value_text(&model, &model.root, "username", o->username);
    value_int(&model, &model.root, "user_id", (int64_t)o->user_id);
    value_text(&model, &model.root, "channel", o->channel);
    value_int(&model, &model.root, "amount_fen", o->amount_fen);
    money_json_item(out, &model, is_first);
}

static void order_csv(struct buf *out, const struct topup_waiting *o)
{
    money_id_cell(out, o->id);
    money_time_cell(out, o->created_ms);
    money_time_cell(out, o->expires_ms);
    csv_cell(out, o->username);
    csv_cell(out, o->channel);
    money_cell(out, o->amount_fen);
    csv_row_end(out);
}

static void order_text(struct buf *out, const struct topup_waiting *o)
{
    char created[CLOCK_TEXT_MAX], amount[MONEY_TEXT_MAX];
    (void)clock_rfc3339_format(o->created_ms, created);
    (void)money_format(o->amount_fen, amount);
    buf_printf(out, "order %" PRIu64 "  %s  %.*s  %s  channel %.*s%s\n", o->id, created, STR_ARG(o->username), amount,
               STR_ARG(o->channel), o->expires_ms <= clock_now_ms() ? "  expired" : "");
}

static void page_append(struct money *m, struct buf *out, const struct topup_waiting *page, size_t count, bool is_first)
{
    for (size_t i = 0; i < count; i++)
        if (money_has(m, MONEY_JSON))
            order_json(out, m->arena, &page[i], is_first && i == 0);
        else if (money_has(m, MONEY_CSV))
            order_csv(out, &page[i]);
        else
            order_text(out, &page[i]);
}

static void list_begin(struct money *m, struct buf *out)
{
    static const char *const columns[] = { "id", "created_at", "expires_at", "username", "channel", "amount" };
    if (money_has(m, MONEY_JSON))
        buf_cstr(out, "{\"topups\":[");
    if (money_has(m, MONEY_CSV)) {
        csv_begin(out);
        csv_header(out, columns, ARRAY_LEN(columns));
    }
}

enum status money_topups(struct money *m)
{
    struct buf out = BUF_EMPTY;
    struct topup_waiting *page = NULL;
    size_t count = PAGE_ROWS;
    uint64_t after = 0;
    enum status st = ST_OK;
    list_begin(m, &out);
    while (st == ST_OK && count == PAGE_ROWS) {
        arena_reset(m->arena);
        st = topup_waiting_find(m->db, m->arena, after, PAGE_ROWS, &page, &count);
        if (st != ST_OK)
            break;
        page_append(m, &out, page, count, after == 0);
        if (count > 0)
            after = page[count - 1].id;
        st = money_flush(&out);
    }
    if (st == ST_OK && money_has(m, MONEY_JSON)) {
        buf_cstr(&out, "]}\n");
        st = money_flush(&out);
    }
    buf_free(&out);
    return st;
}

/* ---- paid ---- */

static enum status paid_print(struct money *m, const struct topup_paid *paid)
{
    char amount[MONEY_TEXT_MAX], ordered[MONEY_TEXT_MAX];
    if (money_has(m, MONEY_JSON)) {
        struct model model;
        model_init(&model, m->arena);
        value_int(&model, &model.root, "id", (int64_t)paid->id);
        value_int(&model, &model.root, "transfer", (int64_t)paid->made.id);
        value_text(&model, &model.root, "username", paid->order.username);
        value_int(&model, &model.root, "ordered_fen", paid->order.amount_fen);
        value_int(&model, &model.root, "amount_fen", paid->amount_fen);
        value_text(&model, &model.root, "channel", paid->order.channel);
        value_text(&model, &model.root, "reference", paid->reference);
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
    if (st == ST_NOT_FOUND && paid->leaves)
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
             "action=topup-paid channel=%.*s by=command topup_id=%" PRIu64 " transfer_id=%" PRIu64 " user_id=%" PRIu64
             " amount_fen=%" PRId64 " repeated=%d author=%s",
             STR_ARG(paid.order.channel), paid.id, paid.made.id, paid.order.user_id, paid.amount_fen, paid.repeated,
             money_author_quoted(m));
    return paid_print(m, &paid);
}

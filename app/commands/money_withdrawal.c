#include "base/array.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/money.h"
#include "commands/money_internal.h"
#include "ledger/withdrawal.h"
#include "money/models.h"
#include "web/csv.h"

enum { PAGE_ROWS = 500 };

/* ---- withdrawals ---- */

struct pending_page {
    struct withdrawal *rows;
    uint64_t after; /* the last withdrawal of the page before */
};

static enum status pending_next(struct money *m, void *ctx, size_t *count)
{
    struct pending_page *p = ctx;
    enum status st = withdrawal_pending(m->db, m->arena, 0, p->after, PAGE_ROWS, &p->rows, count);
    if (st == ST_OK && *count > 0)
        p->after = p->rows[*count - 1].id;
    return st;
}

static void pending_model(struct model *model, struct value *object, const void *ctx, size_t row)
{
    withdrawal_model(model, object, &((const struct pending_page *)ctx)->rows[row]);
}

static void pending_csv(struct buf *out, const void *ctx, size_t row)
{
    const struct withdrawal *w = &((const struct pending_page *)ctx)->rows[row];
    money_id_cell(out, w->id);
    money_time_cell(out, w->created_ms);
    csv_cell(out, w->username);
    csv_cell(out, w->channel);
    money_cell(out, w->amount_fen);
    csv_cell(out, w->destination);
}

static void pending_text(struct buf *out, const void *ctx, size_t row)
{
    const struct withdrawal *w = &((const struct pending_page *)ctx)->rows[row];
    char created[CLOCK_TEXT_MAX], amount[MONEY_TEXT_MAX];
    (void)clock_rfc3339_format(w->created_ms, created);
    (void)money_format(w->amount_fen, amount);
    buf_printf(out, "withdrawal %" PRIu64 "  %s  %.*s  %s  channel %.*s  account %.*s\n", w->id, created,
               STR_ARG(w->username), amount, STR_ARG(w->channel), STR_ARG(w->destination));
}

enum status money_withdrawals(struct money *m)
{
    static const char *const columns[] = { "id", "created_at", "username", "channel", "amount", "account" };
    static const struct money_list list = { "withdrawals", columns,       ARRAY_LEN(columns), PAGE_ROWS,
                                            pending_next,  pending_model, pending_csv,        pending_text };
    return money_list_print(m, &list, &(struct pending_page){ .after = 0 });
}

/* ---- post and void ---- */

static enum status end_print(struct money *m, const struct withdrawal_end *end)
{
    const struct withdrawal *w = &end->now;
    char amount[MONEY_TEXT_MAX];
    if (money_has(m, MONEY_JSON)) {
        struct model model;
        model_init(&model, m->arena);
        withdrawal_ended_model(&model, &model.root, w);
        value_bool(&model, &model.root, "repeated", end->repeated);
        return money_json_print(&model);
    }
    (void)money_format(w->amount_fen, amount);
    (void)printf("withdrawal %" PRIu64 "  %s  %.*s  %s  %s %.*s%s\n", w->id, withdrawal_state_name(w->state),
                 STR_ARG(w->username), amount, end->post ? "reference" : "reason",
                 STR_ARG(end->post ? w->reference : w->reason), end->repeated ? "  was so before" : "");
    return ST_OK;
}

/* It has ended in another way, or the reference is of another transfer. */
static enum status end_refused(struct money *m, const struct withdrawal_end *end)
{
    const struct withdrawal *w = &end->now;
    if (w->state == WITHDRAWAL_PENDING)
        return money_refuse(m, ST_EXISTS, "the reference %.*s belongs to another transfer; nothing is changed",
                            STR_ARG(end->reference));
    const bool posted = w->state == WITHDRAWAL_POSTED;
    return money_refuse(m, ST_EXISTS, "withdrawal %" PRIu64 " was %s by %.*s with the %s %.*s; nothing is changed",
                        end->id, withdrawal_state_name(w->state), STR_ARG(w->author), posted ? "reference" : "reason",
                        STR_ARG(posted ? w->reference : w->reason));
}

static enum status end_make(struct money *m, struct withdrawal_end *end)
{
    enum status st = withdrawal_end(m->db, m->arena, end, &m->author, clock_now_ms());
    if (st == ST_EXISTS)
        return end_refused(m, end);
    if (st == ST_NOT_FOUND)
        return money_refuse(m, st, "there is no withdrawal %" PRIu64, end->id);
    if (st != ST_OK)
        return st;
    log_info("money",
             "action=%s channel=%.*s interface=command withdrawal_id=%" PRIu64 " user_id=%" PRIu64
             " amount_fen=%" PRId64 " repeated=%d author=%s",
             end->post ? "post" : "void", STR_ARG(end->now.channel), end->id, end->now.user_id, end->now.amount_fen,
             end->repeated, money_author_quoted(m));
    return end_print(m, end);
}

enum status money_post(struct money *m)
{
    struct withdrawal_end end = { .post = true, .reason = STR("") };
    enum status st = money_id_read(m, m->args.words[0], &end.id);
    if (st == ST_OK)
        st = money_reference_read(m, &end.reference);
    return st == ST_OK ? end_make(m, &end) : st;
}

enum status money_void(struct money *m)
{
    struct withdrawal_end end = { .post = false, .reference = STR("") };
    enum status st = money_id_read(m, m->args.words[0], &end.id);
    if (st == ST_OK)
        st = money_line_read(m, MONEY_REASON, REASON_CODE_POINTS_MAX, &end.reason);
    if (st == ST_OK && end.reason.len == 0)
        return money_misread(m, "the user reads the reason: write one");
    return st == ST_OK ? end_make(m, &end) : st;
}

#include "wallet/transfer.h"

#include <inttypes.h>

#include "base/money.h"
#include "base/public_id.h"
#include "ledger/ledger.h"
#include "ledger/withdrawal.h"
#include "mysql/db.h"
#include "wallet/statement.h"
#include "wallet/topup_model.h"
#include "web/respond.h"
#include "web/view.h"

enum { LONG_SUM_FEN = 1000000 }; /* from here on a sum with its sign is shown smaller */

/* A transfer, and what other tables say of it. Texts whose ptr is NULL are not there. */
struct transfer {
    uint64_t id;
    enum transfer_kind kind;
    int64_t amount_fen; /* change of the visitor's balance */
    uint64_t packet_id;
    int64_t created_ms;
    struct str channel, note, memo, reference;
    uint64_t reverses; /* as the table has it: of a post, which is no transfer of the visitor */
    uint64_t corrects, corrected_by;
    uint64_t topup;                    /* the order that a credit pays */
    struct str state, account, reason; /* of a withdrawal */
    int64_t ended_ms;
};

struct str transfer_url(struct arena *a, uint64_t id)
{
    return arena_printf(a, "/wallet/transfers/%" PRIu64, id);
}

/* ---- reading ---- */

/* 0 of NULL. */
static uint64_t cell_or_0(const struct db_rows *rows, size_t column)
{
    return db_cell(rows, 0, column).ptr == NULL ? 0 : db_cell_u64(rows, 0, column);
}

/* The row of the transfer and of its payment outside. */
static enum status transfer_row_read(struct exchange *x, uint64_t id, struct transfer *out)
{
    enum { KIND, AMOUNT, IS_CREDIT, PACKET, CREATED, CHANNEL, NOTE, MEMO, REFERENCE, REVERSES, REVERSED_BY, TOPUP };
    struct db_rows rows;
    const struct db_param user = DB_U64(x->visitor.user_id);
    enum status st = db_find(x->app->stores.db, x->arena, &rows,
                             "SELECT t.kind, t.amount_fen, t.credit_id = ?, t.packet_id, t.created_ms, c.name, c.note,"
                             " e.memo, e.reference, e.reverses, r.transfer_id, p.topup_id FROM transfer AS t"
                             " LEFT JOIN external_transfer AS e ON e.transfer_id = t.id"
                             " LEFT JOIN channel AS c ON c.id = e.channel_id"
                             " LEFT JOIN external_transfer AS r ON r.reverses = t.id"
                             " LEFT JOIN topup_payment AS p ON p.transfer_id = t.id"
                             " WHERE t.id = ? AND (t.credit_id = ? OR t.debit_id = ?)",
                             DB_PARAMS(user, DB_U64(id), user, user));
    if (st != ST_OK)
        return st;
    const int64_t fen = db_cell_i64(&rows, 0, AMOUNT);
    *out = (struct transfer){ .id = id,
                              .kind = TRANSFER_KIND_COUNT,
                              .amount_fen = db_cell_u64(&rows, 0, IS_CREDIT) != 0 ? fen : -fen,
                              .packet_id = cell_or_0(&rows, PACKET),
                              .created_ms = db_cell_i64(&rows, 0, CREATED),
                              .channel = db_cell(&rows, 0, CHANNEL),
                              .note = db_cell(&rows, 0, NOTE),
                              .memo = db_cell(&rows, 0, MEMO),
                              .reference = db_cell(&rows, 0, REFERENCE),
                              .reverses = cell_or_0(&rows, REVERSES),
                              .corrected_by = cell_or_0(&rows, REVERSED_BY),
                              .topup = cell_or_0(&rows, TOPUP) };
    out->corrects = out->reverses;
    (void)transfer_kind_read(db_cell(&rows, 0, KIND), &out->kind); /* a later version may have written another one */
    return ST_OK;
}

/* The withdrawal that a withdrawal, a void, or the reversal of a post is about: what people see of it is on the page of
 * the transfer that took the money out of the wallet. */
static enum status withdrawal_row_read(struct exchange *x, struct transfer *t)
{
    enum { HOLD, END, STATE, ACCOUNT, REASON, ENDED, CHANNEL, NOTE, REFERENCE, REVERSED_BY };
    static const char hold[] = " AND w.hold_id = ?", end[] = " AND w.end_id = ?";
    const bool is_hold = t->kind == TRANSFER_WITHDRAW;
    struct db_rows rows;
    const char *sql =
        arena_printf(x->arena,
                     "SELECT w.hold_id, w.end_id, w.state, w.destination, w.reason, w.ended_ms, c.name, c.note,"
                     " e.reference, r.transfer_id FROM withdrawal AS w JOIN channel AS c ON c.id = w.channel_id"
                     " LEFT JOIN external_transfer AS e ON e.transfer_id = w.end_id"
                     " LEFT JOIN external_transfer AS r ON r.reverses = w.end_id WHERE w.user_id = ?%s",
                     is_hold ? hold : end)
            .ptr;
    if (sql == NULL)
        return ST_NO_MEMORY;
    enum status st = db_find(x->app->stores.db, x->arena, &rows, sql,
                             DB_PARAMS(DB_U64(x->visitor.user_id), DB_U64(t->reverses != 0 ? t->reverses : t->id)));
    if (st != ST_OK)
        return st == ST_NOT_FOUND && t->kind == TRANSFER_REVERSE ? ST_OK : st;
    if (!is_hold) {
        t->corrects = cell_or_0(&rows, HOLD);
        if (t->kind == TRANSFER_VOID) {
            t->channel = db_cell(&rows, 0, CHANNEL);
            t->note = db_cell(&rows, 0, NOTE);
            t->memo = db_cell(&rows, 0, REASON);
        }
        return ST_OK;
    }
    t->channel = db_cell(&rows, 0, CHANNEL);
    t->note = db_cell(&rows, 0, NOTE);
    t->memo = STR("");
    t->reference = db_cell(&rows, 0, REFERENCE);
    t->state = db_cell(&rows, 0, STATE);
    t->account = db_cell(&rows, 0, ACCOUNT);
    t->reason = db_cell(&rows, 0, REASON);
    t->ended_ms = db_cell(&rows, 0, ENDED).ptr == NULL ? 0 : db_cell_i64(&rows, 0, ENDED);
    t->corrected_by = str_equal(t->state, STR("voided")) ? cell_or_0(&rows, END) : cell_or_0(&rows, REVERSED_BY);
    return ST_OK;
}

static enum status transfer_read(struct exchange *x, uint64_t id, struct transfer *out)
{
    enum status st = transfer_row_read(x, id, out);
    if (st != ST_OK || (out->kind != TRANSFER_WITHDRAW && out->kind != TRANSFER_VOID && out->kind != TRANSFER_REVERSE))
        return st;
    st = withdrawal_row_read(x, out);
    return st == ST_NOT_FOUND ? ST_CORRUPT : st;
}

/* ---- the page ---- */

static void link_model(struct model *m, const char *name, const char *url_name, uint64_t id)
{
    if (id == 0) {
        value_null(m, &m->root, name);
        return;
    }
    value_int(m, &m->root, name, (int64_t)id);
    value_page_text(m, &m->root, url_name, transfer_url(m->arena, id));
}

static void channel_model(struct model *m, const struct transfer *t)
{
    if (t->channel.ptr == NULL)
        return;
    value_text(m, &m->root, "channel", t->channel);
    value_page_text(m, &m->root, "channel_text", t->note.len > 0 ? t->note : t->channel);
    value_text(m, &m->root, "memo", t->memo);
    if (t->reference.ptr != NULL)
        value_text(m, &m->root, "reference", t->reference);
    const bool is_payout = t->kind == TRANSFER_WITHDRAW || t->kind == TRANSFER_VOID;
    value_page_bool(m, &m->root, "is_payout", is_payout);
    value_page_bool(m, &m->root, "is_topup", t->topup != 0);
    value_page_bool(m, &m->root, "is_plain", !is_payout && t->topup == 0);
    if (t->topup != 0) {
        value_page_text(m, &m->root, "topup", arena_printf(m->arena, "%" PRIu64, t->topup));
        value_page_text(m, &m->root, "topup_url", topup_path(m->arena, t->topup));
    }
}

static void withdrawal_model(struct model *m, const struct transfer *t)
{
    if (t->state.ptr == NULL)
        return;
    value_text(m, &m->root, "state", t->state);
    value_page_bool(m, &m->root, "is_pending", str_equal(t->state, STR("pending")));
    value_page_bool(m, &m->root, "is_posted", str_equal(t->state, STR("posted")));
    value_page_bool(m, &m->root, "is_voided", str_equal(t->state, STR("voided")));
    value_text(m, &m->root, "account", t->account);
    if (str_equal(t->state, STR("voided")))
        value_text(m, &m->root, "reason", t->reason);
    if (t->ended_ms > 0)
        view_time_model(m, &m->root, "ended_at", "ended_at_text", t->ended_ms);
    else
        value_null(m, &m->root, "ended_at");
}

static void transfer_model(struct exchange *x, struct model *m, const struct transfer *t)
{
    struct value *root = &m->root;
    value_int(m, root, "id", (int64_t)t->id);
    statement_kind_model(m, root, t->kind, t->amount_fen);
    const int64_t sum_fen = t->amount_fen < 0 ? -t->amount_fen : t->amount_fen;
    value_page_number(m, root, "sum_text", money_text(m->arena, sum_fen));
    value_page_bool(m, root, "long_total", sum_fen >= LONG_SUM_FEN);
    if (t->packet_id != 0) {
        struct str id = public_id_text(m->arena, &x->app->id_key, t->packet_id);
        value_text(m, root, "packet", id);
        value_page_text(m, root, "packet_url", arena_printf(m->arena, "/p/%.*s", STR_ARG(id)));
    } else {
        value_null(m, root, "packet");
    }
    view_time_model(m, root, "created_at", "created_at_text", t->created_ms);
    channel_model(m, t);
    withdrawal_model(m, t);
    link_model(m, "corrects", "corrects_url", t->corrects);
    link_model(m, "corrected_by", "corrected_by_url", t->corrected_by);
    value_page_text(m, root, "nickname", x->visitor.nickname);
    value_page_text(m, root, "username", x->visitor.username);
}

enum step transfer_show(struct exchange *x)
{
    struct transfer t;
    struct model m;
    uint64_t id;
    enum status st = str_to_u64(x->params.key, &id) ? transfer_read(x, id, &t) : ST_NOT_FOUND;
    if (st != ST_OK) {
        respond_status(x, st);
        return STEP_DONE;
    }
    model_init(&m, x->arena);
    transfer_model(x, &m, &t);
    respond_model(x, 200, "pages/transfer", &m);
    return STEP_DONE;
}

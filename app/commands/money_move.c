#include "base/clock.h"
#include "base/log.h"
#include "base/money.h"
#include "commands/money_internal.h"
#include "money/payment.h"
#include "user/account.h"
#include "user/store.h"

/* ---- what is printed ---- */

/* A transfer that was made, now or before. */
struct made {
    uint64_t id;
    enum transfer_kind kind;
    struct str username, channel, reference;
    int64_t amount_fen;
    uint64_t reverses; /* 0: none */
    bool repeated;
};

static enum status made_print(struct money *m, const struct made *made)
{
    char amount[MONEY_TEXT_MAX];
    if (money_has(m, MONEY_JSON)) {
        struct model model;
        model_init(&model, m->arena);
        value_int(&model, &model.root, "id", (int64_t)made->id);
        value_text(&model, &model.root, "kind", str_from(transfer_kind_name(made->kind)));
        value_text(&model, &model.root, "username", made->username);
        value_int(&model, &model.root, "amount_fen", made->amount_fen);
        if (made->channel.len > 0)
            value_text(&model, &model.root, "channel", made->channel);
        value_text(&model, &model.root, "reference", made->reference);
        if (made->reverses != 0)
            value_int(&model, &model.root, "reverses", (int64_t)made->reverses);
        value_bool(&model, &model.root, "repeated", made->repeated);
        return money_json_print(&model);
    }
    (void)money_format(made->amount_fen, amount);
    (void)printf("transfer %" PRIu64 "  %s  %.*s  %s  reference %.*s", made->id, transfer_kind_name(made->kind),
                 STR_ARG(made->username), amount, STR_ARG(made->reference));
    if (made->reverses != 0)
        (void)printf("  reverses %" PRIu64, made->reverses);
    (void)printf("  %s\n", made->repeated ? "was there before" : "made");
    return ST_OK;
}

/* ---- credit and debit ---- */

static enum status payment_take(struct money *m, struct payment *out)
{
    const struct payment_typed typed = { m->args.words[0], m->args.words[1], money_value(m, MONEY_REFERENCE),
                                         money_value(m, MONEY_MEMO) };
    const char *why = NULL;
    enum status st = payment_read(m->arena, &typed, out, &why);
    return st == ST_INVALID ? money_misread(m, "%s", why) : st;
}

/* Its reference belongs to it, and has other contents. */
static enum status reference_used(struct money *m, const struct external_transfer *by)
{
    char amount[MONEY_TEXT_MAX];
    (void)money_format(by->amount_fen, amount);
    return money_refuse(m, ST_EXISTS,
                        "the reference %.*s belongs to transfer %" PRIu64 ", a %s of %s for user %" PRIu64
                        " with the memo \"%.*s\"; nothing is changed",
                        STR_ARG(by->reference), by->id, transfer_kind_name(by->kind), amount, by->user_id,
                        STR_ARG(by->memo));
}

/* Sets the user. Of one who is deleted by now, a payment may be a repeat: so its reference is looked up first. */
static enum status user_take(struct money *m, const struct channel *channel, struct payment *p)
{
    struct external_transfer before;
    struct user_state user;
    enum status found = user_state_find(m->db, m->arena, p->username, &user), st = found;
    if (found == ST_NOT_FOUND || (found == ST_OK && user.deleting_ms > 0))
        st = external_find(m->db, m->arena, channel->id, p->reference, &before);
    if (found == ST_NOT_FOUND && st == ST_OK)
        return reference_used(m, &before);
    if (found == ST_NOT_FOUND && st == ST_NOT_FOUND)
        return money_refuse(m, st, "there is no user %.*s; hongbao user find WORD looks for one", STR_ARG(p->username));
    if (st == ST_NOT_FOUND)
        return money_refuse(m, st, "the account %.*s is being deleted, or was", STR_ARG(p->username));
    if (st != ST_OK)
        return status_idempotent(st);
    p->user_id = user.id;
    p->username = user.username;
    return ST_OK;
}

static enum status move_refused(struct money *m, enum transfer_kind kind, const struct payment *p,
                                const struct channel *channel, enum status st)
{
    struct external_transfer by;
    if (st == ST_EXISTS && external_find(m->db, m->arena, channel->id, p->reference, &by) == ST_OK)
        return reference_used(m, &by);
    if (st == ST_EXISTS)
        return money_refuse(m, st, "the reference %.*s belongs to another transfer", STR_ARG(p->reference));
    if (st == ST_INVALID && kind == TRANSFER_DEBIT)
        return money_refuse(m, st, "the wallet of %.*s has less; nothing is changed", STR_ARG(p->username));
    if (st == ST_INVALID && channel->id == CHANNEL_FORFEITED_ID)
        return money_refuse(m, st, "forfeited has less by now; nothing is changed");
    if (st == ST_NOT_FOUND)
        return money_refuse(m, st, "the account %.*s is being deleted; nothing is changed", STR_ARG(p->username));
    return st;
}

/* A repeat is no credit more. */
static enum status credit_check(struct money *m, const struct channel *channel, const struct payment *p)
{
    struct external_transfer before;
    enum status st = external_find(m->db, m->arena, channel->id, p->reference, &before);
    return st == ST_NOT_FOUND ? money_forfeited_check(m, channel, p->amount_fen) : st;
}

static enum status move(struct money *m, enum transfer_kind kind)
{
    struct payment p;
    struct channel channel;
    enum status st = payment_take(m, &p);
    if (st == ST_OK)
        st = money_own_channel_find(m, &channel);
    if (st == ST_OK)
        st = user_take(m, &channel, &p);
    if (st == ST_OK && kind == TRANSFER_CREDIT)
        st = credit_check(m, &channel, &p);
    if (st != ST_OK)
        return st;
    struct external_row row = {
        .user_id = p.user_id, .amount_fen = p.amount_fen, .reference = p.reference, .memo = p.memo
    };
    st = external_move(m->db, m->arena, kind, channel.id, &row, 1, &m->author, clock_now_ms());
    if (st != ST_OK)
        return move_refused(m, kind, &p, &channel, st);
    log_info("money",
             "action=%s channel=%.*s interface=command transfer_id=%" PRIu64 " user_id=%" PRIu64 " amount_fen=%" PRId64
             " repeated=%d author=%s",
             transfer_kind_name(kind), STR_ARG(channel.name), row.transfer_id, p.user_id, p.amount_fen, row.repeated,
             money_author_quoted(m));
    return made_print(m, &(struct made){ row.transfer_id, kind, p.username, channel.name, p.reference, p.amount_fen, 0,
                                         row.repeated });
}

enum status money_credit(struct money *m)
{
    return move(m, TRANSFER_CREDIT);
}

enum status money_debit(struct money *m)
{
    return move(m, TRANSFER_DEBIT);
}

/* ---- reverse ---- */

static enum status reverse_refused(struct money *m, const struct reversal *r, enum status st)
{
    if (st == ST_EXISTS && str_equal(r->made.reference, r->reference))
        return reference_used(m, &r->made);
    if (st == ST_EXISTS)
        return money_refuse(m, st,
                            "transfer %" PRIu64 " was reversed before, by transfer %" PRIu64
                            " with the reference %.*s; nothing is changed",
                            r->transfer_id, r->made.id, STR_ARG(r->made.reference));
    if (st == ST_INVALID)
        return money_refuse(m, st, "%s has less; nothing is changed",
                            r->channel_id == CHANNEL_FORFEITED_ID ? "the wallet or forfeited" : "the wallet");
    if (st == ST_NOT_FOUND && r->is_leaving)
        return money_refuse(m, st, "the user of transfer %" PRIu64 " is being deleted; nothing is changed",
                            r->transfer_id);
    if (st == ST_NOT_FOUND)
        return money_refuse(m, st, "there is no credit, debit or post %" PRIu64, r->transfer_id);
    return st;
}

enum status money_reverse(struct money *m)
{
    struct reversal r = { .transfer_id = 0 };
    struct user_state user;
    enum status st = money_id_read(m, m->args.words[0], &r.transfer_id);
    if (st == ST_OK)
        st = money_reference_read(m, &r.reference);
    if (st == ST_OK)
        st = money_line_read(m, MONEY_MEMO, MEMO_CODE_POINTS_MAX, &r.memo);
    if (st != ST_OK)
        return st;
    st = external_reverse(m->db, m->arena, &r, &m->author, clock_now_ms());
    if (st != ST_OK)
        return reverse_refused(m, &r, st);
    log_info("money",
             "action=reverse channel=%.*s interface=command transfer_id=%" PRIu64 " reverses=%" PRIu64
             " user_id=%" PRIu64 " amount_fen=%" PRId64 " repeated=%d author=%s",
             STR_ARG(r.channel), r.made.id, r.transfer_id, r.made.user_id, r.made.amount_fen, r.repeated,
             money_author_quoted(m));
    if (user_state_find_by_id(m->db, m->arena, r.made.user_id, &user) != ST_OK)
        user.username = arena_printf(m->arena, "~%" PRIu64, r.made.user_id);
    return made_print(m, &(struct made){ r.made.id, TRANSFER_REVERSE, user.username, STR_NONE, r.reference,
                                         r.made.amount_fen, r.transfer_id, r.repeated });
}

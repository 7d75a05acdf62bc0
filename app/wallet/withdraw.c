#include "wallet/withdraw.h"

#include <inttypes.h>

#include "account/proof.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/money.h"
#include "base/typed.h"
#include "ledger/channel.h"
#include "ledger/ledger.h"
#include "ledger/withdrawal.h"
#include "mysql/db_durable.h"
#include "user/account.h"
#include "user/passkey_ceremony.h"
#include "wallet/transfer.h"
#include "web/field_types.h"
#include "web/respond.h"
#include "web/security_log.h"
#include "web/text.h"
#include "web/view.h"

enum { ACCOUNT_GRAPHEMES_MAX = 100 };

static const struct problem WITHDRAW_UNKNOWN = { 503, "unknown", "text/withdraw_unknown",
                                                 "text/withdraw_unknown_detail", 1 };

/* ---- the form ---- */

struct withdraw_form {
    int64_t amount_fen;
    struct str channel; /* empty: the only one */
    struct str account;
    struct proof proof;
    struct str request_key;
};

const struct field withdraw_fields[] = {
    { .name = "amount",
      .type = &FIELD_AMOUNT,
      .member = offsetof(struct withdraw_form, amount_fen),
      .required = true,
      .kept = KEPT,
      .min = 1,
      .max = TYPED_AMOUNT_MAX_FEN,
      .missing = "text/withdraw_missing",
      .malformed = "text/withdraw_not_money",
      .low = "text/withdraw_zero",
      .high = "text/withdraw_max",
      .says = "an amount",
      .example = "10" },
    { .name = "channel",
      .type = &FIELD_TEXT,
      .member = offsetof(struct withdraw_form, channel),
      .kept = KEPT,
      .says = "the name of the channel; may be left out when there is one" },
    { .name = "account",
      .type = &FIELD_LINE,
      .member = offsetof(struct withdraw_form, account),
      .required = true,
      .max = ACCOUNT_GRAPHEMES_MAX,
      .code_points_max = DESTINATION_CODE_POINTS_MAX,
      .missing = "text/withdraw_account_missing",
      .malformed = "text/withdraw_account_invalid",
      .high = "text/withdraw_account_long",
      .wide = "text/withdraw_account_long",
      .says = "where to be paid, as the channel's hint asks for it",
      .example = "6222 0000 1234" },
    PROOF_FIELDS(struct withdraw_form, proof, "password"),
    { .name = "request_key",
      .type = &FIELD_REQUEST_KEY,
      .member = offsetof(struct withdraw_form, request_key),
      .no_echo = true,
      .malformed = "text/form_stale",
      .says = "your own key: a repeat with it changes nothing more and gets the same withdrawal",
      .example = "withdrawal-1" },
    { .name = NULL },
};

const struct field withdraw_prefill_fields[] = {
    { .name = "amount", .type = &FIELD_TEXT, .says = "fills in the form" },
    { .name = "channel", .type = &FIELD_TEXT, .says = "the same" },
    { .name = NULL },
};

/* ---- the page ---- */

/* What the page needs of the tables. */
struct offer {
    struct channel *channels;
    size_t count;
    int64_t balance_fen;
};

/* ST_NOT_FOUND: no channel pays withdrawals. */
static enum status offer_read(struct exchange *x, struct offer *out)
{
    struct db *db = x->app->stores.db;
    enum status st = channel_withdraws_list(db, x->arena, &out->channels, &out->count);
    if (st == ST_OK && out->count == 0)
        return ST_NOT_FOUND;
    return st == ST_OK ? ledger_balance(db, x->arena, x->visitor.user_id, &out->balance_fen) : st;
}

static void channel_model(struct model *m, struct value *o, const struct channel *c, bool chosen)
{
    value_text(m, o, "name", c->name);
    value_text(m, o, "note", c->note);
    value_page_text(m, o, "text", c->note.len > 0 ? c->note : c->name);
    value_int(m, o, "withdraw_min_fen", c->settings.withdraw_min_fen);
    if (c->settings.withdraw_min_fen > 1)
        value_page_number(m, o, "min_text", money_text(m->arena, c->settings.withdraw_min_fen));
    value_text(m, o, "hint", c->settings.withdraw_hint);
    value_page_bool(m, o, "has_more", c->settings.withdraw_hint.len > 0 || c->settings.withdraw_min_fen > 1);
    value_page_bool(m, o, "chosen", chosen);
}

/* typed: the posted form, or the query. */
static void withdraw_model(struct exchange *x, struct model *m, const struct offer *offer, const struct proof *proof,
                           const struct form *typed, struct str request_key)
{
    const struct str chosen = form_get(typed, "channel", NULL);
    model_init(m, x->arena);
    view_total_model(m, &m->root, "balance_fen", "balance_text", offer->balance_fen);
    struct value *list = value_list(m, &m->root, "channels");
    for (size_t i = 0; i < offer->count; i++)
        channel_model(m, value_add_object(m, list), &offer->channels[i], str_equal(offer->channels[i].name, chosen));
    value_text(m, &m->root, "request_key", request_key);
    value_page_bool(m, &m->root, "several", offer->count > 1);
    if (offer->count == 1)
        channel_model(m, value_page_object(m, &m->root, "one"), &offer->channels[0], true);
    if (offer->balance_fen > 0) {
        const struct str all = money_text(m->arena, offer->balance_fen);
        value_page_text(m, &m->root, "all_amount", all);
        value_page_number(m, &m->root, "all_text", all);
        value_page_text(m, &m->root, "all_url", arena_printf(m->arena, "/wallet/withdraw?amount=%.*s", STR_ARG(all)));
    }
    value_page_text(m, &m->root, "username", x->visitor.username);
    form_typed_model(m, value_page_object(m, &m->root, "form"), withdraw_fields, typed);
    proof_model(x, m, proof, "password", "/wallet/withdraw");
}

enum step withdraw_show(struct exchange *x)
{
    struct offer offer;
    struct proof proof;
    struct model m;
    enum status st = offer_read(x, &offer);
    if (st == ST_OK)
        st = proof_begin(x, &proof);
    if (st != ST_OK) {
        respond_status(x, status_idempotent(st));
        return STEP_DONE;
    }
    withdraw_model(x, &m, &offer, &proof, query_form(x, withdraw_prefill_fields), request_key_new(x->arena));
    respond_model(x, 200, "pages/withdraw", &m);
    return STEP_DONE;
}

/* ---- asking ---- */

/* Shows the form again; a refused request key is replaced by a new one. */
static enum step withdraw_refuse(struct exchange *x, const struct offer *offer, const struct withdraw_form *form,
                                 const struct form_errors *e)
{
    struct model m;
    const struct str key = form_failed(e, "request_key") ? request_key_new(x->arena) : form->request_key;
    withdraw_model(x, &m, offer, &form->proof, &x->form, key);
    respond_form_errors(x, "pages/withdraw", &m, e);
    return STEP_DONE;
}

/* The channel that the form names; with one channel it may name none. NULL: there is none of this name. */
static const struct channel *channel_chosen(const struct offer *offer, struct str name)
{
    if (name.len == 0)
        return offer->count == 1 ? &offer->channels[0] : NULL;
    for (size_t i = 0; i < offer->count; i++)
        if (str_equal(offer->channels[i].name, name))
            return &offer->channels[i];
    return NULL;
}

/* Adds the message about the channel, which stands behind the amount on the page. name: as typed. */
static void channel_fail(struct form_errors *e, struct str name)
{
    const struct form_errors typed = *e;
    size_t i = 0;
    e->count = 0;
    if (form_failed(&typed, "amount"))
        e->items[e->count++] = typed.items[i++];
    form_fail(e, "channel", name.len == 0 ? "text/withdraw_channel_none" : "text/withdraw_channel_closed");
    for (; i < typed.count; i++)
        e->items[e->count++] = typed.items[i];
}

static struct str amount_text(struct exchange *x, int64_t fen)
{
    return text_number(x, money_text(x->arena, fen));
}

/* Judges the amount by the channel and the balance, before a password is hashed. */
static void amount_judge(struct exchange *x, const struct offer *offer, const struct channel *channel,
                         int64_t amount_fen, struct form_errors *e)
{
    if (amount_fen < channel->settings.withdraw_min_fen)
        form_fail_with(e, "amount", "text/withdraw_min", amount_text(x, channel->settings.withdraw_min_fen));
    else if (amount_fen > offer->balance_fen)
        form_fail_with(e, "amount", "text/withdraw_no_balance", amount_text(x, offer->balance_fen));
}

static enum step withdraw_answer(struct exchange *x, const struct withdrawal_request *r)
{
    struct model m;
    int64_t balance_fen = 0;
    x->fallback_problem = &WITHDRAW_UNKNOWN;
    log_info("withdrawal", "user_id=%" PRIu64 " transfer_id=%" PRIu64 " amount_fen=%" PRId64 " repeated=%d", r->user_id,
             r->hold_id, r->amount_fen, r->repeated);
    if (!r->repeated)
        security_log(x, SECURITY_WITHDRAWAL, r->user_id, "transfer_id=%" PRIu64, r->hold_id);
    if (!x->wants_json) {
        respond_see_other(x, transfer_url(x->arena, r->hold_id));
        return STEP_DONE;
    }
    if (ledger_balance(x->app->stores.db, x->arena, r->user_id, &balance_fen) != ST_OK) {
        respond_problem(x, &WITHDRAW_UNKNOWN);
        return STEP_DONE;
    }
    model_init(&m, x->arena);
    value_int(&m, &m.root, "id", (int64_t)r->hold_id);
    value_int(&m, &m.root, "amount_fen", r->amount_fen);
    value_int(&m, &m.root, "balance_fen", balance_fen);
    value_text(&m, &m.root, "channel", r->channel);
    value_text(&m, &m.root, "account", r->destination);
    value_text(&m, &m.root, "state", str_from(withdrawal_state_name(r->state)));
    value_text(&m, &m.root, "created_at", clock_rfc3339(x->arena, r->created_ms));
    respond_model(x, 201, NULL, &m);
    return STEP_DONE;
}

/* Takes the money. ST_INVALID: *e has a message · ST_NOT_FOUND: the channel was closed meanwhile, or the user may
 * not. */
static enum status money_take(struct exchange *x, struct withdrawal_request *r, struct form_errors *e)
{
    enum status st = withdrawal_request(x->app->stores.db, x->arena, r, x->now_ms);
    if (st == ST_EXISTS) {
        form_fail(e, "request_key", "text/withdraw_key_used");
        return ST_INVALID;
    }
    if (st == ST_INVALID)
        form_fail(e, "amount", "text/withdraw_changed"); /* since amount_judge */
    return st;
}

/* Reads the form. ST_INVALID: *e has a message · ST_EXISTS: it repeats a request whose money is held, as after a lost
 * answer. Then nothing else is judged: not the channel, which may be closed by now, and not the passkey, which was
 * used. Nothing moves, and the answer has only what the wallet shows. */
static enum status ask_read(struct exchange *x, struct withdraw_form *form, struct withdrawal_request *r,
                            struct form_errors *e)
{
    enum status st = proof_begin(x, &form->proof);
    if (st == ST_OK)
        st = form_read(x, withdraw_fields, form, e);
    if (st != ST_OK)
        return st;
    *r = (struct withdrawal_request){ .user_id = x->visitor.user_id,
                                      .amount_fen = form->amount_fen,
                                      .destination = form->account,
                                      .key = form->request_key };
    st = withdrawal_requested(x->app->stores.db, x->arena, r);
    if (st == ST_NOT_FOUND)
        return ST_OK;
    if (st != ST_OK && st != ST_EXISTS)
        return status_idempotent(st);
    r->repeated = st == ST_OK && (form->channel.len == 0 || str_equal(form->channel, r->channel));
    if (r->repeated) {
        st = db_durable(x->app->stores.db, db_connections(x->app->stores.db));
        return st == ST_OK ? ST_EXISTS : st;
    }
    form_fail(e, "request_key", "text/withdraw_key_used");
    return ST_INVALID;
}

static void withdraw_failed(struct exchange *x, enum status st)
{
    if (st == ST_UNKNOWN)
        respond_problem(x, &WITHDRAW_UNKNOWN);
    else
        respond_status(x, st);
}

enum step withdraw_submit(struct exchange *x)
{
    struct withdraw_form form = { .channel = STR(""), .account = STR("") };
    struct withdrawal_request r = { .user_id = 0 };
    struct form_errors e;
    struct offer offer;
    enum status st = ask_read(x, &form, &r, &e);
    if (st == ST_EXISTS)
        return withdraw_answer(x, &r);
    const enum status offered = st == ST_OK || st == ST_INVALID ? offer_read(x, &offer) : st;
    if (offered != ST_OK) {
        withdraw_failed(x, offered);
        return STEP_DONE;
    }
    const struct channel *channel = channel_chosen(&offer, form.channel);
    if (channel == NULL)
        channel_fail(&e, form.channel);
    if (st == ST_INVALID || channel == NULL)
        return withdraw_refuse(x, &offer, &form, &e);
    r.channel_id = channel->id;
    amount_judge(x, &offer, channel, r.amount_fen, &e);
    if (e.count == 0 && !proof_check(x, &form.proof, "password", &e, &st))
        return STEP_DONE;
    if (st == ST_OK && e.count == 0)
        st = money_take(x, &r, &e);
    if (e.count > 0 && (st == ST_OK || st == ST_INVALID))
        return withdraw_refuse(x, &offer, &form, &e);
    if (st == ST_OK)
        return withdraw_answer(x, &r);
    withdraw_failed(x, st);
    return STEP_DONE;
}

#include "packet/send.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/crash.h"
#include "base/log.h"
#include "packet/id_lease.h"
#include "packet/live.h"
#include "packet/present.h"
#include "packet/split.h"
#include "packet/store.h"
#include "user/account.h"
#include "user/store.h"
#include "wallet/ledger.h"
#include "web/respond.h"
#include "web/text.h"
#include "web/view.h"

enum { COMMIT_REPLAYS_MAX = 3 };

/* ---- money ---- */

/* One transaction: the packet first, because its unique request_key tells a repeat apart before any money moves. */
static enum status fund_body(struct db *db, void *ctx)
{
    const struct packet *p = ctx;
    enum status st = packet_insert(db, p);
    if (st == ST_INVALID)
        return ST_CORRUPT; /* a foreign key: the session's user is not there */
    if (st == ST_OK) {
        st = account_create(db, p->id, ACCOUNT_ESCROW);
        if (st == ST_EXISTS)
            return ST_CORRUPT;
    }
    if (st == ST_OK) {
        struct transfer pay = { .kind = TRANSFER_SEND,
                                .debit_id = p->sender_id,
                                .credit_id = p->id,
                                .amount_fen = p->amount_fen,
                                .packet_id = p->id,
                                .created_ms = p->created_ms };
        st = ledger_transfer(db, &pay);
        if (st == ST_NOT_FOUND || st == ST_EXISTS)
            return ST_CORRUPT; /* a user without a wallet, or an id used twice */
    }
    if (st == ST_OK)
        st = user_totals_add_sent(db, p->sender_id, p->created_ms, p->amount_fen);
    crash_point("send-before-commit");
    return st;
}

/* A COMMIT without an answer is replayed: when the first one went through, the request_key says so.
 * ST_OK, ST_EXISTS (the key is taken, perhaps by us), ST_INVALID (not enough money), ST_UNKNOWN, or an outcome without
 * effect. */
static enum status fund(struct db *db, struct packet *p)
{
    bool unknown = false;
    for (int i = 0; i < COMMIT_REPLAYS_MAX; i++) {
        enum status st = db_transaction(db, fund_body, p);
        bool says_nothing = st == ST_UNAVAILABLE || st == ST_CONFLICT || st == ST_NO_MEMORY;
        if (st != ST_UNKNOWN && !(unknown && says_nothing))
            return st;
        unknown = true;
    }
    return ST_UNKNOWN;
}

/* A greeting that nobody typed is in the language of the moment: it does not tell one order from another. */
static bool same_order(const struct packet *p, const struct packet *wanted, bool any_greeting)
{
    return p->kind == wanted->kind && p->split == wanted->split && p->amount_fen == wanted->amount_fen &&
           p->share_count == wanted->share_count && p->receiver_id == wanted->receiver_id &&
           (any_greeting || str_equal(p->greeting, wanted->greeting));
}

/* ---- loading ---- */

struct load_job {
    const struct live *live;
    struct arena *arena;
    uint64_t packet_id;
};

static enum status load_shares(const struct live *live, const struct packet *p, enum live_code *code)
{
    int64_t *shares_fen = calloc(p->share_count, sizeof *shares_fen);
    if (shares_fen == NULL)
        return ST_NO_MEMORY;
    enum status st = split_packet(p, shares_fen);
    if (st == ST_OK)
        st = live_load(live, p, shares_fen, NULL, 0, LIVE_STATE_OPEN, code);
    free(shares_fen);
    return st;
}

static enum status load_body(struct db *db, void *ctx)
{
    const struct load_job *job = ctx;
    struct packet p;
    enum status st = packet_find_locked(db, job->arena, job->packet_id, &p);
    if (st != ST_OK || p.state != PACKET_FUNDING)
        return st;
    enum live_code code = LIVE_BAD;
    st = load_shares(job->live, &p, &code);
    if (st != ST_OK) {
        /* Not ST_CONFLICT, which would run the body again at once. */
        return st == ST_NO_MEMORY || st == ST_CORRUPT ? st : ST_UNAVAILABLE;
    }
    if (code != LIVE_LOADED && code != LIVE_EXISTS) {
        log_error("packet refused by its load script", "packet=%llu code=%d", (unsigned long long)p.id, (int)code);
        return ST_CORRUPT;
    }
    crash_point("send-after-load");
    return packet_mark_open(db, p.id, NULL);
}

enum status packet_load_funded(struct services *app, struct arena *a, uint64_t packet_id)
{
    struct live live;
    enum status st = live_init(&live, app->redis, app->scripts, app->config);
    if (st != ST_OK)
        return st;
    struct load_job job = { .live = &live, .arena = a, .packet_id = packet_id };
    return db_transaction(app->db, load_body, &job);
}

/* The sender has paid: whatever happens from here on, the packet is sent. */
static void load_after_send(struct services *app, struct arena *a, uint64_t packet_id)
{
    enum status st = packet_load_funded(app, a, packet_id);
    if (st != ST_OK) {
        log_warn("packet not loaded yet, left to the settle worker", "packet=%llu status=%s",
                 (unsigned long long)packet_id, status_name(st));
    }
}

/* ---- sending ---- */

static enum status best_share(struct packet *p)
{
    int64_t *shares_fen = calloc(p->share_count, sizeof *shares_fen);
    if (shares_fen == NULL)
        return ST_NO_MEMORY;
    enum status st = split_packet(p, shares_fen);
    if (st == ST_OK)
        p->best_share_no = p->kind == PACKET_LUCKY ? split_best_share_no(shares_fen, p->share_count) : PACKET_NO_SHARE;
    free(shares_fen);
    return st == ST_INVALID ? ST_CORRUPT : st; /* the rules let nothing through that can't be split */
}

static enum status packet_prepare(struct services *app, struct send_party sender, struct send_party receiver,
                                  const struct send_order *order, int64_t now_ms, struct packet *p)
{
    *p = (struct packet){ .sender_id = sender.id,
                          .sender_name = sender.name,
                          .receiver_id = receiver.id,
                          .receiver_name = receiver.name,
                          .kind = order->kind,
                          .split = order->split,
                          .amount_fen = order->total_fen,
                          .share_count = order->count,
                          .share_max_fen = order->share_fen_max,
                          .greeting = order->greeting,
                          .state = PACKET_FUNDING,
                          .created_ms = now_ms,
                          .expires_ms = now_ms + order->lifetime_ms,
                          .request_key = order->request_key };
    random_bytes(p->seed, sizeof p->seed);
    split_commitment(p->seed, p->commitment);
    enum status st = best_share(p);
    return st == ST_OK ? packet_id_next(app->db, now_ms, &p->id) : st;
}

enum status packet_send(struct services *app, struct arena *a, struct send_party sender, struct send_party receiver,
                        const struct send_order *order, int64_t now_ms, struct send_result *out)
{
    assert(order->request_key.len > 0);
    assert((order->kind == PACKET_EXCLUSIVE) == (receiver.id != 0) && receiver.id != sender.id);
    struct packet *p = &out->packet;
    out->repeated = false;
    enum status st = packet_prepare(app, sender, receiver, order, now_ms, p);
    if (st != ST_OK)
        return st;
    st = fund(app->db, p);
    if (st == ST_EXISTS) {
        struct packet found;
        st = packet_find_by_key(app->db, a, sender.id, order->request_key, &found);
        if (st != ST_OK)
            return st == ST_NOT_FOUND ? ST_CORRUPT : ST_UNKNOWN;
        bool same = same_order(&found, p, order->greeting_by_default);
        out->repeated = found.id != p->id; /* the same id: our own COMMIT, whose answer was lost */
        *p = found;
        if (!same)
            return ST_EXISTS;
    }
    if (st != ST_OK)
        return st;
    crash_point("send-after-commit");
    if (p->state == PACKET_FUNDING)
        load_after_send(app, a, p->id);
    return ST_OK;
}

/* ---- the form ---- */

static void limits_model(struct exchange *x, struct model *m)
{
    const struct config *c = x->app->config;
    struct value *limits = value_object(m, &m->root, "limits");
    value_int(m, limits, "share_fen_max", c->share_fen_max);
    value_int(m, limits, "packet_fen_max", c->packet_fen_max);
    value_int(m, limits, "shares_max", c->packet_shares_max);
    value_int(m, limits, "greeting_max", c->greeting_graphemes_max);
    value_int(m, limits, "lifetime_ms", c->packet_lifetime_ms);
    int64_t hours = (c->packet_lifetime_ms + 3599999) / 3600000;
    value_page_text(m, limits, "share_text", rules_yuan_short(x->arena, c->share_fen_max));
    value_page_text(m, limits, "hours_text", arena_printf(x->arena, "%lld", (long long)hours));
    value_page_bool(m, limits, "hours_one", hours == 1);
}

/* Exactly one radio button and one option are chosen, whatever was typed. */
static void choices_model(struct model *m, const struct send_form *form)
{
    enum packet_kind kind = PACKET_LUCKY;
    enum split_method split = SPLIT_DOUBLE_AVERAGE;
    (void)packet_kind_from(form->kind, &kind);
    (void)split_method_from(form->split, &split);
    value_page_bool(m, &m->root, "kind_lucky", kind == PACKET_LUCKY);
    value_page_bool(m, &m->root, "kind_even", kind == PACKET_EVEN);
    value_page_bool(m, &m->root, "kind_exclusive", kind == PACKET_EXCLUSIVE);
    value_page_bool(m, &m->root, "split_double_average", split != SPLIT_UNIFORM && split != SPLIT_GAUSSIAN);
    value_page_bool(m, &m->root, "split_uniform", split == SPLIT_UNIFORM);
    value_page_bool(m, &m->root, "split_gaussian", split == SPLIT_GAUSSIAN);
}

/* The model of pages/send: what was typed, and the key of the next attempt. */
static enum status send_model(struct exchange *x, struct model *m, const struct send_form *form, struct str request_key)
{
    int64_t balance_fen;
    enum status st = ledger_balance(x->app->db, x->arena, x->visitor.user_id, &balance_fen);
    if (st != ST_OK)
        return st == ST_NOT_FOUND ? ST_CORRUPT : st;
    model_init(m, x->arena);
    view_money_model(m, &m->root, "balance_fen", "balance_text", balance_fen);
    value_text(m, &m->root, "request_key", request_key);
    limits_model(x, m);
    value_page_text(m, &m->root, "greeting_default", form->greeting_default);
    struct value *typed = value_page_object(m, &m->root, "form");
    value_text(m, typed, "kind", form->kind);
    value_text(m, typed, "amount", form->amount);
    value_text(m, typed, "count", form->count);
    value_text(m, typed, "greeting", form->greeting);
    value_text(m, typed, "to", form->to);
    value_text(m, typed, "split", form->split);
    value_text(m, typed, "request_key", request_key);
    choices_model(m, form);
    return ST_OK;
}

static struct send_form form_read(struct exchange *x)
{
    return (struct send_form){ .kind = form_get(&x->form, "kind", NULL),
                               .amount = form_get(&x->form, "amount", NULL),
                               .count = form_get(&x->form, "count", NULL),
                               .greeting = form_get(&x->form, "greeting", NULL),
                               .to = form_get(&x->form, "to", NULL),
                               .split = form_get(&x->form, "split", NULL),
                               .request_key = form_get(&x->form, "request_key", NULL),
                               .greeting_default = text_of(x, "text/greeting_default") };
}

enum step send_form_get(struct exchange *x)
{
    struct send_form empty = form_read(x);
    struct model m;
    struct str request_key = request_key_new(x->arena);
    enum status st = request_key.ptr == NULL ? ST_NO_MEMORY : send_model(x, &m, &empty, request_key);
    if (st != ST_OK) {
        respond_status(x, st);
        return STEP_DONE;
    }
    respond_model(x, 200, "pages/send", &m);
    return STEP_DONE;
}

/* Looks up who may open an exclusive packet. ST_INVALID: told in errors. */
static enum status receiver_find(struct exchange *x, const struct send_order *order, struct send_party *out,
                                 struct form_errors *errors)
{
    *out = (struct send_party){ 0 };
    if (order->kind != PACKET_EXCLUSIVE)
        return ST_OK;
    struct user user;
    struct str name = username_fold(x->arena, order->to);
    if (name.ptr == NULL)
        return ST_NO_MEMORY;
    enum status st = username_valid(name) ? user_find_by_name(x->app->db, x->arena, name, &user) : ST_NOT_FOUND;
    if (st == ST_OK && user.id != x->visitor.user_id) {
        *out = (struct send_party){ .id = user.id, .name = user.nickname };
        return ST_OK;
    }
    if (st != ST_OK && st != ST_NOT_FOUND)
        return st;
    form_fail(errors, "to", st == ST_OK ? RULES_TEXT_SELF : RULES_TEXT_NO_RECEIVER);
    return ST_INVALID;
}

/* Everything a send needs, in turn; what the sender can mend is told in errors (then ST_INVALID). */
static enum status send_run(struct exchange *x, const struct send_form *form, struct send_result *result,
                            struct form_errors *errors)
{
    struct send_order order;
    struct send_party receiver;
    enum status st = rules_send(x->arena, x->app->config, form, &order, errors);
    if (st == ST_OK)
        st = receiver_find(x, &order, &receiver, errors);
    if (st == ST_OK && order.request_key.len == 0) {
        order.request_key = request_key_new(x->arena);
        st = order.request_key.ptr == NULL ? ST_NO_MEMORY : ST_OK;
    }
    if (st != ST_OK)
        return st;
    struct send_party sender = { .id = x->visitor.user_id, .name = x->visitor.nickname };
    st = packet_send(x->app, x->arena, sender, receiver, &order, x->now_ms, result);
    if (st == ST_INVALID) {
        form_fail(errors, "amount", RULES_TEXT_BALANCE);
    } else if (st == ST_EXISTS) {
        form_fail(errors, "request_key", RULES_TEXT_OTHER_PACKET);
        st = ST_INVALID;
    }
    return st;
}

static bool failed_on(const struct form_errors *errors, const char *field)
{
    for (size_t i = 0; i < errors->count; i++)
        if (strcmp(errors->items[i].field, field) == 0)
            return true;
    return false;
}

static enum step answer_refused(struct exchange *x, const struct send_form *form, const struct form_errors *errors)
{
    bool fresh = form->request_key.len == 0 || failed_on(errors, "request_key");
    struct str request_key = fresh ? request_key_new(x->arena) : form->request_key;
    struct model m;
    enum status st = request_key.ptr == NULL ? ST_NO_MEMORY : send_model(x, &m, form, request_key);
    if (st != ST_OK) {
        respond_status(x, st);
        return STEP_DONE;
    }
    respond_form_errors(x, "pages/send", &m, errors);
    return STEP_DONE;
}

static enum step answer_sent(struct exchange *x, const struct packet *p)
{
    struct str id = present_packet_id(x, p->id);
    struct str path = present_packet_path(x, p->id);
    x->if_lost = &PROBLEM_UNKNOWN; /* it is paid for: the same request_key finds it */
    if (!x->wants_json) {
        respond_see_other(x, path);
        return STEP_DONE;
    }
    struct model m;
    model_init(&m, x->arena);
    value_text(&m, &m.root, "id", id);
    value_text(&m, &m.root, "url", arena_printf(x->arena, "%s%.*s", x->app->config->base_url, STR_ARG(path)));
    value_text(&m, &m.root, "commitment", present_hex(x->arena, p->commitment, sizeof p->commitment));
    respond_model(x, 201, "pages/send", &m);
    respond_header(x, "Location", path);
    return STEP_DONE;
}

enum step send_form_post(struct exchange *x)
{
    struct send_form form = form_read(x);
    struct form_errors errors = { .count = 0 };
    struct send_result result;
    enum status st = send_run(x, &form, &result, &errors);
    if (st == ST_OK)
        return answer_sent(x, &result.packet);
    if (st == ST_INVALID && errors.count > 0)
        return answer_refused(x, &form, &errors);
    respond_status(x, st);
    return STEP_DONE;
}

#include "wallet/deposit.h"

#include <inttypes.h>

#include "base/log.h"
#include "ledger/ledger.h"
#include "mysql/db_durable.h"
#include "mysql/db_repeat.h"
#include "wallet/statement.h"
#include "web/field_types.h"
#include "web/origin.h"
#include "web/respond.h"

static const struct problem DEPOSIT_UNKNOWN = { 503, "unknown", "text/deposit_unknown", "text/deposit_unknown_detail",
                                                1 };

/* ---- the form ---- */

static int64_t deposit_fen_max(const struct config *config)
{
    return config->deposit_fen_max;
}

const struct field deposit_fields[] = {
    { .name = "amount",
      .type = &FIELD_AMOUNT,
      .member = offsetof(struct deposit, amount_fen),
      .required = true,
      .kept = KEPT,
      .min = 1,
      .max_of = deposit_fen_max,
      .missing = "text/deposit_missing",
      .malformed = "text/deposit_not_money",
      .low = "text/deposit_zero",
      .high = "text/deposit_max",
      .says = "an amount",
      .example = "100" },
    { .name = "request_key",
      .type = &FIELD_REQUEST_KEY,
      .member = offsetof(struct deposit, request_key),
      .no_echo = true,
      .malformed = "text/form_stale",
      .says = "your own key: a repeat with it changes nothing more and gets the same answer",
      .example = "order-1" },
    NEXT_FIELD(struct deposit),
    { .name = NULL },
};

/* ---- the ledger ---- */

struct deposit_run {
    struct deposit *deposit;
    struct arena *arena;
    struct str ledger_key; /* "userid:key" */
    int64_t now_ms;
};

/* Fails only for a repeated key (ST_EXISTS) and a wallet that does not exist. Wallets are never deleted. */
static enum status deposit_body(struct db *db, void *ctx)
{
    const struct deposit_run *run = ctx;
    struct deposit *d = run->deposit;
    enum status st = ledger_deposit(db, d->user_id, d->amount_fen, d->request_key, run->now_ms);
    return st == ST_OK ? ledger_balance(db, run->arena, d->user_id, &d->balance_fen) : st;
}

/* Reads the transfer of this key: its amount, and the current balance. */
static enum status deposit_find(struct db *db, const struct deposit_run *run)
{
    struct db_rows rows;
    struct deposit *d = run->deposit;
    enum status st =
        db_query(db, run->arena, &rows,
                 "SELECT t.amount_fen, a.balance_fen, t.created_ms FROM transfer t JOIN account a ON a.id = t.credit_id"
                 " WHERE t.kind = 'deposit' AND t.request_key = ?",
                 DB_PARAMS(DB_TEXT(run->ledger_key)));
    if (st != ST_OK)
        return st;
    if (rows.count != 1)
        return ST_CORRUPT;
    d->amount_fen = db_cell_i64(&rows, 0, 0);
    d->balance_fen = db_cell_i64(&rows, 0, 1);
    d->made_ms = db_cell_i64(&rows, 0, 2);
    return ST_OK;
}

enum status deposit_make(struct db *db, struct arena *a, struct deposit *d, int64_t now_ms)
{
    const int64_t wanted_fen = d->amount_fen;
    struct deposit_run run = { d, a, arena_printf(a, "%" PRIu64 ":%.*s", d->user_id, STR_ARG(d->request_key)), now_ms };

    if (run.ledger_key.ptr == NULL)
        return ST_NO_MEMORY;
    d->repeated = false;
    d->made_ms = now_ms;
    enum status st = db_transaction_repeat(db, deposit_body, &run);
    if (st == ST_EXISTS) {
        d->repeated = true;
        st = deposit_find(db, &run);
        if (st == ST_NO_MEMORY || st == ST_UNAVAILABLE)
            st = ST_UNKNOWN; /* the deposit exists, but its amount can't be read */
    }
    if (st != ST_OK || d->amount_fen != wanted_fen)
        return st == ST_OK ? ST_EXISTS : st;
    return d->repeated ? db_durable(db, db_connections(db)) : ST_OK;
}

/* ---- the page ---- */

/* Shows the form again; a refused request key is replaced by a new one. */
static enum step deposit_refuse(struct exchange *x, const struct deposit *d, const struct form_errors *e)
{
    struct model m;
    enum status st = ST_OK;
    struct deposit_form form = { form_get(&x->form, "amount", NULL), d->request_key, d->next };

    if (form_failed(e, "request_key"))
        form.request_key = request_key_new(x->arena);
    model_init(&m, x->arena);
    if (!x->wants_json)
        st = statement_model(x, &m, (struct list_key){ 0 }, &form);
    if (st == ST_OK)
        respond_form_errors(x, "pages/wallet", &m, e);
    else
        respond_status(x, st);
    return STEP_DONE;
}

/* `next`, else the wallet. The wallet and the send form get deposited, with which they confirm the deposit: 2 when the
 * form had made it some time before. */
static struct str done_url(struct exchange *x, const struct deposit *d)
{
    struct str next = d->next.len > 0 ? d->next : STR("/wallet");
    if (d->next.len > 0 && !str_starts(next, STR("/send")))
        return next;
    char before = str_find(next, STR("?")) < next.len ? '&' : '?';
    int told = d->repeated && x->now_ms - d->made_ms > REQUEST_PRESSED_MS ? 2 : 1;
    struct str url = arena_printf(x->arena, "%.*s%cdeposited=%d", STR_ARG(next), before, told);
    return url.len > NEXT_BYTES_MAX ? next : url;
}

static enum step deposit_answer(struct exchange *x, const struct deposit *d)
{
    struct model m;

    x->fallback_problem = &DEPOSIT_UNKNOWN;
    if (!x->wants_json) {
        respond_see_other(x, done_url(x, d));
        return STEP_DONE;
    }
    model_init(&m, x->arena);
    value_int(&m, &m.root, "amount_fen", d->amount_fen);
    value_int(&m, &m.root, "balance_fen", d->balance_fen);
    respond_model(x, 201, NULL, &m);
    return STEP_DONE;
}

enum step deposit_submit(struct exchange *x)
{
    struct deposit d = { .user_id = x->visitor.user_id, .next = STR("") };
    struct form_errors e;

    if (!x->app->stores.config->demo) {
        respond_problem(x, &PROBLEM_NOT_FOUND);
        return STEP_DONE;
    }
    enum status st = form_read(x, deposit_fields, &d, &e);
    if (st == ST_OK)
        st = deposit_make(x->app->stores.db, x->arena, &d, x->now_ms);
    if (st == ST_EXISTS) {
        form_fail(&e, "request_key", "text/deposit_key_used");
        st = ST_INVALID;
    }
    if (st == ST_INVALID)
        return deposit_refuse(x, &d, &e);
    if (st == ST_OK) {
        log_info("deposit", "user_id=%" PRIu64 " amount_fen=%" PRId64 " repeated=%d", d.user_id, d.amount_fen,
                 d.repeated);
        return deposit_answer(x, &d);
    }
    if (st == ST_UNKNOWN)
        respond_problem(x, &DEPOSIT_UNKNOWN);
    else
        respond_status(x, st);
    return STEP_DONE;
}

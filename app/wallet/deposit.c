#include "wallet/deposit.h"

#include <inttypes.h>

#include "base/log.h"
#include "base/money.h"
#include "base/utf8.h"
#include "ledger/ledger.h"
#include "wallet/statement.h"
#include "web/form.h"
#include "web/respond.h"

static const struct problem DEPOSIT_UNKNOWN = { 503, "unknown", "text/deposit_unknown", "text/deposit_unknown_detail",
                                                1 };

/* ---- rules ---- */

enum status deposit_amount_read(struct arena *a, const struct config *config, struct str typed, int64_t *out_fen,
                                struct form_errors *errors)
{
    struct str folded;
    int64_t fen;
    enum status st = utf8_fold_width(a, typed, &folded);

    if (st == ST_NO_MEMORY)
        return st;
    if (st == ST_OK && folded.len == 0) {
        form_fail(errors, "amount", "text/deposit_missing");
    } else if (st != ST_OK || money_parse(folded, &fen) != ST_OK) {
        form_fail(errors, "amount", "text/deposit_not_money");
    } else if (fen <= 0) {
        form_fail(errors, "amount", "text/deposit_zero");
    } else if (fen > config->deposit_fen_max) {
        struct str max = money_text(a, config->deposit_fen_max);
        form_fail_with(errors, "amount", "text/deposit_max", max);
        return max.ptr != NULL ? ST_INVALID : ST_NO_MEMORY;
    } else {
        *out_fen = fen;
        return ST_OK;
    }
    return ST_INVALID;
}

/* ---- the ledger ---- */

struct deposit_run {
    struct deposit *deposit;
    struct arena *arena;
    struct str ledger_key; /* "userid:key" */
    int64_t now_ms;
};

/* Refuses nothing but a repeat and a wallet that does not exist; no wallet is ever deleted. */
static enum status deposit_body(struct db *db, void *ctx)
{
    const struct deposit_run *run = ctx;
    struct deposit *d = run->deposit;
    const struct transfer t = {
        .kind = TRANSFER_DEPOSIT,
        .debit_id = ACCOUNT_BANK_ID,
        .credit_id = d->user_id,
        .amount_fen = d->amount_fen,
        .request_key = run->ledger_key,
        .created_ms = run->now_ms,
    };
    enum status st = ledger_transfer(db, &t);
    return st == ST_OK ? ledger_balance(db, run->arena, d->user_id, &d->balance_fen) : st;
}

/* Fills in what the transfer of this key did. */
static enum status deposit_find(struct db *db, const struct deposit_run *run)
{
    struct db_rows rows;
    struct deposit *d = run->deposit;
    enum status st = db_query(db, run->arena, &rows,
                              "SELECT t.amount, a.balance FROM transfer t JOIN account a ON a.id = t.credit_id"
                              " WHERE t.kind = 'deposit' AND t.request_key = ?",
                              DB_PARAMS(DB_TEXT(run->ledger_key)));
    if (st != ST_OK)
        return st;
    if (rows.count != 1)
        return ST_CORRUPT;
    d->amount_fen = db_cell_i64(&rows, 0, 0);
    d->balance_fen = db_cell_i64(&rows, 0, 1);
    return ST_OK;
}

enum status deposit_make(struct db *db, struct arena *a, struct deposit *d, int64_t now_ms)
{
    struct deposit_run run = { d, a, arena_printf(a, "%" PRIu64 ":%.*s", d->user_id, STR_ARG(d->request_key)), now_ms };

    if (run.ledger_key.ptr == NULL)
        return ST_NO_MEMORY;
    d->repeated = false;
    enum status st = db_transaction_replay(db, deposit_body, &run);
    if (st == ST_EXISTS) {
        d->repeated = true;
        st = deposit_find(db, &run);
        if (st == ST_NO_MEMORY || st == ST_UNAVAILABLE)
            st = ST_UNKNOWN; /* it was made; only what it did can't be told */
    }
    return st;
}

/* ---- the page ---- */

static enum step deposit_refuse(struct exchange *x, struct str typed_amount, struct str request_key,
                                const struct form_errors *e)
{
    struct model m;
    enum status st = ST_OK;

    model_init(&m, x->arena);
    if (!x->wants_json)
        st = statement_model(x, &m, STATEMENT_NEWEST, typed_amount, request_key);
    if (st == ST_OK)
        respond_form_errors(x, "pages/wallet", &m, e);
    else
        respond_status(x, st);
    return STEP_DONE;
}

static enum step deposit_answer(struct exchange *x, const struct deposit *d)
{
    struct model m;

    x->if_lost = &DEPOSIT_UNKNOWN;
    if (!x->wants_json) {
        respond_see_other(x, STR("/wallet"));
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
    struct str typed_amount = form_get(&x->form, "amount", NULL);
    struct deposit d = { .user_id = x->visitor.user_id, .request_key = form_get(&x->form, "request_key", NULL) };
    struct form_errors e = { .count = 0 };

    if (!x->app->stores.config->demo) {
        respond_problem(x, &PROBLEM_NOT_FOUND);
        return STEP_DONE;
    }
    if (d.request_key.len == 0) {
        d.request_key = request_key_new(x->arena);
    } else if (!request_key_valid(d.request_key)) {
        form_fail(&e, "request_key", "text/form_stale");
        d.request_key = request_key_new(x->arena);
    }
    enum status st = deposit_amount_read(x->arena, x->app->stores.config, typed_amount, &d.amount_fen, &e);
    if (st != ST_NO_MEMORY && e.count > 0)
        return deposit_refuse(x, typed_amount, d.request_key, &e);

    if (st == ST_OK && d.request_key.ptr == NULL)
        st = ST_NO_MEMORY; /* without its key it would be taken for another deposit that lost its own */
    if (st == ST_OK)
        st = deposit_make(x->app->stores.db, x->arena, &d, x->now_ms);
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

#include "service/withdrawals.h"

#include <inttypes.h>

#include "base/log.h"
#include "money/models.h"
#include "mysql/db_durable.h"
#include "service/caller.h"
#include "service/payments.h"
#include "web/field_types.h"

enum { PAGE_ROWS = 500 };

static const struct problem ENDED = { 409, "withdrawal-ended", "text/withdrawal_ended", "text/withdrawal_ended_detail",
                                      0 };

/* ---- the list ---- */

struct withdrawals_form {
    unsigned state;
    uint64_t after;
};

/* The list has pending ones only: nobody needs another one yet. */
static struct str state_word(unsigned i)
{
    return i == WITHDRAWAL_PENDING ? str_from(withdrawal_state_name(WITHDRAWAL_PENDING)) : STR_NONE;
}

const struct field withdrawals_fields[] = {
    { .name = "state",
      .type = &FIELD_WORD,
      .member = offsetof(struct withdrawals_form, state),
      .word = state_word,
      .says = "which ones; left out: pending" },
    { .name = "after",
      .type = &FIELD_NUMBER,
      .member = offsetof(struct withdrawals_form, after),
      .says = "the id of the last withdrawal of before, or the `next` of that page: later ones" },
    { .name = NULL },
};

enum step withdrawals_list(struct exchange *x)
{
    struct caller caller;
    struct withdrawals_form form = { .state = WITHDRAWAL_PENDING };
    struct withdrawal *page = NULL;
    struct model m;
    size_t count = 0;
    if (!caller_read(x, SERVICE_READ, &caller) || !caller_query_read(x, withdrawals_fields, &form))
        return STEP_DONE;
    enum status st = withdrawal_pending(x->app->stores.db, x->arena, caller.service.channel_id, form.after, PAGE_ROWS,
                                        &page, &count);
    if (st == ST_OK && count > 0) /* the program pays them */
        st = db_durable(x->app->stores.db, db_connections(x->app->stores.db));
    if (st != ST_OK) {
        respond_status(x, status_idempotent(st));
        return STEP_DONE;
    }
    model_init(&m, x->arena);
    struct value *list = value_list(&m, &m.root, "withdrawals");
    for (size_t i = 0; i < count; i++)
        withdrawal_model(&m, value_add_object(&m, list), &page[i]);
    if (count == PAGE_ROWS)
        value_text(&m, &m.root, "next", arena_printf(x->arena, "%" PRIu64, page[count - 1].id));
    else
        value_null(&m, &m.root, "next");
    respond_model(x, 200, NULL, &m);
    return STEP_DONE;
}

/* ---- the end ---- */

struct end_form {
    struct str reference, reason;
};

const struct field withdrawal_post_fields[] = {
    PAYMENT_REFERENCE_FIELD(struct end_form, reference, "the number of the payment outside, as of a credit",
                            "bank-4711"),
    { .name = NULL },
};

const struct field withdrawal_void_fields[] = {
    { .name = "reason",
      .type = &FIELD_LINE,
      .member = offsetof(struct end_form, reason),
      .required = true,
      .max = REASON_CODE_POINTS_MAX,
      .code_points_max = REASON_CODE_POINTS_MAX,
      .missing = "text/withdrawal_reason_missing",
      .malformed = "text/payment_memo_malformed",
      .high = "text/withdrawal_reason_long",
      .wide = "text/withdrawal_reason_long",
      .says = "why it was not paid; the user reads it",
      .example = "the account number is wrong" },
    { .name = NULL },
};

static void end_answer(struct exchange *x, const struct withdrawal *w)
{
    struct model m;
    x->fallback_problem = &CALLER_UNKNOWN;
    model_init(&m, x->arena);
    withdrawal_ended_model(&m, &m.root, w);
    respond_model(x, 200, NULL, &m);
}

static void end_make(struct exchange *x, const struct caller *caller, struct withdrawal_end *end)
{
    enum status st = withdrawal_end(x->app->stores.db, x->arena, end, &caller->author, x->now_ms);
    if (st == ST_EXISTS) {
        respond_problem(x, end->now.state == WITHDRAWAL_PENDING ? &REFERENCE_USED : &ENDED);
        return;
    }
    if (st != ST_OK) {
        caller_failed(x, caller, st);
        return;
    }
    log_info("money",
             "action=%s channel=%.*s interface=http withdrawal_id=%" PRIu64 " user_id=%" PRIu64 " amount_fen=%" PRId64
             " repeated=%d author=%.*s",
             end->post ? "post" : "void", STR_ARG(caller->service.channel), end->id, end->now.user_id,
             end->now.amount_fen, end->repeated, STR_ARG(caller->author.name));
    end_answer(x, &end->now);
}

/* A withdrawal of another channel is not there. False: the request is answered. */
static bool withdrawal_is_own(struct exchange *x, const struct caller *caller, uint64_t *id)
{
    struct withdrawal w;
    enum status st =
        str_to_u64(x->params.key, id) ? withdrawal_find(x->app->stores.db, x->arena, *id, &w) : ST_NOT_FOUND;
    if (st == ST_OK && w.channel_id != caller->service.channel_id)
        st = ST_NOT_FOUND;
    if (st != ST_OK)
        respond_status(x, status_idempotent(st));
    return st == ST_OK;
}

static enum step end_submit(struct exchange *x, bool post)
{
    struct caller caller;
    struct end_form form = { .reference = STR(""), .reason = STR("") };
    struct withdrawal_end end = { .post = post };
    struct form_errors e;
    struct model m;
    if (!caller_read(x, SERVICE_WITHDRAW, &caller) || !withdrawal_is_own(x, &caller, &end.id))
        return STEP_DONE;
    enum status st = form_read(x, post ? withdrawal_post_fields : withdrawal_void_fields, &form, &e);
    model_init(&m, x->arena);
    end.reference = form.reference;
    end.reason = form.reason;
    if (st == ST_INVALID)
        respond_form_errors(x, NULL, &m, &e);
    else if (st != ST_OK)
        respond_status(x, st);
    else
        end_make(x, &caller, &end);
    return STEP_DONE;
}

enum step withdrawal_post_submit(struct exchange *x)
{
    return end_submit(x, true);
}

enum step withdrawal_void_submit(struct exchange *x)
{
    return end_submit(x, false);
}

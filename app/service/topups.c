#include "service/topups.h"

#include <inttypes.h>

#include "base/log.h"
#include "ledger/topup.h"
#include "money/models.h"
#include "service/caller.h"
#include "service/payments.h"
#include "web/field_types.h"

static const struct problem LEAVES = { 409, "user-deleted", "text/topup_user_deleted", "text/topup_user_deleted_detail",
                                       0 };

struct paid_form {
    struct str reference;
    int64_t amount_fen;
};

const struct field topup_paid_fields[] = {
    PAYMENT_REFERENCE_FIELD(struct paid_form, reference, "the number of the payment outside, as of a credit",
                            "pi-4711"),
    PAYMENT_AMOUNT_FIELD(struct paid_form, amount_fen, "an amount: what was paid, which may differ from the order"),
    { .name = NULL },
};

static void paid_answer(struct exchange *x, const struct topup_paid *paid)
{
    struct model m;
    x->fallback_problem = &CALLER_UNKNOWN;
    model_init(&m, x->arena);
    topup_paid_model(&m, &m.root, paid);
    respond_model(x, paid->repeated ? 200 : 201, NULL, &m);
}

static void paid_make(struct exchange *x, const struct caller *caller, struct topup_paid *paid)
{
    enum status st = topup_paid(x->app->stores.db, x->arena, paid, &caller->author, x->now_ms);
    if (st == ST_EXISTS) {
        respond_problem(x, &REFERENCE_USED);
        return;
    }
    if (st == ST_NOT_FOUND && paid->is_leaving) {
        respond_problem(x, &LEAVES);
        return;
    }
    if (st != ST_OK) {
        caller_failed(x, caller, st);
        return;
    }
    log_info("money",
             "action=topup-paid channel=%.*s interface=http topup_id=%" PRIu64 " transfer_id=%" PRIu64
             " user_id=%" PRIu64 " amount_fen=%" PRId64 " repeated=%d author=%.*s",
             STR_ARG(caller->service.channel), paid->id, paid->made.id, paid->order.user_id, paid->amount_fen,
             paid->repeated, STR_ARG(caller->author.name));
    paid_answer(x, paid);
}

enum step topup_paid_submit(struct exchange *x)
{
    struct caller caller;
    struct paid_form form = { .reference = STR("") };
    struct topup_paid paid = { .id = 0 };
    struct form_errors e;
    struct model m;
    if (!caller_read(x, SERVICE_TOPUP, &caller))
        return STEP_DONE;
    if (!str_to_u64(x->params.key, &paid.id)) {
        respond_status(x, ST_NOT_FOUND);
        return STEP_DONE;
    }
    enum status st = form_read(x, topup_paid_fields, &form, &e);
    model_init(&m, x->arena);
    paid.channel_id = caller.service.channel_id;
    paid.reference = form.reference;
    paid.amount_fen = form.amount_fen;
    if (st == ST_INVALID)
        respond_form_errors(x, NULL, &m, &e);
    else if (st != ST_OK)
        respond_status(x, st);
    else
        paid_make(x, &caller, &paid);
    return STEP_DONE;
}

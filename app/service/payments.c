#include "service/payments.h"

#include <inttypes.h>

#include "base/log.h"
#include "ledger/channel.h"
#include "money/payment.h"
#include "service/caller.h"
#include "user/account.h"
#include "web/field_types.h"

enum { USERNAME_TYPED_MAX = 64 };

const struct problem REFERENCE_USED = { 409, "reference-used", "text/reference_used", "text/reference_used_detail", 0 };

/* ---- the form ---- */

static enum status reference_read(struct field_input *in)
{
    if (in->typed.len == 0)
        return field_absent(in);
    if (!reference_is_valid(in->typed))
        return field_fail(in, in->field->malformed);
    *(struct str *)in->out = in->typed;
    return ST_OK;
}

const struct field_type FIELD_REFERENCE = { .read = reference_read, .as_typed = true };

struct payment_form {
    struct str username, channel, reference, memo;
    int64_t amount_fen;
};

const struct field payment_fields[] = {
    { .name = "username",
      .type = &FIELD_TEXT,
      .member = offsetof(struct payment_form, username),
      .required = true,
      .max = USERNAME_TYPED_MAX,
      .missing = "text/payment_no_user",
      .high = "text/payment_no_user",
      .says = "whose wallet; a small letter is as good as a capital one",
      .example = "alice" },
    PAYMENT_AMOUNT_FIELD(struct payment_form, amount_fen, "an amount"),
    { .name = "channel",
      .type = &FIELD_TEXT,
      .member = offsetof(struct payment_form, channel),
      .max = CHANNEL_NAME_MAX,
      .high = "text/payment_channel_long",
      .says = "the channel; left out: the channel of the token" },
    PAYMENT_REFERENCE_FIELD(struct payment_form, reference,
                            "the number of the payment outside: 1 to 64 characters of printable ASCII, without a blank "
                            "at either end; a repeat with it moves no more money and gets the same answer",
                            "order-17"),
    { .name = "memo",
      .type = &FIELD_LINE,
      .member = offsetof(struct payment_form, memo),
      .max = MEMO_CODE_POINTS_MAX,
      .code_points_max = MEMO_CODE_POINTS_MAX,
      .malformed = "text/payment_memo_malformed",
      .high = "text/payment_memo_long",
      .wide = "text/payment_memo_long",
      .says = "what the user reads beside the amount" },
    { .name = NULL },
};

/* Sets the user. ST_INVALID: there is none, and the message is recorded · ST_EXISTS: there is none, but the reference
 * was used before, perhaps for a user who is deleted by now. */
static enum status user_read(struct exchange *x, const struct caller *caller, struct payment *p, struct form_errors *e)
{
    struct payment *one[] = { p };
    struct external_transfer made;
    struct db *db = x->app->stores.db;
    enum status st = payments_users_find(db, x->arena, one, 1);
    if (st == ST_OK && p->user_id == 0) {
        st = external_find(db, x->arena, caller->service.channel_id, p->reference, &made);
        if (st == ST_OK)
            return ST_EXISTS;
    }
    if (st == ST_NOT_FOUND) {
        form_fail(e, "username", "text/payment_no_user");
        st = ST_INVALID;
    }
    return status_idempotent(st);
}

static enum status payment_take(struct exchange *x, const struct caller *caller, const struct payment_form *form,
                                struct payment *out, struct form_errors *e)
{
    *out = (struct payment){ .username = username_fold(x->arena, form->username),
                             .amount_fen = form->amount_fen,
                             .reference = form->reference,
                             .memo = form->memo };
    return out->username.ptr == NULL ? ST_NO_MEMORY : user_read(x, caller, out, e);
}

/* ---- the answer ---- */

static void payment_answer(struct exchange *x, const struct payment *p, const struct external_row *row)
{
    struct model m;
    x->fallback_problem = &CALLER_UNKNOWN;
    model_init(&m, x->arena);
    value_int(&m, &m.root, "id", (int64_t)row->transfer_id);
    value_text(&m, &m.root, "reference", p->reference);
    value_int(&m, &m.root, "amount_fen", p->amount_fen);
    value_text(&m, &m.root, "username", p->username);
    respond_model(x, row->repeated ? 200 : 201, NULL, &m);
}

static void form_refuse(struct exchange *x, const struct form_errors *e)
{
    struct model m;
    model_init(&m, x->arena);
    respond_form_errors(x, NULL, &m, e);
}

/* What external_move has refused. */
static void move_refuse(struct exchange *x, const struct caller *caller, enum status st)
{
    struct form_errors e = { .count = 0 };
    if (st == ST_EXISTS) {
        respond_problem(x, &REFERENCE_USED);
        return;
    }
    if (st == ST_INVALID)
        form_fail(&e, "amount", "text/payment_wallet_small");
    if (st == ST_NOT_FOUND)
        form_fail(&e, "username", "text/payment_no_user"); /* the account is being deleted now */
    if (e.count > 0)
        form_refuse(x, &e);
    else
        caller_failed(x, caller, st);
}

static void payment_move(struct exchange *x, const struct caller *caller, enum transfer_kind kind,
                         const struct payment *p)
{
    struct external_row row = {
        .user_id = p->user_id, .amount_fen = p->amount_fen, .reference = p->reference, .memo = p->memo
    };
    enum status st = external_move(x->app->stores.db, x->arena, kind, caller->service.channel_id, &row, 1,
                                   &caller->author, x->now_ms);
    if (st != ST_OK) {
        move_refuse(x, caller, st);
        return;
    }
    log_info("money",
             "action=%s channel=%.*s interface=http transfer_id=%" PRIu64 " user_id=%" PRIu64 " amount_fen=%" PRId64
             " repeated=%d author=%.*s",
             transfer_kind_name(kind), STR_ARG(caller->service.channel), row.transfer_id, p->user_id, p->amount_fen,
             row.repeated, STR_ARG(caller->author.name));
    payment_answer(x, p, &row);
}

static enum step submit(struct exchange *x, enum transfer_kind kind)
{
    struct caller caller;
    struct payment_form form = { .memo = STR(""), .channel = STR("") };
    struct payment p;
    struct form_errors e;
    if (!caller_read(x, kind == TRANSFER_CREDIT ? SERVICE_CREDIT : SERVICE_DEBIT, &caller))
        return STEP_DONE;
    enum status st = form_read(x, payment_fields, &form, &e);
    if (st == ST_OK && !caller_has_channel(x, &caller, form.channel))
        return STEP_DONE;
    if (st == ST_OK)
        st = payment_take(x, &caller, &form, &p, &e);
    if (st == ST_INVALID)
        form_refuse(x, &e);
    else if (st == ST_EXISTS)
        respond_problem(x, &REFERENCE_USED);
    else if (st != ST_OK)
        respond_status(x, st);
    else
        payment_move(x, &caller, kind, &p);
    return STEP_DONE;
}

enum step credit_submit(struct exchange *x)
{
    return submit(x, TRANSFER_CREDIT);
}

enum step debit_submit(struct exchange *x)
{
    return submit(x, TRANSFER_DEBIT);
}

#include "account/deletion_page.h"

#include <string.h>

#include "account/proof.h"
#include "base/array.h"
#include "user/account.h"
#include "user/deletion.h"
#include "user/session.h"
#include "web/field_types.h"
#include "web/respond.h"
#include "web/security_log.h"
#include "web/view.h"

struct deletion_form {
    struct str username; /* folded, perhaps not valid */
    struct proof proof;
    struct str give_up; /* empty: the box is not ticked */
};

const struct field deletion_fields[] = {
    LOGIN_NAME_FIELD(struct deletion_form, "one's own, to confirm"),
    PROOF_FIELDS(struct deletion_form, proof, "password"),
    { .name = "give_up",
      .type = &FIELD_TEXT,
      .member = offsetof(struct deletion_form, give_up),
      .says = "any text: the money that is left, in the wallet, in open packets or in withdrawals that are not paid, "
              "goes to the site; needed while there is some, else 422" },
    { .name = NULL },
};

static const struct problem DELETION_UNKNOWN = { 503, "unknown", "text/delete_unknown", "text/delete_unknown_detail",
                                                 1 };

static bool has_money(const struct deletion_money *money)
{
    return money->balance_fen > 0 || money->packet_count > 0 || money->withdrawal_count > 0;
}

static void money_model(struct model *m, const struct deletion_money *money)
{
    view_money_model(m, &m->root, "balance_fen", "balance_text", money->balance_fen);
    value_int(m, &m->root, "packets_fen", money->packets_fen);
    value_int(m, &m->root, "packet_count", (int64_t)money->packet_count);
    value_int(m, &m->root, "withdrawals_fen", money->withdrawals_fen);
    value_int(m, &m->root, "withdrawal_count", (int64_t)money->withdrawal_count);
    value_page_bool(m, &m->root, "has_money", has_money(money));
    if (money->packet_count > 0) {
        struct value *packets = value_page_object(m, &m->root, "packets");
        view_money_model(m, packets, "fen", "text", money->packets_fen);
        view_count_model(m, packets, "packet_count", "packet_one", (int64_t)money->packet_count);
    }
    if (money->withdrawal_count > 0) {
        struct value *withdrawals = value_page_object(m, &m->root, "withdrawals");
        view_money_model(m, withdrawals, "fen", "text", money->withdrawals_fen);
        view_count_model(m, withdrawals, "withdrawal_count", "withdrawal_one", (int64_t)money->withdrawal_count);
    }
}

static enum status deletion_model(struct exchange *x, struct model *m, const struct proof *proof,
                                  const struct form *typed)
{
    struct deletion_money money;
    enum status st = deletion_money_find(x->app->stores.db, x->arena, x->visitor.user_id, &money);
    if (st != ST_OK)
        return st;
    model_init(m, x->arena);
    value_page_text(m, &m->root, "username", x->visitor.username);
    proof_model(x, m, proof, "password", "/account/delete");
    money_model(m, &money);
    struct value *form = value_page_object(m, &m->root, "form");
    form_typed_model(m, form, deletion_fields, typed);
    return ST_OK;
}

enum step deletion_show(struct exchange *x)
{
    struct model m;
    struct proof proof;
    enum status st = proof_begin(x, &proof);
    if (st == ST_OK)
        st = deletion_model(x, &m, &proof, query_form(x, deletion_fields));
    if (st == ST_OK)
        respond_model(x, 200, "pages/delete", &m);
    else
        respond_status(x, st);
    return STEP_DONE;
}

/* Sorts the messages by the places of their fields on the page. */
static void errors_in_order(const struct form_errors *e, struct form_errors *out)
{
    static const char *const order[] = { "give_up", "username", "password", "passkey", "session" };
    out->count = 0;
    for (size_t field = 0; field < ARRAY_LEN(order); field++)
        for (size_t i = 0; i < e->count; i++)
            if (strcmp(e->items[i].field, order[field]) == 0)
                out->items[out->count++] = e->items[i];
}

static enum step deletion_refuse(struct exchange *x, const struct proof *proof, const struct form_errors *e)
{
    struct form_errors ordered;
    struct model m;
    errors_in_order(e, &ordered);
    enum status st = deletion_model(x, &m, proof, &x->form);
    if (st == ST_OK)
        respond_form_errors(x, "pages/delete", &m, &ordered);
    else
        respond_status(x, st);
    return STEP_DONE;
}

static enum step deletion_begun(struct exchange *x)
{
    x->fallback_problem = &DELETION_UNKNOWN;
    security_log(x, SECURITY_ACCOUNT_DELETED, x->visitor.user_id, NULL);
    (void)session_end(x); /* the session has ended already; this removes the cookie */
    respond_header(x, "Clear-Site-Data", STR("\"storage\""));
    if (x->wants_json)
        respond_empty(x, 204);
    else
        respond_see_other(x, STR("/account/deleted"));
    return STEP_DONE;
}

/* Judges the proof and begins the deletion. ST_INVALID: *e has the message. *answered: the limits refused the try, and
 * the request is answered. A form that was sent twice must get the same answer twice. The first request removes the
 * password and uses up the passkey's answer, so after a refused proof this looks again whether the deletion has
 * begun. */
static enum status deletion_try(struct exchange *x, const struct deletion_form *form, struct form_errors *e,
                                enum deletion_result *result, bool *answered)
{
    struct db *db = x->app->stores.db;
    bool begun = false;
    enum status proved = ST_OK, st = deletion_is_begun(db, x->arena, x->visitor.user_id, &begun);
    if (st != ST_OK || begun)
        return st;
    *answered = !proof_check(x, &form->proof, "password", e, &proved);
    if (*answered)
        return ST_OK;
    if (proved == ST_OK)
        proved = deletion_begin(&x->app->stores, x->arena, x->visitor.user_id, x->visitor.username, form->proof.hash,
                                form->give_up.len > 0, result);
    if (proved == ST_OK && *result == DELETION_OTHER_PASSWORD) {
        form_fail(e, "password", "text/confirm_wrong");
        proved = ST_INVALID;
    }
    if (proved != ST_INVALID)
        return proved;
    *result = DELETION_BEGUN;
    st = deletion_is_begun(db, x->arena, x->visitor.user_id, &begun);
    return st == ST_OK && !begun ? proved : st;
}

/* Adds the message about money that is left. Returns the status of the store. */
static enum status money_judge(struct exchange *x, const struct deletion_form *form, struct form_errors *e)
{
    struct deletion_money money;
    enum status st = ST_OK;
    if (form->give_up.len > 0)
        return st;
    st = deletion_money_find(x->app->stores.db, x->arena, x->visitor.user_id, &money);
    if (st == ST_OK && has_money(&money))
        form_fail(e, "give_up",
                  money.balance_fen == 0 && money.packet_count == 0 ? "text/delete_withdrawal_left"
                                                                    : "text/delete_money_left");
    return st;
}

/* Judges the whole form, so that the answer has all messages at once: *e already has the messages for missing fields.
 * False: the limits refuse to look at the proof, and the request is answered. *st: ST_INVALID with messages in *e,
 * ST_OK, or the status of a store. */
static bool deletion_judge(struct exchange *x, const struct deletion_form *form, struct form_errors *e, enum status *st)
{
    if (form->username.len > 0 && !str_equal(form->username, x->visitor.username))
        form_fail_with(e, "username", "text/delete_wrong_name", x->visitor.username);
    if (e->count == 0)
        return true; /* deletion_try looks at money and proof */
    *st = money_judge(x, form, e);
    if (*st == ST_OK && !form_failed(e, "password") && !proof_check(x, &form->proof, "password", e, st))
        return false;
    if (*st == ST_OK)
        *st = ST_INVALID;
    return true;
}

enum step deletion_submit(struct exchange *x)
{
    struct deletion_form form = { .username = STR(""), .give_up = STR("") };
    struct form_errors e;
    enum deletion_result result = DELETION_BEGUN;
    bool answered = false;
    enum status st = proof_begin(x, &form.proof);
    if (st == ST_OK)
        st = form_read(x, deletion_fields, &form, &e);
    if ((st == ST_OK || st == ST_INVALID) && !deletion_judge(x, &form, &e, &st))
        return STEP_DONE;
    if (st == ST_INVALID)
        return deletion_refuse(x, &form.proof, &e);
    if (st == ST_OK)
        st = session_store_check(x);
    if (st == ST_OK)
        st = deletion_try(x, &form, &e, &result, &answered);
    if (answered)
        return STEP_DONE;
    if (st == ST_INVALID) {
        (void)money_judge(x, &form, &e); /* if a store fails, the next try says it */
        return deletion_refuse(x, &form.proof, &e);
    }
    if (st == ST_OK && result == DELETION_MONEY_LEFT) {
        (void)money_judge(x, &form, &e);
        if (e.count == 0) /* it is gone meanwhile, or the store fails */
            form_fail(&e, "give_up", "text/delete_money_left");
        return deletion_refuse(x, &form.proof, &e);
    }
    if (st == ST_OK)
        return deletion_begun(x);
    if (st == ST_UNKNOWN)
        respond_problem(x, &DELETION_UNKNOWN);
    else
        respond_status(x, st);
    return STEP_DONE;
}

enum step deletion_done_show(struct exchange *x)
{
    struct model m;
    model_init(&m, x->arena);
    respond_model(x, 200, "pages/deleted", &m);
    return STEP_DONE;
}

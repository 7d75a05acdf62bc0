#include "account/password_page.h"

#include "account/lost_phone.h"
#include "account/pages_internal.h"
#include "account/proof.h"
#include "user/account.h"
#include "user/hash_budget.h"
#include "user/session.h"
#include "user/store.h"
#include "web/respond.h"
#include "web/security_log.h"

#define OLD "old_password"

struct password_form {
    struct proof proof;
    struct str new_password;
};

const struct field password_fields[] = {
    PROOF_FIELDS(struct password_form, proof, OLD),
    { .name = "new_password",
      NEW_PASSWORD_RULES,
      .member = offsetof(struct password_form, new_password),
      .required = true,
      .missing = "text/password_new_missing",
      .says = "not one of the 10,000 commonest, and not like the username",
      .example = "battery-staple" },
    { .name = NULL },
};

static const struct problem PASSWORD_UNKNOWN = { 503, "unknown", "text/password_unknown",
                                                 "text/password_unknown_detail", 1 };
static const struct problem OTHERS_UNKNOWN = { 503, "unknown", "text/password_others", "text/password_others_detail",
                                               1 };

static void password_model(struct exchange *x, struct model *m, const struct proof *proof)
{
    model_init(m, x->arena);
    value_page_text(m, &m->root, "username", x->visitor.username);
    value_page_bool(m, &m->root, "first_password", proof->hash.ptr == NULL);
    proof_model(x, m, proof, OLD, "/account/password");
    lost_phone_model(m, x->method == METHOD_POST ? lost_phone_from_form(x) : lost_phone_from_query(x));
}

enum step password_show(struct exchange *x)
{
    struct model m;
    struct proof proof;
    if (!passwords_used(x))
        return STEP_DONE;
    enum status st = proof_begin(x, &proof);
    if (st != ST_OK) {
        respond_status(x, st);
        return STEP_DONE;
    }
    password_model(x, &m, &proof);
    respond_model(x, 200, "pages/password", &m);
    return STEP_DONE;
}

enum step password_redirect(struct exchange *x)
{
    respond_see_other(x, STR("/account/password"));
    return STEP_DONE;
}

static enum step password_refuse(struct exchange *x, const struct proof *proof, const struct form_errors *e)
{
    struct model m;
    password_model(x, &m, proof);
    respond_form_errors(x, "pages/password", &m, e);
    return STEP_DONE;
}

/* Stores the hash of the new password. ST_CONFLICT: the old one was changed meanwhile · ST_UNKNOWN: the new one may be
 * stored. */
static enum status password_change(struct exchange *x, struct hash_permit *permit, const struct password_form *form)
{
    char hash[PASSWORD_HASH_MAX];
    enum status st = password_hash(permit, form->new_password, hash);
    return st == ST_OK
               ? user_password_change(x->app->stores.db, x->arena, x->visitor.user_id, form->proof.hash, str_from(hash))
               : st;
}

/* The password is changed: ends the other sessions and answers. */
static enum step password_done(struct exchange *x)
{
    x->fallback_problem = &OTHERS_UNKNOWN;
    security_log(x, SECURITY_PASSWORD_CHANGED, x->visitor.user_id, NULL);
    if (session_end_others(x) != ST_OK)
        respond_problem(x, &OTHERS_UNKNOWN);
    else if (x->wants_json)
        respond_empty(x, 204);
    else
        respond_see_other(x, lost_phone_from_form(x) != LOST_NOTHING ? STR("/account/passkeys?password=1&lost=2")
                                                                     : STR("/account?password=1"));
    return STEP_DONE;
}

enum step password_submit(struct exchange *x)
{
    struct password_form form = { .new_password = STR("") };
    struct hash_permit permit = { 0 }; /* for the new password */
    struct form_errors e;

    if (!passwords_used(x))
        return STEP_DONE;
    enum status st = proof_begin(x, &form.proof);
    if (st == ST_OK)
        st = form_read(x, password_fields, &form, &e);
    if (st == ST_INVALID)
        return password_refuse(x, &form.proof, &e);
    if (st == ST_OK)
        st = session_store_check(x);
    if (st == ST_OK && !proof_check(x, &form.proof, OLD, &e, &st))
        return STEP_DONE;
    if (st == ST_INVALID)
        return password_refuse(x, &form.proof, &e);
    if (st == ST_OK && !hash_budget_take(x, HASH_KNOWN, NULL, 0, &permit))
        return STEP_DONE;
    if (st == ST_OK)
        st = password_change(x, &permit, &form);
    if (st == ST_OK)
        return password_done(x);
    if (st == ST_UNKNOWN)
        respond_problem(x, &PASSWORD_UNKNOWN);
    else
        respond_status(x, st);
    return STEP_DONE;
}

#include "sso/backchannel.h"

#include "base/clock.h"
#include "sso/client.h"
#include "user/session_list.h"
#include "user/subject_store.h"
#include "web/field_types.h"
#include "web/respond.h"
#include "web/security_log.h"

static const struct problem REFUSED = { 400, "logout-token", "text/problem_bad_request", NULL, 0 };

const struct field backchannel_fields[] = {
    { .name = "logout_token",
      .type = &FIELD_TEXT,
      .no_echo = true,
      .says = "the token of the issuer",
      .example = "eyJhbGciOiJSUzI1NiJ9.e30.c2ln" },
    { .name = NULL },
};

static enum step refuse(struct exchange *x, const char *fault)
{
    security_log(x, SECURITY_ISSUER_REFUSED, 0, "fault=%s order=logout", fault);
    respond_problem(x, &REFUSED);
    return STEP_DONE;
}

/* Ends the sessions of the subject's user, unless this order has done it. */
static enum status order_carry_out(struct exchange *x, const struct subject *subject, struct str jti)
{
    const struct stores *stores = &x->app->stores;
    uint64_t user_id;
    bool done;
    enum status st = subject_logout_find(stores->db, x->arena, subject, jti, &user_id, &done);
    if (st != ST_OK || done)
        return st == ST_NOT_FOUND ? ST_OK : st;
    st = session_list_end_others(stores, x->arena, user_id, STR(""), clock_now_ms());
    if (st != ST_OK)
        return st;
    security_log(x, SECURITY_SESSION_ENDED, user_id, "which=issuer");
    return subject_logout_done(stores->db, subject, jti);
}

enum step backchannel_submit(struct exchange *x)
{
    struct str token = STR("");
    struct form_errors e;
    struct oidc_logout order;

    x->wants_json = true; /* an issuer reads no page */
    if (x->app->sso == NULL) {
        respond_problem(x, &PROBLEM_NOT_FOUND);
        return STEP_DONE;
    }
    enum status st = form_read(x, backchannel_fields, &token, &e);
    if (st == ST_INVALID || token.len == 0)
        return refuse(x, "no-token");
    enum oidc_fault fault = oidc_logout_token(sso_oidc(x->app->sso), x->arena, x->now_ms, token, &order);
    if (oidc_fault_is_temporary(fault)) {
        security_log(x, SECURITY_ISSUER_REFUSED, 0, "fault=%s order=logout", oidc_fault_name(fault));
        respond_status(x, ST_UNAVAILABLE);
        return STEP_DONE;
    }
    if (fault != OIDC_OK || order.subject.ptr == NULL)
        return refuse(x, fault != OIDC_OK ? oidc_fault_name(fault) : "no-subject");
    const struct subject subject = { str_from(x->app->stores.config->oidc_issuer), order.subject };
    st = order_carry_out(x, &subject, order.jti);
    if (st == ST_OK)
        respond_empty(x, 200);
    else
        respond_status(x, status_idempotent(st));
    return STEP_DONE;
}

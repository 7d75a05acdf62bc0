#include "sso/refusal.h"

#include "account/arrival.h"
#include "web/respond.h"
#include "web/security_log.h"

enum { RETRY_S = 5 };

static const struct problem FAULTS[] = {
    [OIDC_KIND_TEMPORARY] = { 503, "issuer-away", "text/issuer_away", "text/issuer_away_detail", RETRY_S },
    [OIDC_KIND_USER] = { 400, "issuer-over", "text/issuer_over", "text/issuer_over_detail", 0 },
    [OIDC_KIND_POLICY] = { 403, "issuer-not-allowed", "text/issuer_not_allowed", "text/issuer_not_allowed_detail", 0 },
    [OIDC_KIND_SETUP] = { 503, "issuer-setup", "text/issuer_setup", "text/issuer_setup_detail", 0 },
    [OIDC_KIND_FORGED] = { 400, "issuer-answer", "text/issuer_answer", "text/issuer_answer_detail", 0 },
};
static const struct problem DENIED = { 403, "issuer-denied", "text/issuer_denied", "text/issuer_denied_detail", 0 };

static const struct {
    struct problem problem;
    const char *reason; /* for the log */
} REFUSALS[] = {
    [REFUSAL_DISABLED] = { { 403, "account-disabled", "text/account_disabled", NULL, 0 }, "disabled" },
    [REFUSAL_TAKEN] = { { 403, "subject-taken", "text/subject_taken", "text/subject_taken_detail", 0 }, "taken" },
    [REFUSAL_STALE] = { { 403, "subject-stale", "text/subject_stale", "text/subject_stale_detail", 0 }, "stale-proof" },
    [REFUSAL_OTHER] = { { 403, "subject-other", "text/subject_other", "text/subject_other_detail", 0 }, "other-user" },
    [REFUSAL_INSIDE] = { { 403, "subject-new", "text/subject_new", "text/subject_new_detail", 0 }, "logged-in" },
};

/* Where the journey began. */
static struct str begin_url(struct exchange *x, const struct journey *j)
{
    if (j->kind == JOURNEY_LINK)
        return STR("/account/oidc");
    return arrival_login_url(x->arena, j->next, j->kind == JOURNEY_AGAIN);
}

static enum step answer(struct exchange *x, const struct problem *p, struct str url)
{
    struct model m;
    model_init(&m, x->arena);
    value_page_text(&m, &m.root, "begin_url", url);
    respond_problem_with(x, p, &m);
    return STEP_DONE;
}

enum step refuse_fault(struct exchange *x, enum oidc_fault fault, const struct journey *j)
{
    security_log(x, SECURITY_ISSUER_REFUSED, 0, "fault=%s", oidc_fault_name(fault));
    return answer(x, fault == OIDC_DENIED ? &DENIED : &FAULTS[oidc_fault_kind(fault)], begin_url(x, j));
}

enum step refuse_user(struct exchange *x, enum refusal refusal, uint64_t user_id, const struct journey *j)
{
    security_log(x, refusal == REFUSAL_DISABLED ? SECURITY_LOGIN_REFUSED : SECURITY_ISSUER_REFUSED, user_id,
                 "reason=%s", REFUSALS[refusal].reason);
    return answer(x, &REFUSALS[refusal].problem, refusal == REFUSAL_INSIDE ? STR("/account/oidc") : begin_url(x, j));
}

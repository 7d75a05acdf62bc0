#include "sso/login.h"

#include "account/arrival.h"
#include "account/register.h"
#include "base/log.h"
#include "sso/client.h"
#include "sso/newcomer.h"
#include "sso/refusal.h"
#include "user/session.h"
#include "user/subject_store.h"
#include "web/respond.h"
#include "web/security_log.h"

static const struct problem ISSUER_NONE = { 404, "not-found", "text/issuer_none", "text/issuer_none_detail", 0 };

static bool issuer_is_set(struct exchange *x)
{
    if (x->app->sso != NULL)
        return true;
    respond_problem(x, &ISSUER_NONE);
    return false;
}

/* ---- to the issuer ---- */

static struct journey journey_of(struct exchange *x)
{
    struct journey j = { JOURNEY_LOGIN, x->visitor.user_id, arrival_next(x) };
    if (query_get(x, "link", NULL).len > 0)
        j.kind = JOURNEY_LINK;
    else if (query_get(x, "again", NULL).len > 0)
        j.kind = JOURNEY_AGAIN;
    return j;
}

/* Who is logged in needs no login, and who is not can't link. True: answered. */
static bool goes_elsewhere(struct exchange *x, const struct journey *j)
{
    const struct user visitor = { .id = x->visitor.user_id,
                                  .username = x->visitor.username,
                                  .nickname = x->visitor.nickname };
    if (j->kind == JOURNEY_LOGIN && visitor.id != 0)
        (void)arrival_answer(x, &visitor, j->next);
    else if (j->kind == JOURNEY_LINK && visitor.id == 0)
        respond_see_other(x, arrival_login_url(x->arena, STR("/account/oidc"), false));
    else
        return false;
    return true;
}

enum step login_start(struct exchange *x)
{
    struct oidc_redirect to;
    if (!issuer_is_set(x))
        return STEP_DONE;
    const struct journey j = journey_of(x);
    if (goes_elsewhere(x, &j))
        return STEP_DONE;
    struct str carried = journey_write(x->arena, &j);
    enum oidc_fault fault = carried.ptr == NULL ? OIDC_NO_MEMORY
                                                : oidc_authorize(sso_oidc(x->app->sso), x->arena, x->now_ms, carried,
                                                                 j.kind == JOURNEY_AGAIN, &to);
    if (fault != OIDC_OK)
        return refuse_fault(x, fault, &j);
    respond_cookie(x, STR(ISSUER_COOKIE), to.cookie, OIDC_ATTEMPT_S);
    respond_see_other(x, to.url);
    return STEP_DONE;
}

/* ---- and back ---- */

/* A login that the issuer has confirmed. */
struct arrival {
    struct journey journey;
    struct oidc_claims claims;
    struct subject subject;
    struct user user;
};

static enum step answer_status(struct exchange *x, enum status st)
{
    respond_status(x, status_idempotent(st)); /* a login can be repeated */
    return STEP_DONE;
}

/* Starts the session of a user who was there before. */
static enum step log_in(struct exchange *x, const struct arrival *in)
{
    enum status st = session_start(x, in->user.id, in->user.username, in->user.nickname);
    if (st != ST_OK)
        return answer_status(x, st);
    security_log(x, SECURITY_LOGIN, in->user.id, "way=issuer");
    if (in->claims.fresh && subject_prove(x->app->stores.db, &in->subject, x->visitor.session_key) != ST_OK)
        log_warn("fresh login not noted, its user is asked again", NULL);
    return arrival_answer(x, &in->user, in->journey.next);
}

static enum step make_user(struct exchange *x, struct arrival *in)
{
    bool made;
    enum status st = newcomer_make(x, &in->claims, &in->subject, &in->user, &made);
    if (st != ST_OK)
        return answer_status(x, st);
    if (!made)
        return in->user.disabled ? refuse_user(x, REFUSAL_DISABLED, in->user.id, &in->journey) : log_in(x, in);
    security_log(x, SECURITY_REGISTER, in->user.id, "way=issuer");
    if (register_log_in(x, &in->user))
        return arrival_answer(x, &in->user, in->journey.next);
    respond_see_other(x, arrival_login_url(x->arena, in->journey.next, false));
    return STEP_DONE;
}

static enum step linked(struct exchange *x)
{
    respond_see_other(x, STR("/account/oidc?linked=1"));
    return STEP_DONE;
}

static enum step link_subject(struct exchange *x, const struct arrival *in)
{
    const uint64_t user_id = x->visitor.user_id;
    if (user_id == 0 || user_id != in->journey.user_id)
        return refuse_user(x, REFUSAL_STALE, user_id, &in->journey);
    enum status st =
        subject_link(x->app->stores.db, x->arena, &in->subject, user_id, x->visitor.session_key, x->now_ms);
    if (st == ST_NOT_FOUND || st == ST_EXISTS)
        return refuse_user(x, st == ST_EXISTS ? REFUSAL_TAKEN : REFUSAL_STALE, user_id, &in->journey);
    if (st != ST_OK)
        return answer_status(x, st);
    security_log(x, SECURITY_SUBJECT_LINKED, user_id, NULL);
    return linked(x);
}

static enum step arrive_unknown(struct exchange *x, struct arrival *in)
{
    switch (in->journey.kind) {
    case JOURNEY_LINK: return link_subject(x, in);
    case JOURNEY_AGAIN:
        if (in->journey.user_id != 0)
            return refuse_user(x, REFUSAL_OTHER, in->journey.user_id, &in->journey);
        break;
    default: break;
    }
    return x->visitor.user_id != 0 ? refuse_user(x, REFUSAL_INSIDE, x->visitor.user_id, &in->journey)
                                   : make_user(x, in);
}

static enum step arrive_known(struct exchange *x, const struct arrival *in)
{
    const struct journey *j = &in->journey;
    if (j->kind == JOURNEY_LINK)
        return in->user.id == x->visitor.user_id ? linked(x) : refuse_user(x, REFUSAL_TAKEN, x->visitor.user_id, j);
    if (in->user.disabled)
        return refuse_user(x, REFUSAL_DISABLED, in->user.id, j);
    if (j->kind == JOURNEY_AGAIN && j->user_id != 0 && j->user_id != in->user.id)
        return refuse_user(x, REFUSAL_OTHER, j->user_id, j);
    return log_in(x, in);
}

/* The parameter of the callback; STR_NONE: absent. */
static struct str parameter(struct exchange *x, const char *name)
{
    bool present;
    struct str value = query_get(x, name, &present);
    return present ? value : STR_NONE;
}

enum step login_finish(struct exchange *x)
{
    struct arrival in = { .user = { .id = 0 } };
    if (!issuer_is_set(x))
        return STEP_DONE;
    const struct oidc_callback callback = { parameter(x, "code"), parameter(x, "state"), parameter(x, "iss"),
                                            parameter(x, "error") };
    struct str cookie = exchange_cookie(x, STR(ISSUER_COOKIE));
    if (cookie.len > 0)
        respond_cookie(x, STR(ISSUER_COOKIE), STR(""), 0);
    enum oidc_fault fault = oidc_finish(sso_oidc(x->app->sso), x->arena, x->now_ms, &callback, cookie, &in.claims);
    in.journey = journey_read(in.claims.carried);
    if (fault != OIDC_OK)
        return refuse_fault(x, fault, &in.journey);
    in.subject = (struct subject){ in.claims.issuer, in.claims.subject };
    enum status st = subject_find(x->app->stores.db, x->arena, &in.subject, &in.user);
    if (st == ST_NOT_FOUND)
        return arrive_unknown(x, &in);
    return st == ST_OK ? arrive_known(x, &in) : answer_status(x, st);
}

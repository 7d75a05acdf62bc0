#include "account/issuer_page.h"

#include "account/pages_internal.h"
#include "account/proof.h"
#include "user/subject_store.h"
#include "web/field_types.h"
#include "web/respond.h"
#include "web/security_log.h"
#include "web/view.h"

#define PAGE "/account/oidc"

static const struct problem ISSUER_NONE = { 404, "not-found", "text/issuer_none", "text/issuer_none_detail", 0 };
static const struct problem LINKED = { 409, "subject-linked", "text/subject_linked", "text/subject_linked_detail", 0 };

static struct str issuer_of(const struct exchange *x)
{
    return str_from(x->app->stores.config->oidc_issuer);
}

static bool issuer_is_set(struct exchange *x)
{
    if (issuer_of(x).len > 0)
        return true;
    respond_problem(x, &ISSUER_NONE);
    return false;
}

void issuer_model(struct exchange *x, struct model *m, struct str next, bool again)
{
    if (issuer_of(x).len == 0)
        return;
    struct value *issuer = value_page_object(m, &m->root, "issuer");
    struct str url = next_url(x->arena, "/login/oidc", again ? path_after_login(next) : next);
    value_page_text(m, issuer, "name", str_from(x->app->stores.config->oidc_name));
    value_page_text(m, issuer, "url",
                    again && url.ptr != NULL ? arena_printf(x->arena, "%.*s&again=1", STR_ARG(url)) : url);
}

/* *linked_ms: 0 when no account there is linked. */
static enum status linked_find(struct exchange *x, int64_t *linked_ms)
{
    *linked_ms = 0;
    enum status st = subject_of_user(x->app->stores.db, x->arena, x->visitor.user_id, issuer_of(x), linked_ms);
    return st == ST_NOT_FOUND ? ST_OK : status_idempotent(st);
}

enum status issuer_account_model(struct exchange *x, struct model *m)
{
    int64_t linked_ms;
    if (issuer_of(x).len == 0)
        return ST_OK;
    enum status st = linked_find(x, &linked_ms);
    if (st != ST_OK)
        return st;
    struct value *account = value_page_object(m, &m->root, "issuer_account");
    value_page_text(m, account, "name", str_from(x->app->stores.config->oidc_name));
    value_page_bool(m, account, "linked", linked_ms > 0);
    return ST_OK;
}

/* A form that was accepted leads here with ?NAME=1. */
struct page_query {
    uint64_t linked, unlinked, permitted;
};

static const struct field page_fields[] = {
    { .name = "linked", .type = &FIELD_NUMBER, .member = offsetof(struct page_query, linked), .max = 1 },
    { .name = "unlinked", .type = &FIELD_NUMBER, .member = offsetof(struct page_query, unlinked), .max = 1 },
    { .name = "permitted", .type = &FIELD_NUMBER, .member = offsetof(struct page_query, permitted), .max = 1 },
    { .name = NULL },
};

static bool has_other_way(const struct proof *proof)
{
    return (proof->ways & (PROOF_PASSWORD | PROOF_PASSKEY)) != 0;
}

static enum status page_model(struct exchange *x, struct model *m, const struct proof *proof)
{
    struct page_query query = { 0 };
    int64_t linked_ms;
    if (x->method != METHOD_POST)
        (void)query_read(x, page_fields, &query); /* a malformed query counts as none */
    model_init(m, x->arena);
    enum status st = linked_find(x, &linked_ms);
    if (st != ST_OK)
        return st;
    value_bool(m, &m->root, "linked", linked_ms > 0);
    if (linked_ms > 0)
        view_time_model(m, &m->root, "linked_at", "linked_at_text", linked_ms);
    else
        value_null(m, &m->root, "linked_at");
    proof_model(x, m, proof, "password", PAGE);
    value_page_text(m, &m->root, "username", x->visitor.username);
    value_page_text(m, &m->root, "name", str_from(x->app->stores.config->oidc_name));
    value_page_bool(m, &m->root, "only_way", !has_other_way(proof));
    value_page_bool(m, &m->root, "now_linked", query.linked != 0 && linked_ms > 0);
    value_page_bool(m, &m->root, "now_unlinked", query.unlinked != 0 && linked_ms == 0);
    if (query.permitted != 0 && linked_ms == 0)
        value_page_text(m, &m->root, "go_url", STR("/login/oidc?link=1"));
    return ST_OK;
}

enum step issuer_show(struct exchange *x)
{
    struct proof proof;
    struct model m;
    if (!issuer_is_set(x))
        return STEP_DONE;
    enum status st = proof_begin(x, &proof);
    if (st == ST_OK)
        st = page_model(x, &m, &proof);
    if (st == ST_OK)
        respond_model(x, 200, "pages/issuer", &m);
    else
        respond_status(x, status_idempotent(st));
    return STEP_DONE;
}

static enum step refuse(struct exchange *x, const struct proof *proof, const struct form_errors *e)
{
    struct model m;
    enum status st = page_model(x, &m, proof);
    if (st == ST_OK)
        respond_form_errors(x, "pages/issuer", &m, e);
    else
        respond_status(x, status_idempotent(st));
    return STEP_DONE;
}

static enum step done(struct exchange *x, struct str path)
{
    if (x->wants_json)
        respond_empty(x, 204);
    else
        respond_see_other(x, path);
    return STEP_DONE;
}

enum step issuer_link_submit(struct exchange *x)
{
    struct form_errors e;
    struct proof proof;
    int64_t linked_ms;
    enum status st;
    if (!issuer_is_set(x) || !proof_form(x, &proof, &e, &st))
        return STEP_DONE;
    if (st == ST_INVALID)
        return refuse(x, &proof, &e);
    if (st == ST_OK)
        st = linked_find(x, &linked_ms);
    if (st == ST_OK && linked_ms > 0) {
        respond_problem(x, &LINKED);
        return STEP_DONE;
    }
    if (st == ST_OK)
        st = subject_permit(x->app->stores.db, x->visitor.user_id, x->visitor.session_key, x->now_ms);
    if (st == ST_OK)
        return done(x, STR(PAGE "?permitted=1"));
    respond_status(x, status_idempotent(st));
    return STEP_DONE;
}

enum step issuer_unlink_submit(struct exchange *x)
{
    struct form_errors e;
    struct proof proof;
    int64_t linked_ms = 0;
    enum status st;
    if (!issuer_is_set(x) || !proof_form(x, &proof, &e, &st))
        return STEP_DONE;
    if (st == ST_OK && has_other_way(&proof))
        st = subject_unlink(x->app->stores.db, x->visitor.user_id, issuer_of(x));
    else if (st == ST_OK)
        st = ST_NOT_FOUND;
    if (st == ST_OK)
        security_log(x, SECURITY_SUBJECT_UNLINKED, x->visitor.user_id, NULL);
    const bool removed = st == ST_OK;
    if (st == ST_NOT_FOUND)
        st = linked_find(x, &linked_ms);
    if (st == ST_OK && !removed && linked_ms > 0) {
        form_fail(&e, "issuer", "text/subject_only_way");
        st = ST_INVALID;
    }
    if (st == ST_INVALID)
        return refuse(x, &proof, &e);
    if (st == ST_OK)
        return done(x, STR(PAGE "?unlinked=1"));
    respond_status(x, status_idempotent(st));
    return STEP_DONE;
}

#include "user/account_page.h"

#include "user/passkey_page.h"
#include "user/recovery_page.h"
#include "user/session_page.h"
#include "web/field_types.h"
#include "web/respond.h"
#include "web/view.h"

static void scopes_model(struct model *m, struct value *object, unsigned scopes)
{
    value_page_bool(m, object, "scope_read", (scopes & SCOPE_READ) != 0);
    value_page_bool(m, object, "scope_send", (scopes & SCOPE_SEND) != 0);
    value_page_bool(m, object, "scope_open", (scopes & SCOPE_OPEN) != 0);
}

static void token_model(struct exchange *x, struct model *m, struct value *item, const struct token *t)
{
    value_text(m, item, "id", public_id_text(x->arena, &x->app->id_key, t->id));
    value_text(m, item, "name", t->name);
    value_text(m, item, "scopes", scopes_text(x->arena, t->scopes));
    scopes_model(m, item, t->scopes);
    view_time_model(m, item, "created_at", "created_at_text", t->created_ms);
    view_time_model(m, item, "expires_at", "expires_at_text", t->expires_ms);
    value_page_bool(m, item, "is_expired", t->expires_ms <= x->now_ms);
    if (t->used_ms > 0)
        view_time_model(m, item, "used_at", "used_at_text", t->used_ms);
    else
        value_null(m, item, "used_at");
}

enum status account_model(struct exchange *x, struct model *m, struct str name, struct str days, unsigned scopes)
{
    struct token *tokens;
    size_t count;
    enum status st = token_list(x->app->stores.db, x->arena, x->visitor.user_id, &tokens, &count);

    model_init(m, x->arena);
    if (st == ST_OK)
        st = sessions_model(x, m);
    if (st == ST_OK)
        st = recovery_model(x, m);
    if (st != ST_OK)
        return st;
    value_int(m, &m->root, "id", (int64_t)x->visitor.user_id);
    value_text(m, &m->root, "username", x->visitor.username);
    value_text(m, &m->root, "nickname", x->visitor.nickname);
    view_avatar_model(m, &m->root, x->visitor.user_id, x->visitor.nickname);
    struct value *list = value_list(m, &m->root, "tokens");
    for (size_t i = 0; i < count; i++)
        token_model(x, m, value_add_object(m, list), &tokens[i]);
    struct value *form = value_page_object(m, &m->root, "form");
    bool typed;
    struct str nickname = form_get(&x->form, "nickname", &typed);
    value_page_text(m, form, "nickname", typed ? nickname : x->visitor.nickname);
    value_page_text(m, form, "name", name);
    value_page_text(m, form, "days", days);
    scopes_model(m, form, scopes);
    return passkeys_model(x, m);
}

enum step account_refuse(struct exchange *x, const struct form_errors *e)
{
    struct model m;
    enum status st = account_model(x, &m, STR(""), TOKEN_DAYS_PROPOSED, TOKEN_SCOPES_PROPOSED);

    if (st == ST_OK)
        respond_form_errors(x, "pages/account", &m, e);
    else
        respond_status(x, st);
    return STEP_DONE;
}

/* A form that was accepted leads here with ?NAME=1, which the page confirms. */
struct account_query {
    uint64_t saved, password, ended, revoked;
};

static const struct field account_fields[] = {
    { .name = "saved", .type = &FIELD_NUMBER, .member = offsetof(struct account_query, saved), .max = 1 },
    { .name = "password", .type = &FIELD_NUMBER, .member = offsetof(struct account_query, password), .max = 1 },
    { .name = "ended", .type = &FIELD_NUMBER, .member = offsetof(struct account_query, ended), .max = 1 },
    { .name = "revoked", .type = &FIELD_NUMBER, .member = offsetof(struct account_query, revoked), .max = 1 },
    { .name = NULL },
};

enum step account_show(struct exchange *x)
{
    struct model m;
    struct account_query query = { 0 };
    (void)query_read(x, account_fields, &query); /* a malformed query counts as none */
    enum status st = account_model(x, &m, STR(""), TOKEN_DAYS_PROPOSED, TOKEN_SCOPES_PROPOSED);

    if (st == ST_OK) {
        value_page_bool(&m, &m.root, "saved", query.saved != 0);
        value_page_bool(&m, &m.root, "password_changed", query.password != 0);
        value_page_bool(&m, &m.root, "ended", query.ended != 0);
        value_page_bool(&m, &m.root, "revoked", query.revoked != 0);
        respond_model(x, 200, "pages/account", &m);
    } else {
        respond_status(x, st);
    }
    return STEP_DONE;
}

enum step account_redirect(struct exchange *x)
{
    respond_see_other(x, STR("/account"));
    return STEP_DONE;
}

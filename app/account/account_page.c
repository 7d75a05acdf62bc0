#include "account/account_page.h"

#include "account/issuer_page.h"
#include "account/lost_phone.h"
#include "account/nickname_page.h"
#include "account/passkey_page.h"
#include "account/picture_page.h"
#include "account/recovery_page.h"
#include "account/session_page.h"
#include "account/token_page.h"
#include "web/field_types.h"
#include "web/respond.h"
#include "web/view.h"

enum status account_model(struct exchange *x, struct model *m)
{
    bool typed;
    struct str nickname = form_get(&x->form, "nickname", &typed);

    model_init(m, x->arena);
    enum status st = tokens_model(x, m);
    if (st == ST_OK)
        st = sessions_model(x, m);
    if (st == ST_OK)
        st = recovery_model(x, m);
    if (st == ST_OK)
        st = passkeys_model(x, m);
    if (st == ST_OK)
        st = issuer_account_model(x, m);
    if (st != ST_OK)
        return st;
    value_int(m, &m->root, "id", (int64_t)x->visitor.user_id);
    value_text(m, &m->root, "username", x->visitor.username);
    value_text(m, &m->root, "nickname", x->visitor.nickname);
    view_avatar_model(m, &m->root, x->visitor.user_id, x->visitor.nickname, &x->visitor.face);
    if (x->visitor.face.len > 0)
        value_text(m, &m->root, "face", face_word(&x->visitor.face));
    else
        value_null(m, &m->root, "face");
    face_choices_model(x, m);
    value_page_bool(m, &m->root, "password_login", x->app->stores.config->password_login);
    value_page_bool(m, &m->root, "may_invite", config_users_invite(x->app->stores.config));
    struct value *form = value_page_object(m, &m->root, "form");
    value_page_text(m, form, "nickname", typed ? nickname : x->visitor.nickname);
    return picture_model(x, m);
}

enum step account_refuse(struct exchange *x, const struct form_errors *e)
{
    struct model m;
    enum status st = account_model(x, &m);

    if (st == ST_OK)
        respond_form_errors(x, "pages/account", &m, e);
    else
        respond_status(x, st);
    return STEP_DONE;
}

/* A form that was accepted leads here with ?NAME=1, which the page confirms. */
struct account_query {
    uint64_t saved, password;
};

static const struct field account_fields[] = {
    { .name = "saved", .type = &FIELD_NUMBER, .member = offsetof(struct account_query, saved), .max = 1 },
    { .name = "password", .type = &FIELD_NUMBER, .member = offsetof(struct account_query, password), .max = 1 },
    { .name = NULL },
};

enum step account_show(struct exchange *x)
{
    struct model m;
    struct account_query query = { 0 };
    (void)query_read(x, account_fields, &query); /* a malformed query counts as none */
    enum status st = account_model(x, &m);

    if (st == ST_OK) {
        value_page_bool(&m, &m.root, "saved", query.saved != 0);
        lost_phone_model(&m, lost_phone_from_query(x));
        value_page_bool(&m, &m.root, "password_changed", query.password != 0);
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

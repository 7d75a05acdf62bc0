#include "account/login.h"

#include <inttypes.h>

#include "account/issuer_page.h"
#include "account/login_limits.h"
#include "account/packet_ahead.h"
#include "account/pages_internal.h"
#include "account/passkey_page.h"
#include "account/terms_page.h"
#include "base/log.h"
#include "user/account.h"
#include "user/known_device.h"
#include "user/password.h"
#include "user/session.h"
#include "user/store.h"
#include "web/field_types.h"
#include "web/respond.h"
#include "web/security_log.h"

struct login_form {
    struct str username; /* folded, perhaps not valid */
    struct password password;
    struct str next; /* a local path, or empty */
};

const struct field login_fields[] = {
    LOGIN_NAME_FIELD(struct login_form, "in any case"),
    PASSWORD_FIELD("password", offsetof(struct login_form, password), "correct-horse"),
    NEXT_FIELD(struct login_form),
    { .name = NULL },
};

static void login_model(struct exchange *x, struct model *m, const struct form *typed, struct str next)
{
    model_init(m, x->arena);
    struct value *form = value_page_object(m, &m->root, "form");
    form_typed_model(m, form, login_fields, typed);
    value_page_text(m, form, "next", next);
    passkey_site_model(x, m);
    value_page_bool(m, &m->root, "password_login", x->app->stores.config->password_login);
    value_page_bool(m, &m->root, "passkey_used", known_device_has_passkey(x));
    packet_ahead_model(x, m, next);
    bool expired = query_get(x, "expired", NULL).len > 0;
    value_page_bool(m, &m->root, "expired", expired && known_device_used(x));
    value_page_bool(m, &m->root, "again", login_is_again(x));
    value_page_bool(m, &m->root, "no_cookies", query_get(x, "cookie", NULL).len > 0);
    issuer_model(x, m, next, login_is_again(x));
    value_page_text(m, &m->root, "register_url", next_url(x->arena, "/register", next));
    value_page_text(m, &m->root, "recovery_url", login_way_url(x, "/login/recovery", typed, next));
}

enum step login_show(struct exchange *x)
{
    struct model m;

    if (x->visitor.user_id != 0 && !login_is_again(x)) {
        respond_see_other(x, terms_first(x, x->visitor.user_id, path_after_login(next_from_query(x))));
        return STEP_DONE;
    }
    login_model(x, &m, query_form(x, login_fields), next_from_query(x));
    respond_model(x, 200, "pages/login", &m);
    return STEP_DONE;
}

static enum step login_refuse(struct exchange *x, struct str next, const struct form_errors *e)
{
    struct model m;

    login_model(x, &m, &x->form, next);
    respond_form_errors(x, "pages/login", &m, e);
    return STEP_DONE;
}

/* Hashes the password anew, now that it is available, if the stored hash has other costs than today's or is of a text
 * that was not normalized. Waits for the next login when the budget has no hash left. A failure is only logged: the old
 * hash stays valid. */
static void rehash_when_due(struct exchange *x, const struct user *user, struct str password, bool raw,
                            struct login_limits *taken)
{
    char hash[PASSWORD_HASH_MAX];

    if ((!raw && !password_needs_rehash(user->password_hash)) || !hash_budget_try(x, taken->payer, &taken->permit))
        return;
    enum status st = password_hash(&taken->permit, password, hash);
    if (st == ST_OK)
        st = user_rehash(x->app->stores.db, user->id, user->password_hash, str_from(hash));
    if (st != ST_OK)
        log_warn("password rehash failed", "user_id=%" PRIu64 " status=%s", user->id, status_name(st));
}

/* Finds the user with this name and checks the password. ST_NOT_FOUND: unknown name (then out is empty) or wrong
 * password. Both cost as many hashes, so the time of the answer does not reveal which of them it is. */
static enum status user_authenticate(struct exchange *x, struct str username, const struct password *password,
                                     struct hash_permit *permit, struct user *out, bool *raw)
{
    enum status st = ST_NOT_FOUND;

    *out = (struct user){ 0 };
    *raw = false;
    if (username_valid(username))
        st = user_find_for_login(x->app->stores.db, x->arena, username, out);
    if (st != ST_OK && st != ST_NOT_FOUND)
        return st;
    return password_verify_typed(permit, out->password_hash, password, raw);
}

enum step login_submit(struct exchange *x)
{
    struct login_form form = { 0 };
    struct login_limits taken;
    struct form_errors e;
    struct user user = { 0 };
    bool raw = false; /* the hash is of the text as typed */

    if (!passwords_used(x))
        return STEP_DONE;
    enum status st = form_read(x, login_fields, &form, &e);
    if (st == ST_INVALID)
        return login_refuse(x, form.next, &e);
    if (st == ST_OK)
        st = session_store_check(x);
    if (st == ST_OK) {
        if (!login_limits_take(x, form.username, &form.password, &taken))
            return STEP_DONE;
        st = user_authenticate(x, form.username, &form.password, &taken.permit, &user, &raw);
        if (st != ST_NOT_FOUND)
            login_limits_give_back(x, &taken);
    }
    if (st == ST_NOT_FOUND) {
        security_log(x, SECURITY_LOGIN_REFUSED, user.id, NULL);
        login_name_judge(&e, form.username, "password", "text/login_wrong");
        return login_refuse(x, form.next, &e);
    }
    if (st == ST_OK && user.disabled) {
        security_log(x, SECURITY_LOGIN_REFUSED, user.id, "reason=disabled");
        form_fail(&e, "username", "text/account_disabled");
        return login_refuse(x, form.next, &e);
    }
    if (st == ST_OK) {
        rehash_when_due(x, &user, form.password.text, raw, &taken);
        st = session_start(x, user.id, user.username, user.nickname);
    }
    if (st != ST_OK) {
        /* A login can be repeated, so an unknown outcome only means unavailable. */
        respond_status(x, status_idempotent(st));
        return STEP_DONE;
    }
    security_log(x, SECURITY_LOGIN, user.id, NULL);
    return answer_login(x, 200, &user, form.next);
}

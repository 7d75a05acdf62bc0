#include "user/recovery_login.h"

#include "base/clock.h"
#include "user/account.h"
#include "user/known_device.h"
#include "user/pages_internal.h"
#include "user/password.h"
#include "user/recovery_store.h"
#include "user/session.h"
#include "user/session_list.h"
#include "web/field_types.h"
#include "web/limits.h"
#include "web/respond.h"
#include "web/security_log.h"

struct recovery_login_form {
    struct str username;     /* folded, perhaps not valid */
    struct str code;         /* as typed */
    struct str new_password; /* as typed, or empty */
    struct str next;         /* a local path, or empty */
};

const struct field recovery_login_fields[] = {
    { .name = "username",
      .type = &FIELD_LOGIN_NAME,
      .member = offsetof(struct recovery_login_form, username),
      .required = true,
      .missing = "text/username_missing" },
    { .name = "code",
      .type = &FIELD_PASSWORD,
      .member = offsetof(struct recovery_login_form, code),
      .required = true,
      .missing = "text/recovery_code_missing" },
    { .name = "new_password",
      .type = &FIELD_NEW_PASSWORD,
      .member = offsetof(struct recovery_login_form, new_password),
      .no_echo = true,
      .min = PASSWORD_CHARACTERS_MIN,
      .max = PASSWORD_CHARACTERS_MAX,
      .low = "text/password_short",
      .high = "text/password_long" },
    { .name = "next",
      .type = &FIELD_LOCAL_PATH,
      .member = offsetof(struct recovery_login_form, next),
      .no_echo = true },
    { .name = NULL },
};

static const struct problem USE_UNKNOWN = { 503, "unknown", "text/recovery_use_unknown",
                                            "text/recovery_use_unknown_detail", 1 };
static const struct problem OTHERS_UNKNOWN = { 503, "unknown", "text/password_others", "text/password_others_detail",
                                               1 };

static void page_model(struct exchange *x, struct model *m, const struct form *typed, struct str next)
{
    model_init(m, x->arena);
    struct value *form = value_page_object(m, &m->root, "form");
    form_typed_model(m, form, recovery_login_fields, typed);
    value_page_text(m, form, "next", next);
    value_page_text(m, &m->root, "login_url", next_url(x->arena, "/login", next));
}

enum step recovery_login_show(struct exchange *x)
{
    struct model m;

    if (x->visitor.user_id != 0) {
        respond_see_other(x, path_after_login(next_from_query(x)));
        return STEP_DONE;
    }
    page_model(x, &m, &x->query, next_from_query(x));
    respond_model(x, 200, "pages/login_recovery", &m);
    return STEP_DONE;
}

static enum step login_refuse(struct exchange *x, struct str next, const struct form_errors *e)
{
    struct model m;

    page_model(x, &m, &x->form, next);
    respond_form_errors(x, "pages/login_recovery", &m, e);
    return STEP_DONE;
}

/* Takes the limits of a try. False: answered. */
static bool try_take(struct exchange *x, const struct recovery_code *code, bool made_here)
{
    static const struct limit_use guess[] = { { .limit = LIMIT_RECOVERY_ADDRESS },
                                              { .limit = LIMIT_RECOVERY_NETWORK } };

    if (made_here)
        return limits_take(x, &(struct limit_use){ LIMIT_RECOVERY_CODE, code->subject }, 1);
    return limits_take(x, guess, sizeof guess / sizeof guess[0]);
}

/* Finds the user and compares the code, which costs one hash whether or not there is one. ST_NOT_FOUND: wrong. */
static enum status code_check(struct exchange *x, struct str username, const struct recovery_code *code,
                              struct user *user, struct str *hash)
{
    *hash = STR("");
    enum status st = recovery_code_find(x->app->stores.db, x->arena, username, code->slot, user, hash);
    if (st != ST_OK && st != ST_NOT_FOUND)
        return status_idempotent(st);
    return password_verify(str_or_empty(*hash), str_from(code->chars));
}

/* Uses the code up. ST_NOT_FOUND: another login was faster. */
static enum status code_use(struct exchange *x, const struct recovery_login_form *form, const struct user *user,
                            unsigned slot, struct str hash)
{
    char new_hash[PASSWORD_HASH_MAX] = "";
    enum status st = form->new_password.len > 0 ? password_hash(form->new_password, new_hash) : ST_OK;

    return st != ST_OK ? st : recovery_code_use(x->app->stores.db, x->arena, user->id, slot, hash, str_from(new_hash));
}

/* The code is used up: starts the session, and ends all others when there is a new password. */
static enum step login_done(struct exchange *x, const struct recovery_login_form *form, const struct user *user,
                            unsigned slot)
{
    const struct stores *stores = &x->app->stores;

    x->fallback_problem = &USE_UNKNOWN;
    security_log(x, SECURITY_LOGIN, user->id, "recovery_slot=%u", slot);
    if (form->new_password.len > 0)
        security_log(x, SECURITY_PASSWORD_CHANGED, user->id, NULL);
    enum status st = form->new_password.len == 0
                         ? ST_OK
                         : known_device_forget_all(stores->redis, x->arena, user->username, clock_now_ms());
    if (st != ST_OK || session_start(x, user->id, user->username, user->nickname) != ST_OK) {
        respond_problem(x, &USE_UNKNOWN);
        return STEP_DONE;
    }
    if (form->new_password.len > 0 &&
        session_list_end_others(stores, x->arena, user->id, x->visitor.session_key, clock_now_ms()) != ST_OK) {
        respond_problem(x, &OTHERS_UNKNOWN);
        return STEP_DONE;
    }
    return answer_user(x, 200, user, form->next.len > 0 ? form->next : STR("/"));
}

enum step recovery_login_submit(struct exchange *x)
{
    struct recovery_login_form form = { 0 };
    struct recovery_code code = { 0 };
    struct form_errors e;
    struct user user = { 0 };
    struct str hash;

    enum status st = form_read(x, recovery_login_fields, &form, &e);
    if (st == ST_INVALID)
        return login_refuse(x, form.next, &e);
    if (st == ST_OK)
        st = session_store_check(x);
    if (st == ST_OK) {
        bool made_here =
            username_valid(form.username) &&
            recovery_code_read(x->arena, str_from(x->app->stores.config->secret), form.username, form.code, &code);
        if (!try_take(x, &code, made_here))
            return STEP_DONE;
        st = made_here ? code_check(x, form.username, &code, &user, &hash) : ST_NOT_FOUND;
    }
    if (st == ST_OK && user.disabled) {
        security_log(x, SECURITY_LOGIN_REFUSED, user.id, "reason=disabled");
        form_fail(&e, "username", "text/account_disabled");
        return login_refuse(x, form.next, &e);
    }
    if (st == ST_OK)
        st = code_use(x, &form, &user, code.slot, hash);
    if (st == ST_OK)
        return login_done(x, &form, &user, code.slot);
    if (st == ST_NOT_FOUND) {
        security_log(x, SECURITY_LOGIN_REFUSED, user.id, "reason=recovery");
        form_fail(&e, "code", "text/recovery_wrong");
        return login_refuse(x, form.next, &e);
    }
    if (st == ST_UNKNOWN)
        respond_problem(x, &USE_UNKNOWN);
    else
        respond_status(x, st);
    return STEP_DONE;
}

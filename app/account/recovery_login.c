#include "account/recovery_login.h"

#include <sodium.h>

#include "account/pages_internal.h"
#include "account/passkey_confirm.h"
#include "account/passkey_page.h"
#include "account/recovery_page.h"
#include "account/shown_once.h"
#include "base/clock.h"
#include "user/account.h"
#include "user/hash_budget.h"
#include "user/known_device.h"
#include "user/passkey_store.h"
#include "user/recovery_store.h"
#include "user/session.h"
#include "user/session_list.h"
#include "web/field_types.h"
#include "web/respond.h"
#include "web/security_log.h"

struct recovery_login_form {
    struct str username;     /* folded, perhaps not valid */
    struct str code;         /* as typed */
    struct str new_password; /* normalized, or empty */
    struct str next;         /* a local path, or empty */
    struct str passkey;      /* not empty: a passkey is added next, in place of a new password */
};

/* A secret, as a password is, but compared in its own normal form. */
static const struct field_type CODE = { .read = field_text_read, .like = &FIELD_PASSWORD };

static bool sets_password(const struct field_input *in)
{
    return in->x->app->stores.config->password_login;
}

const struct field recovery_login_fields[] = {
    LOGIN_NAME_FIELD(struct recovery_login_form, "in any case"),
    { .name = "code",
      .type = &CODE,
      .member = offsetof(struct recovery_login_form, code),
      .required = true,
      .missing = "text/recovery_code_missing",
      .says = "in any case, hyphens may be left out",
      .example = "0-7K3M-9QXT-2B8D-C4RZ" },
    { .name = "new_password",
      NEW_PASSWORD_RULES,
      .member = offsetof(struct recovery_login_form, new_password),
      .applies = sets_password,
      .says = "ends all other sessions; a program may leave it out" },
    NEXT_FIELD(struct recovery_login_form),
    { .name = "passkey",
      .type = &FIELD_TEXT,
      .member = offsetof(struct recovery_login_form, passkey),
      .no_echo = true,
      .says = "any text: the page demands no new password, and adds a passkey next" },
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
    value_page_text(m, &m->root, "login_url", login_way_url(x, "/login", typed, next));
    passkey_site_model(x, m);
    value_page_bool(m, &m->root, "password_login", x->app->stores.config->password_login);
}

/* The page after a login with a code: which ways in the account has now, and how many codes are left. Its link leads to
 * next, or to the steps after a lost phone. */
static enum step used_show(struct exchange *x)
{
    struct model m;
    uint64_t passkeys;

    model_init(&m, x->arena);
    enum status st = recovery_model(x, &m);
    if (st == ST_OK)
        st = passkey_count(x->app->stores.db, x->arena, x->visitor.user_id, &passkeys);
    if (st != ST_OK) {
        respond_status(x, status_idempotent(st));
        return STEP_DONE;
    }
    value_page_bool(&m, &m.root, "has_passkeys", passkeys > 0);
    value_page_text(&m, &m.root, "onward", path_after_login(next_from_query(x)));
    respond_model(x, 200, "pages/recovered", &m);
    return STEP_DONE;
}

enum step recovery_login_show(struct exchange *x)
{
    struct model m;

    if (x->visitor.user_id != 0 && str_equal(query_get(x, "used", NULL), STR("password")))
        return used_show(x);
    if (x->visitor.user_id != 0 && !login_is_again(x)) {
        respond_see_other(x, path_after_login(next_from_query(x)));
        return STEP_DONE;
    }
    page_model(x, &m, query_form(x, recovery_login_fields), next_from_query(x));
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

/* A try to log in with a code. */
struct code_try {
    struct recovery_login_form form;
    struct recovery_code code;
    bool made_here; /* the site has made the code for this username */
    struct hash_permit permit;
    struct user user;
    struct str hash; /* as stored; empty: there is none */
};

/* Takes the limits of a try, and the hash of a new password. False: answered. */
static bool try_take(struct exchange *x, struct code_try *t)
{
    static const struct limit_use guess[] = { { .limit = LIMIT_RECOVERY_ADDRESS },
                                              { .limit = LIMIT_RECOVERY_NETWORK } };
    const struct limit_use use = { LIMIT_RECOVERY_CODE, t->code.subject };

    if (!t->made_here)
        return limits_take(x, guess, sizeof guess / sizeof guess[0]);
    return t->form.new_password.len > 0 ? hash_budget_take(x, HASH_KNOWN, &use, 1, &t->permit)
                                        : limits_take(x, &use, 1);
}

/* Finds the user and compares the code. ST_NOT_FOUND: wrong. *answered: the code needs a slow hash and the budget has
 * none left; the request is answered. */
static enum status code_check(struct exchange *x, struct code_try *t, bool *answered)
{
    enum status st =
        recovery_code_find(x->app->stores.db, x->arena, t->form.username, t->code.slot, &t->user, &t->hash);
    if (st != ST_OK)
        return status_idempotent(st);
    if (recovery_hash_is_slow(str_or_empty(t->hash))) {
        *answered = !hash_budget_take(x, HASH_KNOWN, NULL, 0, &t->permit);
        return *answered ? ST_UNAVAILABLE : password_verify(&t->permit, t->hash, str_from(t->code.chars));
    }
    struct str hash = recovery_code_hash(x->arena, keys_get(&x->app->stores.config->keys, KEY_RECOVERY_HASH),
                                         t->form.username, &t->code);
    if (hash.ptr == NULL)
        return ST_NO_MEMORY;
    return hash.len == t->hash.len && sodium_memcmp(hash.ptr, t->hash.ptr, hash.len) == 0 ? ST_OK : ST_NOT_FOUND;
}

/* Uses the code up. ST_NOT_FOUND: another login was faster. */
static enum status code_use(struct exchange *x, struct code_try *t)
{
    char new_hash[PASSWORD_HASH_MAX] = "";
    enum status st = ST_OK;

    if (t->form.new_password.len > 0)
        st = password_hash(&t->permit, t->form.new_password, new_hash);
    return st != ST_OK
               ? st
               : recovery_code_use(x->app->stores.db, x->arena, t->user.id, t->code.slot, t->hash, str_from(new_hash));
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
    if (form->new_password.len == 0) { /* the code has just proved who it is: a passkey may be added at once */
        shown_once_give(x, SHOWN_REGISTERED, STR(""));
        return answer_login(x, 200, user,
                            passkey_confirm_site(x).ptr != NULL ? STR("/account/passkeys?passkey=recovered")
                                                                : form->next);
    }
    struct str next = form_encode(x->arena, path_after_login(form->next));
    return answer_login(
        x, 200, user,
        next.ptr == NULL ? STR_NONE : arena_printf(x->arena, "/login/recovery?used=password&next=%.*s", STR_ARG(next)));
}

/* The page demands a new password where passwords are used: its user has forgotten the old one, which many forms of the
 * account need. A program may leave it out. */
static enum status password_demand(const struct exchange *x, enum status st, struct form_errors *e)
{
    if (x->wants_json || !x->app->stores.config->password_login || (st != ST_OK && st != ST_INVALID) ||
        form_get(&x->form, "new_password", NULL).len > 0 || form_get(&x->form, "passkey", NULL).len > 0)
        return st;
    form_fail(e, "new_password", "text/password_missing");
    return ST_INVALID;
}

/* Whether the text looks like a code. This only chooses the message; recovery_code_read decides. */
static bool code_has_shape(struct str typed)
{
    size_t count = 0;
    for (size_t i = 0; i < typed.len; i++)
        count += typed.ptr[i] != '-' && typed.ptr[i] != ' ';
    return count == RECOVERY_CODE_CHARS;
}

enum step recovery_login_submit(struct exchange *x)
{
    struct code_try t = { .hash = STR("") };
    struct form_errors e;
    bool answered = false;

    enum status st = password_demand(x, form_read(x, recovery_login_fields, &t.form, &e), &e);
    if (st == ST_INVALID)
        return login_refuse(x, t.form.next, &e);
    if (st == ST_OK)
        st = session_store_check(x);
    if (st == ST_OK) {
        t.made_here = username_valid(t.form.username) &&
                      recovery_code_read(x->arena, keys_pair(&x->app->stores.config->keys, KEY_RECOVERY_CODE),
                                         t.form.username, t.form.code, &t.code);
        if (!try_take(x, &t))
            return STEP_DONE;
        st = t.made_here ? code_check(x, &t, &answered) : ST_NOT_FOUND;
    }
    if (answered)
        return STEP_DONE;
    if (st == ST_OK && t.user.disabled) {
        security_log(x, SECURITY_LOGIN_REFUSED, t.user.id, "reason=disabled");
        form_fail(&e, "username", "text/account_disabled");
        return login_refuse(x, t.form.next, &e);
    }
    if (st == ST_OK)
        st = code_use(x, &t);
    if (st == ST_OK)
        return login_done(x, &t.form, &t.user, t.code.slot);
    if (st == ST_NOT_FOUND) {
        security_log(x, SECURITY_LOGIN_REFUSED, t.user.id, "reason=recovery");
        login_name_judge(&e, t.form.username, "code",
                         code_has_shape(t.form.code) ? "text/recovery_wrong" : "text/recovery_code_shape");
        return login_refuse(x, t.form.next, &e);
    }
    if (st == ST_UNKNOWN)
        respond_problem(x, &USE_UNKNOWN);
    else
        respond_status(x, st);
    return STEP_DONE;
}

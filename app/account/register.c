#include "account/register.h"

#include <inttypes.h>

#include "account/admission.h"
#include "account/issuer_page.h"
#include "account/packet_ahead.h"
#include "account/pages_internal.h"
#include "account/passkey_page.h"
#include "account/shown_once.h"
#include "account/username_proposal.h"
#include "base/clock.h"
#include "base/log.h"
#include "user/account.h"
#include "user/hash_budget.h"
#include "user/session.h"
#include "user/session_list.h"
#include "user/store.h"
#include "web/respond.h"
#include "web/security_log.h"

const struct problem REGISTER_UNKNOWN = { 503, "unknown", "text/register_unknown", "text/register_unknown_detail", 1 };

/* The form with this username in place of the typed one. */
static struct form form_with_username(const struct form *typed, struct str username)
{
    struct form out = { .count = 0 };

    out.fields[out.count++] = (struct form_field){ STR("username"), username };
    for (size_t i = 0; i < typed->count && out.count < FORM_FIELDS_MAX; i++)
        if (!str_equal(typed->fields[i].name, STR("username")))
            out.fields[out.count++] = typed->fields[i];
    return out;
}

/* proposed: a username in place of the typed one; empty: none. */
static void register_model(struct exchange *x, struct model *m, const struct form *typed, struct str proposed,
                           struct str next)
{
    const struct form shown = proposed.len > 0 ? form_with_username(typed, proposed) : *typed;

    model_init(m, x->arena);
    struct value *form = value_page_object(m, &m->root, "form");
    form_typed_model(m, form, register_fields, &shown);
    value_page_bool(m, &m->root, "proposed", proposed.len > 0);
    value_page_text(m, form, "next", next);
    passkey_site_model(x, m);
    admission_model(x, m, next);
    packet_ahead_model(x, m, next);
    issuer_model(x, m, next, false);
    value_page_text(m, &m->root, "login_url", next_url(x->arena, "/login", next));
}

enum step register_show(struct exchange *x)
{
    struct model m;

    if (x->visitor.user_id != 0) {
        respond_see_other(x, path_after_login(next_from_query(x)));
        return STEP_DONE;
    }
    const struct form *typed = query_form(x, register_fields);
    struct str proposed =
        form_get(typed, "username", NULL).len > 0 ? STR("") : username_invented(x->arena, x->language == LANGUAGE_EN);
    register_model(x, &m, typed, str_or_empty(proposed), next_from_query(x));
    respond_model(x, 200, "pages/register", &m);
    return STEP_DONE;
}

static enum step register_refuse(struct exchange *x, struct str next, const struct form_errors *e)
{
    struct model m;
    struct str proposed = STR("");

    if (!x->wants_json && form_failed(e, "username"))
        proposed = username_proposed(x->app->stores.db, x->arena, form_get(&x->form, "username", NULL),
                                     form_get(&x->form, "nickname", NULL), x->language == LANGUAGE_EN);
    register_model(x, &m, &x->form, str_or_empty(proposed), next);
    respond_form_errors(x, "pages/register", &m, e);
    return STEP_DONE;
}

bool register_precheck(struct exchange *x, const struct account_form *account, struct form_errors *e,
                       struct admission *admission, enum status *st)
{
    struct user found;

    *st = session_store_check(x);
    if (*st == ST_OK)
        *st = user_find_by_name(x->app->stores.db, x->arena, account->username, &found);
    if (*st != ST_OK && *st != ST_NOT_FOUND)
        return true;
    if (*st == ST_OK)
        form_fail(e, "username", "text/username_taken");
    if (!admission_judge(x, account, e, admission, st))
        return false;
    if (*st == ST_OK && e->count > 0)
        *st = ST_INVALID;
    return true;
}

/* A new user has no session yet: if there are some, the row of their user was lost with the tables. */
static void earlier_sessions_end(struct exchange *x, uint64_t user_id)
{
    struct session_entry *entries;
    size_t count = 0;
    enum status st = session_list_read(&x->app->stores, x->arena, user_id, x->now_ms, &entries, &count);
    if (st == ST_OK && count > 0)
        st = session_list_end_others(&x->app->stores, x->arena, user_id, STR(""), clock_now_ms());
    x->now_ms = count > 0 ? clock_now_ms() : x->now_ms; /* the session that starts next is newer */
    if (st == ST_OK && count > 0)
        log_warn("sessions of an earlier user ended", "user_id=%" PRIu64 " sessions=%zu", user_id, count);
}

/* Where a new user goes: next, or first the offer of a passkey when the browser could keep one. Not first when next is
 * a packet: the packet's result links to the offer. */
static struct str path_onward(struct exchange *x, const struct account_form *account)
{
    if (x->wants_json || account->passkey.len == 0)
        return account->next;
    shown_once_give(x, SHOWN_REGISTERED, STR(""));
    if (str_starts(account->next, STR("/p/"))) {
        passkey_offer_later(x);
        return account->next;
    }
    struct str next = form_encode(x->arena, path_after_login(account->next));
    return next.ptr == NULL ? STR_NONE
                            : arena_printf(x->arena, "/account/passkeys?passkey=offer&next=%.*s", STR_ARG(next));
}

bool register_log_in(struct exchange *x, const struct user *user)
{
    if (user->admission != NULL)
        admission_log(x, user->id, user->admission);
    x->fallback_problem = &REGISTER_UNKNOWN;
    earlier_sessions_end(x, user->id);
    return session_start(x, user->id, user->username, user->nickname) == ST_OK;
}

/* The user is there: logs in. */
static enum step register_done(struct exchange *x, const struct account_form *account, const struct user *user)
{
    security_log(x, SECURITY_REGISTER, user->id, NULL);
    if (!register_log_in(x, user))
        return answer_user(x, 201, user, next_url(x->arena, "/login", account->next));
    return answer_login(x, 201, user, path_onward(x, account));
}

enum step register_submit(struct exchange *x)
{
    struct account_form account = { .invitation = STR("") };
    struct admission admission = { .invitation = STR("") };
    struct hash_permit permit = { 0 };
    struct form_errors e;
    char hash[PASSWORD_HASH_MAX];

    if (!admission_begin(x) || !passwords_used(x))
        return STEP_DONE;
    enum status st = form_read(x, register_fields, &account, &e);
    if (st == ST_OK && !register_precheck(x, &account, &e, &admission, &st))
        return STEP_DONE;
    if (st == ST_OK && !hash_budget_take(x, HASH_STRANGER, NULL, 0, &permit))
        return STEP_DONE;
    if (st == ST_OK)
        st = password_hash(&permit, account.password, hash);

    struct user user = { .username = account.username, .nickname = account.nickname, .admission = &admission };
    if (st == ST_OK) {
        user.password_hash = str_from(hash);
        st = admission_insert(x, &user, &e);
    }
    if (st == ST_OK)
        return register_done(x, &account, &user);
    if (st == ST_INVALID)
        return register_refuse(x, account.next, &e);
    if (st == ST_UNKNOWN)
        respond_problem(x, &REGISTER_UNKNOWN);
    else
        respond_status(x, st);
    return STEP_DONE;
}

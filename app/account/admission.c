#include "account/admission.h"

#include <inttypes.h>

#include "account/passkey_confirm.h"
#include "user/invitation_code.h"
#include "web/limits.h"
#include "web/respond.h"
#include "web/security_log.h"

static const struct problem CLOSED = { 403, "registration-closed", "text/registration_closed",
                                       "text/registration_closed_detail", 0 };

bool admission_begin(struct exchange *x)
{
    if (config_registration(x->app->stores.config) != REGISTRATION_CLOSED)
        return true;
    respond_problem(x, &CLOSED);
    return false;
}

void admission_model(struct exchange *x, struct model *m, struct str next)
{
    const struct config *config = x->app->stores.config;
    const bool by_invitation = config_registration(config) == REGISTRATION_INVITE;
    value_page_bool(m, &m->root, "password_login", config->password_login);
    value_page_bool(m, &m->root, "closed", config_registration(config) == REGISTRATION_CLOSED);
    value_page_bool(m, &m->root, "has_form",
                    config_registration(config) != REGISTRATION_CLOSED &&
                        (config->password_login || passkey_confirm_site(x).ptr != NULL));
    value_page_bool(m, &m->root, "needs_invitation", by_invitation);
    value_page_bool(m, &m->root, "ahead_is_no_invitation", by_invitation && str_starts(next, STR("/p/")));
    if (config->terms_url[0] == '\0')
        return;
    struct value *terms = value_page_object(m, &m->root, "terms");
    value_page_text(m, terms, "url", str_from(config->terms_url));
    value_page_text(m, terms, "version", str_from(config->terms_version));
}

/* Adds the message, and writes the security event. */
static void refuse(struct exchange *x, struct form_errors *e, const char *text, const char *reason)
{
    security_log(x, SECURITY_INVITATION_REFUSED, 0, "reason=%s", reason);
    form_fail(e, "invitation", text);
}

static void state_judge(struct exchange *x, struct form_errors *e, enum invitation_state state)
{
    static const char *const texts[] = { [INVITATION_USED] = "text/invitation_used",
                                         [INVITATION_REVOKED] = "text/invitation_wrong",
                                         [INVITATION_EXPIRED] = "text/invitation_expired" };
    if (state != INVITATION_OPEN)
        refuse(x, e, texts[state], invitation_state_name(state));
}

/* Judges the code that everybody needs. As admission_judge. */
static bool invitation_judge(struct exchange *x, struct str typed, struct form_errors *e, struct admission *out,
                             enum status *st)
{
    static const struct limit_use guess[] = { { .limit = LIMIT_INVITATION_ADDRESS },
                                              { .limit = LIMIT_INVITATION_NETWORK } };
    const struct key *key = keys_get(&x->app->stores.config->keys, KEY_INVITATIONS);
    struct invitation_code code;
    enum invitation_state state;
    if (!invitation_code_read(x->arena, key, typed, &code)) {
        if (!limits_take(x, guess, sizeof guess / sizeof guess[0]))
            return false;
        refuse(x, e, "text/invitation_wrong", "unknown");
        return true;
    }
    out->invitation = code.hash;
    *st = status_idempotent(invitation_find(x->app->stores.db, x->arena, code.hash, x->now_ms, &state));
    if (*st == ST_OK)
        state_judge(x, e, state);
    if (*st == ST_NOT_FOUND) {
        refuse(x, e, "text/invitation_wrong", "gone");
        *st = ST_OK;
    }
    return true;
}

/* Takes a code that nobody needs, if it is one. */
static void invitation_take(struct exchange *x, struct str typed, struct admission *out)
{
    struct invitation_code code;
    if (typed.len > 0 &&
        invitation_code_read(x->arena, keys_get(&x->app->stores.config->keys, KEY_INVITATIONS), typed, &code))
        out->invitation = code.hash;
}

bool admission_judge(struct exchange *x, const struct account_form *form, struct form_errors *e, struct admission *out,
                     enum status *st)
{
    const struct config *config = x->app->stores.config;
    *st = ST_OK;
    *out = (struct admission){ .invitation = STR(""), .terms_version = STR("") };
    if (config->terms_url[0] != '\0')
        out->terms_version = str_from(config->terms_version);
    if (config_registration(config) == REGISTRATION_INVITE)
        return invitation_judge(x, form->invitation, e, out, st);
    invitation_take(x, form->invitation, out);
    return true;
}

enum status admission_insert(struct exchange *x, struct user *user, struct form_errors *e)
{
    struct db *db = x->app->stores.db;
    const struct keys *keys = &x->app->stores.config->keys;
    enum status st = user_insert(db, x->arena, keys, user, x->now_ms);
    if (st == ST_NOT_FOUND && config_registration(x->app->stores.config) == REGISTRATION_OPEN) {
        user->admission->invitation = STR("");
        st = user_insert(db, x->arena, keys, user, x->now_ms);
    }
    if (st == ST_EXISTS)
        form_fail(e, "username", "text/username_taken");
    if (st == ST_NOT_FOUND)
        refuse(x, e, "text/invitation_used", "race");
    return st == ST_EXISTS || st == ST_NOT_FOUND ? ST_INVALID : st;
}

void admission_log(struct exchange *x, uint64_t user_id, const struct admission *admission)
{
    if (admission->invitation_id > 0)
        security_log(x, SECURITY_INVITATION_USED, user_id, "invitation_id=%" PRIu64, admission->invitation_id);
    if (admission->terms_version.len > 0)
        security_log(x, SECURITY_TERMS_ACCEPTED, user_id, "version=%.*s", STR_ARG(admission->terms_version));
}

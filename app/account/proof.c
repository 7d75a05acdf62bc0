#include "account/proof.h"

#include "account/pages_internal.h"
#include "user/hash_budget.h"
#include "user/passkey_store.h"
#include "user/store.h"
#include "user/subject_store.h"
#include "web/limits.h"
#include "web/security_log.h"

static const struct limit_use USES[] = { { .limit = LIMIT_PASSWORD }, { .limit = LIMIT_CONFIRM } };
enum { WRONG_USES = 1, ALL_USES = 2 };

bool proof_needs_password(const struct field_input *in)
{
    const char *member = (const char *)in->values + in->field->member;
    const struct proof *p = (const struct proof *)(const void *)(member - offsetof(struct proof, password));
    return (p->ways & PROOF_PASSWORD) != 0 && p->passkey.credential_id.len == 0;
}

struct only_proof {
    struct proof proof;
};
const struct field proof_fields[] = { PROOF_FIELDS(struct only_proof, proof, "password"), { .name = NULL } };

static bool session_is_fresh(const struct exchange *x)
{
    return x->visitor.session_ms > 0 && x->now_ms - x->visitor.session_ms < PROOF_FRESH_MS;
}

enum status proof_begin(struct exchange *x, struct proof *p)
{
    bool passkey;
    *p = (struct proof){ .hash = STR_NONE, .password = { STR(""), STR("") } };
    enum status st = user_hash_find(x->app->stores.db, x->arena, x->visitor.user_id, &p->hash);
    if (st == ST_OK)
        st = passkey_confirm_can(x, &passkey);
    if (st != ST_OK)
        return status_idempotent(st);
    const bool password = p->hash.ptr != NULL && x->app->stores.config->password_login;
    p->ways = (password ? PROOF_PASSWORD : 0) | (passkey ? PROOF_PASSKEY : 0);
    bool proves = false;
    if (p->ways == 0 && session_is_fresh(x))
        st = subject_session_proves(x->app->stores.db, x->arena, x->visitor.user_id, x->visitor.session_key, &proves);
    if (proves)
        p->ways = PROOF_SESSION;
    return status_idempotent(st);
}

void proof_model(struct exchange *x, struct model *m, const struct proof *p, const char *field, const char *page)
{
    static const char *const words[] = { "password", "passkey", "session" };
    struct value *list = value_list(m, &m->root, "proofs");
    struct value *part = value_page_object(m, &m->root, "proof");
    for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++)
        if ((p->ways & 1U << i) != 0)
            value_text(m, value_add_object(m, list), "way", str_from(words[i]));
    if ((p->ways & PROOF_PASSWORD) != 0)
        value_page_text(m, part, "password", str_from(field));
    if ((p->ways & PROOF_PASSKEY) != 0)
        value_page_text(m, part, "passkey", passkey_confirm_site(x));
    value_page_bool(m, part, "only_passkey", p->ways == PROOF_PASSKEY);
    value_page_bool(m, part, "session", p->ways == PROOF_SESSION);
    if (p->ways == 0)
        value_page_text(m, part, "again_url", login_again_url(x->arena, str_from(page)));
}

static enum status refuse(struct form_errors *e, const char *field, const char *text)
{
    form_fail(e, field, text);
    return ST_INVALID;
}

static bool password_check(struct exchange *x, const struct proof *p, const char *field, struct form_errors *e,
                           enum status *st)
{
    struct hash_permit permit = { 0 };
    bool raw;
    if (!hash_budget_take(x, HASH_KNOWN, USES, ALL_USES, &permit) ||
        !hash_budget_take_raw(x, HASH_KNOWN, &p->password, &permit))
        return false;
    *st = password_verify_typed(&permit, p->hash, &p->password, &raw);
    if (*st == ST_NOT_FOUND) {
        security_log(x, SECURITY_PASSWORD_REFUSED, x->visitor.user_id, NULL);
        *st = refuse(e, field, "text/confirm_wrong");
    } else {
        limits_give_back(x, USES, WRONG_USES);
    }
    return true;
}

static enum status passkey_check(struct exchange *x, const struct proof *p, const char *field, struct form_errors *e)
{
    const bool has_password = (p->ways & PROOF_PASSWORD) != 0;
    const char *at = has_password ? field : "passkey";
    enum status st = passkey_confirm(x, &p->passkey);
    if (st == ST_EXISTS)
        return refuse(e, at, "text/passkey_expired_detail");
    if (st == ST_NOT_FOUND)
        return refuse(e, at, has_password ? "text/proof_passkey_or_password" : "text/proof_passkey_refused");
    return st;
}

bool proof_check(struct exchange *x, const struct proof *p, const char *field, struct form_errors *e, enum status *st)
{
    const bool by_passkey = p->passkey.credential_id.len > 0;
    if (!by_passkey && (p->ways & PROOF_PASSWORD) != 0)
        return password_check(x, p, field, e, st);
    if (!limits_take(x, &USES[WRONG_USES], ALL_USES - WRONG_USES))
        return false;
    if (by_passkey)
        *st = passkey_check(x, p, field, e);
    else if (p->ways == PROOF_PASSKEY)
        *st = refuse(e, "passkey", "text/proof_passkey_missing");
    else
        *st = p->ways == PROOF_SESSION ? ST_OK : refuse(e, "session", "text/proof_stale");
    return true;
}

bool proof_form(struct exchange *x, struct proof *p, struct form_errors *e, enum status *st)
{
    *st = proof_begin(x, p);
    if (*st == ST_OK)
        *st = form_read(x, proof_fields, p, e);
    return *st != ST_OK || proof_check(x, p, "password", e, st);
}

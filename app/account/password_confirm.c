#include "account/password_confirm.h"

#include "user/account.h"
#include "user/hash_budget.h"
#include "user/store.h"
#include "web/limits.h"
#include "web/security_log.h"

static const struct limit_use USES[] = { { .limit = LIMIT_PASSWORD }, { .limit = LIMIT_CONFIRM } };
enum { WRONG_USES = 1, ALL_USES = 2 };

bool password_confirm_take(struct exchange *x, const struct password *typed, struct hash_permit *permit)
{
    return hash_budget_take(x, HASH_KNOWN, USES, ALL_USES, permit) &&
           hash_budget_take_raw(x, HASH_KNOWN, typed, permit);
}

enum status password_confirm(struct exchange *x, struct hash_permit *permit, const struct password *typed,
                             struct str *hash)
{
    bool raw;
    enum status st = user_hash_find(x->app->stores.db, x->arena, x->visitor.user_id, hash);
    if (st == ST_OK)
        st = password_verify_typed(permit, *hash, typed, &raw);
    if (st == ST_NOT_FOUND)
        security_log(x, SECURITY_PASSWORD_REFUSED, x->visitor.user_id, NULL);
    else
        limits_give_back(x, USES, WRONG_USES);
    return st;
}

const struct field password_confirm_fields[] = {
    PASSWORD_FIELD("password", 0, "a good password"),
    { .name = NULL },
};

bool password_confirm_form(struct exchange *x, struct form_errors *e, enum status *st)
{
    struct hash_permit permit = { 0 };
    struct password password = { STR(""), STR("") };
    struct str hash;

    *st = form_read(x, password_confirm_fields, &password, e);
    if (*st != ST_OK)
        return true;
    if (!password_confirm_take(x, &password, &permit))
        return false;
    *st = password_confirm(x, &permit, &password, &hash);
    if (*st == ST_NOT_FOUND) {
        form_fail(e, "password", "text/confirm_wrong");
        *st = ST_INVALID;
    }
    return true;
}

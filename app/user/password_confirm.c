#include "user/password_confirm.h"

#include "user/account.h"
#include "user/password.h"
#include "user/store.h"
#include "web/limits.h"
#include "web/security_log.h"

static const struct limit_use USES[] = { { .limit = LIMIT_PASSWORD }, { .limit = LIMIT_CONFIRM } };
enum { WRONG_USES = 1, ALL_USES = 2 };

bool password_confirm_take(struct exchange *x)
{
    return limits_take(x, USES, ALL_USES);
}

enum status password_confirm(struct exchange *x, struct str password, struct str *hash)
{
    enum status st = user_hash_find(x->app->stores.db, x->arena, x->visitor.user_id, hash);
    if (st == ST_OK)
        st = password_verify(*hash, password);
    if (st == ST_NOT_FOUND)
        security_log(x, SECURITY_PASSWORD_REFUSED, x->visitor.user_id, NULL);
    else
        limits_give_back(x, USES, WRONG_USES);
    return st;
}

const struct field password_confirm_fields[] = {
    { .name = "password",
      .type = &FIELD_PASSWORD,
      .required = true,
      .no_echo = true,
      .missing = "text/password_missing" },
    { .name = NULL },
};

bool password_confirm_form(struct exchange *x, struct form_errors *e, enum status *st)
{
    struct str password = STR(""), hash;

    *st = form_read(x, password_confirm_fields, &password, e);
    if (*st != ST_OK)
        return true;
    if (!password_confirm_take(x))
        return false;
    *st = password_confirm(x, password, &hash);
    if (*st == ST_NOT_FOUND) {
        form_fail(e, "password", "text/confirm_wrong");
        *st = ST_INVALID;
    }
    return true;
}

#include "account/passkey_confirm.h"

#include <inttypes.h>

#include "user/passkey_store.h"
#include "web/respond.h"
#include "web/security_log.h"

static bool site_read(struct exchange *x, struct passkey_site *out)
{
    return passkey_site_read(x->arena, str_from(x->app->stores.config->base_url), out);
}

enum status passkey_confirm_can(struct exchange *x, bool *can)
{
    struct passkey_site site;
    uint64_t count = 0;
    enum status st =
        site_read(x, &site) ? passkey_count(x->app->stores.db, x->arena, x->visitor.user_id, &count) : ST_OK;
    *can = st == ST_OK && count > 0;
    return st;
}

struct str passkey_confirm_site(struct exchange *x)
{
    struct passkey_site site;
    return site_read(x, &site) ? site.id : STR_NONE;
}

static enum status refuse(const struct exchange *x, uint64_t passkey_id, const char *reason)
{
    security_log(x, SECURITY_PASSKEY_REFUSED, x->visitor.user_id, "passkey_id=%" PRIu64 " reason=%s", passkey_id,
                 reason);
    return ST_NOT_FOUND;
}

enum status passkey_confirm(struct exchange *x, const struct passkey_confirmation *given)
{
    struct passkey_site site;
    struct passkey found;
    struct str challenge;
    const char *why = NULL;
    if (!site_read(x, &site))
        return ST_NOT_FOUND;
    if (passkey_challenge_take(x, PASSKEY_CONFIRM, &challenge) != ST_OK)
        return ST_EXISTS;
    enum status st = passkey_find(x->app->stores.db, x->arena, given->credential_id, &found);
    if (st == ST_NOT_FOUND)
        return refuse(x, 0, "unknown");
    if (st != ST_OK)
        return st;
    if (found.user_id != x->visitor.user_id)
        return refuse(x, found.id, "user");
    st = passkey_answer_accept(x, PASSKEY_CONFIRM, &site, challenge, &given->answer, &found, &why);
    if (why != NULL)
        (void)refuse(x, found.id, why);
    return st == ST_INVALID ? ST_NOT_FOUND : st;
}

enum step passkey_confirm_challenge(struct exchange *x)
{
    struct passkey_site site;
    struct passkey *passkeys;
    size_t count;
    struct model m;
    if (!passkey_begin(x, &site))
        return STEP_DONE;
    enum status st = passkey_list(x->app->stores.db, x->arena, x->visitor.user_id, &passkeys, &count);
    if (st != ST_OK) {
        respond_status(x, st);
        return STEP_DONE;
    }
    model_init(&m, x->arena);
    value_text(&m, &m.root, "challenge", passkey_challenge_give(x, PASSKEY_CONFIRM));
    value_text(&m, &m.root, "site", site.id);
    value_int(&m, &m.root, "seconds", PASSKEY_CHALLENGE_S);
    struct value *allow = value_list(&m, &m.root, "allow");
    for (size_t i = 0; i < count; i++)
        value_text(&m, value_add_object(&m, allow), "id", passkey_text(x->arena, passkeys[i].key.credential_id));
    respond_model(x, 200, NULL, &m);
    return STEP_DONE;
}

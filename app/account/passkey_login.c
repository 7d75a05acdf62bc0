#include "account/passkey_login.h"

#include <inttypes.h>
#include <sodium.h>

#include "account/pages_internal.h"
#include "user/known_device.h"
#include "user/passkey.h"
#include "user/passkey_ceremony.h"
#include "user/passkey_store.h"
#include "user/session.h"
#include "user/store.h"
#include "web/respond.h"
#include "web/security_log.h"

static const struct problem REFUSED = { 422, "passkey-refused", "text/passkey_refused", "text/passkey_refused_detail",
                                        0 };
/* The challenge came with a cookie a moment ago, and the browser has sent none. */
static const struct problem NO_COOKIES = { 422, "passkey-expired", "text/login_no_cookies", NULL, 0 };

struct login_form {
    struct str credential_id, user_handle;
    struct passkey_answer answer;
};

const struct field passkey_login_fields[] = {
    BASE64URL_FIELD("id", struct login_form, credential_id, PASSKEY_CREDENTIAL_MAX, "rawId of the credential"),
    BASE64URL_FIELD("user_handle", struct login_form, user_handle, PASSKEY_HANDLE_BYTES, "userHandle of the response"),
    BASE64URL_FIELD("client_data", struct login_form, answer.client_data, PASSKEY_CLIENT_MAX, "clientDataJSON"),
    BASE64URL_FIELD("authenticator_data", struct login_form, answer.data, PASSKEY_DATA_MAX, "authenticatorData"),
    BASE64URL_FIELD("signature", struct login_form, answer.signature, PASSKEY_SIGNATURE_MAX, "signature"),
    { .name = NULL },
};

enum step passkey_login_challenge(struct exchange *x)
{
    struct passkey_site site;
    struct model m;

    if (!passkey_begin(x, &site))
        return STEP_DONE;
    model_init(&m, x->arena);
    value_text(&m, &m.root, "challenge", passkey_challenge_give(x, PASSKEY_LOGIN));
    value_text(&m, &m.root, "site", site.id);
    value_int(&m, &m.root, "seconds", PASSKEY_CHALLENGE_S);
    respond_model(x, 200, NULL, &m);
    return STEP_DONE;
}

/* ST_INVALID, logged with its reason. */
static enum status refuse(const struct exchange *x, uint64_t user_id, uint64_t passkey_id, const char *reason)
{
    security_log(x, SECURITY_LOGIN_REFUSED, user_id, "passkey_id=%" PRIu64 " reason=%s", passkey_id, reason);
    return ST_INVALID;
}

/* Finds the passkey and checks the answer. ST_INVALID: refused, and logged · ST_EXISTS: the challenge was used before ·
 * else the status of a store. */
static enum status passkey_verify(struct exchange *x, const struct passkey_site *site, struct str challenge,
                                  const struct login_form *form, struct passkey *found)
{
    const char *why = NULL;
    enum status st = passkey_find(x->app->stores.db, x->arena, form->credential_id, found);
    if (st == ST_NOT_FOUND)
        return refuse(x, 0, 0, "unknown");
    if (st != ST_OK)
        return st;
    if (!str_equal(found->user_handle, form->user_handle))
        return refuse(x, found->user_id, found->id, "user");
    st = passkey_answer_accept(x, PASSKEY_LOGIN, site, challenge, &form->answer, found, &why);
    if (why != NULL)
        (void)refuse(x, found->user_id, found->id, why);
    return st;
}

/* Starts the session of the passkey's owner. */
static enum status owner_log_in(struct exchange *x, const struct passkey *passkey, struct user *user)
{
    struct user *users;
    size_t count;
    enum status st = users_find_by_ids(x->app->stores.db, x->arena, &passkey->user_id, 1, &users, &count);
    if (st != ST_OK)
        return st;
    if (count == 0) /* a user who deletes the account keeps the row, and for a while the passkeys */
        return refuse(x, passkey->user_id, passkey->id, "deleted");
    *user = users[0];
    if (user->disabled)
        return refuse(x, user->id, passkey->id, "disabled");
    return session_start(x, user->id, user->username, user->nickname);
}

enum step passkey_login_submit(struct exchange *x)
{
    struct login_form form = { 0 };
    struct form_errors e;
    struct passkey_site site;
    struct str challenge;
    struct passkey passkey;
    struct user user;

    if (!passkey_begin(x, &site))
        return STEP_DONE;
    enum status st = form_read(x, passkey_login_fields, &form, &e);
    if (st == ST_INVALID)
        (void)refuse(x, 0, 0, passkey_fault_name(PASSKEY_MALFORMED));
    if (st == ST_OK && passkey_challenge_take(x, PASSKEY_LOGIN, &challenge) != ST_OK)
        st = ST_EXISTS;
    if (st == ST_OK)
        st = passkey_verify(x, &site, challenge, &form, &passkey);
    if (st == ST_OK)
        st = owner_log_in(x, &passkey, &user);
    if (st == ST_OK) {
        known_device_passkey_remember(x, passkey.id);
        security_log(x, SECURITY_LOGIN, user.id, "passkey_id=%" PRIu64, passkey.id);
        return answer_login(x, 200, &user, STR(""));
    }
    if (st == ST_INVALID)
        respond_problem(x, &REFUSED);
    else if (st == ST_EXISTS)
        respond_problem(x, exchange_param(x, "HTTP_COOKIE").len == 0 ? &NO_COOKIES : &PASSKEY_EXPIRED);
    else
        respond_status(x, status_idempotent(st)); /* a login can be repeated */
    return STEP_DONE;
}

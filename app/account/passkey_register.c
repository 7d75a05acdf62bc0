#include "account/passkey_register.h"

#include <inttypes.h>

#include "account/pages_internal.h"
#include "account/recovery_page.h"
#include "account/register.h"
#include "user/device.h"
#include "user/known_device.h"
#include "user/passkey_ceremony.h"
#include "user/recovery_store.h"
#include "web/respond.h"
#include "web/security_log.h"

static const struct problem REFUSED = { 422, "passkey-refused", "text/passkey_not_added",
                                        "text/passkey_not_added_detail", 0 };
static const struct problem TAKEN = { 409, "passkey-exists", "text/passkey_exists", NULL, 0 };

struct new_user_form {
    struct account_form account; /* without password, next and passkey */
    struct passkey_answer answer;
};

#define NEW_USER_FIELDS                                                                                                \
    REGISTER_NAME_FIELDS(struct new_user_form, account.username, account.nickname),                                    \
        REGISTER_ADMISSION_FIELDS(struct new_user_form, account.invitation, account.terms)

const struct field passkey_register_begin_fields[] = { NEW_USER_FIELDS, { .name = NULL } };
const struct field passkey_register_fields[] = {
    NEW_USER_FIELDS,
    BASE64URL_FIELD("client_data", struct new_user_form, answer.client_data, PASSKEY_CLIENT_MAX,
                    "clientDataJSON of the response"),
    BASE64URL_FIELD("authenticator_data", struct new_user_form, answer.data, PASSKEY_DATA_MAX,
                    "what getAuthenticatorData() of the response gives"),
    { .name = NULL },
};

static void refuse_form(struct exchange *x, const struct form_errors *e)
{
    struct model m;
    model_init(&m, x->arena);
    respond_form_errors(x, NULL, &m, e);
}

/* The user handle for this challenge, in the arena. STR_NONE without memory. */
static struct str handle_of(struct exchange *x, struct str challenge)
{
    uint8_t handle[PASSKEY_HANDLE_BYTES];
    passkey_handle_new(keys_get(&x->app->stores.config->keys, KEY_HANDLES), challenge, handle);
    return arena_str(x->arena, (struct str){ (const char *)handle, sizeof handle });
}

/* Reads the form and judges names and admission. False: answered. *st: ST_OK; ST_INVALID: *e has a message, or a field
 * of the passkey is malformed; else the status of a store. */
static bool form_begin(struct exchange *x, const struct field *fields, struct new_user_form *form,
                       struct admission *admission, struct form_errors *e, enum status *st)
{
    if (!admission_begin(x))
        return false;
    *st = form_read(x, fields, form, e);
    return *st != ST_OK || register_precheck(x, &form->account, e, admission, st);
}

enum step passkey_register_challenge(struct exchange *x)
{
    struct new_user_form form = { .account = { .invitation = STR("") } };
    struct admission admission = { .invitation = STR("") };
    struct form_errors e;
    struct passkey_site site;
    struct model m;
    enum status st;

    if (!passkey_begin(x, &site) || !form_begin(x, passkey_register_begin_fields, &form, &admission, &e, &st))
        return STEP_DONE;
    if (st == ST_INVALID) {
        refuse_form(x, &e);
        return STEP_DONE;
    }
    if (st != ST_OK) {
        respond_status(x, status_idempotent(st));
        return STEP_DONE;
    }
    struct str challenge = passkey_challenge_give(x, PASSKEY_NEW_USER);
    const struct passkey_user user = { challenge.ptr == NULL ? STR_NONE : handle_of(x, challenge),
                                       form.account.username, form.account.nickname };
    model_init(&m, x->arena);
    passkey_create_model(x, &m, &site, challenge, &user);
    (void)value_list(&m, &m.root, "exclude"); /* nobody has a passkey yet */
    respond_model(x, 200, NULL, &m);
    return STEP_DONE;
}

/* What is inserted with the user. */
struct ways_in {
    struct passkey passkey;
    struct recovery_code codes[RECOVERY_CODES];
    struct str hashes[RECOVERY_CODES];
};

/* ST_CONFLICT: somebody has this passkey. */
static enum status ways_insert(struct db *db, const struct user *user, void *ctx)
{
    struct ways_in *ways = ctx;
    ways->passkey.user_id = user->id;
    enum status st = passkey_row_insert(db, &ways->passkey);
    if (st == ST_OK)
        st = recovery_codes_insert(db, user->id, ways->hashes, ways->passkey.created_ms);
    return st == ST_EXISTS ? ST_CONFLICT : st;
}

/* Makes what the user gets besides the passkey's key. */
static enum status ways_make(struct exchange *x, struct str username, struct str challenge, struct ways_in *ways)
{
    struct passkey *p = &ways->passkey;
    p->created_ms = x->now_ms;
    p->name = str_or_empty(device_name(x->arena, exchange_param(x, "HTTP_USER_AGENT")));
    p->user_handle = handle_of(x, challenge);
    return p->user_handle.ptr != NULL && recovery_codes_new(x, username, ways->codes, ways->hashes) ? ST_OK
                                                                                                    : ST_NO_MEMORY;
}

/* Inserts the user with everything. ST_INVALID: *e has the message · ST_CONFLICT: somebody has this passkey. When the
 * reply to COMMIT was lost, the passkey shows whether it was done. */
static enum status user_make(struct exchange *x, struct user *user, struct ways_in *ways, struct form_errors *e)
{
    struct passkey found;
    enum status st = admission_insert(x, user, e);
    if (st != ST_UNKNOWN)
        return st;
    st = passkey_find(x->app->stores.db, x->arena, ways->passkey.key.credential_id, &found);
    if (st != ST_OK || !str_equal(found.user_handle, ways->passkey.user_handle))
        return ST_UNKNOWN;
    user->id = found.user_id;
    ways->passkey.id = found.id;
    return ST_OK;
}

static enum step registered(struct exchange *x, const struct user *user, const struct ways_in *ways)
{
    security_log(x, SECURITY_REGISTER, user->id, "passkey_id=%" PRIu64, ways->passkey.id);
    security_log(x, SECURITY_RECOVERY_CODES_MADE, user->id, NULL);
    if (register_log_in(x, user)) {
        known_device_passkey_remember(x, ways->passkey.id);
        recovery_codes_show(x, ways->codes);
    }
    return answer_user(x, 201, user, STR("/"));
}

static enum step answer_refusal(struct exchange *x, enum status st, const struct form_errors *e)
{
    if (st == ST_INVALID && e->count > 0)
        refuse_form(x, e);
    else if (st == ST_INVALID)
        respond_problem(x, &REFUSED);
    else if (st == ST_EXISTS)
        respond_problem(x, &PASSKEY_EXPIRED);
    else if (st == ST_CONFLICT)
        respond_problem(x, &TAKEN);
    else if (st == ST_UNKNOWN)
        respond_problem(x, &REGISTER_UNKNOWN);
    else
        respond_status(x, st);
    return STEP_DONE;
}

enum step passkey_register_submit(struct exchange *x)
{
    struct new_user_form form = { .account = { .invitation = STR("") } };
    struct admission admission = { .invitation = STR("") };
    struct ways_in ways = { .passkey = { .id = 0 } };
    struct form_errors e;
    struct passkey_site site;
    struct str challenge;
    enum status st;

    if (!passkey_begin(x, &site) || !form_begin(x, passkey_register_fields, &form, &admission, &e, &st))
        return STEP_DONE;
    if (st == ST_OK && passkey_challenge_take(x, PASSKEY_NEW_USER, &challenge) != ST_OK)
        st = ST_EXISTS;
    if (st == ST_OK)
        st = ways_make(x, form.account.username, challenge, &ways);
    if (st == ST_OK)
        st = passkey_creation_check(x, PASSKEY_NEW_USER, &site, challenge, &form.answer, &ways.passkey.key);
    struct user user = { .username = form.account.username,
                         .nickname = form.account.nickname,
                         .admission = &admission,
                         .with = ways_insert,
                         .with_ctx = &ways };
    if (st == ST_OK)
        st = user_make(x, &user, &ways, &e);
    return st == ST_OK ? registered(x, &user, &ways) : answer_refusal(x, st, &e);
}

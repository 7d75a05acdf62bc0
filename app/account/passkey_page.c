#include "account/passkey_page.h"

#include <inttypes.h>
#include <sodium.h>

#include "account/lost_phone.h"
#include "account/pages_internal.h"
#include "account/proof.h"
#include "account/shown_once.h"
#include "base/clock.h"
#include "user/device.h"
#include "user/known_device.h"
#include "user/passkey.h"
#include "user/passkey_ceremony.h"
#include "user/passkey_store.h"
#include "web/field_types.h"
#include "web/respond.h"
#include "web/security_log.h"
#include "web/view.h"

#define OFFER_COOKIE "offer"

enum { NAME_GRAPHEMES_MAX = 32, NAME_CODE_POINTS_MAX = 64 };

static const struct problem REFUSED = { 422, "passkey-refused", "text/passkey_not_added",
                                        "text/passkey_not_added_detail", 0 };
static const struct problem TAKEN = { 409, "passkey-exists", "text/passkey_exists", NULL, 0 };
static const struct problem UNKNOWN = { 503, "unknown", "text/passkey_unknown", "text/passkey_unknown_detail", 1 };

/* ---- the list ---- */

void passkey_site_model(struct exchange *x, struct model *m)
{
    struct passkey_site site;
    if (passkey_site_read(x->arena, str_from(x->app->stores.config->base_url), &site))
        value_page_text(m, &m->root, "passkey_site", site.id);
}

/* Returns whether the passkey is on another device than this one, as far as the browser knows. */
static bool passkey_model(struct exchange *x, struct model *m, struct value *item, const struct passkey *p)
{
    struct str id = public_id_text(x->arena, &x->app->id_key, p->id);
    value_text(m, item, "id", id);
    value_text(m, item, "name", p->name);
    bool here = id.len > 0 && str_equal(id, known_device_passkey(x));
    value_page_bool(m, item, "is_here", here);
    view_time_model(m, item, "created_at", "created_at_text", p->created_ms);
    value_page_bool(m, item, "is_used", p->used_ms > 0);
    if (p->used_ms > 0)
        view_time_model(m, item, "used_at", "used_at_text", p->used_ms);
    else
        value_null(m, item, "used_at");
    return !here;
}

enum status passkeys_model(struct exchange *x, struct model *m)
{
    struct passkey *passkeys;
    size_t count;
    enum status st = passkey_list(x->app->stores.db, x->arena, x->visitor.user_id, &passkeys, &count);

    if (st != ST_OK)
        return st;
    struct value *list = value_list(m, &m->root, "passkeys");
    bool elsewhere = false;
    for (size_t i = 0; i < count; i++)
        elsewhere = passkey_model(x, m, value_add_object(m, list), &passkeys[i]) || elsewhere;
    value_page_bool(m, &m->root, "passkeys_elsewhere", elsewhere);
    value_page_int(m, &m->root, "passkey_count", (int64_t)count);
    value_page_bool(m, &m->root, "passkey_one", count == 1);
    value_page_bool(m, &m->root, "has_passkeys", count > 0);
    passkey_site_model(x, m);
    return ST_OK;
}

void passkey_offer_later(struct exchange *x)
{
    respond_cookie(x, STR(OFFER_COOKIE), STR("1"), SHOWN_ONCE_S);
}

bool passkey_offer_waits(const struct exchange *x)
{
    return exchange_cookie(x, STR(OFFER_COOKIE)).len > 0;
}

/* VIEW_ADDED, VIEW_REMOVED, VIEW_RECOVERED (a login with a recovery code): after a form. VIEW_OFFER: offers a passkey
 * to the account that was just registered. */
enum passkeys_view { VIEW_LIST, VIEW_ADDED, VIEW_REMOVED, VIEW_OFFER, VIEW_RECOVERED, VIEWS };

static struct str view_word(unsigned i)
{
    static const struct str words[VIEWS] = {
        [VIEW_LIST] = { "list", 4 },   [VIEW_ADDED] = { "added", 5 },         [VIEW_REMOVED] = { "removed", 7 },
        [VIEW_OFFER] = { "offer", 5 }, [VIEW_RECOVERED] = { "recovered", 9 },
    };
    return i < VIEWS ? words[i] : STR_NONE;
}

static const struct field view_fields[] = { { .name = "passkey", .type = &FIELD_WORD, .word = view_word },
                                            { .name = NULL } };
static const struct field changed_fields[] = { { .name = "password", .type = &FIELD_NUMBER, .max = 1 },
                                               { .name = NULL } };

/* As proof_begin; a browser that has just proved it needs nothing more. */
static enum status adding_begin(struct exchange *x, struct proof *proof)
{
    enum status st = proof_begin(x, proof);
    if (st == ST_OK && shown_once_read(x, SHOWN_REGISTERED).ptr != NULL)
        proof->ways = PROOF_SESSION;
    return st;
}

enum step passkeys_show(struct exchange *x)
{
    struct model m;
    enum passkeys_view view = VIEW_LIST;
    uint64_t changed = 0;
    struct proof proof;
    (void)query_read(x, view_fields, &view); /* a malformed query counts as none */
    (void)query_read(x, changed_fields, &changed);

    model_init(&m, x->arena);
    enum status st = adding_begin(x, &proof);
    if (st == ST_OK)
        st = passkeys_model(x, &m);
    if (st != ST_OK) {
        respond_status(x, status_idempotent(st));
        return STEP_DONE;
    }
    value_page_text(&m, &m.root, "username", x->visitor.username);
    lost_phone_model(&m, lost_phone_from_query(x));
    value_page_bool(&m, &m.root, "password_changed", changed != 0);
    value_page_bool(&m, &m.root, "passkey_added", view == VIEW_ADDED);
    value_page_bool(&m, &m.root, "passkey_removed", view == VIEW_REMOVED);
    value_page_bool(&m, &m.root, "passkey_recovered", view == VIEW_RECOVERED);
    proof_model(x, &m, &proof, "password", "/account/passkeys");
    if (passkey_offer_waits(x))
        respond_cookie(x, STR(OFFER_COOKIE), STR(""), 0);
    if (view == VIEW_OFFER)
        value_page_text(&m, &m.root, "offer_next", path_after_login(next_from_query(x)));
    respond_model(x, 200, view == VIEW_OFFER ? "pages/passkey_offer" : "pages/passkeys", &m);
    return STEP_DONE;
}

enum step passkeys_redirect(struct exchange *x)
{
    respond_see_other(x, STR("/account/passkeys"));
    return STEP_DONE;
}

/* ---- adding ---- */

struct passkey_form {
    struct str name;
    struct passkey_answer answer;
};

const struct field passkey_fields[] = {
    { .name = "name",
      .type = &FIELD_LINE,
      .member = offsetof(struct passkey_form, name),
      .max = NAME_GRAPHEMES_MAX,
      .code_points_max = NAME_CODE_POINTS_MAX,
      .malformed = "text/token_name_invalid",
      .high = "text/token_name_long",
      .wide = "text/token_name_long",
      .says = "where the passkey is; left out, the browser and its device",
      .example = "my phone" },
    BASE64URL_FIELD("client_data", struct passkey_form, answer.client_data, PASSKEY_CLIENT_MAX,
                    "clientDataJSON of the response"),
    BASE64URL_FIELD("authenticator_data", struct passkey_form, answer.data, PASSKEY_DATA_MAX,
                    "what getAuthenticatorData() of the response gives"),
    { .name = NULL },
};

/* The user handle of the visitor, in the arena. STR_NONE without memory. */
static struct str handle_of(struct exchange *x)
{
    uint8_t handle[PASSKEY_HANDLE_BYTES];
    passkey_handle_write(keys_get(&x->app->stores.config->keys, KEY_HANDLES), x->visitor.user_id, handle);
    return arena_str(x->arena, (struct str){ (const char *)handle, sizeof handle });
}

static void refuse_form(struct exchange *x, const struct form_errors *e)
{
    struct model m;
    model_init(&m, x->arena);
    respond_form_errors(x, NULL, &m, e);
}

/* Answers with a challenge: a passkey is added only with it, in this session. */
static enum step challenge_answer(struct exchange *x, const struct passkey_site *site)
{
    struct passkey *passkeys;
    size_t count;
    struct model m;

    enum status st = passkey_list(x->app->stores.db, x->arena, x->visitor.user_id, &passkeys, &count);
    if (st != ST_OK) {
        respond_status(x, st);
        return STEP_DONE;
    }
    model_init(&m, x->arena);
    const struct passkey_user user = { handle_of(x), x->visitor.username, x->visitor.nickname };
    passkey_create_model(x, &m, site, passkey_challenge_give(x, PASSKEY_REGISTER), &user);
    struct value *exclude = value_list(&m, &m.root, "exclude");
    for (size_t i = 0; i < count; i++)
        value_text(&m, value_add_object(&m, exclude), "id", passkey_text(x->arena, passkeys[i].key.credential_id));
    respond_model(x, 200, NULL, &m);
    return STEP_DONE;
}

enum step passkey_challenge_submit(struct exchange *x)
{
    struct form_errors e;
    struct passkey_site site;
    struct proof proof;
    enum status st;

    if (!passkey_begin(x, &site))
        return STEP_DONE;
    if (shown_once_read(x, SHOWN_REGISTERED).ptr != NULL)
        return challenge_answer(x, &site);
    if (!proof_form(x, &proof, &e, &st))
        return STEP_DONE;
    if (st == ST_OK)
        return challenge_answer(x, &site);
    if (st == ST_INVALID)
        refuse_form(x, &e);
    else
        respond_status(x, st);
    return STEP_DONE;
}

/* Checks the answer to the challenge of the cookie. ST_OK · ST_INVALID: refused, and logged · ST_EXISTS: the challenge
 * has expired or was used before · ST_UNAVAILABLE · ST_NO_MEMORY. */
static enum status answer_check(struct exchange *x, const struct passkey_site *site,
                                const struct passkey_answer *answer, struct passkey_key *key)
{
    struct str challenge;
    if (passkey_challenge_take(x, PASSKEY_REGISTER, &challenge) != ST_OK)
        return ST_EXISTS;
    return passkey_creation_check(x, PASSKEY_REGISTER, site, challenge, answer, key);
}

static enum step passkey_answer(struct exchange *x, const struct passkey *p)
{
    struct model m;

    x->fallback_problem = &UNKNOWN;
    shown_once_clear(x, SHOWN_REGISTERED);
    known_device_passkey_remember(x, p->id);
    security_log(x, SECURITY_PASSKEY_ADDED, p->user_id, "passkey_id=%" PRIu64, p->id);
    model_init(&m, x->arena);
    value_text(&m, &m.root, "id", public_id_text(x->arena, &x->app->id_key, p->id));
    value_text(&m, &m.root, "name", p->name);
    value_text(&m, &m.root, "created_at", clock_rfc3339(x->arena, p->created_ms));
    respond_model(x, 201, NULL, &m);
    return STEP_DONE;
}

/* Inserts the passkey and answers. */
static enum step passkey_add(struct exchange *x, struct passkey *p)
{
    struct form_errors e = { .count = 0 };
    bool full;
    int64_t max = x->app->stores.config->passkeys_max;
    enum status st =
        p->user_handle.ptr == NULL ? ST_NO_MEMORY : passkey_insert(x->app->stores.db, x->arena, p, max, &full);
    if (st == ST_OK)
        return passkey_answer(x, p);
    if (st == ST_EXISTS) {
        respond_problem(x, &TAKEN);
    } else if (st == ST_INVALID && full) {
        form_fail_with(&e, "passkeys", "text/passkey_full", arena_printf(x->arena, "%" PRId64, max));
        refuse_form(x, &e);
    } else if (st == ST_UNKNOWN) {
        respond_problem(x, &UNKNOWN);
    } else {
        respond_status(x, st);
    }
    return STEP_DONE;
}

enum step passkey_submit(struct exchange *x)
{
    struct passkey_form form = { .name = STR("") };
    struct form_errors e;
    struct passkey_site site;

    if (!passkey_begin(x, &site))
        return STEP_DONE;
    struct passkey passkey = { .user_id = x->visitor.user_id, .created_ms = x->now_ms };
    enum status st = form_read(x, passkey_fields, &form, &e);
    if (st == ST_INVALID && e.count > 0) {
        refuse_form(x, &e);
        return STEP_DONE;
    }
    if (st == ST_OK)
        st = answer_check(x, &site, &form.answer, &passkey.key);
    if (st == ST_OK) {
        passkey.name = form.name;
        if (form.name.len == 0) /* as the list of devices names it */
            passkey.name = str_or_empty(device_name(x->arena, exchange_param(x, "HTTP_USER_AGENT")));
        passkey.user_handle = handle_of(x);
        return passkey_add(x, &passkey);
    }
    if (st == ST_INVALID)
        respond_problem(x, &REFUSED);
    else if (st == ST_EXISTS)
        respond_problem(x, &PASSKEY_EXPIRED);
    else
        respond_status(x, st);
    return STEP_DONE;
}

/* ---- removing ---- */

enum step passkey_delete_submit(struct exchange *x)
{
    enum status st = passkey_delete(x->app->stores.db, x->visitor.user_id, x->id);

    if (st == ST_NOT_FOUND)
        security_log(x, SECURITY_ACCESS_REFUSED, x->visitor.user_id, NULL);
    if (st != ST_OK) {
        respond_status(x, status_idempotent(st));
        return STEP_DONE;
    }
    security_log(x, SECURITY_PASSKEY_REMOVED, x->visitor.user_id, "passkey_id=%" PRIu64, x->id);
    if (x->wants_json)
        respond_empty(x, 204);
    else
        respond_see_other(x, lost_phone_path(x->arena, "/account/passkeys?passkey=removed", lost_phone_from_form(x)));
    return STEP_DONE;
}

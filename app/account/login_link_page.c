#include "account/login_link_page.h"

#include <sodium.h>

#include "account/pages_internal.h"
#include "account/passkey_page.h"
#include "account/proof.h"
#include "base/clock.h"
#include "user/login_link.h"
#include "user/login_link_store.h"
#include "user/session.h"
#include "web/field_types.h"
#include "web/limits.h"
#include "web/respond.h"
#include "web/security_log.h"
#include "web/view.h"

enum { CODE_BYTES_MAX = 64 };

const struct field login_link_fields[] = {
    { .name = "code",
      .type = &FIELD_LINK_KEY,
      .required = true,
      .max = CODE_BYTES_MAX,
      .no_echo = true,
      .missing = "text/login_link_gone",
      .high = "text/login_link_gone",
      .says = "of a login link, which an operator has made",
      .example = "7k3m9qxt2b8dc4rz7k3m9qxt2b8dc4rz" },
    { .name = NULL },
};

/* Of the page. */
struct link_query {
    struct str code;
    uint64_t done;
};
const struct field login_link_query_fields[] = {
    { .name = "code",
      .type = &FIELD_LINK_KEY,
      .member = offsetof(struct link_query, code),
      .max = CODE_BYTES_MAX,
      .says = "of the link" },
    { .name = "done",
      .type = &FIELD_NUMBER,
      .member = offsetof(struct link_query, done),
      .max = 1,
      .says = "1: logged in by it, what comes next" },
    { .name = NULL },
};

static const struct problem GONE = { 404, "link-gone", "text/login_link_gone", "text/login_link_gone_detail", 0 };
static const struct problem DISABLED = { 403, "link-disabled", "text/account_disabled", NULL, 0 };
static const struct problem USE_UNKNOWN = { 503, "unknown", "text/login_link_unknown", "text/login_link_unknown_detail",
                                            0 };

/* Often the visitor has used it, and has a password or a passkey since: the page of a guest leads to the login. */
static void respond_gone(struct exchange *x)
{
    struct model m;
    model_init(&m, x->arena);
    if (x->visitor.user_id == 0)
        value_page_text(&m, &m.root, "login_url", STR("/login"));
    respond_problem_with(x, &GONE, &m);
}

static bool code_read(struct exchange *x, struct str code, struct login_link *out)
{
    return login_link_read(keys_get(&x->app->stores.config->keys, KEY_LOGIN_LINKS), code, out);
}

/* The page after a login by a link. */
static enum step done_show(struct exchange *x)
{
    struct model m;
    struct proof proof;
    enum status st = proof_begin(x, &proof);
    if (st != ST_OK) {
        respond_status(x, status_idempotent(st));
        return STEP_DONE;
    }
    model_init(&m, x->arena);
    value_page_text(&m, &m.root, "nickname", x->visitor.nickname);
    value_page_text(&m, &m.root, "username", x->visitor.username);
    value_page_bool(&m, &m.root, "has_way", (proof.ways & (PROOF_PASSWORD | PROOF_PASSKEY)) != 0);
    value_page_bool(&m, &m.root, "passwords", x->app->stores.config->password_login);
    passkey_site_model(x, &m);
    respond_model(x, 200, "pages/login_linked", &m);
    return STEP_DONE;
}

enum step login_link_show(struct exchange *x)
{
    struct link_query query = { .code = STR("") };
    struct login_link link;
    struct user user;
    struct model m;
    int64_t until_ms;

    const bool readable = query_read(x, login_link_query_fields, &query);
    if (readable && query.done != 0 && x->visitor.user_id != 0)
        return done_show(x);
    enum status st = ST_NOT_FOUND;
    if (readable && code_read(x, query.code, &link))
        st = login_link_find(x->app->stores.db, x->arena, &link, x->now_ms, &user, &until_ms);
    if (st == ST_NOT_FOUND) {
        respond_gone(x);
        return STEP_DONE;
    }
    if (st != ST_OK) {
        respond_status(x, status_idempotent(st));
        return STEP_DONE;
    }
    model_init(&m, x->arena);
    value_page_text(&m, &m.root, "code", arena_str(x->arena, str_from(link.code)));
    struct value *person = value_page_object(&m, &m.root, "person");
    value_page_text(&m, person, "nickname", user.nickname);
    value_page_text(&m, person, "username", user.username);
    view_avatar_model(&m, person, user.id, user.nickname, &user.face);
    value_page_text(&m, &m.root, "until_at", clock_rfc3339(x->arena, until_ms));
    value_page_text(&m, &m.root, "until", clock_zone_minute(x->arena, until_ms));
    value_page_bool(&m, &m.root, "other", x->visitor.user_id != 0 && x->visitor.user_id != user.id);
    respond_model(x, 200, "pages/login_link", &m);
    return STEP_DONE;
}

/* Takes the limits of a try. False: refused and answered. */
static bool try_take(struct exchange *x, const struct login_link *link)
{
    static const struct limit_use guess[] = { { .limit = LIMIT_RECOVERY_ADDRESS },
                                              { .limit = LIMIT_RECOVERY_NETWORK } };
    if (link == NULL)
        return limits_take(x, guess, sizeof guess / sizeof guess[0]);
    /* The subject is in the key of a counter, so it is no part of the code. */
    char hex[2 * LOGIN_LINK_HASH_BYTES + 1];
    const struct limit_use own = { LIMIT_RECOVERY_CODE,
                                   str_from(sodium_bin2hex(hex, sizeof hex, link->hash, sizeof link->hash)) };
    return limits_take(x, &own, 1);
}

/* Finds the user, and uses the link up. ST_NOT_FOUND: it is gone · ST_CONFLICT: the user is disabled. */
static enum status link_use(struct exchange *x, const struct login_link *link, struct user *user)
{
    int64_t until_ms;
    struct db *db = x->app->stores.db;
    enum status st = session_store_check(x);
    if (st == ST_OK)
        st = login_link_find(db, x->arena, link, x->now_ms, user, &until_ms);
    if (st != ST_OK || user->disabled)
        return st != ST_OK ? status_idempotent(st) : ST_CONFLICT;
    st = login_link_use(db, x->arena, user->id, link, x->now_ms);
    return st == ST_CONFLICT ? ST_UNAVAILABLE : st;
}

static enum step refuse(struct exchange *x, enum status st, uint64_t user_id)
{
    if (st == ST_NOT_FOUND || st == ST_CONFLICT)
        security_log(x, SECURITY_LOGIN_REFUSED, user_id, "reason=%s", st == ST_CONFLICT ? "disabled" : "link");
    if (st == ST_NOT_FOUND)
        respond_gone(x);
    else if (st == ST_CONFLICT)
        respond_problem(x, &DISABLED);
    else if (st == ST_UNKNOWN)
        respond_problem(x, &USE_UNKNOWN);
    else
        respond_status(x, st);
    return STEP_DONE;
}

enum step login_link_submit(struct exchange *x)
{
    struct str code = STR("");
    struct form_errors e;
    struct login_link link;
    struct user user = { 0 };

    enum status st = form_read(x, login_link_fields, &code, &e);
    if (st == ST_INVALID && code.len == 0 && x->wants_json) {
        respond_form_errors(x, NULL, NULL, &e);
        return STEP_DONE;
    }
    if (st == ST_NO_MEMORY)
        return refuse(x, st, 0);
    const bool made_here = st == ST_OK && code_read(x, code, &link);
    if (!try_take(x, made_here ? &link : NULL))
        return STEP_DONE;
    st = made_here ? link_use(x, &link, &user) : ST_NOT_FOUND;
    if (st != ST_OK)
        return refuse(x, st, user.id);
    x->fallback_problem = &USE_UNKNOWN;
    if (session_start(x, user.id, user.username, user.nickname) != ST_OK) {
        respond_problem(x, &USE_UNKNOWN);
        return STEP_DONE;
    }
    security_log(x, SECURITY_LOGIN, user.id, "login_link=1");
    return answer_login(x, 200, &user, STR(LOGIN_LINK_PATH "?done=1"));
}

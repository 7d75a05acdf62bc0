#include "account/invitations_page.h"

#include <inttypes.h>

#include "base/public_id.h"
#include "user/invitation_code.h"
#include "user/invitation_store.h"
#include "web/field_types.h"
#include "web/qr.h"
#include "web/respond.h"
#include "web/security_log.h"
#include "web/view.h"

static const int64_t DAY_MS = 24 * 3600 * 1000;

static const struct problem INVITATION_UNKNOWN = { 503, "unknown", "text/invitation_unknown",
                                                   "text/invitation_unknown_detail", 1 };
static const struct problem INVITATION_IS_USED = { 409, "invitation-used", "text/invitation_is_used",
                                                   "text/invitation_is_used_detail", 0 };

struct invitation_form {
    struct str note;
    struct str request_key;
};

const struct field invitation_fields[] = {
    { .name = "note",
      .type = &FIELD_LINE,
      .member = offsetof(struct invitation_form, note),
      .max = INVITATION_NOTE_GRAPHEMES_MAX,
      .code_points_max = INVITATION_NOTE_CODE_POINTS_MAX,
      .malformed = "text/invitation_note_invalid",
      .high = "text/invitation_note_long",
      .wide = "text/invitation_note_long",
      .says = "for whom it is; others do not see it",
      .example = "Anna" },
    { .name = "request_key",
      .type = &FIELD_REQUEST_KEY,
      .member = offsetof(struct invitation_form, request_key),
      .no_echo = true,
      .malformed = "text/form_stale",
      .says = "your own key: a repeat with it gets the same invitation",
      .example = "invitation-1" },
    { .name = NULL },
};

/* ---- the page ---- */

/* The link that lets somebody register. STR_NONE without memory. */
static struct str invitation_url(struct exchange *x, struct str code)
{
    return arena_printf(x->arena, "%s/register?invitation=%.*s", x->app->stores.config->base_url, STR_ARG(code));
}

/* Adds the code and the link of an open invitation; null for others. */
static void code_model(struct exchange *x, struct model *m, struct value *item, const struct invitation *i,
                       bool is_open)
{
    struct invitation_code code;
    if (!is_open) {
        value_null(m, item, "code");
        value_null(m, item, "url");
        return;
    }
    if (!invitation_code_of(x->arena, keys_get(&x->app->stores.config->keys, KEY_INVITATIONS), i->seed, &code)) {
        m->failed = true;
        return;
    }
    value_text(m, item, "code", code.text);
    value_text(m, item, "url", invitation_url(x, code.text));
}

static void item_model(struct exchange *x, struct model *m, struct value *item, const struct invitation *i)
{
    const enum invitation_state state = invitation_state(i, x->now_ms);
    const struct str id = public_id_text(x->arena, &x->app->id_key, i->id);
    value_text(m, item, "id", id);
    value_text(m, item, "note", i->note);
    value_text(m, item, "state", str_from(invitation_state_name(state)));
    code_model(x, m, item, i, state == INVITATION_OPEN);
    view_time_model(m, item, "created_at", "created_at_text", i->created_ms);
    view_time_model(m, item, "expires_at", "expires_at_text", i->expires_ms);
    if (i->used_ms > 0)
        view_time_model(m, item, "used_at", "used_at_text", i->used_ms);
    else
        value_null(m, item, "used_at");
    value_text_or_null(m, item, "used_by", i->used_name);
    value_page_bool(m, item, "is_open", state == INVITATION_OPEN);
    value_page_bool(m, item, "is_used", state == INVITATION_USED);
    value_page_bool(m, item, "is_revoked", state == INVITATION_REVOKED);
    value_page_bool(m, item, "is_expired", state == INVITATION_EXPIRED);
    value_page_text(m, item, "show_url",
                    arena_printf(x->arena, "/account/invitations?shown=%.*s#shown", STR_ARG(str_or_empty(id))));
}

struct invitations_query {
    struct str shown;
    uint64_t revoked;
};

static const struct field query_fields[] = {
    { .name = "shown", .type = &FIELD_LINK_KEY, .member = offsetof(struct invitations_query, shown), .max = 32 },
    { .name = "revoked", .type = &FIELD_NUMBER, .member = offsetof(struct invitations_query, revoked), .max = 1 },
    { .name = NULL },
};

/* Adds the invitation that the page shows large, if it is open. */
static void shown_model(struct exchange *x, struct model *m, const struct invitation *list, size_t count,
                        struct str shown)
{
    uint64_t id;
    if (!public_id_decode(&x->app->id_key, shown, &id))
        return;
    for (size_t i = 0; i < count; i++) {
        struct invitation_code code;
        if (list[i].id != id || invitation_state(&list[i], x->now_ms) != INVITATION_OPEN)
            continue;
        struct value *object = value_page_object(m, &m->root, "shown");
        item_model(x, m, object, &list[i]);
        if (invitation_code_of(x->arena, keys_get(&x->app->stores.config->keys, KEY_INVITATIONS), list[i].seed, &code))
            value_page_text(m, object, "html_qr", qr_svg(x->arena, str_or_empty(invitation_url(x, code.text))));
    }
}

static enum status page_model(struct exchange *x, struct model *m, const struct invitations_query *query,
                              struct str note, struct str request_key)
{
    const struct config *config = x->app->stores.config;
    const uint64_t max = (uint64_t)config->user_invitations_max;
    struct invitation *list = NULL;
    size_t count = 0;
    uint64_t taken = 0;
    enum status st = invitations_of_user(x->app->stores.db, x->arena, x->visitor.user_id, &list, &count);
    if (st == ST_OK)
        st = invitations_count(x->app->stores.db, x->arena, x->visitor.user_id, x->now_ms, &taken);
    if (st != ST_OK)
        return status_idempotent(st);
    model_init(m, x->arena);
    struct value *items = value_list(m, &m->root, "invitations");
    for (size_t i = 0; i < count; i++)
        item_model(x, m, value_add_object(m, items), &list[i]);
    view_count_model(m, &m->root, "left", "left_one", taken < max ? (int64_t)(max - taken) : 0);
    value_page_bool(m, &m->root, "has_left", taken < max);
    value_int(m, &m->root, "max", (int64_t)max);
    view_count_model(m, &m->root, "days", "days_one", config->invitation_days);
    value_page_text(m, value_page_object(m, &m->root, "form"), "note", note);
    value_page_text(m, &m->root, "request_key", request_key);
    value_page_bool(m, &m->root, "revoked", query->revoked != 0);
    shown_model(x, m, list, count, query->shown);
    return ST_OK;
}

/* False: users make no invitations here, and the request is answered. */
static bool page_exists(struct exchange *x)
{
    if (config_users_invite(x->app->stores.config))
        return true;
    respond_status(x, ST_NOT_FOUND);
    return false;
}

enum step invitations_show(struct exchange *x)
{
    struct invitations_query query = { .shown = STR("") };
    struct model m;
    if (!page_exists(x))
        return STEP_DONE;
    (void)query_read(x, query_fields, &query); /* a malformed query counts as none */
    enum status st = page_model(x, &m, &query, STR(""), request_key_new(x->arena));
    if (st == ST_OK)
        respond_model(x, 200, "pages/invitations", &m);
    else
        respond_status(x, st);
    return STEP_DONE;
}

/* ---- making ---- */

static enum step invitation_refuse(struct exchange *x, struct str request_key, const struct form_errors *e)
{
    struct model m;
    if (form_failed(e, "request_key"))
        request_key = request_key_new(x->arena);
    enum status st = page_model(x, &m, &(struct invitations_query){ .shown = STR("") },
                                form_get(&x->form, "note", NULL), request_key);
    if (st == ST_OK)
        respond_form_errors(x, "pages/invitations", &m, e);
    else
        respond_status(x, st);
    return STEP_DONE;
}

static enum step invitation_answer(struct exchange *x, const struct invitation *i)
{
    struct model m;
    x->fallback_problem = &INVITATION_UNKNOWN;
    security_log(x, SECURITY_INVITATION_MADE, i->user_id, "invitation_id=%" PRIu64, i->id);
    if (!x->wants_json) {
        respond_see_other(x, arena_printf(x->arena, "/account/invitations?shown=%.*s",
                                          STR_ARG(str_or_empty(public_id_text(x->arena, &x->app->id_key, i->id)))));
        return STEP_DONE;
    }
    model_init(&m, x->arena);
    item_model(x, &m, &m.root, i);
    respond_model(x, 201, NULL, &m);
    return STEP_DONE;
}

enum step invitation_submit(struct exchange *x)
{
    const struct config *config = x->app->stores.config;
    struct invitation_form form = { .note = STR("") };
    struct form_errors e;
    if (!page_exists(x))
        return STEP_DONE;
    enum status st = form_read(x, invitation_fields, &form, &e);
    struct invitation made = { .user_id = x->visitor.user_id,
                               .note = form.note,
                               .created_ms = x->now_ms,
                               .expires_ms = x->now_ms + config->invitation_days * DAY_MS };
    if (st == ST_OK) {
        st = invitation_make(x->app->stores.db, x->arena, keys_get(&config->keys, KEY_INVITATIONS), &made,
                             form.request_key, (uint64_t)config->user_invitations_max);
        if (st == ST_INVALID)
            form_fail_with(&e, "invitations", "text/invitation_none_left",
                           arena_printf(x->arena, "%" PRId64, config->user_invitations_max));
    }
    if (st == ST_OK)
        return invitation_answer(x, &made);
    if (st == ST_INVALID)
        return invitation_refuse(x, form.request_key, &e);
    if (st == ST_UNKNOWN)
        respond_problem(x, &INVITATION_UNKNOWN);
    else
        respond_status(x, st);
    return STEP_DONE;
}

/* ---- revoking ---- */

enum step invitation_revoke_submit(struct exchange *x)
{
    if (!page_exists(x))
        return STEP_DONE;
    enum status st =
        status_idempotent(invitation_revoke(x->app->stores.db, x->arena, x->id, x->visitor.user_id, x->now_ms));
    if (st == ST_NOT_FOUND)
        security_log(x, SECURITY_ACCESS_REFUSED, x->visitor.user_id, NULL);
    if (st == ST_EXISTS) {
        respond_problem(x, &INVITATION_IS_USED);
        return STEP_DONE;
    }
    if (st != ST_OK) {
        respond_status(x, st);
        return STEP_DONE;
    }
    security_log(x, SECURITY_INVITATION_REVOKED, x->visitor.user_id, "invitation_id=%" PRIu64, x->id);
    if (x->wants_json)
        respond_empty(x, 204);
    else
        respond_see_other(x, STR("/account/invitations?revoked=1"));
    return STEP_DONE;
}

#include "account/token_page.h"

#include <inttypes.h>
#include <string.h>

#include "account/shown_once.h"
#include "base/clock.h"
#include "user/account.h"
#include "user/token.h"
#include "user/token_store.h"
#include "web/bearer.h"
#include "web/field_types.h"
#include "web/respond.h"
#include "web/security_log.h"
#include "web/view.h"

enum { NAME_GRAPHEMES_MAX = 32, NAME_CODE_POINTS_MAX = 64 };
static const int64_t DAY_MS = 24 * 3600 * 1000;

static const struct problem TOKEN_UNKNOWN = { 503, "unknown", "text/token_unknown", "text/token_unknown_detail", 1 };

/* The values that an empty form of a new token proposes. */
#define DAYS_PROPOSED   STR("90")
#define SCOPES_PROPOSED SCOPE_READ

/* ---- the page ---- */

static void scopes_model(struct model *m, struct value *object, unsigned scopes)
{
    value_page_bool(m, object, "scope_read", (scopes & SCOPE_READ) != 0);
    value_page_bool(m, object, "scope_send", (scopes & SCOPE_SEND) != 0);
    value_page_bool(m, object, "scope_open", (scopes & SCOPE_OPEN) != 0);
}

static void token_model(struct exchange *x, struct model *m, struct value *item, const struct token *t)
{
    value_text(m, item, "id", public_id_text(x->arena, &x->app->id_key, t->id));
    value_text(m, item, "name", t->name);
    value_text(m, item, "scopes", scopes_text(x->arena, t->scopes));
    scopes_model(m, item, t->scopes);
    view_time_model(m, item, "created_at", "created_at_text", t->created_ms);
    view_time_model(m, item, "expires_at", "expires_at_text", t->expires_ms);
    value_page_bool(m, item, "is_expired", t->expires_ms <= x->now_ms);
    if (t->used_ms > 0)
        view_time_model(m, item, "used_at", "used_at_text", t->used_ms);
    else
        value_null(m, item, "used_at");
}

enum status tokens_model(struct exchange *x, struct model *m)
{
    struct token *tokens;
    size_t count;
    enum status st = token_list(x->app->stores.db, x->arena, x->visitor.user_id, &tokens, &count);

    if (st != ST_OK)
        return st;
    struct value *list = value_list(m, &m->root, "tokens");
    for (size_t i = 0; i < count; i++)
        token_model(x, m, value_add_object(m, list), &tokens[i]);
    return ST_OK;
}

static enum status page_model(struct exchange *x, struct model *m, const struct proof *proof, struct str name,
                              struct str days, unsigned scopes)
{
    model_init(m, x->arena);
    proof_model(x, m, proof, "password", "/account/developers");
    enum status st = tokens_model(x, m);
    if (st != ST_OK)
        return st;
    struct value *form = value_page_object(m, &m->root, "form");
    value_page_text(m, form, "name", name);
    value_page_text(m, form, "days", days);
    scopes_model(m, form, scopes);
    value_page_text(m, &m->root, "username", x->visitor.username);
    return ST_OK;
}

/* A form that was accepted leads here with ?NAME=1. */
struct developers_query {
    uint64_t made, revoked;
};

static const struct field developers_fields[] = {
    { .name = "made", .type = &FIELD_NUMBER, .member = offsetof(struct developers_query, made), .max = 1 },
    { .name = "revoked", .type = &FIELD_NUMBER, .member = offsetof(struct developers_query, revoked), .max = 1 },
    { .name = NULL },
};

/* Shows the token that was just made, or reports that it was shown before. */
static void made_model(struct exchange *x, struct model *m)
{
    struct str text = shown_once_read(x, SHOWN_TOKEN);
    if (text.ptr != NULL) {
        value_page_text(m, &m->root, "new_token", text);
        shown_once_clear(x, SHOWN_TOKEN);
    } else {
        value_page_bool(m, &m->root, "shown_before", true);
    }
}

enum step developers_show(struct exchange *x)
{
    struct model m;
    struct developers_query query = { 0 };
    (void)query_read(x, developers_fields, &query); /* a malformed query counts as none */
    struct proof proof;
    enum status st = proof_begin(x, &proof);
    if (st == ST_OK)
        st = page_model(x, &m, &proof, STR(""), DAYS_PROPOSED, SCOPES_PROPOSED);

    if (st == ST_OK) {
        value_page_bool(&m, &m.root, "revoked", query.revoked != 0);
        if (query.made != 0 && !x->wants_json)
            made_model(x, &m);
        respond_model(x, 200, "pages/developers", &m);
    } else {
        respond_status(x, status_idempotent(st));
    }
    return STEP_DONE;
}

enum step developers_redirect(struct exchange *x)
{
    respond_see_other(x, STR("/account/developers"));
    return STEP_DONE;
}

/* ---- the form ---- */

#define BOX_PREFIX "scope_"

/* The page has a box for each scope, of the same name: a ticked box adds the scope. */
static enum status scope_box_read(struct field_input *in)
{
    if (in->typed.len > 0)
        *(unsigned *)in->out |= scopes_read(str_from(in->field->name + sizeof BOX_PREFIX - 1));
    return ST_OK;
}

static const struct field_type SCOPE_BOX = { .read = scope_box_read };

/* Adds the scopes named in the field `scopes`. At least one scope is needed, from the boxes or from this field. */
static enum status scope_words_read(struct field_input *in)
{
    unsigned *scopes = in->out, named = scopes_read(in->typed);

    if (named == 0 && in->typed.len > 0)
        return field_fail(in, in->field->malformed);
    *scopes |= named;
    return *scopes == 0 ? field_fail(in, in->field->missing) : ST_OK;
}

static const struct field_type SCOPE_WORDS = { .read = scope_words_read };

const struct field token_fields[] = {
    { .name = "name",
      .type = &FIELD_LINE,
      .member = offsetof(struct token_form, name),
      .required = true,
      .max = NAME_GRAPHEMES_MAX,
      .code_points_max = NAME_CODE_POINTS_MAX,
      .missing = "text/token_name_missing",
      .malformed = "text/token_name_invalid",
      .high = "text/token_name_long",
      .wide = "text/token_name_long",
      .says = "the program that will use it",
      .example = "party bot" },
    { .name = BOX_PREFIX "read",
      .type = &SCOPE_BOX,
      .member = offsetof(struct token_form, scopes),
      .says = "any text: adds `read`, as the box of the page does" },
    { .name = BOX_PREFIX "send",
      .type = &SCOPE_BOX,
      .member = offsetof(struct token_form, scopes),
      .says = "any text: adds `send`" },
    { .name = BOX_PREFIX "open",
      .type = &SCOPE_BOX,
      .member = offsetof(struct token_form, scopes),
      .says = "any text: adds `open`" },
    { .name = "scopes",
      .type = &SCOPE_WORDS,
      .member = offsetof(struct token_form, scopes),
      .missing = "text/token_scopes_missing",
      .malformed = "text/token_scopes_unknown",
      .says = "with blanks between: `read`, `send`, `open`; at least one, here or as scope_…",
      .example = "read send open" },
    { .name = "days",
      .type = &FIELD_COUNT,
      .member = offsetof(struct token_form, days),
      .required = true,
      .min = 1,
      .max = TOKEN_DAYS_MAX,
      .missing = "text/token_days_missing",
      .malformed = "text/token_days_not_whole",
      .low = "text/token_days_zero",
      .high = "text/token_days_max",
      .says = "until it expires",
      .example = "30" },
    PROOF_FIELDS(struct token_form, proof, "password"),
    { .name = NULL },
};

static enum step token_refuse(struct exchange *x, const struct token_form *form, const struct form_errors *e)
{
    struct model m;
    enum status st = page_model(x, &m, &form->proof, form_get(&x->form, "name", NULL), form_get(&x->form, "days", NULL),
                                form->scopes);

    if (st != ST_OK) {
        respond_status(x, st);
        return STEP_DONE;
    }
    value_page_bool(&m, &m.root, "token_open", true);
    respond_form_errors(x, "pages/developers", &m, e);
    return STEP_DONE;
}

/* ---- making ---- */

static void answer_json(struct exchange *x, const struct token *t, struct str text)
{
    struct model m;

    model_init(&m, x->arena);
    value_text(&m, &m.root, "id", public_id_text(x->arena, &x->app->id_key, t->id));
    value_text(&m, &m.root, "token", text);
    value_text(&m, &m.root, "scopes", scopes_text(x->arena, t->scopes));
    value_text(&m, &m.root, "expires_at", clock_rfc3339(x->arena, t->expires_ms));
    respond_model(x, 201, NULL, &m);
}

/* Redirects to the page that shows the token once. */
static void answer_page(struct exchange *x, struct str text)
{
    shown_once_give(x, SHOWN_TOKEN, text);
    respond_see_other(x, STR("/account/developers?made=1"));
}

static enum step token_answer(struct exchange *x, const struct token *t, struct str text)
{
    x->fallback_problem = &TOKEN_UNKNOWN;
    security_log(x, SECURITY_TOKEN_MADE, t->user_id, "token_id=%" PRIu64, t->id);
    if (x->wants_json)
        answer_json(x, t, text);
    else
        answer_page(x, text);
    return STEP_DONE;
}

/* Makes the token and answers. */
static enum step token_make(struct exchange *x, const struct token_form *form)
{
    struct form_errors e = { .count = 0 };
    char text[TOKEN_MAX];
    uint8_t hash[HASH_BYTES];
    bool full = false;

    struct token t = { .user_id = x->visitor.user_id,
                       .name = form->name,
                       .scopes = form->scopes,
                       .created_ms = x->now_ms,
                       .expires_ms = x->now_ms + (int64_t)form->days * DAY_MS };
    token_new(&x->app->id_key, text);
    hash_sha256(text, TOKEN_LEN, hash);
    struct str kept = arena_str(x->arena, (struct str){ text, TOKEN_LEN });
    enum status st = kept.ptr == NULL ? ST_NO_MEMORY : token_insert(x->app->stores.db, x->arena, &t, hash, &full);
    if (st == ST_OK)
        return token_answer(x, &t, kept);
    if (st == ST_INVALID && full) {
        form_fail_with(&e, "tokens", "text/token_full", arena_printf(x->arena, "%d", TOKENS_MAX));
        return token_refuse(x, form, &e);
    }
    if (st == ST_UNKNOWN)
        respond_problem(x, &TOKEN_UNKNOWN);
    else
        respond_status(x, st);
    return STEP_DONE;
}

enum step token_submit(struct exchange *x)
{
    struct token_form form = { 0 };
    struct form_errors e;

    enum status st = proof_begin(x, &form.proof);
    if (st == ST_OK)
        st = form_read(x, token_fields, &form, &e);
    if (st == ST_OK && !proof_check(x, &form.proof, "password", &e, &st))
        return STEP_DONE;
    if (st == ST_INVALID)
        return token_refuse(x, &form, &e);
    if (st == ST_OK)
        return token_make(x, &form);
    respond_status(x, st);
    return STEP_DONE;
}

/* ---- revoking ---- */

/* Redis first, then MySQL: see user/token.h. Each step can be repeated, so an unknown outcome means unavailable. */
static enum status token_remove(struct exchange *x)
{
    uint8_t hash[HASH_BYTES];
    enum status st = token_hash(x->app->stores.db, x->arena, x->visitor.user_id, x->id, hash);

    if (st == ST_OK)
        st = token_revoke(x, hash);
    if (st == ST_OK)
        st = token_delete(x->app->stores.db, x->visitor.user_id, x->id);
    return status_idempotent(st);
}

enum step token_delete_submit(struct exchange *x)
{
    enum status st = token_remove(x);

    if (st == ST_NOT_FOUND)
        security_log(x, SECURITY_ACCESS_REFUSED, x->visitor.user_id, NULL);
    if (st != ST_OK) {
        respond_status(x, st);
        return STEP_DONE;
    }
    security_log(x, SECURITY_TOKEN_REVOKED, x->visitor.user_id, "token_id=%" PRIu64, x->id);
    if (x->wants_json)
        respond_empty(x, 204);
    else
        respond_see_other(x, STR("/account/developers?revoked=1#tokens"));
    return STEP_DONE;
}

#include "account/terms_page.h"

#include "account/pages_internal.h"
#include "user/invitation_store.h"
#include "web/field_types.h"
#include "web/respond.h"
#include "web/security_log.h"

struct terms_form {
    struct str version, next;
};

const struct field terms_fields[] = {
    { .name = "version",
      .type = &FIELD_TEXT,
      .member = offsetof(struct terms_form, version),
      .required = true,
      .no_echo = true,
      .missing = "text/terms_changed",
      .says = "the version that was shown; it must be the present one",
      .example = "2026-12-01" },
    NEXT_FIELD(struct terms_form),
    { .name = NULL },
};

static bool has_terms(const struct exchange *x)
{
    return x->app->stores.config->terms_url[0] != '\0';
}

static struct str version_now(const struct exchange *x)
{
    return str_from(x->app->stores.config->terms_version);
}

bool terms_due(struct exchange *x, uint64_t user_id)
{
    bool accepted = true;
    if (!has_terms(x))
        return false;
    return terms_accepted(x->app->stores.db, x->arena, user_id, version_now(x), &accepted) == ST_OK && !accepted;
}

struct str terms_first(struct exchange *x, uint64_t user_id, struct str path)
{
    return terms_due(x, user_id) ? next_url(x->arena, "/terms", path) : path;
}

static void terms_model(struct exchange *x, struct model *m, bool due, struct str next)
{
    model_init(m, x->arena);
    value_text_or_null(m, &m->root, "terms_url", str_from(x->app->stores.config->terms_url));
    value_text_or_null(m, &m->root, "version", has_terms(x) ? version_now(x) : STR(""));
    value_bool(m, &m->root, "due", due);
    value_page_text(m, &m->root, "next", next);
}

enum step terms_show(struct exchange *x)
{
    struct model m;
    const struct str next = next_from_query(x);
    const bool due = terms_due(x, x->visitor.user_id);
    if (!due && !x->wants_json) {
        respond_see_other(x, path_after_login(next));
        return STEP_DONE;
    }
    terms_model(x, &m, due, next);
    respond_model(x, 200, "pages/terms", &m);
    return STEP_DONE;
}

enum step terms_submit(struct exchange *x)
{
    struct terms_form form = { .version = STR(""), .next = STR("") };
    struct form_errors e;
    struct model m;
    enum status st = form_read(x, terms_fields, &form, &e);
    if (st == ST_OK && has_terms(x) && !str_equal(form.version, version_now(x))) {
        form_fail(&e, "version", "text/terms_changed");
        st = ST_INVALID;
    }
    if (st == ST_OK && has_terms(x))
        st = status_idempotent(terms_accept(x->app->stores.db, x->visitor.user_id, version_now(x), x->now_ms));
    if (st == ST_INVALID) {
        terms_model(x, &m, true, form.next);
        respond_form_errors(x, "pages/terms", &m, &e);
        return STEP_DONE;
    }
    if (st != ST_OK) {
        respond_status(x, st);
        return STEP_DONE;
    }
    if (has_terms(x))
        security_log(x, SECURITY_TERMS_ACCEPTED, x->visitor.user_id, "version=%.*s", STR_ARG(version_now(x)));
    if (!x->wants_json) {
        respond_see_other(x, path_after_login(form.next));
        return STEP_DONE;
    }
    terms_model(x, &m, false, form.next);
    respond_model(x, 200, NULL, &m);
    return STEP_DONE;
}

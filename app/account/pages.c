#include "account/pages_internal.h"

#include "account/terms_page.h"
#include "user/account.h"
#include "web/field_types.h"
#include "web/origin.h"
#include "web/respond.h"

static const struct field next_fields[] = { { .name = "next", .type = &FIELD_LOCAL_PATH }, { .name = NULL } };

static const struct problem PASSWORDS_OFF = { 403, "password-login-off", "text/passwords_off",
                                              "text/passwords_off_detail", 0 };

bool passwords_used(struct exchange *x)
{
    if (x->app->stores.config->password_login)
        return true;
    respond_problem(x, &PASSWORDS_OFF);
    return false;
}

struct str next_from_query(struct exchange *x)
{
    struct str next = STR("");
    (void)query_read(x, next_fields, &next); /* a malformed query counts as none */
    return next;
}

struct str path_after_login(struct str next)
{
    return next.len > 0 ? next : STR("/");
}

struct str next_url(struct arena *a, const char *page, struct str next)
{
    if (next.len == 0)
        return str_from(page);
    struct str encoded = form_encode(a, next);
    return encoded.ptr == NULL ? STR_NONE : arena_printf(a, "%s?next=%.*s", page, STR_ARG(encoded));
}

struct str login_again_url(struct arena *a, struct str next)
{
    struct str encoded = form_encode(a, next);
    return encoded.ptr == NULL ? STR_NONE : arena_printf(a, "/login?next=%.*s&again=1", STR_ARG(encoded));
}

bool login_is_again(struct exchange *x)
{
    return query_get(x, "again", NULL).len > 0;
}

struct str login_way_url(struct exchange *x, const char *page, const struct form *typed, struct str next)
{
    struct str username = typed == NULL ? STR("") : form_get(typed, "username", NULL);
    struct str url = next_url(x->arena, page, next), folded = str_or_empty(username_fold(x->arena, username));

    if (url.ptr != NULL && next.len > 0 && login_is_again(x))
        url = arena_printf(x->arena, "%.*s&again=1", STR_ARG(url));
    if (url.ptr == NULL || !username_valid(folded))
        return url;
    return arena_printf(x->arena, "%.*s%cusername=%.*s", STR_ARG(url), next.len > 0 ? '&' : '?', STR_ARG(folded));
}

void login_name_judge(struct form_errors *e, struct str username, const char *field, const char *text)
{
    if (username_valid(username))
        form_fail(e, field, text);
    else
        form_fail(e, "username", "text/login_no_username");
}

enum step answer_login(struct exchange *x, int json_status, const struct user *user, struct str next)
{
    struct str path = terms_first(x, user->id, path_after_login(next));
    struct str checked =
        arena_printf(x->arena, "/login?cookie=1&next=%.*s", STR_ARG(str_or_empty(form_encode(x->arena, path))));
    bool check = exchange_param(x, "HTTP_COOKIE").len == 0 && checked.len <= NEXT_BYTES_MAX;
    return answer_user(x, json_status, user, check ? checked : path);
}

enum step answer_user(struct exchange *x, int json_status, const struct user *user, struct str path)
{
    struct model m;

    if (!x->wants_json) {
        respond_see_other(x, path);
        return STEP_DONE;
    }
    model_init(&m, x->arena);
    value_int(&m, &m.root, "id", (int64_t)user->id);
    value_text(&m, &m.root, "username", user->username);
    value_text(&m, &m.root, "nickname", user->nickname);
    respond_model(x, json_status, NULL, &m);
    return STEP_DONE;
}

#include "web/bearer.h"

#include "web/respond.h"
#include "web/router.h"
#include "web/security_log.h"

const struct problem PROBLEM_NO_TOKEN = { 403, "token-refused", "text/problem_no_token", NULL, 0 };
static const struct problem PROBLEM_TOKEN = { 401, "unauthorized", "text/problem_token", NULL, 0 };
static const struct problem PROBLEM_SCOPE = { 403, "insufficient-scope", "text/problem_scope",
                                              "text/problem_scope_detail", 0 };

struct str scope_name(unsigned i)
{
    static const struct str names[SCOPES] = { { "read", 4 }, { "send", 4 }, { "open", 4 } };
    return i < SCOPES ? names[i] : STR_NONE;
}

struct str scopes_text(struct arena *a, unsigned scopes)
{
    struct str text = STR("");
    for (unsigned i = 0; i < SCOPES && text.ptr != NULL; i++)
        if ((scopes & 1U << i) != 0)
            text = arena_printf(a, "%.*s%s%.*s", STR_ARG(text), text.len > 0 ? " " : "", STR_ARG(scope_name(i)));
    return text;
}

unsigned scopes_read(struct str text)
{
    unsigned scopes = 0;
    while (text.len > 0) {
        struct str rest;
        struct str word = str_cut(text, ' ', &rest);
        text = rest;
        unsigned i = 0;
        while (i < SCOPES && !str_equal(scope_name(i), word))
            i++;
        if (i == SCOPES && word.len > 0)
            return 0;
        if (word.len > 0)
            scopes |= 1U << i;
    }
    return scopes;
}

struct str bearer_token(struct str authorization)
{
    struct str token;
    struct str scheme = str_cut(authorization, ' ', &token);
    bool is_bearer = str_equal_fold(scheme, STR("Bearer"));
    if (!is_bearer && str_find(authorization, STR("hbt_")) < authorization.len)
        return STR(""); /* a token without the scheme: refused as a wrong token, not sent to the login */
    if (!is_bearer)
        return STR_NONE;
    return str_or_empty(str_trim(token));
}

bool bearer_decides(const struct exchange *x)
{
    return x->bearer.ptr != NULL && (x->route->needs & WANT_VISITOR) != 0;
}

unsigned bearer_scope(const struct route *route)
{
    if ((route->needs & NO_TOKEN) != 0)
        return 0;
    if ((route->needs & FOR_SEND) != 0)
        return SCOPE_SEND;
    if ((route->needs & FOR_OPEN) != 0)
        return SCOPE_OPEN;
    return str_equal(str_from(route->method), STR("GET")) ? SCOPE_READ : 0;
}

static void refuse_scope(struct exchange *x, unsigned scope)
{
    struct model m;
    struct str name = scopes_text(x->arena, scope);
    security_log(x, SECURITY_SCOPE_REFUSED, x->visitor.user_id, "scope=%.*s", STR_ARG(name));
    respond_header(x, "WWW-Authenticate",
                   arena_printf(x->arena, "Bearer error=\"insufficient_scope\", scope=\"%.*s\"", STR_ARG(name)));
    model_init(&m, x->arena);
    value_text(&m, &m.root, "scope", name);
    respond_problem_with(x, &PROBLEM_SCOPE, &m);
}

bool bearer_refuse(struct exchange *x)
{
    unsigned scope = bearer_scope(x->route);
    if (x->visitor.user_id == 0) {
        security_log(x, SECURITY_TOKEN_REFUSED, 0, NULL);
        respond_header(x, "WWW-Authenticate", STR("Bearer error=\"invalid_token\""));
        respond_problem(x, &PROBLEM_TOKEN);
        return true;
    }
    if ((x->visitor.scopes & scope) != 0)
        return false;
    refuse_scope(x, scope);
    return true;
}

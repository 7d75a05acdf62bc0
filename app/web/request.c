#include "web/request_internal.h"

#include "base/clock.h"
#include "base/log.h"
#include "web/accept.h"
#include "web/bearer.h"
#include "web/multipart.h"
#include "web/origin.h"
#include "web/security_log.h"

void request_read(struct exchange *x, struct str method)
{
    x->method = route_method(method);
    x->target = str_or_empty(form_ascii(x->arena, str_or_empty(exchange_param(x, "REQUEST_URI"))));
    x->path = str_cut(x->target, '?', &x->query_text);
    x->request_id = str_or_empty(exchange_param(x, "REQUEST_ID"));
    log_request(x->request_id);
    x->bearer = bearer_token(exchange_param(x, "HTTP_AUTHORIZATION"));
    x->wants_json =
        x->bearer.ptr != NULL || accept_prefers(exchange_param(x, "HTTP_ACCEPT"), STR(MEDIA_JSON), STR(MEDIA_HTML));
    x->language = language_choose(exchange_cookie(x, STR(LANGUAGE_COOKIE)), exchange_param(x, "HTTP_ACCEPT_LANGUAGE"));
    x->now_ms = clock_now_ms();
}

static bool body_is_form(const struct exchange *x)
{
    if (x->fcgi->body.len == 0)
        return true;
    if ((x->route->needs & UPLOAD) != 0)
        return multipart_is(exchange_param(x, "CONTENT_TYPE"));
    struct str parameters;
    struct str type = str_trim(str_cut(exchange_param(x, "CONTENT_TYPE"), ';', &parameters));
    return str_equal_fold(type, STR("application/x-www-form-urlencoded"));
}

/* The loop reads bodies up to the largest limit of the pool, so the route's own limit is checked here. */
static bool body_is_too_large(const struct exchange *x)
{
    return (x->route->needs & UPLOAD) == 0 &&
           (x->fcgi->body_too_large || x->fcgi->body.len > (size_t)x->app->stores.config->body_bytes_max);
}

/* Checks the origin of the request: a token on a route for tokens, or a page of this site. NULL: the request is
 * allowed. */
static const struct problem *origin_problem(struct exchange *x)
{
    if (bearer_decides(x)) {
        if (bearer_scope(x->route) != 0)
            return NULL;
        security_log(x, SECURITY_SCOPE_REFUSED, 0, NULL);
        return &PROBLEM_NO_TOKEN;
    }
    if ((x->route->needs & SAME_ORIGIN) == 0 ||
        origin_allows(exchange_param(x, "HTTP_SEC_FETCH_SITE"), exchange_param(x, "HTTP_ORIGIN"),
                      exchange_param(x, "HTTP_HOST"), str_from(x->app->stores.config->base_url)))
        return NULL;
    security_log(x, SECURITY_ORIGIN_REFUSED, 0, NULL);
    return &PROBLEM_FORBIDDEN_ORIGIN;
}

const struct problem *request_problem(const struct router *router, struct exchange *x, struct str method)
{
    unsigned methods;
    x->route = route_find(router, method, x->path, &x->params, &methods);
    if (x->route == NULL && methods == 0)
        return &PROBLEM_NOT_FOUND;
    if (x->route == NULL) {
        respond_header(x, "Allow", route_allow_text(methods));
        return &PROBLEM_METHOD;
    }
    if (x->method == METHOD_POST && x->params.id.len == 0)
        x->form_path = route_page(router, x->path);
    if (body_is_too_large(x))
        return &PROBLEM_TOO_LARGE;
    if (x->fcgi->body_broken)
        return &PROBLEM_BAD_REQUEST;
    const struct problem *refused = origin_problem(x);
    if (refused != NULL)
        return refused;
    if (x->method == METHOD_POST) {
        if (!body_is_form(x))
            return &PROBLEM_MEDIA_TYPE;
        if ((x->route->needs & UPLOAD) != 0)
            return NULL;
        if (form_parse(x->arena, x->fcgi->body, &x->form) != ST_OK || form_overlaps(&x->form, x->query_text))
            return &PROBLEM_BAD_REQUEST;
    }
    if (x->params.id.len > 0 && !public_id_decode(&x->app->id_key, x->params.id, &x->id))
        return &PROBLEM_NOT_FOUND;
    return NULL;
}

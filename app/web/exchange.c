#include "web/exchange.h"

#include "web/accept.h"

struct str exchange_param(const struct exchange *x, const char *cgi_name)
{
    return fcgi_param(x->fcgi, cgi_name);
}

/* Removes the blanks that a Cookie header may have around a pair: nginx, which counts requests by the session
 * (nginx/limits.conf), takes nothing else for a blank. */
static struct str pair_trim(struct str pair)
{
    while (pair.len > 0 && (pair.ptr[0] == ' ' || pair.ptr[0] == '\t'))
        pair = str_skip(pair, 1);
    while (pair.len > 0 && (pair.ptr[pair.len - 1] == ' ' || pair.ptr[pair.len - 1] == '\t'))
        pair.len--;
    return pair;
}

/* Finds the cookie. prefix: stands before the name on https. */
static struct str cookie_find(const struct exchange *x, struct str prefix, struct str name)
{
    struct str rest = exchange_param(x, "HTTP_COOKIE");
    bool prefixed = rest.len > 0 && exchange_is_https(x);
    while (rest.len > 0) {
        struct str value;
        struct str pair = str_cut(pair_trim(str_cut(rest, ';', &rest)), '=', &value);
        if ((!prefixed || str_skip_prefix(&pair, prefix)) && str_equal(pair, name))
            return value;
    }
    return STR_NONE;
}

struct str exchange_cookie(const struct exchange *x, struct str name)
{
    return cookie_find(x, STR(COOKIE_HOST_PREFIX), name);
}

struct str exchange_page_cookie(const struct exchange *x, struct str name)
{
    return cookie_find(x, STR(COOKIE_SECURE_PREFIX), name);
}

bool exchange_prefers(const struct exchange *x, struct str media_type)
{
    struct str accept = exchange_param(x, "HTTP_ACCEPT");
    return accept_prefers(accept, media_type, STR(MEDIA_HTML)) && accept_prefers(accept, media_type, STR(MEDIA_JSON));
}

struct str exchange_page_path(const struct exchange *x)
{
    if (x->params.id.len == 0)
        return x->form_path.len > 0 ? x->form_path : STR("/");
    return (struct str){ x->path.ptr, (size_t)(x->params.id.ptr + x->params.id.len - x->path.ptr) };
}

enum step exchange_then(struct exchange *x, handler_fn *then)
{
    x->then = then;
    return STEP_WAIT;
}

const struct mustache *exchange_template(const struct exchange *x, const char *name)
{
    return templates_find(&x->app->templates, x->language, str_from(name));
}

bool exchange_is_https(const struct exchange *x)
{
    return str_starts(str_from(x->app->stores.config->base_url), STR("https://"));
}

#include "web/exchange.h"

struct str exchange_param(const struct exchange *x, const char *cgi_name)
{
    return fcgi_param(x->fcgi, cgi_name);
}

struct str exchange_cookie(const struct exchange *x, struct str name)
{
    struct str rest = exchange_param(x, "HTTP_COOKIE");
    while (rest.len > 0) {
        struct str value;
        struct str pair = str_trim(str_cut(rest, ';', &rest));
        if (str_equal(str_cut(pair, '=', &value), name))
            return value;
    }
    return STR_NONE;
}

bool exchange_prefers(const struct exchange *x, struct str media_type)
{
    struct str accept = exchange_param(x, "HTTP_ACCEPT");
    size_t at = str_find(accept, media_type);
    return at < accept.len && at < str_find(accept, STR("text/html")) && at < str_find(accept, STR("application/json"));
}

struct str exchange_page_path(const struct exchange *x)
{
    if (x->params.id.len == 0)
        return STR("/");
    return (struct str){ x->path.ptr, (size_t)(x->params.id.ptr + x->params.id.len - x->path.ptr) };
}

const struct mustache *exchange_template(const struct exchange *x, const char *name)
{
    return templates_find(&x->app->templates, x->language, str_from(name));
}

bool exchange_is_https(const struct exchange *x)
{
    return str_starts(str_from(x->app->stores.config->base_url), STR("https://"));
}

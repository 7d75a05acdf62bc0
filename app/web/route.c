#include "web/route.h"

#include <string.h>

/* The member that takes the value of this segment of a pattern. NULL: the segment is no parameter. */
static struct str *param_of(struct route_params *params, struct str segment)
{
    if (segment.len == 0 || segment.ptr[0] != ':')
        return NULL;
    return str_equal(segment, STR(":id")) ? &params->id : str_equal(segment, STR(":key")) ? &params->key : NULL;
}

/* Compares path and pattern segment by segment. A parameter matches one non-empty segment. */
static bool path_matches(struct str pattern, struct str path, struct route_params *params)
{
    while (pattern.len > 0 && path.len > 0) {
        struct str pattern_rest, path_rest;
        struct str want = str_cut(pattern, '/', &pattern_rest);
        struct str got = str_cut(path, '/', &path_rest);
        struct str *param = param_of(params, want);
        if (param != NULL) {
            if (got.len == 0)
                return false;
            *param = got;
        } else if (!str_equal(want, got)) {
            return false;
        }
        /* "/p/" has an empty last segment, "/p" has none. */
        if ((pattern_rest.ptr == NULL) != (path_rest.ptr == NULL))
            return false;
        pattern = pattern_rest;
        path = path_rest;
    }
    return pattern.len == 0 && path.len == 0;
}

enum method route_method(struct str name)
{
    if (str_equal(name, STR("GET")))
        return METHOD_GET;
    if (str_equal(name, STR("HEAD")))
        return METHOD_HEAD;
    if (str_equal(name, STR("POST")))
        return METHOD_POST;
    return METHOD_OTHER;
}

/* The methods that a path has in any pool. 0: this router's pool does not serve the path. */
static unsigned path_methods(const struct router *router, struct str path)
{
    struct route_params params;
    bool served = false;
    unsigned methods = 0;

    for (size_t i = 0; i < router->count; i++) {
        const struct route *route = &router->routes[i];
        if (!path_matches(str_from(route->path), path, &params))
            continue;
        methods |= 1U << route_method(str_from(route->method));
        served = served || (route->pools & router->pool) != 0;
    }
    return served ? methods : 0;
}

/* Comparing a path costs more than comparing pool and method, so it comes last: this runs once a request. */
const struct route *route_find(const struct router *router, struct str method, struct str path,
                               struct route_params *params, unsigned *methods)
{
    struct str wanted = str_equal(method, STR("HEAD")) ? STR("GET") : method;

    *methods = 0;
    for (size_t i = 0; i < router->count; i++) {
        const struct route *route = &router->routes[i];
        struct route_params matched = { STR(""), STR("") };
        if ((route->pools & router->pool) == 0 || !str_equal(str_from(route->method), wanted) ||
            !path_matches(str_from(route->path), path, &matched))
            continue;
        *params = matched;
        return route;
    }
    *methods = path_methods(router, path);
    return NULL;
}

struct str route_page(const struct router *router, struct str path)
{
    struct route_params params;
    while (path.len > 1) {
        for (size_t i = 0; i < router->count; i++)
            if (strcmp(router->routes[i].method, "GET") == 0 &&
                path_matches(str_from(router->routes[i].path), path, &params))
                return path;
        do
            path.len--;
        while (path.len > 0 && path.ptr[path.len] != '/');
    }
    return STR("/");
}

struct str route_allow_text(unsigned methods)
{
    bool get = (methods & 1U << METHOD_GET) != 0, post = (methods & 1U << METHOD_POST) != 0;
    return get && post ? STR("GET, HEAD, POST") : get ? STR("GET, HEAD") : post ? STR("POST") : STR("");
}

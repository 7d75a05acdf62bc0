#include "web/router.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/crash.h"
#include "base/log.h"
#include "io/metrics.h"
#include "io/metrics_processes.h"
#include "web/accept.h"
#include "web/bearer.h"
#include "web/kept_form.h"
#include "web/limits.h"
#include "web/mended_link.h"
#include "web/multipart.h"
#include "web/origin.h"
#include "web/respond.h"
#include "web/security_log.h"
#include "web/stream.h"
#include "web/traffic.h"

enum { ANSWER_HEAD_MAX = 96 }; /* bytes of the longest status line and Content-Length */

/* ---- finding the route ---- */

/* The member that takes the value of this segment of a pattern. NULL: it is no parameter. */
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

static enum method method_of(struct str name)
{
    if (str_equal(name, STR("GET")))
        return METHOD_GET;
    if (str_equal(name, STR("HEAD")))
        return METHOD_HEAD;
    if (str_equal(name, STR("POST")))
        return METHOD_POST;
    return METHOD_OTHER;
}

/* The methods of a path in all pools. 0: this router's pool does not serve the path. */
static unsigned path_methods(const struct router *router, struct str path)
{
    struct route_params params;
    bool served = false;
    unsigned methods = 0;

    for (size_t i = 0; i < router->count; i++) {
        const struct route *route = &router->routes[i];
        if (!path_matches(str_from(route->path), path, &params))
            continue;
        methods |= 1U << method_of(str_from(route->method));
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

/* The longest beginning of the path, in whole segments, that some pool serves by GET. */
static struct str path_of_page(const struct router *router, struct str path)
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

/* ---- reading the request ---- */

static void request_read(struct exchange *x, struct str method)
{
    x->method = method_of(method);
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

/* Checks who may send it: a token on a route for tokens, or a page of this site. NULL: the request is allowed. */
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

/* Checks the request before the handler runs and before any I/O. NULL: the request is valid. */
static const struct problem *request_problem(const struct router *router, struct exchange *x, struct str method)
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
        x->form_path = path_of_page(router, x->path);
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

/* ---- answering ---- */

static void answer_login_needed(struct exchange *x)
{
    if (x->wants_json) {
        respond_header(x, "WWW-Authenticate", STR("Bearer"));
        respond_problem(x, &PROBLEM_UNAUTHORIZED);
        return;
    }
    /* After the login, a GET is repeated. A POST can't be repeated, so the page that it belongs to is shown, with what
     * was typed; the login page says that the session has ended. When the address is too long, home is shown. */
    bool posted = x->method == METHOD_POST;
    struct str next = posted ? kept_form_url(x) : x->target;
    if (origin_path_is_local(next))
        respond_see_other(x, arena_printf(x->arena, "/login?next=%.*s%s", STR_ARG(form_encode(x->arena, next)),
                                          posted ? "&expired=1" : ""));
    else
        respond_see_other(x, STR("/login"));
}

static const char *status_reason(int status)
{
    static const struct {
        int status;
        const char *reason;
    } reasons[] = {
        { 200, "OK" },
        { 201, "Created" },
        { 204, "No Content" },
        { 303, "See Other" },
        { 304, "Not Modified" },
        { 308, "Permanent Redirect" },
        { 400, "Bad Request" },
        { 401, "Unauthorized" },
        { 403, "Forbidden" },
        { 404, "Not Found" },
        { 405, "Method Not Allowed" },
        { 409, "Conflict" },
        { 410, "Gone" },
        { 413, "Content Too Large" },
        { 415, "Unsupported Media Type" },
        { 422, "Unprocessable Content" },
        { 429, "Too Many Requests" },
        { 500, "Internal Server Error" },
        { 503, "Service Unavailable" },
    };
    for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
        if (reasons[i].status == status)
            return reasons[i].reason;
    return "Other";
}

#ifdef HB_CRASH_POINTS
static void answer_half_send(struct exchange *x)
{
    fcgi_write(x->fcgi, (struct str){ x->body.ptr, x->body.len / 2 });
    fcgi_flush(x->fcgi);
}
#endif

/* Writes the status line and Content-Length from a buffer on the stack, so it can't fail for lack of memory. */
static void answer_head_write(struct exchange *x)
{
    char bytes[ANSWER_HEAD_MAX];
    struct buf head = { .ptr = bytes, .cap = sizeof bytes, .limit = sizeof bytes };
    buf_cstr(&head, "Status: ");
    buf_i64(&head, x->status);
    buf_char(&head, ' ');
    buf_cstr(&head, status_reason(x->status));
    if (x->status != 204 && x->status != 304 && x->stream == NULL) {
        buf_cstr(&head, "\r\nContent-Length: ");
        buf_u64(&head, x->body.len);
    }
    buf_cstr(&head, "\r\n");
    assert(!head.failed);
    fcgi_write(x->fcgi, buf_view(&head));
}

static void answer_write(const struct router *router, struct exchange *x)
{
    answer_head_write(x);
    fcgi_write(x->fcgi, buf_view(&x->headers));
    fcgi_write(x->fcgi, STR("\r\n"));
    crash_point_after("answer-half-sent", answer_half_send(x));
    if (x->method != METHOD_HEAD)
        fcgi_write(x->fcgi, buf_view(&x->body));
    traffic_answered(router->pool, x->status);
}

/* Answers with an ordinary problem, because nothing was sent yet. */
static void stream_replace(const struct router *router, struct exchange *x, enum status st)
{
    stream_end(x);
    buf_reset(&x->headers);
    respond_status(x, status_idempotent(st));
    respond_finish(x);
    answer_write(router, x);
}

/* Sends the next part of a stream. */
static enum fcgi_step stream_step(const struct router *router, struct exchange *x)
{
    bool more = false;
    buf_reset(&x->body);
    enum status st = x->method == METHOD_HEAD ? ST_OK : stream_next(x, &more);
    if (st != ST_OK && !x->stream_begun) {
        stream_replace(router, x, st);
        return FCGI_DONE;
    }
    if (st != ST_OK) {
        log_warn("answer broken off", "status=%s route=%s", status_name(st), x->route->path);
        traffic_broken_off(router->pool);
        fcgi_break_off(x->fcgi);
        return FCGI_DONE;
    }
    if (x->stream_begun)
        fcgi_write(x->fcgi, buf_view(&x->body));
    else
        answer_write(router, x);
    x->stream_begun = true;
    return fcgi_flush(x->fcgi) && more ? FCGI_WAIT : FCGI_DONE;
}

/* ---- the steps of one request ---- */

struct serving {
    const struct router *router;
    struct exchange *free[FCGI_BATCH_MAX]; /* unused exchanges; they keep their buffers */
    size_t free_len;
};

static struct exchange *exchange_begin(struct serving *s, struct fcgi_request *r)
{
    assert(s->free_len > 0);
    struct exchange *x = s->free[--s->free_len];
    struct buf headers = x->headers, body = x->body;
    memset(x, 0, sizeof *x);
    x->headers = headers;
    x->body = body;
    buf_reset(&x->headers);
    buf_reset(&x->body);
    x->app = s->router->app;
    x->fcgi = r;
    x->arena = r->arena;
    r->state = x;
    return x;
}

/* True when the token's part of the request answers it: the token is refused, or the hot pool asked only for the token
 * to be put into Redis, or for the session to be renewed, and serves the request itself. */
static bool token_answers(struct exchange *x)
{
    if (bearer_decides(x) && bearer_refuse(x))
        return true;
    if (x->app->stores.db == NULL || exchange_param(x, "TOKEN_LOAD").ptr == NULL)
        return false;
    respond_internal(x, STR("@hot"));
    return true;
}

/* Whether tables and Redis belong together. Routes that need nothing are served in any case. */
static bool stores_agree(const struct exchange *x)
{
    return (x->route != NULL && x->route->needs == 0) || site_confirm(&x->app->stores) == ST_OK;
}

/* Reads the session if its reply is due, checks that the visitor may use the route, and runs the handler. */
static enum step handler_step(struct exchange *x)
{
    if (x->visitor_pending) {
        /* The session may be of a Redis that is connected only now. */
        enum status st = stores_agree(x) ? x->app->visitor_read(x) : ST_UNAVAILABLE;
        x->visitor_pending = false;
        if (st == ST_NOT_FOUND) {
            respond_internal(x, STR("@token"));
            return STEP_DONE;
        }
        if (st != ST_OK) {
            /* Only the session was read, so the request has changed nothing. */
            respond_status(x, status_idempotent(st));
            return STEP_DONE;
        }
    }
    x->visitor_known = (x->route->needs & WANT_VISITOR) != 0;
    if (x->step == 0 && token_answers(x))
        return STEP_DONE;
    if ((x->route->needs & NEED_USER) == NEED_USER && x->visitor.user_id == 0) {
        answer_login_needed(x);
        return STEP_DONE;
    }
    if (x->step == 0 && arena_failed(x->arena)) {
        respond_status(x, ST_NO_MEMORY); /* an incompletely parsed request must not change anything */
        return STEP_DONE;
    }
    if (x->step == 0 && !limits_take_set(x, x->route->needs & LIMITED))
        return STEP_DONE;
    enum step step = x->route->handler(x);
    x->step++;
    return step;
}

/* Answers a request that no handler gets. The page has the header of its visitor, so the session is read for it. */
static enum step refuse(const struct router *router, struct exchange *x, const struct problem *problem)
{
    if (!x->wants_json && router->pool != POOL_CARD && stores_agree(x) && x->app->visitor_queue(x)) {
        x->refused = problem;
        return STEP_WAIT;
    }
    respond_problem(x, problem);
    return STEP_DONE;
}

static enum step refused_step(struct exchange *x)
{
    x->visitor_known = stores_agree(x) && x->app->visitor_read(x) == ST_OK;
    respond_problem(x, x->refused);
    return STEP_DONE;
}

static bool is_read(const struct exchange *x)
{
    return x->method == METHOD_GET || x->method == METHOD_HEAD;
}

/* A link with something added leads to the address that was meant, with its query. Of a POST only slashes are mended:
 * no chat sends one, and a program should hear of any other mistake. */
static bool link_is_mended(const struct router *router, struct exchange *x)
{
    struct str path = mended_link(router, x->arena, x->path);
    if (path.ptr == NULL || (!is_read(x) && !mended_link_slashes(x->path, path)))
        return false;
    struct str with_query = arena_printf(x->arena, "%.*s?%.*s", STR_ARG(path), STR_ARG(x->query_text));
    respond_moved(x, x->query_text.len > 0 && origin_path_is_local(with_query) ? with_query : path);
    return true;
}

/* A GET of an address that only takes a form, as a reload makes it, leads to the page of the form. */
static bool get_leads_to_page(const struct router *router, struct exchange *x)
{
    if (x->wants_json || !is_read(x))
        return false;
    buf_reset(&x->headers); /* Allow */
    respond_see_other(x, path_of_page(router, x->path));
    return true;
}

/* Which methods an address has: the header Allow says it. */
static bool options_answered(struct exchange *x, struct str method)
{
    if (!str_equal(method, STR("OPTIONS")))
        return false;
    respond_empty(x, 204);
    return true;
}

static enum step first_step(const struct router *router, struct exchange *x)
{
    struct str method = exchange_param(x, "REQUEST_METHOD");
    request_read(x, method);
    traffic_begun(router->pool, x);
    const struct problem *problem = request_problem(router, x, method);
    if (problem == &PROBLEM_METHOD && (options_answered(x, method) || get_leads_to_page(router, x)))
        return STEP_DONE;
    bool key_broken = x->params.key.len > 0 && !request_key_valid(x->params.key);
    if ((problem == &PROBLEM_NOT_FOUND || key_broken) && link_is_mended(router, x))
        return STEP_DONE;
    if (problem != NULL)
        return refuse(router, x, problem);
    if (kept_form_switches_language(x))
        return STEP_DONE;
    if (!stores_agree(x)) {
        respond_status(x, ST_UNAVAILABLE);
        return STEP_DONE;
    }
    if (x->route->needs & WANT_VISITOR) {
        x->visitor_pending = x->app->visitor_queue(x);
        if (x->visitor_pending)
            return STEP_WAIT;
    }
    return handler_step(x);
}

/* Replaces the answer of a handler that has read a broken field of the query. */
static void query_refuse(struct exchange *x)
{
    if (x->stream != NULL)
        stream_end(x);
    buf_reset(&x->headers);
    respond_problem(x, &PROBLEM_BAD_REQUEST);
}

enum step router_answer(const struct router *router, struct exchange *x)
{
    enum step step = x->refused != NULL ? refused_step(x) : x->route == NULL ? first_step(router, x) : handler_step(x);
    if (step == STEP_DONE && x->query_broken)
        query_refuse(x);
    if (step == STEP_DONE)
        respond_finish(x);
    return step;
}

static enum fcgi_step exchange_step(struct serving *s, struct exchange *x)
{
    if (!x->answered) {
        enum step step = router_answer(s->router, x);
        x->answered = step == STEP_DONE;
        /* A queued call needs its reply before the request ends, because the call is freed with it. */
        bool call_pending = x->renewal_queued && redis_queued(s->router->app->stores.redis);
        x->renewal_queued = false; /* the round follows now, or has run */
        if (step == STEP_WAIT || call_pending)
            return FCGI_WAIT;
    }
    if (x->stream != NULL)
        return stream_step(s->router, x);
    answer_write(s->router, x);
    return FCGI_DONE;
}

/* Lines that are written in the step have the id of its request. */
static enum fcgi_step router_step(void *ctx, struct fcgi_request *r)
{
    struct serving *s = ctx;
    struct exchange *x = r->state != NULL ? r->state : exchange_begin(s, r);
    log_request(x->request_id); /* request_read does it in the first step */
    enum fcgi_step step = exchange_step(s, x);
    log_request(STR(""));
    return step;
}

static void router_round(void *ctx)
{
    struct serving *s = ctx;
    redis_round(s->router->app->stores.redis);
}

static void router_finish(void *ctx, struct fcgi_request *r)
{
    struct serving *s = ctx;
    struct exchange *x = r->state;
    traffic_finished(s->router->pool, x);
    if (x->stream != NULL)
        stream_end(x);
    redis_call_free(&x->session_call);
    redis_call_free(&x->renewal_call);
    redis_call_free(&x->call);
    s->free[s->free_len++] = x;
}

static void router_batch(void *ctx, size_t count, int64_t us)
{
    struct serving *s = ctx;
    traffic_batch(s->router->pool, count, us);
}

static void router_idle(void *ctx)
{
    struct serving *s = ctx;
    struct services *app = s->router->app;
    metrics_process_beat();
    if (app->stores.config->reload)
        templates_refresh(app->stores.config->template_dir, &app->templates);
}

/* The longest body of a pool, in bytes. */
static size_t pool_body_bytes_max(const struct router *router)
{
    const size_t setting = (size_t)router->app->stores.config->body_bytes_max;
    return router->pool == POOL_PAGE && setting < UPLOAD_BYTES_MAX ? UPLOAD_BYTES_MAX : setting;
}

enum status router_serve(const struct router *router)
{
    struct serving s = { .router = router };
    struct fcgi_options options = { .listen_fd = 0,
                                    .batch_max = router->pool == POOL_HOT ? FCGI_BATCH_MAX : 1,
                                    .body_bytes_max = pool_body_bytes_max(router) };
    struct fcgi_app app = { &s, router_step, router_round, router_finish, router_batch, router_idle };
    struct exchange *exchanges = calloc((size_t)options.batch_max, sizeof *exchanges);
    if (exchanges == NULL)
        return ST_NO_MEMORY;
    for (int i = 0; i < options.batch_max; i++)
        s.free[s.free_len++] = &exchanges[i];

    metrics_process_begin(traffic_role(router->pool));
    enum status st = fcgi_serve(&options, &app);
    metrics_process_end();

    for (int i = 0; i < options.batch_max; i++) {
        buf_free(&exchanges[i].headers);
        buf_free(&exchanges[i].body);
    }
    free(exchanges);
    return st;
}

#include "web/router.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "io/metrics_processes.h"
#include "web/answer_internal.h"
#include "web/bearer.h"
#include "web/kept_form.h"
#include "web/limits.h"
#include "web/mended_link.h"
#include "web/origin.h"
#include "web/request_internal.h"
#include "web/respond.h"
#include "web/stream.h"
#include "web/traffic.h"

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

/* True when the request is answered without its handler: the token is refused, or the request came from the hot pool
 * only to have the token put into Redis or the session renewed, and goes back there. */
static bool token_answers(struct exchange *x)
{
    if (bearer_decides(x) && bearer_refuse(x))
        return true;
    if (x->app->stores.db == NULL || exchange_param(x, "TOKEN_LOAD").ptr == NULL)
        return false;
    respond_internal(x, STR("@hot"));
    return true;
}

/* Whether tables and Redis belong together. True for routes that need no session. */
static bool stores_agree(const struct exchange *x)
{
    return (x->route != NULL && x->route->needs == 0) || site_confirm(&x->app->stores) == ST_OK;
}

/* Reads the session if its reply is due, checks that the visitor may use the route, and runs the handler. */
static enum step handler_step(struct exchange *x)
{
    if (x->visitor_pending) {
        /* A Redis that was connected only now may belong to another site, and so may the session. */
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
    enum step step = (x->then != NULL ? x->then : x->route->handler)(x);
    x->step++;
    return step;
}

/* Answers a request that no handler gets. The session is read for it, because the page shows its visitor in the
 * header. */
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

/* Redirects a link with something added to the address that was meant, with its query. For a POST only slashes are
 * mended: chats send no POST, and a program should notice any other mistake. */
static bool link_is_mended(const struct router *router, struct exchange *x)
{
    struct str path = mended_link(router, x->arena, x->path);
    if (path.ptr == NULL || (!is_read(x) && !mended_link_slashes(x->path, path)))
        return false;
    struct str with_query = arena_printf(x->arena, "%.*s?%.*s", STR_ARG(path), STR_ARG(x->query_text));
    respond_moved(x, x->query_text.len > 0 && origin_path_is_local(with_query) ? with_query : path);
    return true;
}

/* Redirects a GET of an address that only takes a form, as after a reload, to the page of the form. */
static bool get_leads_to_page(const struct router *router, struct exchange *x)
{
    if (x->wants_json || !is_read(x))
        return false;
    buf_reset(&x->headers); /* Allow */
    respond_see_other(x, route_page(router, x->path));
    return true;
}

/* Answers OPTIONS: the header Allow lists the methods of the address. */
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
    x->wants_json = x->wants_json || router->pool == POOL_MONEY;
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
        return answer_stream_step(s->router, x);
    answer_write(s->router, x);
    return FCGI_DONE;
}

/* Log lines that are written in the step get the id of its request. */
static enum fcgi_step router_step(void *ctx, struct fcgi_request *r)
{
    struct serving *s = ctx;
    struct exchange *x = r->state != NULL ? r->state : exchange_begin(s, r);
    log_request(x->request_id); /* in the first step request_read does this */
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

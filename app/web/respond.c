#include "web/respond.h"

#include <inttypes.h>
#include <string.h>

#include "base/log.h"
#include "web/etag.h"
#include "web/kept_form.h"
#include "web/router.h"
#include "web/stream.h"
#include "web/text.h"
#include "web/view.h"

enum { FALLBACK_ARENA_BYTES = 32 << 10 }; /* for the page that replaces an incomplete answer */

#define PROBLEM_URN "urn:hongbao:problem:"
#define VARY        "Accept, Accept-Language, Cookie" /* answers differ by page or JSON, language, visitor */

const struct problem PROBLEM_BAD_REQUEST = { 400, "bad-request", "text/problem_bad_request",
                                             "text/problem_bad_request_detail", 0 };
const struct problem PROBLEM_UNAUTHORIZED = { 401, "unauthorized", "text/problem_unauthorized", NULL, 0 };
const struct problem PROBLEM_FORBIDDEN_ORIGIN = { 403, "cross-origin", "text/problem_cross_origin", NULL, 0 };
const struct problem PROBLEM_NOT_FOUND = { 404, "not-found", "text/problem_not_found", "text/problem_not_found_detail",
                                           0 };
/* The same problem, for a link with an id. */
static const struct problem LINK_UNKNOWN = { 404, "not-found", "text/link_unknown", "text/link_unknown_detail", 0 };
const struct problem PROBLEM_METHOD = { 405, "method-not-allowed", "text/problem_method", NULL, 0 };
const struct problem PROBLEM_TOO_LARGE = { 413, "too-large", "text/problem_too_large", NULL, 0 };
const struct problem PROBLEM_MEDIA_TYPE = { 415, "media-type", "text/problem_media_type", NULL, 0 };
const struct problem PROBLEM_INTERNAL = { 500, "internal", "text/problem_internal", "text/problem_internal_detail", 0 };
const struct problem PROBLEM_BUSY = { 503, "busy", "text/problem_busy", NULL, 1 };
const struct problem PROBLEM_UNKNOWN = { 503, "unknown", "text/problem_unknown", "text/problem_unknown_detail", 1 };

void respond_header(struct exchange *x, const char *name, struct str value)
{
    if (value.ptr == NULL)
        x->incomplete = true;
    for (size_t i = 0; i < value.len; i++) {
        char c = value.ptr[i];
        if (c == '\r' || c == '\n' || c == '\0') {
            log_error("header with line break dropped", "name=%s", name);
            return;
        }
    }
    buf_cstr(&x->headers, name);
    buf_str(&x->headers, STR(": "));
    buf_str(&x->headers, value);
    buf_str(&x->headers, STR("\r\n"));
}

void respond_cookie(struct exchange *x, struct str name, struct str value, int64_t max_age_s)
{
    respond_header(x, "Set-Cookie",
                   arena_printf(x->arena, "%s%.*s=%.*s; Path=/; HttpOnly; SameSite=Lax; Max-Age=%" PRId64 "%s",
                                exchange_is_https(x) ? COOKIE_HOST_PREFIX : "", STR_ARG(name), STR_ARG(value),
                                max_age_s, exchange_is_https(x) ? "; Secure" : ""));
}

void respond_page_cookie(struct exchange *x, struct str name, struct str value, const char *path, int64_t max_age_s)
{
    respond_header(x, "Set-Cookie",
                   arena_printf(x->arena, "%s%.*s=%.*s; Path=%s; HttpOnly; SameSite=Strict; Max-Age=%" PRId64 "%s",
                                exchange_is_https(x) ? COOKIE_SECURE_PREFIX : "", STR_ARG(name), STR_ARG(value), path,
                                max_age_s, exchange_is_https(x) ? "; Secure" : ""));
}

void respond_retry_after(struct exchange *x, int seconds)
{
    buf_printf(&x->headers, "Retry-After: %d\r\n", seconds);
}

static void answer_begin_cached(struct exchange *x, int status, struct str content_type, struct str cache_control)
{
    x->status = status;
    buf_reset(&x->body);
    if (content_type.len > 0)
        respond_header(x, "Content-Type", content_type);
    respond_header(x, "Cache-Control", cache_control);
}

/* Begins an answer: status, content type and Cache-Control. Answers show private data, so no cache may store them. */
static void answer_begin(struct exchange *x, int status, struct str content_type)
{
    answer_begin_cached(x, status, content_type, STR("no-store"));
}

void respond_empty(struct exchange *x, int status)
{
    answer_begin(x, status, STR_NONE);
}

bool respond_not_modified(struct exchange *x, struct str tag)
{
    respond_header(x, "ETag", tag);
    if (!etag_matches(exchange_param(x, "HTTP_IF_NONE_MATCH"), tag))
        return false;
    answer_begin(x, 304, STR_NONE);
    respond_header(x, "Vary", STR(VARY));
    return true;
}

void respond_internal(struct exchange *x, struct str location)
{
    x->status = 200;
    respond_header(x, "X-Accel-Redirect", location);
}

void respond_to_page_pool(struct exchange *x)
{
    respond_internal(x, STR("@page"));
}

void respond_text(struct exchange *x, int status, struct str content_type, struct str body)
{
    answer_begin(x, status, content_type);
    buf_str(&x->body, body);
}

void respond_stream(struct exchange *x, struct str content_type, stream_part *part)
{
    enum status st = stream_begin(x, part);
    if (st != ST_OK) {
        respond_status(x, st);
        return;
    }
    answer_begin(x, 200, content_type);
    respond_header(x, "Vary", STR(VARY));
}

void respond_public(struct exchange *x, struct str content_type, int max_age_s, struct str body)
{
    answer_begin_cached(x, 200, content_type, arena_printf(x->arena, "public, max-age=%d", max_age_s));
    buf_str(&x->body, body);
}

void respond_private(struct exchange *x, struct str content_type, struct str body)
{
    answer_begin_cached(x, 200, content_type, STR("private, no-store"));
    buf_str(&x->body, body);
}

void respond_see_other(struct exchange *x, struct str path)
{
    answer_begin(x, 303, STR_NONE);
    respond_header(x, "Location", path);
}

void respond_moved(struct exchange *x, struct str path)
{
    answer_begin(x, 308, STR_NONE);
    respond_header(x, "Location", path);
}

static void body_json(struct exchange *x, const struct model *m)
{
    x->incomplete = x->incomplete || m->failed;
    value_json(&x->body, &m->root);
    buf_char(&x->body, '\n');
}

static void answer_json(struct exchange *x, int status, struct str content_type, const struct model *m)
{
    answer_begin(x, status, content_type);
    respond_header(x, "Vary", STR(VARY));
    body_json(x, m);
}

static void answer_page(struct exchange *x, int status, const char *template_name, struct model *m)
{
    const struct mustache *page = exchange_template(x, template_name);
    answer_begin(x, status, STR("text/html; charset=utf-8"));
    respond_header(x, "Vary", STR(VARY));
    view_site_model(x, m);
    if (page == NULL) {
        log_error("template missing", "name=%s", template_name);
        x->status = 500;
        return;
    }
    if (m->failed || mustache_render(page, &m->root, &x->body) != ST_OK)
        x->incomplete = true;
}

void respond_model(struct exchange *x, int status, const char *template_name, struct model *m)
{
    if (!x->wants_json)
        answer_page(x, status, template_name, m);
    else
        answer_json(x, status, STR("application/json"), m);
}

void respond_public_json(struct exchange *x, struct str body, bool gzip, struct str tag, struct str cache_control)
{
    bool same = etag_matches(exchange_param(x, "HTTP_IF_NONE_MATCH"), tag);
    answer_begin_cached(x, same ? 304 : 200, same ? STR_NONE : STR("application/json"), cache_control);
    respond_header(x, "ETag", tag);
    respond_header(x, "Vary", STR("Accept-Encoding"));
    if (same)
        return;
    if (gzip)
        respond_header(x, "Content-Encoding", STR("gzip"));
    buf_str(&x->body, body);
}

static bool is_unknown(const struct problem *p)
{
    return strcmp(p->type, "unknown") == 0;
}

/* Adds when and where to try again. A link can only repeat a GET. After a POST the link leads to the page of its id,
 * which shows the outcome; or, when nothing has happened, to the form with the typed texts. */
static void retry_model(struct exchange *x, const struct problem *p, struct model *m)
{
    if (p->retry_after_s <= 0)
        return;
    view_count_model(m, &m->root, "retry_after", "retry_after_one", p->retry_after_s);
    if (x->method != METHOD_POST)
        value_page_text(m, &m->root, "retry_url", x->target);
    else if (x->params.id.len > 0)
        value_page_text(m, &m->root, "page_url", exchange_page_path(x));
    else if (!is_unknown(p)) /* nothing has changed */
        value_page_text(m, &m->root, "retry_url", kept_form_url(x));
    value_page_bool(m, &m->root, "look", is_unknown(p));
}

/* Adds the members of RFC 9457, and further members for the problem page. */
static void problem_model(struct exchange *x, const struct problem *p, struct model *m)
{
    value_text(m, &m->root, "type", arena_printf(x->arena, PROBLEM_URN "%s", p->type));
    value_text(m, &m->root, "title", text_of(x, p->title));
    value_int(m, &m->root, "status", p->status);
    if (p->detail != NULL)
        value_text(m, &m->root, "detail", text_of(x, p->detail));
    value_text(m, &m->root, "instance", x->path);
    value_text(m, &m->root, "request_id", x->request_id);
    retry_model(x, p, m);
}

void respond_problem_with(struct exchange *x, const struct problem *p, struct model *extra)
{
    if (p == &PROBLEM_NOT_FOUND && x->method != METHOD_POST && x->params.id.len > 0)
        p = &LINK_UNKNOWN;
    if (p->status >= 500)
        x->fallback_problem = p;
    problem_model(x, p, extra);
    if (p->retry_after_s > 0)
        respond_retry_after(x, p->retry_after_s);
    if (!x->wants_json)
        answer_page(x, p->status, "pages/problem", extra);
    else
        answer_json(x, p->status, STR("application/problem+json"), extra);
}

void respond_problem(struct exchange *x, const struct problem *p)
{
    struct model m;
    model_init(&m, x->arena);
    respond_problem_with(x, p, &m);
}

/* Adds `errors`, a list of {field, message}, and for templates the page-only object `error` {FIELD: message}, for the
 * message beside a field. */
static void errors_model(struct exchange *x, struct model *m, const struct form_errors *e)
{
    if (e->count == 0)
        return;
    struct value *list = value_list(m, &m->root, "errors");
    struct value *by_field = value_page_object(m, &m->root, "error");
    for (size_t i = 0; i < e->count; i++) {
        struct str message = text_with(x, e->items[i].text, e->items[i].value);
        struct value *item = value_add_object(m, list);
        value_text(m, item, "field", str_from(e->items[i].field));
        value_text(m, item, "message", message);
        value_text(m, by_field, e->items[i].field, message);
    }
}

void respond_page_errors(struct exchange *x, int status, const char *template_name, struct model *m,
                         const struct form_errors *e)
{
    errors_model(x, m, e);
    answer_page(x, status, template_name, m);
}

void respond_form_errors(struct exchange *x, const char *template_name, struct model *m, const struct form_errors *e)
{
    struct model problem;
    model_init(&problem, x->arena);
    respond_form_errors_with(x, template_name, m, e, &problem);
}

void respond_form_errors_with(struct exchange *x, const char *template_name, struct model *m,
                              const struct form_errors *e, struct model *problem)
{
    static const struct problem refused = { 422, "invalid-form", "text/problem_invalid_form", NULL, 0 };
    if (!x->wants_json) {
        respond_page_errors(x, refused.status, template_name, m, e);
        return;
    }
    problem_model(x, &refused, problem);
    errors_model(x, problem, e);
    answer_json(x, refused.status, STR("application/problem+json"), problem);
}

void respond_status(struct exchange *x, enum status st)
{
    switch (st) {
    case ST_NOT_FOUND: respond_problem(x, &PROBLEM_NOT_FOUND); break;
    case ST_UNKNOWN: respond_problem(x, &PROBLEM_UNKNOWN); break;
    case ST_UNAVAILABLE:
    case ST_CONFLICT:
    case ST_NO_MEMORY: respond_problem(x, &PROBLEM_BUSY); break;
    default:
        log_error("unexpected status", "status=%s route=%s", status_name(st), x->route != NULL ? x->route->path : "-");
        respond_problem(x, &PROBLEM_INTERNAL);
    }
}

/* ---- incomplete answers ---- */

static bool answer_incomplete(const struct exchange *x)
{
    return x->incomplete || x->headers.failed || x->body.failed || x->arena == NULL || arena_failed(x->arena);
}

static void answer_clear(struct exchange *x)
{
    x->status = 503;
    x->incomplete = false;
    buf_reset(&x->headers);
    buf_reset(&x->body);
}

void respond_finish(struct exchange *x)
{
    if (!answer_incomplete(x))
        return;
    const struct problem *p = x->fallback_problem != NULL ? x->fallback_problem : &PROBLEM_BUSY;
    struct arena *full = x->arena;
    log_warn("answer dropped: out of memory", "status=%d route=%s", x->status, x->route != NULL ? x->route->path : "-");
    answer_clear(x);
    x->arena = arena_new(FALLBACK_ARENA_BYTES, FALLBACK_ARENA_BYTES);
    if (x->arena != NULL)
        respond_problem(x, p);
    if (answer_incomplete(x))
        answer_clear(x);
    arena_free(x->arena);
    x->arena = full;
}

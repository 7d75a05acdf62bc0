#include "web/answer_internal.h"

#include <assert.h>

#include "base/array.h"
#include "base/crash.h"
#include "base/log.h"
#include "io/fcgi_answer.h"
#include "web/respond.h"
#include "web/stream.h"
#include "web/traffic.h"

enum { ANSWER_HEAD_MAX = 96 }; /* bytes of the longest status line and Content-Length */

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

void answer_write(const struct router *router, struct exchange *x)
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

enum fcgi_step answer_stream_step(const struct router *router, struct exchange *x)
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

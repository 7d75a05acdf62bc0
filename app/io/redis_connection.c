/* The connection to Redis: opening, handshake, detecting that an idle connection is dead. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/security_event.h"
#include "io/metrics.h"
#include "io/redis_internal.h"
#include "io/redis_reply.h"

enum { IDLE_CHECK_MS = 20 /* a connection unused for longer is tested before its next use */ };

void redis_close(struct redis *r)
{
    if (r->context != NULL)
        redisFree(r->context);
    r->context = NULL;
    r->run_id[0] = '\0';
    r->fence_text[0] = '\0';
    r->fence_open = false;
    r->fence_refusal_logged = false;
}

void redis_drop(struct redis *r, const char *why)
{
    log_warn("redis connection dropped", "reason=%s", why);
    metrics_add(METRIC_REDIS_LOST, 1);
    redis_close(r);
}

void redis_fence_write(struct redis *r)
{
    r->fence_text[0] = '\0';
    if (r->run_id[0] != '\0')
        (void)snprintf(r->fence_text, sizeof r->fence_text, "%s %lld", r->run_id, (long long)r->fence_number);
}

/* Copies the run_id from the reply to INFO. False: not found. */
static bool run_id_read(const redisReply *info, char out[REDIS_RUN_ID_MAX])
{
    struct str rest;
    struct str id = str_trim(str_cut(str_after(redis_reply_str(info), STR("\nrun_id:")), '\n', &rest));
    if (id.len == 0 || id.len >= REDIS_RUN_ID_MAX)
        return false;
    memcpy(out, id.ptr, id.len);
    out[id.len] = '\0';
    return true;
}

/* AUTH, and INFO for the run_id, sent before any queued command: after a refused AUTH the server would execute commands
 * as the default user. On an error reply (too many clients, wrong password) the connection is dropped. */
static bool connection_handshake(struct redis *r, int64_t deadline_ms)
{
    struct buf out = BUF_EMPTY;
    struct redis_call calls[2] = { 0 };
    struct pending list[2];
    size_t count = 0;
    const struct str auth[] = { STR("AUTH"), str_from(r->config->redis_user), str_from(r->config->redis_password) };
    const struct str info[] = { STR("INFO"), STR("server") };
    if (r->config->redis_user[0] != '\0') {
        redis_command_append(&out, &list[count], &calls[count], auth, 3);
        count++;
    }
    redis_command_append(&out, &list[count], &calls[count], info, 2);
    count++;
    bool ok = !out.failed && redis_transfer(r, buf_view(&out), list, count, deadline_ms);
    for (size_t i = 0; i < count; i++)
        ok = ok && calls[i].status == ST_OK;
    ok = ok && run_id_read(calls[count - 1].reply, r->run_id);
    redis_fence_write(r);
    struct str first = ok ? STR_NONE : redis_reply_error(calls[0].reply);
    if (str_starts(first, STR("WRONGPASS")) && !r->unreachable_logged)
        security_role_refused("redis", first);
    for (size_t i = 0; i < count; i++)
        redis_call_free(&calls[i]);
    buf_free(&out);
    if (!ok && r->context != NULL)
        redis_drop(r, "handshake");
    return ok;
}

static bool socket_connected(int fd, int64_t deadline_ms)
{
    short got;
    int error = 0;
    socklen_t len = sizeof error;
    return redis_wait(fd, POLLOUT, deadline_ms, &got) && getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) == 0 &&
           error == 0 && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0;
}

/* True when an idle connection is readable or failed: the only thing to read is end of file. */
static bool connection_stale(const struct redis *r)
{
    if (clock_monotonic_ms() - r->last_used_ms <= IDLE_CHECK_MS)
        return false;
    char byte;
    ssize_t n = recv(r->context->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return n >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

bool redis_connection_ensure(struct redis *r, int64_t deadline_ms)
{
    if (r->context != NULL) {
        if (!connection_stale(r))
            return true;
        redis_drop(r, "idle");
    }
    int64_t now_ms = clock_monotonic_ms();
    if (now_ms < r->retry_at_ms)
        return false;
    r->retry_at_ms = now_ms + REDIS_RETRY_PAUSE_MS;
    r->context = redisConnectUnixNonBlock(r->config->redis_socket);
    bool ok = r->context != NULL && r->context->err == 0 && socket_connected(r->context->fd, deadline_ms) &&
              connection_handshake(r, deadline_ms);
    if (!ok) {
        redis_close(r);
        r->retry_at_ms = clock_monotonic_ms() + REDIS_RETRY_PAUSE_MS;
    }
    if (ok && r->unreachable_logged)
        log_info("redis reachable again", NULL);
    if (!ok && !r->unreachable_logged)
        log_warn("redis unreachable", NULL);
    r->unreachable_logged = !ok;
    r->connection += ok;
    return ok;
}

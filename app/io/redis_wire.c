/* Bytes to and from Redis. The offsets of each command in the outgoing bytes are known. After the connection broke, a
 * command that was not written completely has not been executed (unavailable); each other one may have been (unknown).
 */
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/security_event.h"
#include "io/redis_internal.h"
#include "io/redis_reply.h"

enum { READ_BYTES = 16 << 10 };

void redis_write_head(struct buf *out, size_t args)
{
    buf_char(out, '*');
    buf_u64(out, args);
    buf_cstr(out, "\r\n");
}

size_t redis_write_arg(struct buf *out, struct str arg)
{
    buf_char(out, '$');
    buf_u64(out, arg.len);
    buf_cstr(out, "\r\n");
    size_t at = out->len;
    buf_str(out, arg);
    buf_cstr(out, "\r\n");
    return at;
}

void redis_command_append(struct buf *out, struct pending *p, struct redis_call *call, const struct str *args,
                          size_t count)
{
    *p = (struct pending){ .call = call, .start = out->len };
    *call = (struct redis_call){ .status = ST_UNKNOWN };
    redis_write_head(out, count);
    for (size_t i = 0; i < count; i++)
        (void)redis_write_arg(out, args[i]);
    p->end = out->len;
}

bool redis_wait(int fd, short events, int64_t deadline_ms, short *got)
{
    for (;;) {
        int64_t left = deadline_ms - clock_monotonic_ms();
        if (left < 0)
            left = 0;
        struct pollfd p = { .fd = fd, .events = events };
        int n = poll(&p, 1, (int)(left < INT32_MAX ? left : INT32_MAX));
        if (n > 0) {
            *got = p.revents;
            return true;
        }
        if (n == 0 || errno != EINTR)
            return false;
    }
}

/* Writes as much as the socket takes now. False: the connection is broken. */
static bool bytes_write(int fd, struct str bytes, size_t *written)
{
    while (*written < bytes.len) {
        ssize_t n = send(fd, bytes.ptr + *written, bytes.len - *written, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n > 0)
            *written += (size_t)n;
        else if (n < 0 && errno == EINTR)
            continue;
        else
            return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    }
    return true;
}

/* True for the errors with which Redis refuses a command before executing it. */
static bool error_is_refusal(struct str error)
{
    static const char *const words[] = { "OOM",    "READONLY",    "LOADING",  "BUSY",       "MISCONF",
                                         "NOPERM", "NOAUTH",      "NOSCRIPT", "NOREPLICAS", "MASTERDOWN",
                                         "MOVED",  "CLUSTERDOWN", "TRYAGAIN", "ASK",        "UNKILLABLE" };
    struct str word = str_cut(error, ' ', &(struct str){ 0 });
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_equal(word, str_from(words[i])))
            return true;
    return false;
}

static void call_answer(struct redis_call *call, redisReply *reply)
{
    call->reply = reply;
    call->status = ST_OK;
    struct str error = redis_reply_error(reply);
    if (error.ptr == NULL)
        return;
    call->status = error_is_refusal(error) ? ST_CONFLICT : ST_INVALID;
    if (str_starts(error, STR("NOPERM")))
        security_role_refused("redis", error);
}

/* Reads the available bytes and sets the replies of the next calls. False: end of file, protocol error, or more replies
 * than commands. */
static bool replies_read(redisContext *c, const struct pending *list, size_t count, size_t *answered)
{
    static char chunk[READ_BYTES]; /* static: on the stack the compiler would zero it for each read */
    ssize_t n = recv(c->fd, chunk, sizeof chunk, MSG_DONTWAIT);
    if (n < 0)
        return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
    if (n == 0 || redisReaderFeed(c->reader, chunk, (size_t)n) != REDIS_OK)
        return false;
    while (*answered < count) {
        void *reply = NULL;
        if (redisReaderGetReply(c->reader, &reply) != REDIS_OK)
            return false;
        if (reply == NULL)
            return true;
        call_answer(list[(*answered)++].call, reply);
    }
    return c->reader->pos == c->reader->len; /* a surplus reply must not be taken for one of a later round */
}

static const char deadline_passed[] = "deadline";

bool redis_transfer(struct redis *r, struct str bytes, const struct pending *list, size_t count, int64_t deadline_ms)
{
    redisContext *c = r->context;
    size_t written = 0, answered = 0;
    const char *failure = NULL;
    if (!bytes_write(c->fd, bytes, &written))
        failure = "write";
    while (failure == NULL && answered < count) {
        short events = written < bytes.len ? POLLIN | POLLOUT : POLLIN, got = 0;
        if (!redis_wait(c->fd, events, deadline_ms, &got))
            failure = deadline_passed;
        else if ((got & POLLOUT) != 0 && !bytes_write(c->fd, bytes, &written))
            failure = "write";
        else if ((got & ~POLLOUT) != 0 && !replies_read(c, list, count, &answered))
            failure = "read";
    }
    for (size_t i = answered; i < count; i++)
        list[i].call->status = list[i].end > written ? ST_UNAVAILABLE : ST_UNKNOWN;
    if (failure == NULL)
        return true;
    redis_drop(r, failure);
    if (failure == deadline_passed)
        r->retry_at_ms = clock_monotonic_ms() + REDIS_RETRY_PAUSE_MS;
    return false;
}

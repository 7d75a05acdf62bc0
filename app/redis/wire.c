/* Bytes to and from Redis. It knows the offsets of each command in the outgoing bytes: when the connection breaks, a
 * command that was not written completely has not been executed (unavailable); every other command may have been
 * executed (unknown).
 */
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/security_event.h"
#include "redis/redis_internal.h"
#include "redis/reply.h"

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
    *p = (struct pending){ .call = call, .fence = REDIS_ANY, .start = out->len };
    *call = (struct redis_call){ .status = ST_UNKNOWN };
    redis_write_head(out, count);
    for (size_t i = 0; i < count; i++)
        (void)redis_write_arg(out, args[i]);
    p->end = out->len;
}

/* Polls until an event occurs. False: the deadline has passed, or poll failed. */
static bool poll_until(struct pollfd *polled, size_t count, int64_t deadline_ms)
{
    for (;;) {
        int64_t left = deadline_ms - clock_monotonic_ms();
        if (left < 0)
            left = 0;
        int n = poll(polled, count, (int)(left < INT32_MAX ? left : INT32_MAX));
        if (n > 0)
            return true;
        if (n == 0 || errno != EINTR)
            return false;
    }
}

bool redis_wait(int fd, short events, int64_t deadline_ms, short *got)
{
    struct pollfd p = { .fd = fd, .events = events };
    bool in_time = poll_until(&p, 1, deadline_ms);
    *got = p.revents;
    return in_time;
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

/* The status of an error reply. After an error that is not in the table, the command may have begun. */
static enum status error_status(const redisReply *reply)
{
    static const struct {
        const char *word;
        enum status status;
    } refusals[] = {
        /* the server refuses */
        { "OOM", ST_CONFLICT },
        { "BUSY", ST_CONFLICT },
        { "MISCONF", ST_CONFLICT },
        { "NOPERM", ST_CONFLICT },
        { "NOAUTH", ST_CONFLICT },
        { "NOREPLICAS", ST_CONFLICT },
        { "UNKILLABLE", ST_CONFLICT },
        /* the server does not serve these keys, or not yet */
        { "READONLY", ST_UNAVAILABLE },
        { "LOADING", ST_UNAVAILABLE },
        { "MASTERDOWN", ST_UNAVAILABLE },
        { "MOVED", ST_UNAVAILABLE },
        { "ASK", ST_UNAVAILABLE },
        { "TRYAGAIN", ST_UNAVAILABLE },
        { "CLUSTERDOWN", ST_UNAVAILABLE },
    };
    if (redis_reply_lacks_function(reply))
        return ST_UNAVAILABLE; /* nothing was executed; the settle worker loads it soon (redis/function_load.h) */
    struct str word = str_cut(redis_reply_error(reply), ' ', &(struct str){ 0 });
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++)
        if (str_equal(word, str_from(refusals[i].word)))
            return refusals[i].status;
    return ST_INVALID;
}

static void call_answer(struct redis_call *call, redisReply *reply)
{
    call->reply = reply;
    call->status = ST_OK;
    struct str error = redis_reply_error(reply);
    if (error.ptr == NULL)
        return;
    call->status = error_status(reply);
    if (str_starts(error, STR("NOPERM")))
        security_role_refused("redis", error);
}

/* Reads the available bytes and sets the replies of the next calls. False: end of file, protocol error, or more replies
 * than commands. */
static bool replies_read(struct redis_flight *f)
{
    static char chunk[READ_BYTES]; /* static: on the stack the compiler would zero it for each read */
    redisContext *c = f->node->context;
    ssize_t n = recv(c->fd, chunk, sizeof chunk, MSG_DONTWAIT);
    if (n < 0)
        return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
    if (n == 0 || redisReaderFeed(c->reader, chunk, (size_t)n) != REDIS_OK)
        return false;
    while (f->answered < f->count) {
        void *reply = NULL;
        if (redisReaderGetReply(c->reader, &reply) != REDIS_OK)
            return false;
        if (reply == NULL)
            return true;
        f->list[f->answered].call->connection = f->node->connection;
        call_answer(f->list[f->answered++].call, reply);
    }
    return c->reader->pos == c->reader->len; /* a surplus reply must not be taken for one of a later round */
}

static const char deadline_passed[] = "deadline";

static bool flight_ended(const struct redis_flight *f)
{
    return f->failure != NULL || f->answered == f->count;
}

static void flight_begin(struct redis_flight *f)
{
    f->written = f->answered = 0;
    f->failure = bytes_write(f->node->context->fd, f->bytes, &f->written) ? NULL : "write";
}

static void flight_continue(struct redis_flight *f, short got)
{
    if ((got & POLLOUT) != 0 && !bytes_write(f->node->context->fd, f->bytes, &f->written))
        f->failure = "write";
    else if ((got & ~POLLOUT) != 0 && !replies_read(f))
        f->failure = "read";
}

static void flight_end(struct redis_flight *f)
{
    for (size_t i = f->answered; i < f->count; i++)
        f->list[i].call->status = f->list[i].end > f->written ? ST_UNAVAILABLE : ST_UNKNOWN;
    if (f->failure == NULL)
        return;
    redis_drop(f->node, f->failure);
    if (f->failure == deadline_passed)
        f->node->retry_at_ms = clock_monotonic_ms() + redis_retry_pause_ms(f->node);
}

void redis_transfer(struct redis_flight *flights, size_t count, int64_t deadline_ms)
{
    assert(count <= REDIS_NODES_MAX);
    for (size_t i = 0; i < count; i++)
        flight_begin(&flights[i]);
    for (;;) {
        static struct pollfd polled[REDIS_NODES_MAX]; /* static: as in replies_read */
        static struct redis_flight *waiting[REDIS_NODES_MAX];
        size_t left = 0;
        for (size_t i = 0; i < count; i++) {
            struct redis_flight *f = &flights[i];
            if (flight_ended(f))
                continue;
            short events = f->written < f->bytes.len ? POLLIN | POLLOUT : POLLIN;
            polled[left] = (struct pollfd){ .fd = f->node->context->fd, .events = events };
            waiting[left++] = f;
        }
        if (left == 0)
            break;
        bool in_time = poll_until(polled, left, deadline_ms);
        for (size_t i = 0; i < left; i++)
            if (!in_time)
                waiting[i]->failure = deadline_passed;
            else if (polled[i].revents != 0)
                flight_continue(waiting[i], polled[i].revents);
    }
    for (size_t i = 0; i < count; i++)
        flight_end(&flights[i]);
}

bool redis_transfer_one(struct redis_node *node, struct str bytes, const struct pending *list, size_t count,
                        int64_t deadline_ms)
{
    struct redis_flight f = { .node = node, .bytes = bytes, .list = list, .count = count };
    redis_transfer(&f, 1, deadline_ms);
    return f.failure == NULL;
}

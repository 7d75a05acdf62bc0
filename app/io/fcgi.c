#include "io/fcgi.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "base/clock.h"
#include "base/log.h"
#include "io/fcgi_answer.h"
#include "io/notify.h"
#include "io/process.h"

enum {
    ARENA_CHUNK_BYTES = 64 << 10,
    ARENA_LIMIT_BYTES = 16 << 20,
    /* bytes of a body over the limit that are read and discarded; a longer rest closes the connection */
    DRAIN_BYTES_MAX = 1 << 20,
    POLL_MS_MAX = 1000,
    STOP_POLL_MS = 50,
    OTHER_FILES_MAX = 24, /* descriptors besides connections: stores, counters, a template file */
    ACCEPT_US_MAX = 1000, /* how long an accept that finds no connection may take */
    STOP_QUIET_MS = 250,  /* a stopped process ends after so long without a request: nginx keeps idle connections */
    STOP_MS_MAX = 3000    /* and at the latest after this time */
};

struct loop {
    const struct fcgi_options *options;
    const struct fcgi_app *app;
    struct fcgi_request slots[FCGI_CONNECTIONS_MAX]; /* in use while fcgx.ipcFd >= 0 */
    /* The polled descriptors, and the slot of each. Not on the stack: the compiler would zero all of it per batch. */
    struct pollfd fds[FCGI_CONNECTIONS_MAX + 1];
    size_t slot_of[FCGI_CONNECTIONS_MAX];
    size_t slots_len;                     /* usable slots */
    size_t slots_end;                     /* slots from here on are free */
    size_t open_len;                      /* connections now */
    size_t keep_max;                      /* a connection beyond this number is closed after its answer */
    size_t next_slot;                     /* where the scan for the next batch starts */
    struct arena *arenas[FCGI_BATCH_MAX]; /* one per request of a batch */
    struct buf
        /* one per request of a batch; each has FCGI_ANSWER_BYTES_MAX from the start, so no write fails */
        answers[FCGI_BATCH_MAX];
    struct fcgi_request *batch[FCGI_BATCH_MAX];
    size_t batch_len;
    int64_t batch_begun_us;   /* monotonic */
    int64_t next_idle_ms;     /* monotonic */
    int64_t stop_deadline_ms; /* monotonic; 0 until a stop is requested */
    int64_t stop_quiet_ms;    /* monotonic; each request moves it on */
    bool last_look;           /* the quiet time has passed; the next poll, the last, does not wait */
};

/* Ten parameters are looked up in each request. Comparing them here takes half the time of FCGX_GetParam. */
struct str fcgi_param(const struct fcgi_request *r, const char *name)
{
    for (char *const *entry = r->fcgx.envp; entry != NULL && *entry != NULL; entry++) {
        const char *at = *entry, *wanted = name;
        while (*wanted != '\0' && *at == *wanted) {
            at++;
            wanted++;
        }
        if (*wanted == '\0' && *at == '=')
            return str_from(at + 1);
    }
    return STR_NONE;
}

/* ---- reading ---- */

/* Reads and discards the rest of the body. False: the rest is too long, or the peer closed the connection. */
static bool body_drain(struct fcgi_request *r)
{
    static char scratch[4096];
    size_t drained = 0;
    for (;;) {
        int n = FCGX_GetStr(scratch, sizeof scratch, r->fcgx.in);
        if (n <= 0)
            return FCGX_GetError(r->fcgx.in) == 0;
        drained += (size_t)n;
        if (drained > DRAIN_BYTES_MAX)
            return false;
    }
}

/* Reads the body to its end before the first answer. On a kept connection an unread rest would be parsed as the next
 * request. */
static void body_read(struct fcgi_request *r, size_t limit)
{
    uint64_t length = 0;
    struct str header = fcgi_param(r, "CONTENT_LENGTH");
    if (header.len > 0 && !str_to_u64(header, &length))
        r->body_broken = true;

    if (!r->body_broken && length <= limit) {
        char *bytes = arena_alloc(r->arena, (size_t)length + 1);
        if (bytes != NULL) {
            int n = length > 0 ? FCGX_GetStr(bytes, (int)length, r->fcgx.in) : 0;
            r->body = (struct str){ bytes, n > 0 ? (size_t)n : 0 };
        }
        r->body_broken = bytes == NULL || r->body.len != length;
    } else {
        r->body_too_large = !r->body_broken;
    }
    /* Once everything is read, the connection may be closed without a wait for the peer, which libfcgi would do. */
    if (body_drain(r))
        (void)FCGX_Detach(&r->fcgx);
    else
        r->fcgx.keepConnection = 0;
}

/* Reads the next request of a readable connection into the batch; blocks until the request is complete. False: the peer
 * closed the connection or exceeded FCGI_PEER_TIMEOUT_S; the connection is closed. */
static bool request_accept(struct loop *loop, struct fcgi_request *r)
{
    r->fresh = false;
    if (FCGX_Accept_r(&r->fcgx) != 0) {
        loop->open_len--;
        return false;
    }
    r->arena = loop->arenas[loop->batch_len];
    r->answer = &loop->answers[loop->batch_len];
    r->body = STR_NONE;
    r->body_too_large = r->body_broken = r->broken = false;
    r->begun_us = loop->batch_begun_us;
    r->state = NULL;
    (void)FCGX_Attach(&r->fcgx);
    loop->batch[loop->batch_len++] = r;
    body_read(r, loop->options->body_bytes_max);
    return true;
}

static void request_finish(struct loop *loop, struct fcgi_request *r)
{
    loop->app->finish(loop->app->ctx, r);
    if (loop->stop_deadline_ms != 0 || loop->open_len > loop->keep_max)
        r->fcgx.keepConnection = 0;
    fcgi_answer_send(r, true);
    /* Not FCGX_Finish_r, which would write an answer of its own. */
    FCGX_Free(&r->fcgx, !r->fcgx.keepConnection || r->broken || FCGX_GetError(r->fcgx.in) != 0);
    loop->open_len -= r->fcgx.ipcFd < 0;
    arena_reset(r->arena);
    r->state = NULL;
}

/* Runs the steps of every request of the batch until all are answered, with one Redis round between two steps. */
static void batch_run(struct loop *loop)
{
    const size_t count = loop->batch_len;
    while (loop->batch_len > 0) {
        size_t waiting = 0;
        for (size_t i = 0; i < loop->batch_len; i++) {
            struct fcgi_request *r = loop->batch[i];
            if (loop->app->step(loop->app->ctx, r) == FCGI_WAIT)
                loop->batch[waiting++] = r;
            else
                request_finish(loop, r);
        }
        loop->batch_len = waiting;
        if (waiting > 0)
            loop->app->round(loop->app->ctx);
    }
    if (count > 0 && loop->stop_deadline_ms != 0) {
        loop->stop_quiet_ms = clock_monotonic_ms() + STOP_QUIET_MS;
        loop->last_look = false;
    }
    if (count > 0 && loop->app->batch != NULL)
        loop->app->batch(loop->app->ctx, count, clock_monotonic_us() - loop->batch_begun_us);
}

/* Limits each blocking read and write within a request or an answer (idle connections are polled, not read). libfcgi
 * treats EAGAIN as a broken connection and closes it. */
static void peer_timeout_set(int fd)
{
    const struct timeval timeout = { .tv_sec = FCGI_PEER_TIMEOUT_S };
    if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) != 0 ||
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout) != 0)
        log_warn("connection timeout not set", "error=\"%s\"", strerror(errno));
}

static void connection_add(struct loop *loop, struct fcgi_request *r, int fd, bool fresh)
{
    peer_timeout_set(fd);
    r->fcgx.ipcFd = fd;
    r->fresh = fresh;
    /* Closing an idle connection must neither shut it down nor read from it: the next process may have it, too. */
    (void)FCGX_Detach(&r->fcgx);
    r->fcgx.keepConnection = 1; /* otherwise FCGX_Accept_r closes the connection before it reads */
    loop->open_len++;
    size_t slot = (size_t)(r - loop->slots);
    if (slot >= loop->slots_end)
        loop->slots_end = slot + 1;
}

/* Accepts new connections into free slots. They are read only once they are readable, so a silent one blocks
 * nothing. */
static void connections_accept(struct loop *loop, struct fcgi_request *const *spare, size_t spare_len)
{
    for (size_t i = 0; i < spare_len; i++) {
        int fd = accept4(loop->options->listen_fd, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0)
            return; /* another process accepted the connection, or there is no further one */
        connection_add(loop, spare[i], fd, true);
    }
}

static void connection_close(struct loop *loop, struct fcgi_request *r)
{
    FCGX_Free(&r->fcgx, 1);
    loop->open_len--;
}

/* Reads the requests of a batch from the readable connections, starting where the last full batch ended. With a fixed
 * start, busy connections in the first slots would starve those in the last. */
static void requests_collect(struct loop *loop, const struct pollfd *fds, const size_t *slot_of, size_t len)
{
    size_t start = 0;
    while (start < len && slot_of[start] < loop->next_slot)
        start++;
    loop->next_slot = 0;
    for (size_t i = 0; i < len; i++) {
        size_t at = (start + i) % len;
        struct fcgi_request *r = &loop->slots[slot_of[at]];
        if (fds[at].revents == 0)
            continue;
        if (loop->batch_len == (size_t)loop->options->batch_max) {
            loop->next_slot = slot_of[at];
            return;
        }
        if ((fds[at].revents & POLLIN) == 0 || (fds[at].revents & POLLHUP) != 0)
            connection_close(loop, r); /* the peer has closed it */
        else
            (void)request_accept(loop, r);
    }
}

/* Waits until a descriptor is readable, then collects a batch and accepts new connections for the next one. */
static void batch_collect(struct loop *loop)
{
    struct pollfd *fds = loop->fds;
    size_t *slot_of = loop->slot_of;
    struct fcgi_request *spare[FCGI_BATCH_MAX];
    size_t batch_max = (size_t)loop->options->batch_max, len = 0, spare_len = 0;

    size_t scan_len = loop->slots_end + batch_max;
    if (scan_len > loop->slots_len)
        scan_len = loop->slots_len;
    loop->slots_end = 0;
    for (size_t i = 0; i < scan_len; i++) {
        struct fcgi_request *r = &loop->slots[i];
        if (r->fcgx.ipcFd >= 0) {
            slot_of[len] = i;
            fds[len++] = (struct pollfd){ .fd = r->fcgx.ipcFd, .events = POLLIN };
            loop->slots_end = i + 1;
        } else if (spare_len < batch_max) {
            spare[spare_len++] = r;
        }
    }
    /* Do not accept without a free slot, nor after a stop was requested. */
    bool listens = spare_len > 0 && loop->stop_deadline_ms == 0;
    if (listens)
        fds[len] = (struct pollfd){ .fd = loop->options->listen_fd, .events = POLLIN };
    int64_t wait_ms = loop->last_look ? 0 : loop->stop_deadline_ms != 0 ? STOP_POLL_MS : POLL_MS_MAX;
    if (process_poll(fds, len + listens, wait_ms) <= 0)
        return;
    loop->batch_begun_us = clock_monotonic_us();
    requests_collect(loop, fds, slot_of, len);
    /* With batch_max 1, accept only when idle, so that another process can take the connection. */
    if (listens && fds[len].revents != 0 && (batch_max > 1 || loop->batch_len == 0))
        connections_accept(loop, spare, spare_len);
}

/* The descriptors of all connections; returns their number. Between two batches no bytes of a connection are buffered:
 * libfcgi has read whole requests, and nginx sends the next one only after the answer. So the descriptor is all that
 * another process needs. */
static size_t connections_list(const struct loop *loop, int fds[FCGI_CONNECTIONS_MAX])
{
    size_t len = 0;
    for (size_t i = 0; i < loop->slots_len; i++)
        if (loop->slots[i].fcgx.ipcFd >= 0)
            fds[len++] = loop->slots[i].fcgx.ipcFd;
    return len;
}

/* Begins to stop. True: the supervisor keeps all connections for the next process, so that there is nothing to wait
 * for. */
static bool stop_begin(struct loop *loop, int64_t now_ms)
{
    int fds[FCGI_CONNECTIONS_MAX];
    log_info("stopping", "connections=%zu", loop->open_len);
    loop->stop_deadline_ms = now_ms + STOP_MS_MAX;
    loop->stop_quiet_ms = now_ms + STOP_QUIET_MS;
    notify_stopping();
    return notify_keep(fds, connections_list(loop, fds));
}

/* After a stop: true when no more requests come. A connection that was accepted just before still has one on its way.
 * On a busy machine the process may have been waiting for the CPU since its last poll, so it looks once more. */
static bool stop_is_quiet(struct loop *loop, int64_t now_ms)
{
    if (now_ms < loop->stop_quiet_ms)
        return false;
    for (size_t i = 0; i < loop->slots_len; i++)
        if (loop->slots[i].fcgx.ipcFd >= 0 && loop->slots[i].fresh)
            return false;
    bool looked = loop->last_look;
    loop->last_look = true;
    return looked;
}

/* True when a stop was requested and every connection is closed or kept, no more requests come, or the deadline has
 * passed. Also calls app->idle. */
static bool loop_ended(struct loop *loop)
{
    int64_t now_ms = clock_monotonic_ms();
    if (process_stop_requested() && loop->stop_deadline_ms == 0 && stop_begin(loop, now_ms))
        return true;
    if (loop->stop_deadline_ms == 0) {
        if (now_ms >= loop->next_idle_ms) {
            loop->next_idle_ms = now_ms + POLL_MS_MAX;
            notify_alive();
            if (loop->app->idle != NULL)
                loop->app->idle(loop->app->ctx);
        }
        return false;
    }
    return loop->open_len == 0 || now_ms >= loop->stop_deadline_ms || stop_is_quiet(loop, now_ms);
}

/* Restarts the program with all connections. */
static void connections_hand_over(const struct loop *loop)
{
    int fds[FCGI_CONNECTIONS_MAX];
    process_restart(fds, connections_list(loop, fds));
}

static void connections_take_over(struct loop *loop)
{
    int fds[FCGI_CONNECTIONS_MAX];
    size_t len = process_handover_take(fds, loop->slots_len);
    notify_forget();
    for (size_t i = 0; i < len; i++)
        connection_add(loop, &loop->slots[i], fds[i], false);
}

/* The number of connections that the limit of open files allows; first raises the soft limit as far as possible. */
static size_t slots_count(void)
{
    const rlim_t wanted = FCGI_CONNECTIONS_MAX + OTHER_FILES_MAX;
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= wanted)
        return FCGI_CONNECTIONS_MAX;
    files.rlim_cur = files.rlim_max < wanted ? files.rlim_max : wanted;
    (void)setrlimit(RLIMIT_NOFILE, &files);
    (void)getrlimit(RLIMIT_NOFILE, &files);
    return files.rlim_cur > OTHER_FILES_MAX ? (size_t)files.rlim_cur - OTHER_FILES_MAX : 1;
}

static void batches_free(struct loop *loop)
{
    for (int i = 0; i < loop->options->batch_max; i++) {
        arena_free(loop->arenas[i]);
        buf_free(&loop->answers[i]);
    }
}

static struct loop *loop_new(const struct fcgi_options *options, const struct fcgi_app *app)
{
    struct loop *loop = calloc(1, sizeof *loop);
    if (loop == NULL)
        return NULL;
    loop->options = options;
    loop->app = app;
    for (int i = 0; i < options->batch_max; i++) {
        loop->arenas[i] = arena_new(ARENA_CHUNK_BYTES, ARENA_LIMIT_BYTES);
        if (loop->arenas[i] == NULL || !buf_reserve(&loop->answers[i], FCGI_ANSWER_BYTES_MAX)) {
            batches_free(loop);
            free(loop);
            return NULL;
        }
    }
    loop->slots_len = slots_count();
    size_t spare = loop->slots_len > 2 * FCGI_SPARE_MAX ? FCGI_SPARE_MAX : (loop->slots_len + 1) / 2;
    loop->keep_max = loop->slots_len - spare;
    for (size_t i = 0; i < FCGI_CONNECTIONS_MAX; i++) {
        /* No listening socket: after a broken connection libfcgi would accept the next one itself, without timeouts. */
        FCGX_InitRequest(&loop->slots[i].fcgx, -1, 0);
        loop->slots[i].fcgx.ipcFd = -1;
    }
    return loop;
}

static void loop_free(struct loop *loop)
{
    for (size_t i = 0; i < FCGI_CONNECTIONS_MAX; i++)
        FCGX_Free(&loop->slots[i].fcgx, 1);
    batches_free(loop);
    free(loop);
}

/* All processes of a pool share O_NONBLOCK of the socket. When systemd starts one of them, it clears the flag: an
 * accept of another process would then block until the next connection comes, and the requests of its kept connections
 * would wait. So accept also has a timeout, which nobody clears. */
static bool listener_prepare(int fd)
{
    const struct timeval timeout = { .tv_usec = ACCEPT_US_MAX };
    const int on = 1;
    int flags = fcntl(fd, F_GETFL);
    /* Set on the listening socket for the accepted TCP connections: a long answer is several writes, and none should
     * wait for an ACK. */
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0 &&
           setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) == 0;
}

enum status fcgi_serve(const struct fcgi_options *options, const struct fcgi_app *app)
{
    assert(options->batch_max >= 1 && options->batch_max <= FCGI_BATCH_MAX);
    if (FCGX_Init() != 0)
        return ST_UNAVAILABLE;
    if (!listener_prepare(options->listen_fd))
        return ST_UNAVAILABLE;

    struct loop *loop = loop_new(options, app);
    if (loop == NULL)
        return ST_NO_MEMORY;
    connections_take_over(loop);
    /* After FCGX_Init, which installs its own handlers. Signals stay blocked except during the poll: libfcgi does not
     * resume a read or write after EINTR, and a visitor must not lose the answer to a grab. */
    process_signals_init();
    notify_ready();
    while (!loop_ended(loop)) {
        batch_collect(loop);
        batch_run(loop);
        if (process_restart_due())
            connections_hand_over(loop);
    }
    loop_free(loop);
    return ST_OK;
}

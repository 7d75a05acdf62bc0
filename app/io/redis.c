/* One connection, rounds of many commands. The bytes of a command are written to the queue when it is queued, so the
 * place of each command in the outgoing bytes is known: after a broken connection a command that was not written to
 * its end can't have run (unavailable), every other one may have (unknown). */
#include "io/redis.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "io/metrics.h"

enum {
    RETRY_PAUSE_MS = 100,       /* before the next attempt to connect; callers who queued up meanwhile don't wait */
    IDLE_CHECK_MS = 20,         /* a connection unused for longer is looked at before it is trusted */
    QUEUE_BYTES_MAX = 64 << 20, /* of one round */
    QUEUE_BYTES_KEPT = 1 << 20, /* memory above this is given back after the round */
    READ_BYTES = 16 << 10,
    ARG_HEAD_MAX = 32, /* "$LEN\r\n" and "\r\n" of one argument */
    PENDING_FIRST = 64,
    RUN_ID_MAX = 41,
    VOUCHER_MAX = RUN_ID_MAX + 21
};

/* A queued command: where its bytes lie and who waits for the answer. */
struct pending {
    struct redis_call *call;
    struct redis_script *script; /* NULL: a plain command */
    size_t start, end;
    bool vouched; /* only for a server that is vouched for */
};

struct redis {
    const struct config *config;
    redisContext *context; /* NULL: not connected */
    int64_t retry_at_ms;   /* monotonic: no attempt to connect before */
    int64_t used_ms;       /* monotonic: end of the last good round */
    bool down_logged;
    uint64_t connection;     /* counts them */
    char run_id[RUN_ID_MAX]; /* of the server at the other end */
    struct str voucher_key;  /* borrowed; empty: nobody vouches */
    int64_t voucher_terms;
    char voucher_text[VOUCHER_MAX]; /* what it has to say */
    struct redis_call voucher;      /* what the key held */
    bool vouched;                   /* it was voucher_text, over this connection */
    struct buf out;
    struct pending *pending;
    size_t count, cap;
};

struct redis *redis_new(const struct config *config)
{
    struct redis *r = calloc(1, sizeof *r);
    if (r == NULL)
        return NULL;
    r->config = config;
    r->out.limit = QUEUE_BYTES_MAX;
    return r;
}

static void connection_close(struct redis *r)
{
    if (r->context != NULL)
        redisFree(r->context);
    r->context = NULL;
    r->run_id[0] = '\0';
    r->voucher_text[0] = '\0';
    r->vouched = false;
}

void redis_free(struct redis *r)
{
    if (r == NULL)
        return;
    for (size_t i = 0; i < r->count; i++)
        r->pending[i].call->status = ST_UNAVAILABLE;
    connection_close(r);
    redis_call_free(&r->voucher);
    buf_free(&r->out);
    free(r->pending);
    free(r);
}

/* ---- queueing ---- */

static void resp_head(struct buf *out, size_t args)
{
    buf_char(out, '*');
    buf_u64(out, args);
    buf_cstr(out, "\r\n");
}

static void resp_arg(struct buf *out, struct str arg)
{
    buf_char(out, '$');
    buf_u64(out, arg.len);
    buf_cstr(out, "\r\n");
    buf_str(out, arg);
    buf_cstr(out, "\r\n");
}

static bool pending_reserve(struct redis *r)
{
    if (r->count < r->cap)
        return true;
    size_t cap = r->cap == 0 ? PENDING_FIRST : r->cap * 2;
    struct pending *grown = r->count == REDIS_QUEUE_MAX ? NULL : realloc(r->pending, cap * sizeof *grown);
    if (grown == NULL)
        return false;
    r->pending = grown;
    r->cap = cap;
    return true;
}

/* Queues three lists of arguments (a script's head, keys and args) as one command. */
static void command_queue(struct redis *r, struct redis_call *call, struct redis_script *script,
                          const struct str *const lists[3], const size_t counts[3])
{
    *call = (struct redis_call){ .status = ST_NO_MEMORY };
    size_t args = 0, bytes = ARG_HEAD_MAX;
    for (size_t l = 0; l < 3; l++) {
        args += counts[l];
        for (size_t i = 0; i < counts[l]; i++)
            bytes += lists[l][i].len + ARG_HEAD_MAX;
    }
    if (args > REDIS_ARGS_MAX || !pending_reserve(r))
        return;
    if (!buf_reserve(&r->out, bytes)) {
        r->out.failed = false; /* what was queued before stays good */
        return;
    }
    size_t start = r->out.len;
    resp_head(&r->out, args);
    for (size_t l = 0; l < 3; l++)
        for (size_t i = 0; i < counts[l]; i++)
            resp_arg(&r->out, lists[l][i]);
    assert(!r->out.failed && r->out.len - start <= bytes);
    r->pending[r->count++] = (struct pending){ .call = call, .script = script, .start = start, .end = r->out.len };
    call->status = ST_UNKNOWN;
}

void redis_queue(struct redis *r, struct redis_call *call, const struct str *args, size_t count)
{
    assert(count > 0);
    const struct str *lists[3] = { args, NULL, NULL };
    const size_t counts[3] = { count, 0, 0 };
    command_queue(r, call, NULL, lists, counts);
}

void redis_queue_script(struct redis *r, struct redis_call *call, struct redis_script *script, const struct str *keys,
                        size_t key_count, const struct str *args, size_t arg_count)
{
    assert(key_count == redis_script_key_count(script));
    char key_count_text[24];
    (void)snprintf(key_count_text, sizeof key_count_text, "%zu", key_count);
    const struct str head[3] = { STR("EVALSHA"), redis_script_hash(script), str_from(key_count_text) };
    const struct str *lists[3] = { head, keys, args };
    const size_t counts[3] = { 3, key_count, arg_count };
    command_queue(r, call, script, lists, counts);
}

void redis_queue_vouched(struct redis *r, const struct redis_call *call)
{
    if (call->status == ST_NO_MEMORY)
        return; /* not queued */
    assert(r->count > 0 && r->pending[r->count - 1].call == call);
    r->pending[r->count - 1].vouched = true;
}

bool redis_queued(const struct redis *r)
{
    return r->count > 0;
}

/* ---- the wire ---- */

/* Waits for events until the deadline. False: deadline or a broken poll. */
static bool socket_wait(int fd, short events, int64_t deadline_ms, short *got)
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

/* Words that begin the errors of a Redis that is up, understood, and refused before doing anything. */
static bool error_is_refusal(struct str error)
{
    static const char *const words[] = { "OOM",    "READONLY",    "LOADING",  "BUSY",       "MISCONF",
                                         "NOPERM", "NOAUTH",      "NOSCRIPT", "NOREPLICAS", "MASTERDOWN",
                                         "MOVED",  "CLUSTERDOWN", "TRYAGAIN", "ASK",        "UNKILLABLE" };
    struct str word = str_cut(error, ' ', &(struct str){ 0 });
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_equal(word, str_from(words[i])))
            return true;
    return false;
}

static void call_answer(struct redis_call *call, redisReply *reply)
{
    call->reply = reply;
    call->status = ST_OK;
    if (reply->type == REDIS_REPLY_ERROR)
        call->status = error_is_refusal((struct str){ reply->str, (size_t)reply->len }) ? ST_CONFLICT : ST_INVALID;
}

/* Reads what has arrived and answers the next calls. False: end of file, broken protocol, or more than was asked. */
static bool replies_read(redisContext *c, const struct pending *list, size_t count, size_t *answered)
{
    static char chunk[READ_BYTES]; /* on the stack it would be zeroed for each read */
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
    return c->reader->pos == c->reader->len; /* a surplus answer belongs to nobody: never keep it for a later round */
}

/* Drops the connection. What it had in flight is decided by the caller. */
static void connection_drop(struct redis *r, const char *why)
{
    log_warn("redis connection dropped", "reason=%s", why);
    metrics_add(METRIC_REDIS_LOST, 1);
    connection_close(r);
}

static const char deadline_passed[] = "deadline";

/* Sends bytes, in which list's commands lie one after the other, and answers every call of the list, be it with its
 * reply or with what is known of its fate. False: the connection is gone. */
static bool transfer(struct redis *r, struct str bytes, const struct pending *list, size_t count, int64_t deadline_ms)
{
    redisContext *c = r->context;
    size_t written = 0, answered = 0;
    const char *lost = NULL;
    if (!bytes_write(c->fd, bytes, &written))
        lost = "write";
    while (lost == NULL && answered < count) {
        short events = written < bytes.len ? POLLIN | POLLOUT : POLLIN, got = 0;
        if (!socket_wait(c->fd, events, deadline_ms, &got))
            lost = deadline_passed;
        else if ((got & POLLOUT) != 0 && !bytes_write(c->fd, bytes, &written))
            lost = "write";
        else if ((got & ~POLLOUT) != 0 && !replies_read(c, list, count, &answered))
            lost = "read";
    }
    for (size_t i = answered; i < count; i++)
        list[i].call->status = list[i].end > written ? ST_UNAVAILABLE : ST_UNKNOWN;
    if (lost == NULL)
        return true;
    connection_drop(r, lost);
    if (lost == deadline_passed)
        r->retry_at_ms = clock_monotonic_ms() + RETRY_PAUSE_MS;
    return false;
}

/* ---- connecting ---- */

/* A command of our own, sent beside the queue. */
static void command_append(struct buf *out, struct pending *p, struct redis_call *call, const struct str *args,
                           size_t count)
{
    *p = (struct pending){ .call = call, .start = out->len };
    *call = (struct redis_call){ .status = ST_UNKNOWN };
    resp_head(out, count);
    for (size_t i = 0; i < count; i++)
        resp_arg(out, args[i]);
    p->end = out->len;
}

/* Takes the run_id out of the answer to INFO. False: it has none. */
static bool run_id_read(const redisReply *info, char out[RUN_ID_MAX])
{
    static const char label[] = "\nrun_id:";
    struct str text = redis_reply_str(info), id, rest;
    const char *found = text.len == 0 ? NULL : memmem(text.ptr, text.len, label, sizeof label - 1);
    if (found == NULL)
        return false;
    found += sizeof label - 1;
    id = str_trim(str_cut((struct str){ found, (size_t)(text.ptr + text.len - found) }, '\n', &rest));
    if (id.len == 0 || id.len >= RUN_ID_MAX)
        return false;
    memcpy(out, id.ptr, id.len);
    out[id.len] = '\0';
    return true;
}

static void voucher_write(struct redis *r)
{
    r->voucher_text[0] = '\0';
    if (r->run_id[0] != '\0')
        (void)snprintf(r->voucher_text, sizeof r->voucher_text, "%s %lld", r->run_id, (long long)r->voucher_terms);
}

/* Who are we, and who is there? An exchange of its own: behind a refused AUTH commands run as the default user, which
 * does no harm to INFO. When anything is refused here (too many clients, a wrong password), the connection is no
 * use. */
static bool connection_greet(struct redis *r, int64_t deadline_ms)
{
    struct buf out = BUF_EMPTY;
    struct redis_call calls[2] = { 0 };
    struct pending list[2];
    size_t count = 0;
    const struct str auth[] = { STR("AUTH"), str_from(r->config->redis_user), str_from(r->config->redis_password) };
    const struct str info[] = { STR("INFO"), STR("server") };
    if (r->config->redis_user[0] != '\0') {
        command_append(&out, &list[count], &calls[count], auth, 3);
        count++;
    }
    command_append(&out, &list[count], &calls[count], info, 2);
    count++;
    bool ok = !out.failed && transfer(r, buf_view(&out), list, count, deadline_ms);
    for (size_t i = 0; i < count; i++)
        ok = ok && calls[i].status == ST_OK;
    ok = ok && run_id_read(calls[count - 1].reply, r->run_id);
    voucher_write(r);
    for (size_t i = 0; i < count; i++)
        redis_call_free(&calls[i]);
    buf_free(&out);
    if (!ok && r->context != NULL)
        connection_drop(r, "greeting");
    return ok;
}

static bool socket_connected(int fd, int64_t deadline_ms)
{
    short got;
    int error = 0;
    socklen_t len = sizeof error;
    return socket_wait(fd, POLLOUT, deadline_ms, &got) && getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) == 0 &&
           error == 0 && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0;
}

/* An idle connection that has something to say has only an end of file to say. */
static bool connection_stale(const struct redis *r)
{
    if (clock_monotonic_ms() - r->used_ms <= IDLE_CHECK_MS)
        return false;
    char byte;
    ssize_t n = recv(r->context->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return n >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

static bool connection_ready(struct redis *r, int64_t deadline_ms)
{
    if (r->context != NULL) {
        if (!connection_stale(r))
            return true;
        connection_drop(r, "idle");
    }
    int64_t now_ms = clock_monotonic_ms();
    if (now_ms < r->retry_at_ms)
        return false;
    r->retry_at_ms = now_ms + RETRY_PAUSE_MS;
    r->context = redisConnectUnixNonBlock(r->config->redis_socket);
    bool ok = r->context != NULL && r->context->err == 0 && socket_connected(r->context->fd, deadline_ms) &&
              connection_greet(r, deadline_ms);
    if (!ok) {
        connection_close(r);
        r->retry_at_ms = clock_monotonic_ms() + RETRY_PAUSE_MS;
    }
    if (ok && r->down_logged)
        log_info("redis is back", NULL);
    if (!ok && !r->down_logged)
        log_warn("redis is away", NULL);
    r->down_logged = !ok;
    r->connection += ok;
    return ok;
}

/* ---- rounds ---- */

static bool call_lacks_script(const struct pending *p)
{
    const redisReply *reply = p->call->reply;
    return p->script != NULL && reply != NULL && reply->type == REDIS_REPLY_ERROR &&
           strncmp(reply->str, "NOSCRIPT", strlen("NOSCRIPT")) == 0;
}

/* Loads each script that the list names, once, and learns what Redis calls it. False: not all could be sent. */
static bool scripts_load(struct redis *r, const struct pending *list, size_t count, int64_t deadline_ms)
{
    struct pending loads[REDIS_SCRIPTS_MAX];
    struct redis_call calls[REDIS_SCRIPTS_MAX] = { 0 };
    struct buf out = { .limit = QUEUE_BYTES_MAX };
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        bool seen = false;
        for (size_t k = 0; k < n; k++)
            seen = seen || loads[k].script == list[i].script;
        if (seen)
            continue;
        assert(n < REDIS_SCRIPTS_MAX);
        const struct str load[] = { STR("SCRIPT"), STR("LOAD"), redis_script_text(list[i].script) };
        command_append(&out, &loads[n], &calls[n], load, 3);
        loads[n++].script = list[i].script;
    }
    bool ok = !out.failed && transfer(r, buf_view(&out), loads, n, deadline_ms);
    for (size_t k = 0; k < n; k++) {
        redis_script_learn(loads[k].script, redis_reply_str(calls[k].reply));
        redis_call_free(&calls[k]);
    }
    buf_free(&out);
    return ok;
}

/* An EVALSHA once more, with the name its script has by now. */
static void evalsha_append(struct buf *out, struct str command, struct str hash)
{
    static const char head[] = "$7\r\nEVALSHA\r\n$40\r\n";
    const char *found = memmem(command.ptr, command.len, head, sizeof head - 1);
    assert(found != NULL);
    size_t hash_at = (size_t)(found - command.ptr) + sizeof head - 1;
    buf_bytes(out, command.ptr, hash_at);
    buf_str(out, hash);
    buf_bytes(out, command.ptr + hash_at + hash.len, command.len - hash_at - hash.len);
}

/* Repeats the commands that failed for want of their script, after loading it. Once: when the scripts are flushed
 * again in between, the calls stay refused. */
static void scripts_reload(struct redis *r, int64_t deadline_ms)
{
    size_t lacking = 0;
    for (size_t i = 0; i < r->count; i++)
        lacking += call_lacks_script(&r->pending[i]);
    struct pending *again = lacking == 0 ? NULL : calloc(lacking, sizeof *again);
    if (again == NULL)
        return;
    for (size_t i = 0, n = 0; i < r->count; i++)
        if (call_lacks_script(&r->pending[i]))
            again[n++] = r->pending[i];
    struct buf out = { .limit = QUEUE_BYTES_MAX };
    bool loaded = scripts_load(r, again, lacking, deadline_ms);
    for (size_t i = 0; i < lacking; i++) {
        struct str command = { r->out.ptr + again[i].start, again[i].end - again[i].start };
        again[i].start = out.len;
        evalsha_append(&out, command, redis_script_hash(again[i].script));
        again[i].end = out.len;
    }
    if (loaded && !out.failed) {
        for (size_t i = 0; i < lacking; i++)
            redis_call_free(again[i].call);
        (void)transfer(r, buf_view(&out), again, lacking, deadline_ms);
    }
    buf_free(&out);
    free(again);
}

/* Takes out what only a server that is vouched for may get. */
static void unvouched_drop(struct redis *r)
{
    size_t kept = 0, len = 0;
    for (size_t i = 0; i < r->count; i++) {
        struct pending p = r->pending[i];
        size_t bytes = p.end - p.start;
        if (p.vouched) {
            p.call->status = ST_UNAVAILABLE;
            continue;
        }
        memmove(r->out.ptr + len, r->out.ptr + p.start, bytes);
        p.start = len;
        p.end = len += bytes;
        r->pending[kept++] = p;
    }
    r->count = kept;
    r->out.len = len;
}

/* The question goes along with every round until the answer is right. */
static void voucher_queue(struct redis *r)
{
    const struct str get[] = { STR("GET"), r->voucher_key };
    unvouched_drop(r);
    if (r->voucher_key.len > 0)
        redis_queue(r, &r->voucher, get, 2);
}

static void voucher_read(struct redis *r)
{
    struct str said = redis_reply_str(r->voucher.reply);
    r->vouched = r->voucher.status == ST_OK && r->run_id[0] != '\0' && str_equal(said, redis_voucher(r));
    redis_call_free(&r->voucher);
    r->voucher.status = ST_UNAVAILABLE;
}

void redis_round(struct redis *r)
{
    if (r->count == 0)
        return;
    int64_t deadline_ms = clock_monotonic_ms() + r->config->redis_timeout_ms;
    bool ready = connection_ready(r, deadline_ms), ask = ready && !r->vouched;
    if (ask)
        voucher_queue(r);
    if (!ready) {
        for (size_t i = 0; i < r->count; i++)
            r->pending[i].call->status = ST_UNAVAILABLE;
    } else if (transfer(r, buf_view(&r->out), r->pending, r->count, deadline_ms)) {
        scripts_reload(r, deadline_ms);
        r->used_ms = clock_monotonic_ms();
    }
    if (ask)
        voucher_read(r);
    r->count = 0;
    if (r->out.cap > QUEUE_BYTES_KEPT)
        buf_free(&r->out);
    else
        buf_reset(&r->out);
}

void redis_vouched_by(struct redis *r, struct str key, int64_t terms)
{
    r->voucher_key = key;
    r->voucher_terms = terms;
    r->vouched = false;
    voucher_write(r);
}

bool redis_is_vouched(const struct redis *r)
{
    return r->vouched;
}

struct str redis_voucher(const struct redis *r)
{
    return str_from(r->voucher_text);
}

uint64_t redis_connection(const struct redis *r)
{
    return r->context == NULL ? 0 : r->connection;
}

enum status redis_do(struct redis *r, struct redis_call *call, const struct str *args, size_t count)
{
    redis_queue(r, call, args, count);
    redis_round(r);
    return call->status;
}

enum status redis_do_script(struct redis *r, struct redis_call *call, struct redis_script *script,
                            const struct str *keys, size_t key_count, const struct str *args, size_t arg_count)
{
    redis_queue_script(r, call, script, keys, key_count, args, arg_count);
    redis_round(r);
    return call->status;
}

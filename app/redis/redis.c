/* The queue and the rounds. A command is encoded into the output buffer when it is queued. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "redis/function.h"
#include "redis/redis_internal.h"

enum {
    QUEUE_BYTES_KEPT = 1 << 20, /* a larger buffer is freed after the round */
    PENDING_CAP_FIRST = 64,
    REDIRECTS_MAX = 3 /* redirects of one command in a round */
};

struct redis *redis_new(const struct config *config)
{
    struct redis *r = calloc(1, sizeof *r);
    if (r == NULL)
        return NULL;
    r->config = config;
    r->node_count = 1;
    r->out.limit = REDIS_QUEUE_BYTES_MAX;
    return r;
}

void redis_free(struct redis *r)
{
    if (r == NULL)
        return;
    for (size_t i = 0; i < r->count; i++)
        r->pending[i].call->status = ST_UNAVAILABLE;
    redis_crowds_free(r);
    for (size_t i = 0; i < r->node_count; i++) {
        redis_close(&r->nodes[i]);
        buf_free(&r->nodes[i].out);
        free(r->nodes[i].list);
    }
    buf_free(&r->out);
    free(r->pending);
    free(r->cluster);
    free(r);
}

/* ---- queueing ---- */

static bool pending_reserve(struct redis *r)
{
    if (r->count < r->cap)
        return true;
    size_t cap = r->cap == 0 ? PENDING_CAP_FIRST : r->cap * 2;
    struct pending *grown = r->count == REDIS_QUEUE_MAX ? NULL : realloc(r->pending, cap * sizeof *grown);
    if (grown == NULL)
        return false;
    r->pending = grown;
    r->cap = cap;
    return true;
}

struct pending *redis_pending_add(struct redis *r, struct redis_call *call, size_t bytes, size_t args)
{
    *call = (struct redis_call){ .status = ST_NO_MEMORY };
    if (args > REDIS_ARGS_MAX || !pending_reserve(r))
        return NULL;
    if (!buf_reserve(&r->out, bytes)) {
        r->out.failed = false; /* the commands queued before are intact */
        return NULL;
    }
    struct pending *p = &r->pending[r->count++];
    *p = (struct pending){ .call = call, .fence = REDIS_ANY, .start = r->out.len };
    redis_write_head(&r->out, args);
    call->status = ST_UNKNOWN;
    return p;
}

/* Queues one command whose arguments are in three lists (for a function: head, keys, args). */
static void command_queue(struct redis *r, struct redis_call *call, int fence, const struct str *const lists[3],
                          const size_t counts[3])
{
    size_t args = 0, bytes = REDIS_ARG_HEAD_MAX;
    for (size_t l = 0; l < 3; l++) {
        args += counts[l];
        for (size_t i = 0; i < counts[l]; i++)
            bytes += lists[l][i].len + REDIS_ARG_HEAD_MAX;
    }
    struct pending *p = redis_pending_add(r, call, bytes, args);
    if (p == NULL)
        return;
    p->fence = fence;
    p->confirm = fence != REDIS_ANY;
    for (size_t l = 0; l < 3; l++)
        for (size_t i = 0; i < counts[l]; i++)
            (void)redis_write_arg(&r->out, lists[l][i]);
    p->end = r->out.len;
    assert(!r->out.failed && p->end - p->start <= bytes);
}

void redis_queue(struct redis *r, struct redis_call *call, const struct str *args, size_t count)
{
    assert(count > 0);
    const struct str *lists[3] = { args, NULL, NULL };
    const size_t counts[3] = { count, 0, 0 };
    command_queue(r, call, REDIS_ANY, lists, counts);
}

void redis_queue_confirmed(struct redis *r, struct redis_call *call, const struct str *args, size_t count)
{
    size_t queued = r->count;
    redis_queue(r, call, args, count);
    if (r->count > queued)
        r->pending[queued].confirm = true;
}

void redis_queue_function(struct redis *r, struct redis_call *call, const struct redis_function *function, int fence,
                          const struct str *keys, size_t key_count, const struct str *args, size_t arg_count)
{
    assert(key_count == redis_function_key_count(function));
    char key_count_text[STR_U64_MAX];
    const struct str head[3] = { STR("FCALL"), redis_function_name(function), str_u64(key_count_text, key_count) };
    const struct str *lists[3] = { head, keys, args };
    const size_t counts[3] = { 3, key_count, arg_count };
    command_queue(r, call, fence, lists, counts);
}

bool redis_confirms(const struct redis *r)
{
    return r->replicas > 0;
}

bool redis_queued(const struct redis *r)
{
    return r->count > 0 || r->crowd_count > 0;
}

/* ---- rounds ---- */

bool redis_node_add(struct redis_node *node, const struct pending *p, struct str bytes)
{
    if (node->count == node->cap) {
        size_t cap = node->cap == 0 ? PENDING_CAP_FIRST : node->cap * 2;
        struct pending *grown = realloc(node->list, cap * sizeof *grown);
        if (grown == NULL)
            return false;
        node->list = grown;
        node->cap = cap;
    }
    node->out.limit = REDIS_QUEUE_BYTES_MAX;
    if (!buf_reserve(&node->out, bytes.len)) {
        node->out.failed = false; /* the commands before it are intact */
        return false;
    }
    struct pending *copy = &node->list[node->count++];
    *copy = *p;
    copy->start = node->out.len;
    buf_str(&node->out, bytes);
    copy->end = node->out.len;
    return true;
}

static void buf_reuse(struct buf *b)
{
    if (b->cap > QUEUE_BYTES_KEPT)
        buf_free(b);
    else
        buf_reset(b);
}

void redis_node_reset(struct redis_node *node)
{
    buf_reuse(&node->out);
    node->count = 0;
    node->waits = false;
}

struct redis_node *redis_node_ensure(struct redis *r, struct redis_node *node, int64_t deadline_ms)
{
    if (node->ensured_round != r->rounds)
        (void)redis_connection_ensure(r, node, deadline_ms);
    node->ensured_round = r->rounds;
    return node->context != NULL ? node : NULL;
}

/* Finds the node of every queued command. */
static void queue_route(struct redis *r, int64_t deadline_ms)
{
    bool known = redis_map_ensure(r, deadline_ms);
    struct redis_node *only = r->cluster == NULL ? redis_route(r, STR_NONE, deadline_ms) : NULL;
    for (size_t i = 0; i < r->count; i++) {
        struct pending *p = &r->pending[i];
        if (!known)
            p->node = NULL;
        else
            p->node = r->cluster == NULL && p->primary == 0 ? only : redis_route_command(r, p, deadline_ms);
        if (p->node == NULL)
            p->call->status = ST_UNAVAILABLE;
    }
}

/* True when every command goes to the same node and none is to be confirmed: the queue is sent as it is. */
static bool queue_is_flight(const struct redis *r)
{
    const struct redis_node *node = r->pending[0].node;
    bool wait = redis_confirms(r);
    if (node == NULL || node->context == NULL)
        return false;
    for (size_t i = 0; i < r->count; i++)
        if (r->pending[i].node != node || (wait && r->pending[i].confirm))
            return false;
    return true;
}

size_t redis_flights(struct redis *r, struct redis_flight flights[REDIS_NODES_MAX])
{
    size_t count = 0;
    for (size_t i = 0; i < r->node_count; i++) {
        struct redis_node *node = &r->nodes[i];
        if (node->context == NULL)
            redis_node_reset(node);
        if (node->count == 0)
            continue;
        flights[count] = (struct redis_flight){
            .node = node, .bytes = buf_view(&node->out), .list = node->list, .count = node->count
        };
        count++;
    }
    return count;
}

/* Copies the commands of each node together. A node may have lost its connection after a command was routed to it. */
static void queue_divide(struct redis *r)
{
    for (size_t i = 0; i < r->count; i++) {
        struct pending *p = &r->pending[i];
        struct str bytes = { r->out.ptr + p->start, p->end - p->start };
        if (p->node == NULL || (p->node->context != NULL && redis_node_add(p->node, p, bytes)))
            continue;
        p->node = NULL;
        p->call->status = ST_UNAVAILABLE;
    }
    redis_waits_add(r);
}

/* Sends every command that has a node, and reads the replies. */
static void queue_send(struct redis *r, int64_t deadline_ms)
{
    static struct redis_flight flights[REDIS_NODES_MAX]; /* static: on the stack the compiler would zero it each time */
    size_t count = 1;
    if (queue_is_flight(r)) {
        flights[0] = (struct redis_flight){
            .node = r->pending[0].node, .bytes = buf_view(&r->out), .list = r->pending, .count = r->count
        };
    } else {
        queue_divide(r);
        count = redis_flights(r, flights);
    }
    redis_transfer(flights, count, deadline_ms);
    for (size_t i = 0; i < count; i++) {
        if (flights[i].failure == NULL)
            flights[i].node->last_used_ms = clock_monotonic_ms();
        redis_wait_read(r, &flights[i]);
        redis_node_reset(flights[i].node);
    }
}

/* Notes servers that refused a command because they do not serve its keys, or not yet: the next round looks for
 * others. */
static void refusals_read(struct redis *r)
{
    for (size_t i = 0; i < r->count; i++) {
        const struct pending *p = &r->pending[i];
        if (p->call->status != ST_UNAVAILABLE)
            continue;
        redis_map_doubt(r);
        if (r->cluster == NULL && r->addresses.count > 1 && r->nodes[0].context != NULL && p->call->reply != NULL)
            redis_drop(&r->nodes[0], "it takes no writes");
    }
}

static int64_t later(int64_t a_ms, int64_t b_ms)
{
    return a_ms > b_ms ? a_ms : b_ms;
}

void redis_round(struct redis *r)
{
    if (!redis_queued(r))
        return;
    redis_crowds_queue(r);
    if (r->count > 0) { /* it is 0 when there was no memory for any crowd */
        r->round_ms = clock_monotonic_ms();
        int64_t deadline_ms = r->round_ms + r->config->redis_timeout_ms + r->replicas_ms;
        r->rounds++;
        queue_route(r, deadline_ms);
        redis_fences_check(r, deadline_ms);
        if (r->cluster != NULL) /* a server that was silent until now must not take the time of the others */
            deadline_ms = later(deadline_ms, clock_monotonic_ms() + r->config->redis_timeout_ms / 2 + r->replicas_ms);
        queue_send(r, deadline_ms);
        for (int i = 0; i < REDIRECTS_MAX && r->cluster != NULL && redis_redirects_take(r, deadline_ms); i++) {
            redis_fences_check(r, deadline_ms);
            queue_send(r, deadline_ms);
        }
        refusals_read(r);
    }
    redis_crowds_answer(r);
    r->count = 0;
    buf_reuse(&r->out);
}

uint64_t redis_connections(const struct redis *r)
{
    return r->connections;
}

enum status redis_do(struct redis *r, struct redis_call *call, const struct str *args, size_t count)
{
    redis_queue(r, call, args, count);
    redis_round(r);
    return call->status;
}

enum status redis_ping(struct redis *r)
{
    struct redis_call call;
    redis_queue_fences(r);
    enum status st = redis_do(r, &call, &STR("PING"), 1);
    redis_call_free(&call);
    return st;
}

enum status redis_do_function(struct redis *r, struct redis_call *call, const struct redis_function *function,
                              int fence, const struct str *keys, size_t key_count, const struct str *args,
                              size_t arg_count)
{
    redis_queue_function(r, call, function, fence, keys, key_count, args, arg_count);
    redis_round(r);
    return call->status;
}

void redis_call_free(struct redis_call *call)
{
    if (call->reply != NULL)
        freeReplyObject(call->reply);
    call->reply = NULL;
}

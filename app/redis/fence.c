/* Reads the keys of fences, and holds back the calls behind those that are shut. */
#include "redis/fence.h"

#include <assert.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/money.h"
#include "base/security_event.h"
#include "redis/redis_internal.h"
#include "redis/reply.h"

enum { FRESH_MS = 1000 };

void redis_fences_set(struct redis *r, redis_fence_key *key, uint32_t count)
{
    assert(count <= REDIS_FENCES_MAX);
    r->fence_key = key;
    r->fence_count = count;
    for (size_t i = 0; i < REDIS_FENCES_MAX; i++)
        r->fence_opened[i] = 0;
}

void redis_queue_fences(struct redis *r)
{
    r->fences_wanted = true;
}

/* Whether the last read of the fence is recent enough. An older read is not trusted, even over the same connection: the
 * worker may have shut the fence since, or the server may have become a replica for a while. */
static bool is_fresh(const struct redis *r, uint32_t fence)
{
    return r->round_ms - r->fence_read_ms[fence] <= FRESH_MS;
}

static bool is_open_at(const struct redis *r, uint32_t fence, const struct redis_node *node)
{
    return node->connection != 0 && r->fence_opened[fence] == node->connection && is_fresh(r, fence);
}

static void text_write(const struct redis *r, const struct redis_node *node, char out[REDIS_FENCE_TEXT_MAX])
{
    const struct money_unit *unit = money_unit();
    const int len = snprintf(out, REDIS_FENCE_TEXT_MAX, "%s %u", node->run_id, r->fence_count);
    if (!money_unit_is_yuan())
        (void)snprintf(out + len, REDIS_FENCE_TEXT_MAX - (size_t)len, " %s %d", unit->code, unit->decimals);
}

/* ---- reading ---- */

/* The fences that a round reads. */
struct reading {
    bool wanted[REDIS_FENCES_MAX];
    struct redis_node *nodes[REDIS_FENCES_MAX]; /* the node from which each fence is read; NULL: not read */
    struct redis_call calls[REDIS_FENCES_MAX];
};

static void get_add(struct redis *r, struct reading *in, uint32_t fence, int64_t deadline_ms)
{
    char text[REDIS_FENCE_KEY_MAX];
    struct str key = r->fence_key(text, fence);
    const struct str get[] = { STR("GET"), key };
    struct redis_node *node = redis_route(r, key, deadline_ms);
    if (node == NULL || is_open_at(r, fence, node))
        return;
    struct buf command = BUF_EMPTY;
    struct pending p;
    redis_command_append(&command, &p, &in->calls[fence], get, 2);
    if (!command.failed && redis_node_add(node, &p, buf_view(&command)))
        in->nodes[fence] = node;
    buf_free(&command);
}

static void gets_send(struct redis *r, int64_t deadline_ms)
{
    struct redis_flight flights[REDIS_NODES_MAX];
    size_t count = redis_flights(r, flights);
    redis_transfer(flights, count, deadline_ms);
    for (size_t i = 0; i < count; i++)
        redis_node_reset(flights[i].node);
}

static void fences_read(struct redis *r, struct reading *in, int64_t deadline_ms)
{
    for (uint32_t i = 0; i < r->fence_count; i++)
        if (in->wanted[i])
            get_add(r, in, i, deadline_ms);
    gets_send(r, deadline_ms);
    for (uint32_t i = 0; i < r->fence_count; i++) {
        char text[REDIS_FENCE_TEXT_MAX];
        const struct redis_call *call = &in->calls[i];
        if (in->nodes[i] == NULL)
            continue;
        text_write(r, in->nodes[i], text);
        r->fence_opened[i] = 0;
        if (call->status == ST_OK && str_equal(redis_reply_str(call->reply), str_from(text)))
            r->fence_opened[i] = call->connection;
        r->fence_read_ms[i] = r->round_ms;
        redis_call_free(&in->calls[i]);
    }
}

/* Reads the fences that the queued calls need, with fences_wanted all fences, except fences that are known to be
 * open. */
static void shut_fences_read(struct redis *r, int64_t deadline_ms)
{
    struct reading in = { 0 };
    for (uint32_t i = 0; i < r->fence_count; i++)
        in.wanted[i] = r->fences_wanted && !redis_fence_is_open(r, i);
    for (size_t i = 0; i < r->count; i++) {
        const struct pending *p = &r->pending[i];
        if (p->node != NULL && p->fence >= 0 && (uint32_t)p->fence < r->fence_count)
            in.wanted[p->fence] = in.wanted[p->fence] || !is_open_at(r, (uint32_t)p->fence, p->node);
    }
    r->fences_wanted = false;
    fences_read(r, &in, deadline_ms);
}

static bool call_waits(const struct redis *r, const struct pending *p)
{
    return p->node != NULL && p->fence >= 0 &&
           ((uint32_t)p->fence >= r->fence_count || !is_open_at(r, (uint32_t)p->fence, p->node));
}

void redis_fences_check(struct redis *r, int64_t deadline_ms)
{
    bool needed = r->fences_wanted;
    for (size_t i = 0; i < r->count && !needed; i++)
        needed = call_waits(r, &r->pending[i]);
    if (!needed)
        return;
    shut_fences_read(r, deadline_ms);
    for (size_t i = 0; i < r->count; i++) {
        struct pending *p = &r->pending[i];
        if (p->node == NULL)
            continue;
        bool lost = p->node->context == NULL;
        if (!lost && !call_waits(r, p))
            continue;
        if (!lost && !p->node->fence_refusal_logged) {
            security_event_log(SECURITY_FENCE_REFUSED, "store=redis");
            p->node->fence_refusal_logged = true;
        }
        p->node = NULL;
        p->call->status = ST_UNAVAILABLE;
    }
}

/* ---- questions ---- */

bool redis_fence_is_open(const struct redis *r, uint32_t fence)
{
    char key[REDIS_FENCE_KEY_MAX];
    if (fence >= r->fence_count)
        return false;
    const struct redis_node *node = redis_route_known(r, r->fence_key(key, fence));
    return node != NULL && is_open_at(r, fence, node);
}

uint32_t redis_fences_open(const struct redis *r)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < r->fence_count; i++)
        count += redis_fence_is_open(r, i);
    return count;
}

enum status redis_fence_text(struct redis *r, uint32_t fence, char out[REDIS_FENCE_TEXT_MAX])
{
    char key[REDIS_FENCE_KEY_MAX];
    out[0] = '\0';
    if (fence >= r->fence_count)
        return ST_UNAVAILABLE;
    r->rounds++;
    int64_t deadline_ms = clock_monotonic_ms() + r->config->redis_timeout_ms;
    const struct redis_node *node =
        redis_map_ensure(r, deadline_ms) ? redis_route(r, r->fence_key(key, fence), deadline_ms) : NULL;
    if (node == NULL)
        return ST_UNAVAILABLE;
    text_write(r, node, out);
    return ST_OK;
}

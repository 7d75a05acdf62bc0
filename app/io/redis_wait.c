/* Waiting until replicas confirm. Behind the commands of a round WAIT tells how many replicas have all that the server
 * had written when it replied to the last of them, also when this one only read. A server that was cut off from its
 * replicas answers commands as before, until it notices; what it takes then is lost, and WAIT is what tells. */
#include "io/redis_internal.h"

#include "base/clock.h"
#include "base/log.h"
#include "io/redis_reply.h"

enum {
    AUTO_REPLICAS = 1,
    LEAVE_MS = 1000 /* one of several addresses, after its replicas have not confirmed for so long */
};

void redis_replicas_read(struct redis *r)
{
    if (!str_to_i64(str_from(r->config->redis_replicas), &r->replicas))
        r->replicas = r->cluster != NULL || r->addresses.count > 1 ? AUTO_REPLICAS : 0;
    r->replicas_ms = r->replicas > 0 ? r->config->redis_replicas_timeout_ms : 0;
}

void redis_wait_append(const struct redis *r, struct redis_node *node, struct buf *out, struct pending *p)
{
    char replicas[STR_U64_MAX], ms[STR_U64_MAX];
    const struct str wait[] = { STR("WAIT"), str_u64(replicas, (uint64_t)r->replicas),
                                str_u64(ms, (uint64_t)r->replicas_ms) };
    redis_call_free(&node->wait);
    redis_command_append(out, p, &node->wait, wait, 3);
}

static void wait_add(const struct redis *r, struct redis_node *node)
{
    struct buf command = BUF_EMPTY;
    struct pending p;
    node->wait = (struct redis_call){ .status = ST_UNAVAILABLE };
    redis_wait_append(r, node, &command, &p);
    if (command.failed || !redis_node_add(node, &p, buf_view(&command)))
        node->wait.status = ST_NO_MEMORY;
    buf_free(&command);
}

void redis_waits_add(struct redis *r)
{
    if (r->replicas == 0)
        return;
    for (size_t i = 0; i < r->count; i++) {
        const struct pending *p = &r->pending[i];
        if (p->node != NULL && p->confirm)
            p->node->waits = true;
    }
    for (size_t i = 0; i < r->node_count; i++)
        if (r->nodes[i].waits)
            wait_add(r, &r->nodes[i]);
}

static void confirmation_log(const struct redis *r, struct redis_node *node, bool confirmed, int64_t replicas)
{
    if (!confirmed && !node->unconfirmed_logged)
        log_warn("redis replicas did not confirm: grabs are answered with an unknown outcome",
                 "wanted=%lld confirmed=%lld", (long long)r->replicas, (long long)replicas);
    if (confirmed && node->unconfirmed_logged)
        log_info("redis replicas confirm again", NULL);
    node->unconfirmed_logged = !confirmed;
}

/* Leaves a primary whose replicas have not confirmed for LEAVE_MS: a failover may have replaced it. */
static void unconfirmed_leave(struct redis *r, struct redis_node *node, bool confirmed)
{
    const int64_t now_ms = clock_monotonic_ms();
    if (confirmed || r->cluster != NULL || r->addresses.count == 1 || node->context == NULL)
        node->unconfirmed_since_ms = 0;
    else if (node->unconfirmed_since_ms == 0)
        node->unconfirmed_since_ms = now_ms;
    else if (now_ms - node->unconfirmed_since_ms >= LEAVE_MS)
        redis_avoid(r, node, "its replicas do not confirm");
}

void redis_wait_read(struct redis *r, const struct redis_flight *f)
{
    int64_t replicas = 0;
    struct redis_node *node = f->node;
    if (!node->waits)
        return;
    bool confirmed =
        node->wait.status == ST_OK && redis_reply_i64(node->wait.reply, &replicas) && replicas >= r->replicas;
    confirmation_log(r, node, confirmed, replicas);
    redis_call_free(&node->wait);
    if (node->wait.status == ST_INVALID && node->context != NULL) { /* WAIT is an error on a replica */
        redis_drop(node, "it is a replica");
        redis_map_doubt(r);
    }
    unconfirmed_leave(r, node, confirmed);
    for (size_t i = 0; i < f->count; i++) {
        struct redis_call *call = f->list[i].call;
        if (!f->list[i].confirm || (call->status != ST_OK && call->status != ST_INVALID))
            continue; /* of an error reply "no such key" may be one */
        call->confirmed = confirmed;
        if (confirmed)
            continue;
        redis_call_free(call);
        call->status = ST_UNKNOWN;
    }
}

/* Waiting until replicas confirm. Behind the commands of a round WAIT tells how many replicas have all that the server
 * had written when it replied to the last of them, also when this one only read. A server that was cut off from its
 * replicas answers commands as before, until it notices; what it takes then is lost, and WAIT is what tells.
 *
 * Since Redis 7.2, and in Valkey, WAIT counts from the last write of its connection. So each round that waits writes
 * first, to a key that nobody reads. */
#include "io/redis_internal.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/log.h"
#include "io/redis_reply.h"
#include "io/redis_slot.h"

#define MARK_MS "60000" /* then the written key is gone */

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

static bool command_add(struct redis_node *node, struct redis_call *call, const struct str *args, size_t count)
{
    struct buf command = BUF_EMPTY;
    struct pending p;
    redis_command_append(&command, &p, call, args, count);
    bool added = !command.failed && redis_node_add(node, &p, buf_view(&command));
    if (!added)
        call->status = ST_NO_MEMORY;
    buf_free(&command);
    return added;
}

/* key: of a command for this server; the written one has the same slot. */
static void wait_add(const struct redis *r, struct redis_node *node, struct str key)
{
    char replicas[STR_U64_MAX], ms[STR_U64_MAX];
    const struct str wait[] = { STR("WAIT"), str_u64(replicas, (uint64_t)r->replicas),
                                str_u64(ms, (uint64_t)r->replicas_ms) };
    struct buf marked = BUF_EMPTY;
    buf_str(&marked, STR("hb:wait"));
    if (key.ptr != NULL) {
        buf_str(&marked, STR(":{"));
        buf_str(&marked, redis_slot_tag(key));
        buf_char(&marked, '}');
    }
    const struct str mark[] = { STR("SET"), buf_view(&marked), STR("1"), STR("PX"), STR(MARK_MS) };
    node->mark = node->wait = (struct redis_call){ .status = ST_NO_MEMORY };
    if (!marked.failed && command_add(node, &node->mark, mark, ARRAY_LEN(mark)))
        (void)command_add(node, &node->wait, wait, ARRAY_LEN(wait));
    buf_free(&marked);
}

void redis_waits_add(struct redis *r)
{
    if (r->replicas == 0)
        return;
    for (size_t i = 0; i < r->count; i++) {
        const struct pending *p = &r->pending[i];
        if (p->node == NULL || !p->confirm || p->node->waits)
            continue;
        p->node->waits = true;
        wait_add(r, p->node, redis_pending_key(r, p));
    }
}

/* Whether WAIT has counted from the write before it. A server without memory, which settling has to relieve, and one
 * with the rights of the version before refuse the write: then WAIT confirms only what this connection has written. */
static bool mark_counts(const struct redis_call *mark)
{
    struct str error = redis_reply_error(mark->reply);
    return mark->status == ST_OK || str_starts(error, STR("OOM ")) || str_starts(error, STR("NOPERM "));
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
    bool confirmed = node->wait.status == ST_OK && redis_reply_i64(node->wait.reply, &replicas) &&
                     replicas >= r->replicas && mark_counts(&node->mark);
    confirmation_log(r, node, confirmed, replicas);
    redis_call_free(&node->mark);
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

/* Waiting until replicas confirm. Behind the commands of a round, WAIT returns how many replicas have everything that
 * the server had written when it replied to the last command, also when that command only read. A server that was cut
 * off from its replicas answers commands as before until it notices; writes that it accepts in that time are lost, and
 * only WAIT shows this.
 *
 * Since Redis 7.2, and in Valkey, WAIT counts from the last write of its connection. So each round that waits first
 * writes to keys that nobody reads. */
#include <stdio.h>

#include "redis/redis_internal.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/log.h"
#include "redis/reply.h"

#define MARK_MS "604800000" /* the key lives a week after the last write */

enum {
    TAGS_MAX = 1 << 17, /* of hb:wait:{0}, hb:wait:{1} …: every slot has one of the first 109,758 */
    AUTO_REPLICAS = 1,
    LEAVE_MS = 1000 /* one of several addresses is left after its replicas have not confirmed for so long */
};

void redis_replicas_read(struct redis *r)
{
    if (!str_to_i64(str_from(r->config->redis_replicas), &r->replicas))
        r->replicas = r->cluster != NULL || r->addresses.count > 1 ? AUTO_REPLICAS : 0;
    r->replicas_ms = r->replicas > 0 ? r->config->redis_replicas_timeout_ms : 0;
}

static void command_add(struct redis_node *node, struct redis_call *call, const struct str *args, size_t count)
{
    struct buf command = BUF_EMPTY;
    struct pending p;
    redis_command_append(&command, &p, call, args, count);
    if (command.failed || !redis_node_add(node, &p, buf_view(&command)))
        call->status = ST_NO_MEMORY;
    buf_free(&command);
}

/* Two commands, so that one of them writes. A server that is out of memory refuses the SET, but not the PEXPIRE of the
 * key that it has from earlier; settling needs this, because it frees memory. */
static void mark_add(struct redis_node *node, struct redis_call calls[2], struct str key)
{
    const struct str make[] = { STR("SET"), key, STR("1"), STR("NX"), STR("PX"), STR(MARK_MS) };
    const struct str keep[] = { STR("PEXPIRE"), key, STR(MARK_MS) };
    command_add(node, &calls[0], make, ARRAY_LEN(make));
    command_add(node, &calls[1], keep, ARRAY_LEN(keep));
}

/* Adds marks with keys of this server. In a cluster there are two, because a slot may be moving. */
static void marks_add(const struct redis *r, struct redis_node *node)
{
    const size_t wanted = r->cluster == NULL ? 2 : REDIS_MARKS_MAX;
    size_t count = 0;
    for (unsigned tag = 0; tag < TAGS_MAX && count < wanted; tag++) {
        char text[32];
        const struct str key = { text, (size_t)snprintf(text, sizeof text, "hb:wait:{%u}", tag) };
        if (redis_route_known(r, key) != node)
            continue;
        mark_add(node, &node->marks[count], key);
        count += 2;
    }
}

static void wait_add(const struct redis *r, struct redis_node *node)
{
    char replicas[STR_U64_MAX], ms[STR_U64_MAX];
    const struct str wait[] = { STR("WAIT"), str_u64(replicas, (uint64_t)r->replicas),
                                str_u64(ms, (uint64_t)r->replicas_ms) };
    if (node->waits_for_own)
        marks_add(r, node);
    command_add(node, &node->wait, wait, ARRAY_LEN(wait));
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
        wait_add(r, p->node);
    }
}

/* Whether one of the marks was written behind the commands, so that WAIT counts them. Frees the replies. */
static bool marks_read(struct redis *r, struct redis_node *node)
{
    int64_t kept;
    bool any = !node->waits_for_own;
    for (size_t i = 0; i < REDIS_MARKS_MAX; i++) {
        struct redis_call *mark = &node->marks[i];
        any = any || (redis_reply_i64(mark->reply, &kept) && kept == 1);
        if (str_starts(redis_reply_error(mark->reply), STR("MOVED ")))
            redis_map_doubt(r);
        redis_call_free(mark);
    }
    return any;
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
    bool confirmed = marks_read(r, node) && node->wait.status == ST_OK &&
                     redis_reply_i64(node->wait.reply, &replicas) && replicas >= r->replicas;
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
            continue; /* ST_INVALID, too: "no such key" is an answer */
        call->confirmed = confirmed;
        if (confirmed)
            continue;
        redis_call_free(call);
        call->status = ST_UNKNOWN;
    }
}

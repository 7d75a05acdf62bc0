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
#include "config/address.h"
#include "io/metrics.h"
#include "io/tcp.h"
#include "redis/redis_internal.h"
#include "redis/reply.h"

enum {
    IDLE_CHECK_MS = 20, /* a connection unused for longer is tested before its next use */
    CONNECT_PARTS = 4,  /* of several servers, each has this fraction of a round's time to connect */
    AVOID_MS = 10000    /* one of several addresses is avoided so long after its replicas did not confirm */
};

int64_t redis_retry_pause_ms(const struct redis_node *node)
{
    return node->has_address ? REDIS_CLUSTER_PAUSE_MS : REDIS_RETRY_PAUSE_MS;
}

void redis_close(struct redis_node *node)
{
    if (node->context != NULL)
        redisFree(node->context);
    node->context = NULL;
    node->connection = 0;
    node->run_id[0] = '\0';
    node->fence_refusal_logged = false;
}

void redis_drop(struct redis_node *node, const char *why)
{
    log_warn("redis connection dropped", "reason=%s", why);
    metrics_add(METRIC_REDIS_LOST, 1);
    redis_close(node);
}

/* The value of a field in the reply to INFO; STR_NONE: not found. */
static struct str info_field(const redisReply *info, struct str mark)
{
    struct str rest, after = str_after(redis_reply_str(info), mark);
    return after.ptr == NULL ? STR_NONE : str_trim(str_cut(after, '\n', &rest));
}

/* True since Redis 7.2; Valkey reports this version. */
static bool waits_for_own(struct str version)
{
    struct str rest;
    int64_t major, minor;
    bool known = str_to_i64(str_cut(version, '.', &rest), &major) && str_to_i64(str_cut(rest, '.', &rest), &minor);
    return !known || major > 7 || (major == 7 && minor >= 2);
}

/* Reads INFO. False: do not use this server. of_several: there are other addresses, so a replica or a loading server is
 * refused. */
static bool server_read(struct redis_node *node, const redisReply *info, bool of_several)
{
    struct str id = info_field(info, STR("\nrun_id:"));
    bool is_replica = str_equal(info_field(info, STR("\nrole:")), STR("slave"));
    bool is_loading = str_equal(info_field(info, STR("\nloading:")), STR("1"));
    if (!str_to_i64(info_field(info, STR("\nconnected_slaves:")), &node->has_replicas))
        node->has_replicas = 0;
    node->is_cluster = str_equal(info_field(info, STR("\nredis_mode:")), STR("cluster")) ||
                       str_equal(info_field(info, STR("\nserver_mode:")), STR("cluster")); /* Valkey */
    node->waits_for_own = waits_for_own(info_field(info, STR("\nredis_version:")));
    if (id.len == 0 || id.len >= REDIS_RUN_ID_MAX)
        return false;
    memcpy(node->run_id, id.ptr, id.len);
    node->run_id[id.len] = '\0';
    return !of_several || node->is_cluster || !(is_replica || is_loading);
}

/* AUTH, and INFO for the run_id, sent before any queued command: after a refused AUTH the server would execute commands
 * as the default user. On an error reply (too many clients, wrong password) the connection is dropped. */
static bool connection_handshake(const struct redis *r, struct redis_node *node, bool of_several, int64_t deadline_ms)
{
    struct buf out = BUF_EMPTY;
    struct redis_call calls[2] = { 0 };
    struct pending list[2];
    size_t count = 0;
    const struct str auth[] = { STR("AUTH"), str_from(r->config->redis_user), str_from(r->config->redis_password) };
    const struct str info[] = { STR("INFO"), STR("server"), STR("replication"), STR("persistence") };
    if (r->config->redis_user[0] != '\0') {
        redis_command_append(&out, &list[count], &calls[count], auth, 3);
        count++;
    }
    redis_command_append(&out, &list[count], &calls[count], info, 4);
    count++;
    bool ok = !out.failed && redis_transfer_one(node, buf_view(&out), list, count, deadline_ms);
    for (size_t i = 0; i < count; i++)
        ok = ok && calls[i].status == ST_OK;
    ok = ok && server_read(node, calls[count - 1].reply, of_several);
    struct str first = ok ? STR_NONE : redis_reply_error(calls[0].reply);
    if (str_starts(first, STR("WRONGPASS")) && !node->unreachable_logged)
        security_role_refused("redis", first);
    for (size_t i = 0; i < count; i++)
        redis_call_free(&calls[i]);
    buf_free(&out);
    if (!ok && node->context != NULL)
        redis_drop(node, "handshake");
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
static bool connection_stale(const struct redis_node *node)
{
    if (clock_monotonic_ms() - node->last_used_ms <= IDLE_CHECK_MS)
        return false;
    char byte;
    ssize_t n = recv(node->context->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return n >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

/* Opens the connection to one address. */
static bool connection_try(const struct redis *r, struct redis_node *node, const struct address *to, bool of_several,
                           int64_t deadline_ms)
{
    node->context = to->port == 0 ? redisConnectUnixNonBlock(to->name) : redisConnectNonBlock(to->name, to->port);
    bool ok = node->context != NULL && node->context->err == 0;
    if (ok && to->port != 0)
        (void)tcp_tune(node->context->fd, r->config->redis_timeout_ms);
    ok = ok && socket_connected(node->context->fd, deadline_ms) &&
         connection_handshake(r, node, of_several, deadline_ms);
    if (!ok)
        redis_close(node);
    return ok;
}

/* A silent server may take only this part of a round's time; the rest is for the other servers. */
static int64_t part_deadline_ms(const struct redis *r, int64_t deadline_ms)
{
    int64_t until_ms = clock_monotonic_ms() + r->config->redis_timeout_ms / CONNECT_PARTS;
    return until_ms < deadline_ms ? until_ms : deadline_ms;
}

void redis_avoid(struct redis *r, struct redis_node *node, const char *why)
{
    r->avoid_until_ms[node->index] = clock_monotonic_ms() + AVOID_MS;
    redis_drop(node, why);
}

static bool connection_open_at(struct redis *r, struct redis_node *node, size_t index, int64_t deadline_ms)
{
    const struct address *to = &r->addresses.items[index];
    bool of_several = r->addresses.count > 1;
    if (!connection_try(r, node, to, of_several, of_several ? part_deadline_ms(r, deadline_ms) : deadline_ms))
        return false;
    node->address = *to;
    node->index = index;
    node->has_address = node->is_cluster;
    node->unconfirmed_since_ms = 0;
    return true;
}

/* False for a primary that a failover has probably replaced: it has no replicas any more, although it may still call
 * itself a primary. */
static bool is_preferred(const struct redis *r, const struct redis_node *node)
{
    return r->addresses.count == 1 || node->is_cluster || node->has_replicas >= r->replicas;
}

/* Tries the configured addresses in order: first for a primary with enough replicas, then for any primary; addresses to
 * avoid come last. */
static bool connection_open_any(struct redis *r, struct redis_node *node, int64_t deadline_ms)
{
    bool is_avoided[ADDRESSES_MAX] = { false }, lacks_replicas[ADDRESSES_MAX] = { false };
    const int64_t now_ms = clock_monotonic_ms();
    if (address_list_read(str_from(r->config->redis), &r->addresses) != NULL)
        r->addresses.count = 0; /* config_load refuses it */
    redis_replicas_read(r);
    for (size_t i = 0; i < r->addresses.count; i++) {
        is_avoided[i] = now_ms < r->avoid_until_ms[i] && r->addresses.count > 1;
        if (is_avoided[i] || !connection_open_at(r, node, i, deadline_ms))
            continue;
        if (is_preferred(r, node))
            return true;
        redis_close(node);
        lacks_replicas[i] = true;
    }
    for (size_t i = 0; i < r->addresses.count; i++)
        if (lacks_replicas[i] && connection_open_at(r, node, i, deadline_ms))
            return true;
    for (size_t i = 0; i < r->addresses.count; i++)
        if (is_avoided[i] && connection_open_at(r, node, i, deadline_ms))
            return true;
    return false;
}

bool redis_connection_ensure(struct redis *r, struct redis_node *node, int64_t deadline_ms)
{
    if (node->context != NULL) {
        if (!connection_stale(node))
            return true;
        redis_drop(node, "idle");
    }
    int64_t now_ms = clock_monotonic_ms();
    if (now_ms < node->retry_at_ms)
        return false;
    node->retry_at_ms = now_ms + REDIS_RETRY_PAUSE_MS;
    bool ok = node->has_address ? connection_try(r, node, &node->address, false, part_deadline_ms(r, deadline_ms))
                                : connection_open_any(r, node, deadline_ms);
    if (!ok)
        node->retry_at_ms = clock_monotonic_ms() + redis_retry_pause_ms(node);
    if (ok && node->unreachable_logged)
        log_info("redis reachable again", NULL);
    if (!ok && !node->unreachable_logged) {
        char quoted[LOG_LINE_MAX / 2];
        log_warn("redis unreachable", "addresses=%s", log_quote(str_from(r->config->redis), quoted, sizeof quoted));
    }
    node->unreachable_logged = !ok;
    node->connection = ok ? ++r->connections : 0;
    return ok;
}

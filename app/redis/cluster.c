/* The map from slots to primaries, and where each command goes. */
#include "redis/cluster.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/log.h"
#include "redis/redis_internal.h"
#include "redis/reply.h"
#include "redis/slot.h"

enum {
    NODE_NONE = 255,        /* in the map: no primary */
    REFRESH_PAUSE_MS = 100, /* between two reads of the map */
    REFRESH_TIMES = 4,      /* a read of the map may take a quarter of a round's time */
    SLOT_ENTRY_NODE = 2,    /* index of the primary in an entry of CLUSTER SLOTS */
    COMMAND_WORDS_READ = 4  /* words of a command that are read to find its first key */
};

struct redis_cluster {
    uint8_t nodes[REDIS_SLOTS]; /* index of the primary; NODE_NONE */
    bool loaded;
    bool stale;             /* read the map again */
    int64_t refresh_due_ms; /* monotonic: not before */
    size_t asked;           /* index of the node that got the last CLUSTER SLOTS */
};

/* ---- the first key of a command ---- */

/* Cuts the next argument off a command in the Redis protocol: "$LEN\r\n", the bytes, "\r\n". */
static struct str word_cut(struct str *rest)
{
    uint64_t len;
    struct str after;
    struct str head = str_cut(*rest, '\n', &after);
    if (!str_skip_prefix(&head, STR("$")) || !str_to_u64(str_trim(head), &len) || len > after.len)
        return STR_NONE;
    struct str word = str_slice(after, 0, len);
    *rest = str_skip(after, len + 2 <= after.len ? len + 2 : len);
    return word;
}

static bool word_is_one_of(struct str word, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (str_equal_fold(word, str_from(list[i])))
            return true;
    return false;
}

static bool command_has_no_key(struct str name)
{
    static const char *const names[] = { "PING",   "TIME", "INFO",   "CONFIG",   "FUNCTION", "SCAN", "ACL",
                                         "CLIENT", "WAIT", "DBSIZE", "FLUSHALL", "LASTSAVE", "ECHO", "CLUSTER" };
    return word_is_one_of(name, names, ARRAY_LEN(names));
}

/* STR_NONE: the command has no key. */
static struct str command_key(struct str bytes)
{
    static const char *const with_part[] = { "XINFO", "OBJECT" };
    struct str words[COMMAND_WORDS_READ] = { STR_NONE }, rest;
    (void)str_cut(bytes, '\n', &rest); /* the number of arguments */
    for (size_t i = 0; i < COMMAND_WORDS_READ; i++)
        words[i] = word_cut(&rest);
    if (words[0].ptr == NULL || command_has_no_key(words[0]))
        return STR_NONE;
    if (str_equal_fold(words[0], STR("FCALL")))
        return str_equal(words[2], STR("0")) ? STR_NONE : words[3];
    return word_is_one_of(words[0], with_part, ARRAY_LEN(with_part)) ? words[2] : words[1];
}

/* ---- nodes ---- */

/* The node with this address: a known node, or a free one. NULL: there are too many. */
static struct redis_node *node_at(struct redis *r, const struct address *address)
{
    struct redis_node *free_node = NULL;
    for (size_t i = 0; i < r->node_count; i++) {
        struct redis_node *node = &r->nodes[i];
        if (node->has_address && address_equal(&node->address, address))
            return node;
        if (!node->has_address && free_node == NULL)
            free_node = node;
    }
    if (free_node == NULL && r->node_count < REDIS_NODES_MAX)
        free_node = &r->nodes[r->node_count++];
    if (free_node == NULL) {
        log_error("the cluster has too many servers", "most=%d", REDIS_NODES_MAX);
        return NULL;
    }
    free_node->address = *address;
    free_node->has_address = true;
    return free_node;
}

static bool address_make(struct str host, int64_t port, const struct address *source, struct address *out)
{
    if (port < 1 || port > UINT16_MAX || host.len > ADDRESS_NAME_MAX)
        return false;
    *out = (struct address){ .port = (uint16_t)port };
    if (host.len > 0)
        memcpy(out->name, host.ptr, host.len);
    else /* an empty host: the server that sent the map */
        memcpy(out->name, source->port == 0 ? "127.0.0.1" : source->name,
               source->port == 0 ? sizeof "127.0.0.1" : sizeof source->name);
    return true;
}

/* ---- the map ---- */

/* Takes over the reply to CLUSTER SLOTS. False: it is malformed or empty. */
static bool slots_read(struct redis *r, const redisReply *slots, const struct redis_node *source)
{
    bool found = false;
    memset(r->cluster->nodes, NODE_NONE, sizeof r->cluster->nodes);
    for (size_t i = 0; i < r->node_count; i++)
        r->nodes[i].serves = false;
    for (size_t i = 0; redis_reply_at(slots, i) != NULL; i++) {
        const redisReply *entry = redis_reply_at(slots, i), *primary = redis_reply_at(entry, SLOT_ENTRY_NODE);
        int64_t first, last, port;
        struct address address;
        if (!redis_reply_i64(redis_reply_at(entry, 0), &first) || !redis_reply_i64(redis_reply_at(entry, 1), &last) ||
            !redis_reply_i64(redis_reply_at(primary, 1), &port) || first < 0 || last >= REDIS_SLOTS ||
            !address_make(str_or_empty(redis_reply_str(redis_reply_at(primary, 0))), port, &source->address, &address))
            continue;
        struct redis_node *node = node_at(r, &address);
        if (node == NULL)
            continue;
        node->serves = found = true;
        for (int64_t slot = first; slot <= last; slot++)
            r->cluster->nodes[slot] = (uint8_t)(node - r->nodes);
    }
    return found;
}

/* Closes the connections to servers that are not primaries any more. The node of a server that did not answer is kept,
 * with its pause. */
static void others_close(struct redis *r)
{
    int64_t now_ms = clock_monotonic_ms();
    for (size_t i = 0; i < r->node_count; i++)
        if (!r->nodes[i].serves) {
            redis_close(&r->nodes[i]);
            r->nodes[i].has_address = r->nodes[i].has_address && now_ms < r->nodes[i].retry_at_ms;
        }
}

/* Reads the map from one server. A cut-off minority still names its own primaries, but says that the cluster has
 * failed. any: also accept such a map, because no server has a better one. */
static bool map_ask(struct redis *r, struct redis_node *node, bool any, int64_t deadline_ms)
{
    struct buf out = BUF_EMPTY;
    struct redis_call calls[2] = { 0 };
    struct pending list[2];
    const struct str info[] = { STR("CLUSTER"), STR("INFO") }, slots[] = { STR("CLUSTER"), STR("SLOTS") };
    redis_command_append(&out, &list[0], &calls[0], info, 2);
    redis_command_append(&out, &list[1], &calls[1], slots, 2);
    bool ok = !out.failed && redis_transfer_one(node, buf_view(&out), list, 2, deadline_ms) &&
              calls[0].status == ST_OK && calls[1].status == ST_OK;
    ok = ok && (any || str_starts(redis_reply_str(calls[0].reply), STR("cluster_state:ok")));
    ok = ok && slots_read(r, calls[1].reply, node);
    for (size_t i = 0; i < 2; i++)
        redis_call_free(&calls[i]);
    buf_free(&out);
    return ok;
}

/* Makes nodes for the configured addresses, because every known primary may have moved. */
static void seeds_add(struct redis *r)
{
    for (size_t i = 0; i < r->addresses.count; i++)
        (void)node_at(r, &r->addresses.items[i]);
}

static void map_refresh(struct redis *r, int64_t deadline_ms)
{
    static const struct {
        bool connected, any; /* connected: only these servers; any: accept any map */
    } passes[] = { { true, false }, { false, false }, { true, true } };
    struct redis_cluster *c = r->cluster;
    bool read = false;
    int64_t now_ms = clock_monotonic_ms(), until_ms = now_ms + r->config->redis_timeout_ms / REFRESH_TIMES;
    if (now_ms < c->refresh_due_ms)
        return;
    seeds_add(r);
    until_ms = until_ms < deadline_ms ? until_ms : deadline_ms;
    for (size_t pass = 0; pass < ARRAY_LEN(passes) && !read; pass++) {
        size_t first = c->asked + 1;
        for (size_t i = 0; i < r->node_count && !read && clock_monotonic_ms() < until_ms; i++) {
            struct redis_node *node = &r->nodes[(first + i) % r->node_count];
            if (!node->has_address || (passes[pass].connected && node->context == NULL) ||
                redis_node_ensure(r, node, until_ms) == NULL)
                continue;
            read = map_ask(r, node, passes[pass].any, until_ms);
            c->asked = (size_t)(node - r->nodes);
        }
    }
    if (read) {
        others_close(r);
        c->loaded = true;
        c->stale = false;
    }
    c->refresh_due_ms = clock_monotonic_ms() + REFRESH_PAUSE_MS;
}

bool redis_map_ensure(struct redis *r, int64_t deadline_ms)
{
    if (r->cluster == NULL) {
        if (redis_node_ensure(r, &r->nodes[0], deadline_ms) == NULL)
            return false;
        if (!r->nodes[0].is_cluster)
            return true;
        r->cluster = calloc(1, sizeof *r->cluster);
        if (r->cluster == NULL)
            return false;
        r->cluster->stale = true;
        redis_replicas_read(r);
        log_info("redis is a cluster", NULL);
        if (r->config->sandbox && !config_stores_by_tcp(r->config))
            log_error("the filter of system calls refuses connections to the cluster: they are made by TCP",
                      "mend=\"redis = HOST:PORT of its servers\"");
    }
    if (r->cluster->stale)
        map_refresh(r, deadline_ms);
    return r->cluster->loaded;
}

void redis_map_doubt(struct redis *r)
{
    if (r->cluster != NULL)
        r->cluster->stale = true;
}

/* ---- routes ---- */

static struct redis_node *any_node(struct redis *r, int64_t deadline_ms)
{
    for (size_t i = 0; i < r->node_count; i++)
        if (r->nodes[i].serves && r->nodes[i].context != NULL && redis_node_ensure(r, &r->nodes[i], deadline_ms))
            return &r->nodes[i];
    for (size_t i = 0; i < r->node_count; i++)
        if (r->nodes[i].serves && redis_node_ensure(r, &r->nodes[i], deadline_ms))
            return &r->nodes[i];
    return NULL;
}

static struct redis_node *primary_at(struct redis *r, size_t primary)
{
    if (r->cluster == NULL)
        return primary == 0 ? &r->nodes[0] : NULL;
    for (size_t i = 0; i < r->node_count; i++)
        if (r->nodes[i].serves && primary-- == 0)
            return &r->nodes[i];
    return NULL;
}

const struct redis_node *redis_route_known(const struct redis *r, struct str key)
{
    if (r->cluster == NULL)
        return &r->nodes[0];
    uint8_t at = r->cluster->nodes[redis_slot(key)];
    return at == NODE_NONE ? NULL : &r->nodes[at];
}

bool redis_is_cluster(const struct redis *r)
{
    return r->cluster != NULL;
}

bool redis_is_same_server(const struct redis *r, struct str a, struct str b)
{
    const struct redis_node *node = redis_route_known(r, a);
    return node != NULL && node == redis_route_known(r, b);
}

static struct redis_node *ensured(struct redis *r, struct redis_node *node, int64_t deadline_ms)
{
    struct redis_node *connected = node == NULL ? NULL : redis_node_ensure(r, node, deadline_ms);
    if (connected == NULL)
        redis_map_doubt(r);
    return connected;
}

struct redis_node *redis_route(struct redis *r, struct str key, int64_t deadline_ms)
{
    if (r->cluster == NULL)
        return redis_node_ensure(r, &r->nodes[0], deadline_ms);
    if (key.ptr == NULL)
        return any_node(r, deadline_ms);
    const struct redis_node *node = redis_route_known(r, key);
    return ensured(r, node == NULL ? NULL : &r->nodes[node - r->nodes], deadline_ms);
}

struct redis_node *redis_route_command(struct redis *r, const struct pending *p, int64_t deadline_ms)
{
    if (p->primary == 0)
        return redis_route(
            r, r->cluster == NULL ? STR_NONE : command_key((struct str){ r->out.ptr + p->start, p->end - p->start }),
            deadline_ms);
    return ensured(r, primary_at(r, p->primary - 1), deadline_ms);
}

/* ---- redirects ---- */

/* Reads "MOVED SLOT HOST:PORT" or "ASK SLOT HOST:PORT". */
static bool redirect_read(struct str error, const struct redis_node *from, uint64_t *slot, struct address *to)
{
    struct str rest;
    (void)str_cut(error, ' ', &rest);
    struct str slot_text = str_cut(rest, ' ', &rest);
    size_t colon = rest.len;
    while (colon > 0 && rest.ptr[colon - 1] != ':')
        colon--;
    int64_t port;
    return colon > 0 && str_to_u64(slot_text, slot) && *slot < REDIS_SLOTS &&
           str_to_i64(str_skip(rest, colon), &port) &&
           address_make(str_slice(rest, 0, colon - 1), port, &from->address, to);
}

/* Repeats one command at the server to which its keys are being moved. */
static void ask_follow(struct redis *r, struct pending *p, const struct address *to, int64_t deadline_ms)
{
    struct buf out = BUF_EMPTY;
    struct redis_call asking;
    struct pending list[2];
    struct redis_node *node = node_at(r, to);
    if (node == NULL || redis_node_ensure(r, node, deadline_ms) == NULL)
        return;
    redis_command_append(&out, &list[0], &asking, &STR("ASKING"), 1);
    list[1] = *p;
    list[1].start = out.len;
    buf_bytes(&out, r->out.ptr + p->start, p->end - p->start);
    list[1].end = out.len;
    if (!out.failed) {
        redis_call_free(p->call);
        (void)redis_transfer_one(node, buf_view(&out), list, 2, deadline_ms);
        redis_call_free(&asking);
    }
    buf_free(&out);
}

bool redis_redirects_take(struct redis *r, int64_t deadline_ms)
{
    bool moved = false;
    for (size_t i = 0; i < r->count; i++) {
        struct pending *p = &r->pending[i];
        struct str error = redis_reply_error(p->call->reply);
        const struct redis_node *from = p->node;
        struct address to;
        uint64_t slot;
        p->node = NULL;
        bool is_moved = str_starts(error, STR("MOVED ")), is_ask = str_starts(error, STR("ASK "));
        if (from == NULL || !(is_moved || is_ask) || !redirect_read(error, from, &slot, &to))
            continue;
        if (is_ask && !p->confirm)
            ask_follow(r, p, &to, deadline_ms);
        if (is_ask)
            continue;
        struct redis_node *node = node_at(r, &to);
        redis_map_doubt(r);
        if (node == NULL)
            continue;
        node->serves = true;
        r->cluster->nodes[slot] = (uint8_t)(node - r->nodes);
        p->node = redis_node_ensure(r, node, deadline_ms);
        if (p->node == NULL)
            continue;
        redis_call_free(p->call);
        p->call->status = ST_UNKNOWN;
        moved = true;
    }
    return moved;
}

/* ---- commands for a server ---- */

size_t redis_primaries(struct redis *r)
{
    size_t count = 0;
    r->rounds++;
    if (!redis_map_ensure(r, clock_monotonic_ms() + r->config->redis_timeout_ms))
        return 0;
    if (r->cluster == NULL)
        return 1;
    for (size_t i = 0; i < r->node_count; i++)
        count += r->nodes[i].serves;
    return count;
}

const struct address *redis_primary_address(struct redis *r, size_t primary)
{
    const struct redis_node *node = r == NULL || r->cluster == NULL ? NULL : primary_at(r, primary);
    return node == NULL ? NULL : &node->address;
}

void redis_queue_at(struct redis *r, struct redis_call *call, size_t primary, const struct str *args, size_t count)
{
    size_t queued = r->count;
    redis_queue(r, call, args, count);
    if (r->count > queued)
        r->pending[queued].primary = primary + 1;
}

enum status redis_do_at(struct redis *r, struct redis_call *call, size_t primary, const struct str *args, size_t count)
{
    redis_queue_at(r, call, primary, args, count);
    redis_round(r);
    return call->status;
}

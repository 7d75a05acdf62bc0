/* Redis: its settings for durability, its memory, its fence. */
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "config/address.h"
#include "doctor/check.h"
#include "doctor/doctor_internal.h"
#include "live/fence.h"
#include "live/keys.h"
#include "redis/cluster.h"
#include "redis/fence.h"
#include "redis/function_load.h"
#include "redis/reply.h"
#include "site/redis_memory.h"

enum { VERSION_MIN = 7, PERCENT = 100, ERROR_MAX = 512 };

/* Settings that must have one value. */
static const struct wanted {
    const char *finding, *setting, *value, *why;
} WANTED[] = {
    { "redis-appendonly", "appendonly", "yes",
      "a restart of Redis loses every grab that is not settled, and all sessions" },
    { "redis-appendfsync", "appendfsync", "always", "a power cut loses grabs that users were told of" },
    { "redis-rewrite", "no-appendfsync-on-rewrite", "no",
      "a power cut during a rewrite loses grabs that users were told of" },
    { "redis-eviction", "maxmemory-policy", "noeviction", "when memory is full, Redis forgets packets and sessions" },
    { "redis-timeout", "timeout", "0", "Redis ends the connections of processes that wait" },
};

/* The client program: of the instance that setup made; without an instance, the installed program. */
static const char *redis_program(const struct doctor *d)
{
    const struct redis_own *own = check_redis_own(d->config);
    if (own != NULL)
        return own->client;
    return access("/usr/bin/redis-cli", X_OK) != 0 && access("/usr/bin/valkey-cli", X_OK) == 0 ? "valkey-cli"
                                                                                               : "redis-cli";
}

/* The client reaches the first address, or in a cluster the primary that is checked. */
const char *doctor_redis_client(struct doctor *d)
{
    struct address_list list;
    if (address_list_read(str_from(d->config->redis), &list) != NULL)
        return "";
    const struct address *first = redis_primary_address(d->roles[ROLE_OPERATOR].redis, d->redis_primary);
    if (first == NULL)
        first = &list.items[0];
    return first->port == 0 ? finding_text(&d->found, "%s -s %s", redis_program(d), first->name)
                            : finding_text(&d->found, "%s -h %s -p %u", redis_program(d), first->name, first->port);
}

/* Whether users other than Redis's own can connect: by TCP, or by a socket whose mode lets them. */
static bool redis_is_reachable(struct doctor *d)
{
    const char *port = doctor_redis_setting(d, "port");
    struct address_list list;
    struct stat info;
    bool is_reachable =
        (port != NULL && strcmp(port, "0") != 0) || address_list_read(str_from(d->config->redis), &list) != NULL;
    for (size_t i = 0; !is_reachable && i < list.count; i++)
        is_reachable = list.items[i].port != 0 ||
                       (stat(list.items[i].name, &info) == 0 && (info.st_mode & (S_IWGRP | S_IWOTH)) != 0);
    return is_reachable;
}

const char *doctor_redis_cli(struct doctor *d, const char *command)
{
    const struct config *c = &d->roles[ROLE_OPERATOR].config;
    return c->redis_user[0] == '\0'
               ? finding_text(&d->found, "%s %s", doctor_redis_client(d), command)
               : finding_text(&d->found,
                              "REDISCLI_AUTH=$(sed -n 's/^redis_password = //p' %s/operator.conf) "
                              "%s --user %s %s",
                              d->config->rights_dir, doctor_redis_client(d), c->redis_user, command);
}

/* Executes a command as the operator's user. Returns the reply as one text in the arena; NULL: there is none. element:
 * which element of a list, from 0. */
static const char *reply_text(struct doctor *d, const struct str *args, size_t count, size_t element, bool is_list)
{
    struct redis_call call;
    struct redis *r = d->roles[ROLE_OPERATOR].redis;
    if (r == NULL)
        return NULL;
    enum status st = redis_do_at(r, &call, d->redis_primary, args, count);
    struct str text = st != ST_OK ? STR_NONE
                      : is_list   ? redis_reply_str(redis_reply_at(call.reply, element))
                                  : redis_reply_str(call.reply);
    const char *copy = text.ptr == NULL ? NULL : arena_cstr(d->arena, text);
    redis_call_free(&call);
    return copy;
}

const char *doctor_redis_setting(struct doctor *d, const char *name)
{
    const struct str args[] = { STR("CONFIG"), STR("GET"), str_from(name) };
    return reply_text(d, args, ARRAY_LEN(args), 1, true);
}

/* A value of INFO; empty: there is none. */
static struct str info_value(const char *info, const char *name)
{
    struct str rest, text = str_from(info);
    while (text.ptr != NULL) {
        struct str line = str_trim(str_cut(text, '\n', &text));
        if (str_equal(str_cut(line, ':', &rest), str_from(name)))
            return rest;
    }
    return STR("");
}

static const char *redis_file(const struct doctor *d)
{
    const struct redis_own *own = check_redis_own(d->config);
    return own != NULL ? own->file : "redis.conf";
}

static void settings_check(struct doctor *d)
{
    for (size_t i = 0; i < ARRAY_LEN(WANTED); i++) {
        const struct wanted *w = &WANTED[i];
        const char *value = doctor_redis_setting(d, w->setting);
        const char *set = finding_text(&d->found, "CONFIG SET %s %s", w->setting, w->value);
        if (value == NULL)
            finding_unchecked(&d->found, w->finding, "the operator may not read the setting %s", w->setting);
        else if (strcmp(value, w->value) != 0)
            finding_wrong(&d->found, w->finding, doctor_redis_cli(d, set == NULL ? "" : set),
                          "%s is %s, not %s: %s. %s needs it, too, for the next start", w->setting, value, w->value,
                          w->why, redis_file(d));
    }
}

/* The command that doubles the limit: only the operator knows whether the machine has so much memory. */
static const char *memory_raise(struct doctor *d, int64_t max_bytes)
{
    const char *set = finding_text(&d->found, "CONFIG SET maxmemory %" PRIu64, (uint64_t)max_bytes * 2);
    return doctor_redis_cli(d, set == NULL ? "" : set);
}

static void memory_check(struct doctor *d)
{
    struct redis_memory m;
    if (redis_memory_read(d->roles[ROLE_OPERATOR].redis, &m) != ST_OK)
        return;
    d->redis_primary = m.primary;
    switch (redis_memory_state(&m)) {
    case REDIS_MEMORY_FINE: break;
    case REDIS_MEMORY_NO_LIMIT:
        finding_wrong(&d->found, "redis-maxmemory", doctor_redis_cli(d, "CONFIG SET maxmemory 2gb"),
                      "maxmemory is 0: Redis grows until the kernel kills it, or another process. %s needs it, too, for"
                      " the next start",
                      redis_file(d));
        break;
    case REDIS_MEMORY_HIGH:
    case REDIS_MEMORY_FULL:
        finding_wrong(&d->found, "redis-memory", memory_raise(d, m.max_bytes),
                      "Redis uses %" PRId64 " of the %" PRId64 " bytes of maxmemory; full, it refuses grabs and logins."
                      " %s needs more, too, for the next start",
                      m.used_bytes, m.max_bytes, redis_file(d));
    }
    d->redis_primary = 0;
}

static void state_check(struct doctor *d)
{
    const struct str all[] = { STR("INFO") };
    const char *info = reply_text(d, all, 1, 0, false);
    const struct redis_own *own = check_redis_own(d->config);
    const char *folder = doctor_redis_setting(d, "dir");
    uint64_t version;
    struct str rest;
    if (info == NULL) {
        finding_unchecked(&d->found, "redis-state", "the operator may not read INFO");
        return;
    }
    struct str number = info_value(info, "redis_version"), written = info_value(info, "aof_last_write_status");
    if (!str_to_u64(str_cut(number, '.', &rest), &version) || version < VERSION_MIN)
        finding_wrong(&d->found, "redis-version",
                      own == NULL ? "install Redis 7.0 or later"
                                  : finding_text(&d->found, "apt-get install %s-server && systemctl restart %s",
                                                 own->name, own->unit),
                      "Redis is version %.*s, not 7.0 or later", STR_ARG(number));
    if (!str_equal(info_value(info, "role"), STR("master")))
        finding_wrong(&d->found, "redis-replica", doctor_redis_cli(d, "REPLICAOF NO ONE"),
                      "this Redis is a replica: it accepts no writes, so no grabs");
    if (written.len > 0 && !str_equal(written, STR("ok")))
        finding_wrong(&d->found, "redis-disk",
                      finding_text(&d->found, "df -h %s # make room there; the log of Redis says more",
                                   folder == NULL ? "/var/lib/redis" : folder),
                      "Redis could not write its append-only file the last time (%.*s), and refuses all that is new",
                      STR_ARG(written));
}

/* The user default serves everybody who can connect. This is no fault when only the owner of the socket can. */
static void default_user_check(struct doctor *d)
{
    struct config nobody = *d->config;
    nobody.redis_user[0] = '\0';
    struct redis *r = redis_new(&nobody);
    bool is_open = r != NULL && redis_ping(r) == ST_OK;
    bool is_reachable = redis_is_reachable(d);
    redis_free(r);
    if (is_open && is_reachable && d->config->rights_dir[0] != '\0')
        finding_wrong(&d->found, "redis-default",
                      d->is_service ? doctor_redis_cli(d, "ACL LOAD")
                                    : finding_text(&d->found, "user default off in the aclfile, then: %s",
                                                   doctor_redis_cli(d, "ACL LOAD")),
                      "Redis asks for no password: everybody who can connect may do everything%s",
                      d->is_service ? DOCTOR_OR_SETUP : "");
}

static void fence_check(struct doctor *d)
{
    struct redis *r = d->roles[ROLE_HOT].redis;
    if (r == NULL || d->stores_differ) /* while they differ, the worker opens no fence */
        return;
    live_fences_set(r, d->config);
    (void)redis_ping(r);
    if (redis_fences_open(r) < (uint32_t)d->config->partitions)
        finding_wrong(&d->found, "redis-fence",
                      d->is_service ? doctor_worker_start(d)
                                    : "start the settle worker, with the same number of partitions",
                      "the settle worker has not compared %u of %u partitions in Redis with the tables: their grabs are"
                      " refused",
                      (uint32_t)d->config->partitions - redis_fences_open(r), (uint32_t)d->config->partitions);
}

static void functions_tell(struct doctor *d, const struct redis_functions_state *state)
{
    if (state->missing_count > 0)
        finding_wrong(&d->found, "redis-functions",
                      d->is_service ? doctor_worker_start(d) : "start the settle worker of this version",
                      "Redis lacks %zu functions of this version, which the settle worker loads: requests that need"
                      " them are refused",
                      state->missing_count);
    if (state->other_count > 0)
        finding_wrong(&d->found, "redis-functions-other",
                      d->is_service ? "systemctl restart hongbao-settle # after docs/how-to/rotate-secrets.md"
                                    : "give the settle worker a new password, and restart it: it loads the right text",
                      "Redis has another text of %zu functions of this version, first %.*s, and runs it with the rights"
                      " of each pool that calls it: somebody else has the rights of the settle worker",
                      state->other_count, STR_ARG(redis_function_name(state->others[0])));
}

/* Compares the functions in Redis with the program's. The finding "scripts" reports a program that can't read its
 * own. */
static void functions_check(struct doctor *d)
{
    char error[ERROR_MAX];
    struct redis_functions_state state;
    struct redis_functions *set = NULL;
    if (live_functions_read(d->config->lua_dir, &set, error, sizeof error) != ST_OK)
        return;
    if (redis_functions_compare(d->roles[ROLE_OPERATOR].redis, set, d->redis_primary, &state) != ST_OK)
        finding_unchecked(&d->found, "redis-functions", "the operator may not list the functions");
    else
        functions_tell(d, &state);
    redis_functions_free(set);
}

/* Checks one of the primaries of a Redis Cluster, or the only server. */
static void primary_check(struct doctor *d)
{
    struct redis_call call;
    const struct str ping[] = { STR("PING") };
    enum status st = redis_do_at(d->roles[ROLE_OPERATOR].redis, &call, d->redis_primary, ping, 1);
    redis_call_free(&call);
    if (st == ST_OK) {
        settings_check(d);
        state_check(d);
        functions_check(d);
    } else {
        finding_unchecked(&d->found, "redis-settings", "a primary does not answer: %s", doctor_redis_client(d));
    }
}

void doctor_check_redis(struct doctor *d)
{
    if (!d->redis_is_up)
        return;
    fence_check(d);
    default_user_check(d);
    if (d->roles[ROLE_OPERATOR].redis == NULL) {
        finding_unchecked(&d->found, "redis-settings", "the operator is not logged in");
        return;
    }
    memory_check(d);
    const size_t count = redis_primaries(d->roles[ROLE_OPERATOR].redis);
    for (d->redis_primary = 0; d->redis_primary < count; d->redis_primary++)
        primary_check(d);
    d->redis_primary = 0;
}

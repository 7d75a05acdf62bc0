#include "bench.h"

#include <assert.h>
#include <dirent.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/random.h"
#include "io/redis_fence.h"
#include "io/redis_function.h"
#include "io/redis_reply.h"
#include "live/fence.h"
#include "live/keys.h"
#include "live/live.h"
#include "packet/packet.h"
#include "packet/split.h"

/* Opens the fences: nothing of this Redis is settled yet, so no comparison is needed. */
static bool server_fences_open(struct bench *b)
{
    char text[REDIS_FENCE_TEXT_MAX];
    enum status st = ST_OK;
    live_fences_set(b->redis, &b->config);
    for (uint32_t i = 0; st == ST_OK && i < (uint32_t)b->config.partitions; i++) {
        st = redis_fence_text(b->redis, i, text);
        if (st == ST_OK)
            st = live_fence_open(&b->live, i, str_from(text));
    }
    return st == ST_OK && redis_ping(b->redis) == ST_OK && redis_fences_open(b->redis) == b->config.partitions;
}

bool bench_open(struct bench *b)
{
    char error[512] = "out of memory";
    const char *missing;
    (void)signal(SIGPIPE, SIG_IGN);
    *b = (struct bench){ 0 };
    config_defaults(&b->config);
    bool ok = random_init() && config_load(&b->config, getenv("HB_CONFIG"), NULL, error, sizeof error) == ST_OK &&
              redis_functions_read(b->config.lua_dir, &b->functions, error, sizeof error) == ST_OK;
    if (ok) {
        b->redis = redis_new(&b->config);
        (void)snprintf(error, sizeof error, "Redis does not answer");
        ok = b->redis != NULL && live_init(&b->live, b->redis, b->functions, &b->config, &missing) == ST_OK &&
             redis_functions_load(b->redis, b->functions) == ST_OK && server_fences_open(b);
    }
    if (!ok)
        (void)fprintf(stderr, "%s\n", error);
    return ok;
}

void bench_close(struct bench *b)
{
    redis_free(b->redis);
    redis_functions_free(b->functions);
}

/* ---- meter ---- */

static int64_t clock_ns(clockid_t clock)
{
    struct timespec t;
    (void)clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* CPU time of all threads of a process, in ns: the first number of schedstat. -1: the process does not exist. */
static int64_t process_cpu_ns(int64_t pid)
{
    char path[128];
    int64_t sum_ns = 0;
    (void)snprintf(path, sizeof path, "/proc/%" PRId64 "/task", pid);
    DIR *tasks = opendir(path);
    if (tasks == NULL)
        return -1;
    for (const struct dirent *task; (task = readdir(tasks)) != NULL;) {
        long long ns = 0;
        if (task->d_name[0] == '.')
            continue;
        (void)snprintf(path, sizeof path, "/proc/%" PRId64 "/task/%.20s/schedstat", pid, task->d_name);
        FILE *file = fopen(path, "re");
        if (file != NULL && fscanf(file, "%lld", &ns) == 1)
            sum_ns += ns;
        if (file != NULL)
            (void)fclose(file);
    }
    (void)closedir(tasks);
    return sum_ns;
}

static bool redis_pid_find(struct bench *b, int64_t *out)
{
    static const char wanted[] = "process_id:";
    struct redis_call call;
    const struct str info[] = { STR("INFO"), STR("server") };
    enum status st = redis_do(b->redis, &call, info, 2);
    const char *at = st == ST_OK && call.reply->type == REDIS_REPLY_STRING ? strstr(call.reply->str, wanted) : NULL;
    if (at != NULL)
        *out = strtoll(at + strlen(wanted), NULL, 10);
    redis_call_free(&call);
    return at != NULL;
}

bool bench_meter_start(struct bench_meter *m, struct bench *b)
{
    if (!redis_pid_find(b, &m->redis_pid))
        return false;
    m->redis_ns = process_cpu_ns(m->redis_pid);
    m->own_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    m->wall_ns = clock_ns(CLOCK_MONOTONIC);
    return m->redis_ns >= 0;
}

bool bench_meter_stop(struct bench_meter *m)
{
    int64_t redis_ns = process_cpu_ns(m->redis_pid);
    m->wall_ns = clock_ns(CLOCK_MONOTONIC) - m->wall_ns;
    m->own_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - m->own_ns;
    m->redis_ns = redis_ns - m->redis_ns;
    return redis_ns >= 0;
}

void bench_meter_add(struct bench_meter *sum, const struct bench_meter *m)
{
    sum->wall_ns += m->wall_ns;
    sum->own_ns += m->own_ns;
    sum->redis_ns += m->redis_ns;
}

void bench_meter_print(const struct bench_meter *m, uint64_t count)
{
    (void)printf("{\"count\":%" PRIu64 ",\"wall_ns\":%" PRId64 ",\"own_ns\":%" PRId64 ",\"redis_ns\":%" PRId64 "}\n",
                 count, m->wall_ns, m->own_ns, m->redis_ns);
}

/* ---- packets and people ---- */

bool bench_packet(struct packet *p, int64_t *fen, uint64_t index, uint32_t shares, int64_t created_ms)
{
    int64_t total_fen = (int64_t)shares * BENCH_SHARE_FEN;
    *p = (struct packet){ .id = BENCH_PACKET_FIRST + index,
                          .sender_id = BENCH_USER_FIRST + index % bench_users(shares),
                          .sender_name = STR("小明"),
                          .receiver_name = STR(""),
                          .kind = PACKET_LUCKY,
                          .split = SPLIT_DOUBLE_AVERAGE,
                          .amount_fen = total_fen,
                          .count = shares,
                          .share_min_fen = 1,
                          .share_max_fen = total_fen,
                          .greeting = STR("恭喜发财，大吉大利"),
                          .state = PACKET_OPEN,
                          .created_ms = created_ms,
                          .expires_ms = created_ms + BENCH_DAY_MS };
    memcpy(p->seed, &p->id, sizeof p->id);
    split_commitment(p->seed, p->commitment);
    if (split_packet(p, fen) != ST_OK)
        return false;
    p->best_share_no = split_best_share_no(fen, shares);
    return true;
}

uint32_t bench_users(uint64_t shares)
{
    return shares > BENCH_USERS_MIN ? (uint32_t)shares : BENCH_USERS_MIN;
}

uint64_t bench_user(uint64_t packet_index, uint32_t share_no, uint64_t shares)
{
    return BENCH_USER_FIRST + (packet_index * 7 + share_no) % bench_users(shares);
}

/* ---- grabs ---- */

void bench_grab_queue(struct bench *b, struct redis_call *call, uint64_t packet_id, uint64_t first_user, size_t crowd)
{
    struct live_keys keys;
    char packet[STR_U64_MAX], users[BENCH_CROWD_MAX][STR_U64_MAX];
    live_keys(&keys, packet_id, b->live.partitions);
    const struct str function_keys[] = { keys.key[LIVE_KEY_PACKET], keys.key[LIVE_KEY_SHARES], keys.key[LIVE_KEY_GRABS],
                                         keys.key[LIVE_KEY_ORDER], keys.key[LIVE_KEY_EVENTS] };
    struct str args[1 + 4 * BENCH_CROWD_MAX] = { str_u64(packet, packet_id) };
    assert(crowd <= BENCH_CROWD_MAX);
    for (size_t i = 0; i < crowd; i++) {
        args[1 + i] = str_u64(users[i], first_user + i);
        args[1 + crowd + i] = STR("小强");
        args[1 + 2 * crowd + i] = args[1 + 3 * crowd + i] = STR(""); /* no passphrase */
    }
    redis_queue_function(b->redis, call, b->live.grab, (int)packet_partition(packet_id, b->live.partitions),
                         function_keys, ARRAY_LEN(function_keys), args, 1 + 4 * crowd);
}

enum status bench_grab_read(const struct redis_call *call, size_t crowd, int64_t *fen)
{
    *fen = 0;
    if (call->status != ST_OK)
        return call->status;
    for (size_t i = 0; i < crowd; i++) {
        const redisReply *one = redis_reply_at(call->reply, i);
        int64_t code, share_fen;
        if (!redis_reply_i64(redis_reply_at(one, 0), &code) || code != LIVE_GRABBED ||
            !redis_reply_i64(redis_reply_at(one, 2), &share_fen) || share_fen < 1)
            return ST_CONFLICT;
        *fen += share_fen;
    }
    return ST_OK;
}

/* ---- command line ---- */

bool bench_number(const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
    return str_to_u64(str_from(text), out) && *out >= min && *out <= max;
}

int bench_fail(const char *what, enum status st)
{
    (void)fprintf(stderr, "%s: %s\n", what, status_name(st));
    return 1;
}

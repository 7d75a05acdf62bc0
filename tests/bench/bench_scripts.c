/* One grab script alone: bench_scripts ours|counters|lock GRABS PEERS_DIR creates one packet of GRABS shares in an
 * empty Redis, grabs it by as many users and prints the cost. The client is the same for all: rounds of BENCH_PIPELINE
 * calls. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/random.h"
#include "bench.h"
#include "io/redis_reply.h"
#include "io/redis_script.h"
#include "live/grab.h"
#include "live/live.h"
#include "live/load.h"
#include "packet/split.h"

struct contest {
    struct bench b;
    struct bench_meter meter;
    struct redis_scripts *peers;
    struct redis_script *script; /* NULL: ours */
    struct str keys[4];          /* the peer's */
    struct packet p;
    int64_t *fen;
    uint64_t grabs;
    uint64_t won;
    int64_t paid_fen;
};

static enum status command(struct contest *c, const struct str *args, size_t count)
{
    struct redis_call call;
    enum status st = redis_do(c->b.redis, &call, args, count);
    redis_call_free(&call);
    return st;
}

/* ---- the peers' keys ---- */

enum { KEYS = 4 };
static const char *const COUNTERS_KEYS[KEYS] = { "hongbao:{1}:count", "hongbao:{1}:amount", "hongbao:{1}:users",
                                                 "hongbao:{1}:records" };
static const char *const LOCK_KEYS[KEYS] = { "hongbao:{1}:lock", "hongbao:{1}:stock", "hongbao:{1}:users",
                                             "hongbao:{1}:records" };

static enum status counters_load(struct contest *c)
{
    char count[24], amount[24];
    (void)snprintf(count, sizeof count, "%u", c->p.count);
    (void)snprintf(amount, sizeof amount, "%lld", (long long)c->p.amount_fen);
    const struct str set[] = { STR("MSET"), c->keys[0], str_from(count), c->keys[1], str_from(amount) };
    return command(c, set, 5);
}

/* The amounts are drawn in advance and stored in a list. */
static enum status lock_load(struct contest *c)
{
    enum { PUSH_MAX = 1000 };
    static char texts[PUSH_MAX][24];
    enum status st = ST_OK;
    for (uint32_t i = 0; st == ST_OK && i < c->p.count;) {
        struct str args[2 + PUSH_MAX] = { STR("RPUSH"), c->keys[1] };
        size_t count = 0;
        for (; count < PUSH_MAX && i < c->p.count; i++, count++) {
            (void)snprintf(texts[count], sizeof texts[count], "%lld", (long long)c->fen[i]);
            args[2 + count] = str_from(texts[count]);
        }
        st = command(c, args, 2 + count);
    }
    return st;
}

static enum status ours_load(struct contest *c)
{
    enum live_code code;
    enum status st = live_load(&c->b.live, &c->p, c->fen, NULL, 0, LIVE_STATE_OPEN, &code);
    return st == ST_OK && code != LIVE_LOADED ? ST_CONFLICT : st;
}

/* ---- one call ---- */

static void queue(struct contest *c, struct redis_call *call, uint64_t user)
{
    if (c->script == NULL) {
        live_grab_queue(&c->b.live, call, c->p.id, user, STR("小强"));
        return;
    }
    char user_text[24], now[24], chance[24];
    (void)snprintf(user_text, sizeof user_text, "%llu", (unsigned long long)user);
    (void)snprintf(now, sizeof now, "%lld", (long long)clock_now_ms());
    (void)snprintf(chance, sizeof chance, "%u", (unsigned)(random_u64() >> 33));
    const struct str args[] = { str_from(user_text), str_from(now), str_from(chance) };
    redis_queue_script(c->b.redis, call, c->script, REDIS_ANY, c->keys, KEYS, args, 3);
}

/* Only a win counts: {1, fen} of the peers. */
static enum status answer(struct contest *c, const struct redis_call *call)
{
    struct live_grab ours;
    int64_t code = 0, fen = 0;
    enum status st = call->status;
    if (c->script == NULL) {
        st = live_grab_read(call, &ours);
        code = st == ST_OK && ours.code == LIVE_GRABBED;
        fen = ours.amount_fen;
    } else if (st == ST_OK) {
        (void)redis_reply_i64(redis_reply_at(call->reply, 0), &code);
        (void)redis_reply_i64(redis_reply_at(call->reply, 1), &fen);
    }
    if (st != ST_OK)
        return st;
    c->won += code == 1;
    c->paid_fen += fen;
    return code == 1 && fen > 0 ? ST_OK : ST_CORRUPT;
}

static enum status grab_all(struct contest *c)
{
    struct redis_call calls[BENCH_PIPELINE];
    enum status st = ST_OK;
    for (uint64_t user = 0; st == ST_OK && user < c->grabs; user += BENCH_PIPELINE) {
        size_t count = c->grabs - user < BENCH_PIPELINE ? (size_t)(c->grabs - user) : BENCH_PIPELINE;
        for (size_t i = 0; i < count; i++)
            queue(c, &calls[i], BENCH_USER_FIRST + user + i);
        redis_round(c->b.redis);
        for (size_t i = 0; i < count; i++) {
            enum status one = answer(c, &calls[i]);
            st = st == ST_OK ? one : st;
            redis_call_free(&calls[i]);
        }
    }
    /* Every share and every fen must be paid out: a script that is fast because it is wrong must not win. */
    if (st == ST_OK && (c->won != c->grabs || c->paid_fen != c->p.amount_fen))
        st = ST_CORRUPT;
    return st;
}

static const struct entrant {
    const char *name;
    const char *const *keys;
    enum status (*load)(struct contest *c);
} ENTRANTS[] = { { "ours", NULL, ours_load },
                 { "counters", COUNTERS_KEYS, counters_load },
                 { "lock", LOCK_KEYS, lock_load } };

static enum status contest_run(struct contest *c, const struct entrant *e, const char *peers_dir)
{
    char error[256] = "";
    const struct str flush[] = { STR("FLUSHALL") };
    if (redis_scripts_load(peers_dir, &c->peers, error, sizeof error) != ST_OK) {
        (void)fprintf(stderr, "%s\n", error);
        return ST_INVALID;
    }
    c->script = e->keys == NULL ? NULL : redis_script_find(c->peers, e->name);
    c->fen = calloc(c->grabs, sizeof *c->fen);
    if (c->fen == NULL)
        return ST_NO_MEMORY;
    if ((e->keys != NULL && c->script == NULL) || !bench_packet(&c->p, c->fen, 0, (uint32_t)c->grabs, clock_now_ms()))
        return ST_INVALID;
    for (size_t i = 0; e->keys != NULL && i < KEYS; i++)
        c->keys[i] = str_from(e->keys[i]);
    enum status st = command(c, flush, 1);
    if (st == ST_OK)
        st = e->load(c);
    if (st == ST_OK && !bench_meter_start(&c->meter, &c->b))
        st = ST_UNAVAILABLE;
    if (st == ST_OK)
        st = grab_all(c);
    return st == ST_OK && !bench_meter_stop(&c->meter) ? ST_UNAVAILABLE : st;
}

int main(int argc, char **argv)
{
    static struct contest c;
    const struct entrant *e = NULL;
    for (size_t i = 0; argc == 4 && i < ARRAY_LEN(ENTRANTS); i++)
        if (strcmp(argv[1], ENTRANTS[i].name) == 0)
            e = &ENTRANTS[i];
    if (e == NULL || !bench_number(argv[2], 1, SPLIT_COUNT_MAX, &c.grabs)) {
        (void)fputs("usage: bench_scripts ours|counters|lock GRABS PEERS_DIR\n", stderr);
        return 2;
    }
    if (!bench_open(&c.b))
        return 1;
    enum status st = contest_run(&c, e, argv[3]);
    redis_scripts_free(c.peers);
    free(c.fen);
    bench_close(&c.b);
    if (st != ST_OK)
        return bench_fail(argv[1], st);
    bench_meter_print(&c.meter, c.grabs);
    return 0;
}

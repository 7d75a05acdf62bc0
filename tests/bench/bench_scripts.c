/* One grab script alone: bench_scripts ours|counters|lock GRABS PACKETS WIDTH CROWD PEERS_DIR creates PACKETS packets
 * of GRABS shares in all in an empty Redis, grabs all of them and prints the cost. The client is the same for all: in a
 * round there are WIDTH grabs, as many on each packet; a call has CROWD grabs of one packet (1 but for ours). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/random.h"
#include "bench.h"
#include "io/redis_function_load.h"
#include "io/redis_reply.h"
#include "live/live.h"
#include "live/load.h"
#include "packet/split.h"

enum { KEYS = 4, KEY_MAX = 48, NUMBER_MAX = 24, PACKETS_MAX = 64, WIDTH_MAX = BENCH_CROWD_MAX };

struct entry {
    struct packet p;
    int64_t *fen;
    struct str keys[KEYS]; /* the peer's */
    char key_text[KEYS][KEY_MAX];
    uint64_t won;
    int64_t paid_fen;
};

struct contest {
    struct bench b;
    struct bench_meter meter;
    struct redis_functions *peers;
    const struct redis_function *function; /* NULL: ours */
    struct entry entries[PACKETS_MAX];
    uint64_t grabs, packets, width, crowd;
};

static enum status command(struct contest *c, const struct str *args, size_t count)
{
    struct redis_call call;
    enum status st = redis_do(c->b.redis, &call, args, count);
    redis_call_free(&call);
    return st;
}

/* ---- the peers' keys ---- */

static const char *const COUNTERS_KEYS[KEYS] = { "count", "amount", "users", "records" };
static const char *const LOCK_KEYS[KEYS] = { "lock", "stock", "users", "records" };

static enum status counters_load(struct contest *c, struct entry *e)
{
    char count[NUMBER_MAX], amount[NUMBER_MAX];
    (void)snprintf(count, sizeof count, "%u", e->p.count);
    (void)snprintf(amount, sizeof amount, "%lld", (long long)e->p.amount_fen);
    const struct str set[] = { STR("MSET"), e->keys[0], str_from(count), e->keys[1], str_from(amount) };
    return command(c, set, 5);
}

/* The amounts are drawn in advance and stored in a list. */
static enum status lock_load(struct contest *c, struct entry *e)
{
    enum { PUSH_MAX = 1000 };
    static char texts[PUSH_MAX][NUMBER_MAX];
    enum status st = ST_OK;
    for (uint32_t i = 0; st == ST_OK && i < e->p.count;) {
        struct str args[2 + PUSH_MAX] = { STR("RPUSH"), e->keys[1] };
        size_t count = 0;
        for (; count < PUSH_MAX && i < e->p.count; i++, count++) {
            (void)snprintf(texts[count], sizeof texts[count], "%lld", (long long)e->fen[i]);
            args[2 + count] = str_from(texts[count]);
        }
        st = command(c, args, 2 + count);
    }
    return st;
}

static enum status ours_load(struct contest *c, struct entry *e)
{
    enum live_code code;
    enum status st = live_load(&c->b.live, &e->p, e->fen, NULL, 0, LIVE_STATE_OPEN, &code);
    return st == ST_OK && code != LIVE_LOADED ? ST_CONFLICT : st;
}

/* ---- one call ---- */

static void peer_queue(struct contest *c, struct redis_call *call, const struct entry *e, uint64_t user)
{
    char user_text[NUMBER_MAX], now[NUMBER_MAX], chance[NUMBER_MAX];
    (void)snprintf(user_text, sizeof user_text, "%llu", (unsigned long long)user);
    (void)snprintf(now, sizeof now, "%lld", (long long)clock_now_ms());
    (void)snprintf(chance, sizeof chance, "%u", (unsigned)(random_u64() >> 33));
    const struct str args[] = { str_from(user_text), str_from(now), str_from(chance) };
    redis_queue_function(c->b.redis, call, c->function, REDIS_ANY, e->keys, KEYS, args, 3);
}

/* Only a win counts: {1, fen} of the peers. */
static enum status peer_read(const struct redis_call *call, int64_t *fen)
{
    int64_t code = 0;
    *fen = 0;
    if (call->status != ST_OK)
        return call->status;
    (void)redis_reply_i64(redis_reply_at(call->reply, 0), &code);
    (void)redis_reply_i64(redis_reply_at(call->reply, 1), fen);
    return code == 1 && *fen > 0 ? ST_OK : ST_CORRUPT;
}

static enum status answer(const struct contest *c, struct entry *e, const struct redis_call *call)
{
    int64_t fen;
    enum status st = c->function == NULL ? bench_grab_read(call, (size_t)c->crowd, &fen) : peer_read(call, &fen);
    e->won += st == ST_OK ? c->crowd : 0;
    e->paid_fen += fen;
    return st;
}

/* ---- rounds ---- */

/* Users have other numbers in each round and packet. */
static enum status round_run(struct contest *c, uint64_t first_user)
{
    struct redis_call calls[WIDTH_MAX];
    const size_t count = (size_t)(c->width / c->crowd);
    enum status st = ST_OK;
    for (size_t i = 0; i < count; i++) {
        const struct entry *e = &c->entries[i % c->packets];
        uint64_t user = first_user + i * c->crowd;
        if (c->function == NULL)
            bench_grab_queue(&c->b, &calls[i], e->p.id, user, (size_t)c->crowd);
        else
            peer_queue(c, &calls[i], e, user);
    }
    redis_round(c->b.redis);
    for (size_t i = 0; i < count; i++) {
        enum status one = answer(c, &c->entries[i % c->packets], &calls[i]);
        st = st == ST_OK ? one : st;
        redis_call_free(&calls[i]);
    }
    return st;
}

static enum status grab_all(struct contest *c)
{
    enum status st = ST_OK;
    for (uint64_t done = 0; st == ST_OK && done < c->grabs; done += c->width)
        st = round_run(c, BENCH_USER_FIRST + done);
    /* Every share and every fen must be paid out: a script that is fast because it is wrong must not win. */
    for (size_t i = 0; st == ST_OK && i < c->packets; i++)
        if (c->entries[i].won != c->entries[i].p.count || c->entries[i].paid_fen != c->entries[i].p.amount_fen)
            st = ST_CORRUPT;
    return st;
}

/* ---- the whole ---- */

static const struct entrant {
    const char *name;
    const char *const *keys;
    enum status (*load)(struct contest *c, struct entry *e);
} ENTRANTS[] = { { "ours", NULL, ours_load },
                 { "counters", COUNTERS_KEYS, counters_load },
                 { "lock", LOCK_KEYS, lock_load } };

static enum status entry_make(struct contest *c, const struct entrant *e, uint64_t index)
{
    struct entry *one = &c->entries[index];
    const uint64_t shares = c->grabs / c->packets;
    one->fen = calloc(shares, sizeof *one->fen);
    if (one->fen == NULL)
        return ST_NO_MEMORY;
    if (!bench_packet(&one->p, one->fen, index, (uint32_t)shares, clock_now_ms()))
        return ST_INVALID;
    for (size_t i = 0; e->keys != NULL && i < KEYS; i++) {
        (void)snprintf(one->key_text[i], KEY_MAX, "hongbao:{%llu}:%s", (unsigned long long)index, e->keys[i]);
        one->keys[i] = str_from(one->key_text[i]);
    }
    return e->load(c, one);
}

static enum status contest_run(struct contest *c, const struct entrant *e, const char *peers_dir)
{
    char error[256] = "";
    const struct str flush[] = { STR("FLUSHALL") };
    if (redis_functions_read(peers_dir, &c->peers, error, sizeof error) != ST_OK) {
        (void)fprintf(stderr, "%s\n", error);
        return ST_INVALID;
    }
    c->function = e->keys == NULL ? NULL : redis_function_find(c->peers, e->name);
    if (e->keys != NULL && c->function == NULL)
        return ST_INVALID;
    enum status st = command(c, flush, 1);
    if (st == ST_OK)
        st = redis_functions_load(c->b.redis, c->peers);
    for (uint64_t i = 0; st == ST_OK && i < c->packets; i++)
        st = entry_make(c, e, i);
    if (st == ST_OK && !bench_meter_start(&c->meter, &c->b))
        st = ST_UNAVAILABLE;
    if (st == ST_OK)
        st = grab_all(c);
    return st == ST_OK && !bench_meter_stop(&c->meter) ? ST_UNAVAILABLE : st;
}

static const struct entrant *contest_parse(struct contest *c, int argc, char **argv)
{
    const struct entrant *e = NULL;
    for (size_t i = 0; argc == 7 && i < ARRAY_LEN(ENTRANTS); i++)
        if (strcmp(argv[1], ENTRANTS[i].name) == 0)
            e = &ENTRANTS[i];
    bool ok = e != NULL && bench_number(argv[2], 1, (uint64_t)PACKETS_MAX * SPLIT_COUNT_MAX, &c->grabs) &&
              bench_number(argv[3], 1, PACKETS_MAX, &c->packets) && bench_number(argv[4], 1, WIDTH_MAX, &c->width) &&
              bench_number(argv[5], 1, e->keys == NULL ? WIDTH_MAX : 1, &c->crowd);
    /* Whole rounds, and as many grabs on each packet. */
    ok = ok && c->grabs % c->width == 0 && c->width % (c->crowd * c->packets) == 0 &&
         c->grabs / c->packets <= SPLIT_COUNT_MAX;
    return ok ? e : NULL;
}

int main(int argc, char **argv)
{
    static struct contest c;
    const struct entrant *e = contest_parse(&c, argc, argv);
    if (e == NULL) {
        (void)fputs("usage: bench_scripts ours|counters|lock GRABS PACKETS WIDTH CROWD PEERS_DIR\n", stderr);
        return 2;
    }
    if (!bench_open(&c.b))
        return 1;
    enum status st = contest_run(&c, e, argv[6]);
    redis_functions_free(c.peers);
    for (size_t i = 0; i < c.packets; i++)
        free(c.entries[i].fen);
    bench_close(&c.b);
    if (st != ST_OK)
        return bench_fail(argv[1], st);
    bench_meter_print(&c.meter, c.grabs);
    return 0;
}

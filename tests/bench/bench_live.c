/* Live packets in Redis by the program's own code (live/live.h), and the cost of each call; each grab is a call:
 *   bench_live load FIRST PACKETS SHARES        loads packets FIRST … FIRST + PACKETS - 1, without grabs
 *   bench_live grab FIRST STEP PACKETS SHARES PASSES
 *                                               grabs all shares of PACKETS packets, STEP apart, one share of each in
 *                                               turn; before every further pass they are reloaded, not measured
 *   bench_live view FIRST STEP PACKETS CALLS    views them CALLS times, 50 rows each
 *   bench_live remove FIRST STEP PACKETS
 *   bench_live ids FIRST STEP PACKETS           prints no cost, but their public ids as a list of JSON
 * Rounds have BENCH_PIPELINE calls. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/public_id.h"
#include "bench.h"
#include "live/live.h"
#include "live/load.h"
#include "live/shut.h"
#include "live/view.h"
#include "packet/split.h"
#include "packet/view.h"

enum { VIEW_ROWS = 50 };
static const uint64_t NUMBER_MAX = 100000000;

struct task {
    struct bench b;
    struct bench_meter meter, before;             /* before: what was measured up to the last start */
    uint64_t first, step, packets, shares, calls; /* calls: passes of grab */
    uint64_t done;
};

/* Visits the packets in a scattered order, so that adjacent memory does not help. */
static uint64_t packet_index(const struct task *t, uint64_t i)
{
    static const uint64_t prime = 1000003;
    return t->first + (i * prime % t->packets) * t->step;
}

/* The packet of this index, new. */
static enum status packet_load(struct task *t, int64_t *fen, uint64_t index)
{
    struct packet p;
    enum live_code code;
    if (!bench_packet(&p, fen, index, (uint32_t)t->shares, clock_now_ms()))
        return ST_INVALID;
    enum status st = live_load(&t->b.live, &p, fen, NULL, 0, LIVE_STATE_OPEN, &code);
    return st == ST_OK && code != LIVE_LOADED ? ST_EXISTS : st;
}

static enum status load(struct task *t)
{
    int64_t *fen = calloc(t->shares, sizeof *fen);
    enum status st = fen == NULL ? ST_NO_MEMORY : ST_OK;
    for (; st == ST_OK && t->done < t->packets; t->done++)
        st = packet_load(t, fen, t->first + t->done);
    free(fen);
    return st;
}

static enum status reload(struct task *t)
{
    int64_t *fen = calloc(t->shares, sizeof *fen);
    enum status st = fen == NULL ? ST_NO_MEMORY : ST_OK;
    for (uint64_t i = 0; st == ST_OK && i < t->packets; i++) {
        uint64_t index = packet_index(t, i);
        st = live_remove(&t->b.live, BENCH_PACKET_FIRST + index);
        if (st == ST_OK)
            st = packet_load(t, fen, index);
    }
    free(fen);
    return st;
}

static enum status grab_pass(struct task *t)
{
    struct redis_call calls[BENCH_PIPELINE];
    const uint64_t total = t->packets * t->shares;
    enum status st = ST_OK;
    for (uint64_t done = 0; st == ST_OK && done < total; done += BENCH_PIPELINE) {
        size_t count = total - done < BENCH_PIPELINE ? (size_t)(total - done) : BENCH_PIPELINE;
        for (size_t i = 0; i < count; i++) {
            uint64_t n = done + i, index = packet_index(t, n % t->packets);
            bench_grab_queue(&t->b, &calls[i], BENCH_PACKET_FIRST + index,
                             bench_user(index, (uint32_t)(n / t->packets), t->shares), 1);
        }
        redis_round(t->b.redis);
        for (size_t i = 0; i < count; i++) {
            int64_t fen;
            if (st == ST_OK)
                st = bench_grab_read(&calls[i], 1, &fen);
            redis_call_free(&calls[i]);
        }
    }
    t->done += total;
    return st;
}

static enum status grab(struct task *t)
{
    struct bench_meter all = { 0 };
    enum status st = grab_pass(t);
    for (uint64_t pass = 1; st == ST_OK && pass < t->calls; pass++) {
        if (!bench_meter_stop(&t->meter))
            return ST_UNAVAILABLE;
        bench_meter_add(&all, &t->meter);
        st = reload(t);
        if (st == ST_OK && !bench_meter_start(&t->meter, &t->b))
            st = ST_UNAVAILABLE;
        if (st == ST_OK)
            st = grab_pass(t);
    }
    t->before = all;
    return st;
}

static enum status view(struct task *t)
{
    struct redis_call calls[BENCH_PIPELINE];
    struct arena *a = arena_new((size_t)256 << 10, (size_t)16 << 20);
    enum status st = a == NULL ? ST_NO_MEMORY : ST_OK;
    while (st == ST_OK && t->done < t->calls) {
        for (size_t i = 0; i < BENCH_PIPELINE; i++)
            live_view_queue(&t->b.live, &calls[i], BENCH_PACKET_FIRST + packet_index(t, t->done + i), BENCH_USER_FIRST,
                            PACKET_NO_SHARE, VIEW_ROWS);
        redis_round(t->b.redis);
        for (size_t i = 0; i < BENCH_PIPELINE; i++) {
            struct packet_view answer;
            if (st == ST_OK)
                st = live_view_read(&calls[i], a, BENCH_PACKET_FIRST + packet_index(t, t->done + i), &answer);
            redis_call_free(&calls[i]);
        }
        arena_reset(a);
        t->done += BENCH_PIPELINE;
    }
    arena_free(a);
    return st;
}

static enum status unload(struct task *t)
{
    enum status st = ST_OK;
    for (; st == ST_OK && t->done < t->packets; t->done++)
        st = live_remove(&t->b.live, BENCH_PACKET_FIRST + packet_index(t, t->done));
    return st;
}

static enum status ids(struct task *t)
{
    struct public_id_key key;
    char id[PUBLIC_ID_TEXT_MAX];
    public_id_key_set(&key, &t->b.config.keys.of[KEY_IDS]);
    for (; t->done < t->packets; t->done++) {
        public_id_encode(&key, BENCH_PACKET_FIRST + packet_index(t, t->done), id);
        (void)printf("%s\"%s\"", t->done == 0 ? "[" : ",", id);
    }
    (void)puts("]");
    return ST_OK;
}

static const struct command {
    const char *name;
    enum status (*run)(struct task *t);
    bool has_step, has_shares, has_calls, is_metered;
} COMMANDS[] = { { "load", load, false, true, false, true },
                 { "grab", grab, true, true, true, true },
                 { "view", view, true, false, true, true },
                 { "remove", unload, true, false, false, true },
                 { "ids", ids, true, false, false, false } };

static const struct command *task_parse(struct task *t, int argc, char **argv)
{
    const struct command *c = NULL;
    for (size_t i = 0; argc > 1 && i < ARRAY_LEN(COMMANDS); i++)
        if (strcmp(argv[1], COMMANDS[i].name) == 0)
            c = &COMMANDS[i];
    if (c == NULL || argc != 4 + c->has_step + c->has_shares + c->has_calls)
        return NULL;
    int at = 2;
    t->step = 1;
    bool ok = bench_number(argv[at++], 0, UINT32_MAX, &t->first);
    if (c->has_step)
        ok = ok && bench_number(argv[at++], 1, NUMBER_MAX, &t->step);
    ok = ok && bench_number(argv[at++], 1, NUMBER_MAX, &t->packets);
    if (c->has_shares)
        ok = ok && bench_number(argv[at++], 1, SPLIT_COUNT_MAX, &t->shares);
    if (c->has_calls)
        ok = ok && bench_number(argv[at++], 1, NUMBER_MAX, &t->calls);
    return ok ? c : NULL;
}

int main(int argc, char **argv)
{
    static struct task t;
    const struct command *c = task_parse(&t, argc, argv);
    if (c == NULL) {
        (void)fputs("usage: bench_live load FIRST PACKETS SHARES | grab FIRST STEP PACKETS SHARES PASSES |"
                    " view FIRST STEP PACKETS CALLS | remove FIRST STEP PACKETS | ids FIRST STEP PACKETS\n",
                    stderr);
        return 2;
    }
    if (!bench_open(&t.b))
        return 1;
    enum status st = bench_meter_start(&t.meter, &t.b) ? c->run(&t) : ST_UNAVAILABLE;
    if (st == ST_OK && !bench_meter_stop(&t.meter))
        st = ST_UNAVAILABLE;
    bench_close(&t.b);
    if (st != ST_OK)
        return bench_fail(c->name, st);
    bench_meter_add(&t.before, &t.meter);
    if (c->is_metered)
        bench_meter_print(&t.before, t.done);
    return 0;
}

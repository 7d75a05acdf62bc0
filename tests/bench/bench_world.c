/* Makes packets in the stores of HB_CONFIG (an administrator's) by the program's own code, and takes their shares:
 *   bench_world COMMAND FIRST STEP PACKETS SHARES EXPIRES_MS
 * The packets are numbered FIRST, FIRST + STEP and so on; each is lucky, has SHARES shares and is open for a day. No
 * settle worker runs meanwhile. COMMAND is one of
 *   closed  the rows of packets of which every share is taken, and of their grabs
 *   open    the rows of packets without grabs
 *   load    packets without grabs, in Redis
 *   grab takes SHARES shares of each packet in Redis, one of each packet in turn, each by a separate call
 *   remove  deletes the packets from Redis
 *   ids     prints their public ids as a list of JSON
 * Each except ids prints {"count":…,"own_ns":…}: grabs or packets, and the CPU time of this process for them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/buf.h"
#include "live/keys.h"
#include "live/live.h"
#include "live/load.h"
#include "live/shut.h"
#include "packet/split.h"
#include "packet/store.h"
#include "redis/reply.h"
#include "support/packet_row.h"
#include "support/test_services.h"

enum {
    USER_FIRST = 10001,
    USERS_MIN = 10000,
    SHARE_FEN = 100, /* on average */
    DAY_MS = 24 * 3600 * 1000,
    CALLS_PER_ROUND = 16, /* about as many as one batch of the hot pool under load */
    ROWS_PER_COMMIT = 5000
};
#define PACKET_FIRST (UINT64_C(1) << 58)

struct work {
    struct services *app;
    uint64_t first, step, packets, shares, expires_ms;
    int64_t *fen; /* the shares of a packet */
    uint64_t done;
    bool closed;
    struct buf grabs; /* SQL */
};

static uint64_t number_of(const struct work *w, uint64_t i)
{
    return w->first + i * w->step;
}

/* Visits the packets in a scattered order, so that adjacent memory does not help. */
static uint64_t scattered_number_of(const struct work *w, uint64_t i)
{
    static const uint64_t prime = 1000003;
    return number_of(w, i * prime % w->packets);
}

static unsigned long long user_of(const struct work *w, uint64_t number, uint64_t share_no)
{
    return USER_FIRST + (number * 7 + share_no) % (w->shares > USERS_MIN ? w->shares : USERS_MIN);
}

/* Makes the packet of this number, and its shares in w->fen. */
static enum status packet_make(struct work *w, struct packet *p, uint64_t number)
{
    const int64_t total_fen = (int64_t)w->shares * SHARE_FEN, expires_ms = (int64_t)w->expires_ms;
    *p = (struct packet){ .id = PACKET_FIRST + number,
                          .sender_id = user_of(w, number, 0),
                          .sender_name = STR("小明"),
                          .kind = PACKET_LUCKY,
                          .split = SPLIT_DOUBLE_AVERAGE,
                          .amount_fen = total_fen,
                          .count = (uint32_t)w->shares,
                          .share_min_fen = 1,
                          .share_max_fen = total_fen,
                          .greeting = STR("恭喜发财，大吉大利"),
                          .state = PACKET_OPEN,
                          .created_ms = expires_ms - DAY_MS,
                          .expires_ms = expires_ms };
    memcpy(p->seed, &p->id, sizeof p->id);
    split_commitment(p->seed, p->commitment);
    enum status st = split_packet(p, w->fen);
    if (st == ST_OK)
        p->best_share_no = split_best_share_no(w->fen, p->count);
    return st;
}

/* ---- rows ---- */

static void grabs_add(struct work *w, const struct packet *p)
{
    for (uint32_t i = 0; i < p->count; i++)
        buf_printf(&w->grabs, "%s(%llu,%u,%llu,'x',%lld,%lld)",
                   w->grabs.len > 0 ? ","
                                    : "INSERT INTO `grab` (packet_id, share_no, user_id, nickname, amount_fen,"
                                      " grabbed_ms) VALUES ",
                   (unsigned long long)p->id, i, user_of(w, p->id - PACKET_FIRST, i), (long long)w->fen[i],
                   (long long)p->created_ms);
}

static enum status row_insert(struct db *db, struct work *w)
{
    struct packet p;
    char key[STR_U64_MAX];
    enum status st = packet_make(w, &p, number_of(w, w->done++));
    if (st != ST_OK)
        return st;
    p.request_key = str_u64(key, p.id);
    if (w->closed) {
        p.state = PACKET_CLOSED;
        p.grabbed_count = p.count;
        p.grabbed_fen = p.amount_fen;
        p.finished_ms = p.closed_ms = p.created_ms;
        grabs_add(w, &p);
    }
    return packet_insert(db, &p);
}

static enum status rows_body(struct db *db, void *ctx)
{
    struct work *w = ctx;
    enum status st = ST_OK;
    buf_reset(&w->grabs);
    for (uint64_t n = 0; st == ST_OK && n < ROWS_PER_COMMIT && w->done < w->packets; n += w->closed ? w->shares : 1)
        st = row_insert(db, w);
    return st == ST_OK && w->closed ? db_exec_buf(db, NULL, &w->grabs) : st;
}

/* Inserts the rows of packets and grabs. The rows to which they refer are inserted afterwards. */
static enum status rows(struct work *w)
{
    struct db *db = w->app->stores.db;
    enum status st = db_exec(db, NULL, "SET SESSION foreign_key_checks = 0", NULL, 0);
    while (st == ST_OK && w->done < w->packets)
        st = db_transaction(db, rows_body, w);
    return st;
}

/* ---- Redis ---- */

static enum status load(struct work *w)
{
    const struct live_settled none = { 0 };
    struct packet p;
    enum live_code code;
    enum status st = ST_OK;
    for (; st == ST_OK && w->done < w->packets; w->done++) {
        st = packet_make(w, &p, number_of(w, w->done));
        if (st == ST_OK)
            st = live_load(&w->app->stores.live, &p, w->fen, &none, 0, LIVE_STATE_OPEN, &code); /* not a new one */
        if (st == ST_OK && code != LIVE_LOADED)
            st = ST_EXISTS;
    }
    return st;
}

static void grab_queue(struct work *w, struct redis_call *call, uint64_t number, uint64_t share_no)
{
    const struct live *live = &w->app->stores.live;
    const uint64_t id = PACKET_FIRST + number;
    struct live_keys keys;
    char packet[STR_U64_MAX], user[STR_U64_MAX];
    live_keys(&keys, id, live->partitions);
    const struct str names[] = { keys.key[LIVE_KEY_PACKET], keys.key[LIVE_KEY_SHARES], keys.key[LIVE_KEY_GRABS],
                                 keys.key[LIVE_KEY_ORDER], keys.key[LIVE_KEY_EVENTS] };
    const struct str args[] = { str_u64(packet, id), str_u64(user, user_of(w, number, share_no)), STR("小强"), STR(""),
                                STR("") };
    redis_queue_function(live->redis, call, live->grab, (int)packet_partition(id, live->partitions), names,
                         ARRAY_LEN(names), args, ARRAY_LEN(args));
}

/* ST_CONFLICT: the user got no share. */
static enum status grab_read(const struct redis_call *call)
{
    int64_t code;
    if (call->status != ST_OK)
        return call->status;
    return redis_reply_i64(redis_reply_at(redis_reply_at(call->reply, 0), 0), &code) && code == LIVE_GRABBED
               ? ST_OK
               : ST_CONFLICT;
}

static enum status grab(struct work *w)
{
    struct redis_call calls[CALLS_PER_ROUND];
    const uint64_t total = w->packets * w->shares;
    enum status st = ST_OK;
    while (st == ST_OK && w->done < total) {
        size_t count = 0;
        for (; count < CALLS_PER_ROUND && w->done < total; count++, w->done++)
            grab_queue(w, &calls[count], scattered_number_of(w, w->done % w->packets), w->done / w->packets);
        redis_round(w->app->stores.redis);
        for (size_t i = 0; i < count; i++) {
            if (st == ST_OK)
                st = grab_read(&calls[i]);
            redis_call_free(&calls[i]);
        }
    }
    return st;
}

static enum status unload(struct work *w)
{
    enum status st = ST_OK;
    for (; st == ST_OK && w->done < w->packets; w->done++)
        st = live_remove(&w->app->stores.live, PACKET_FIRST + number_of(w, w->done));
    return st;
}

static enum status ids(struct work *w)
{
    char id[PUBLIC_ID_TEXT_MAX];
    for (; w->done < w->packets; w->done++) {
        public_id_encode(&w->app->id_key, PACKET_FIRST + scattered_number_of(w, w->done), id);
        (void)printf("%s\"%s\"", w->done == 0 ? "[" : ",", id);
    }
    (void)puts("]");
    return ST_OK;
}

/* ---- the program ---- */

static const struct command {
    const char *name;
    enum status (*run)(struct work *w);
} COMMANDS[] = { { "closed", rows }, { "open", rows },     { "load", load },
                 { "grab", grab },   { "remove", unload }, { "ids", ids } };

static const struct command *work_parse(struct work *w, int argc, char **argv)
{
    uint64_t *const numbers[] = { &w->first, &w->step, &w->packets, &w->shares, &w->expires_ms };
    bool ok = argc == 2 + (int)ARRAY_LEN(numbers);
    for (size_t i = 0; ok && i < ARRAY_LEN(numbers); i++)
        ok = str_to_u64(str_from(argv[2 + i]), numbers[i]);
    if (ok && w->packets > 0 && w->shares > 0 && w->shares <= SPLIT_COUNT_MAX)
        for (size_t i = 0; i < ARRAY_LEN(COMMANDS); i++)
            if (strcmp(argv[1], COMMANDS[i].name) == 0)
                return &COMMANDS[i];
    return NULL;
}

int main(int argc, char **argv)
{
    struct work w = { 0 };
    const struct command *c = work_parse(&w, argc, argv);
    if (c == NULL) {
        (void)fputs("usage: bench_world closed|open|load|grab|remove|ids FIRST STEP PACKETS SHARES EXPIRES_MS\n",
                    stderr);
        return 2;
    }
    w.app = test_services_open();
    w.fen = calloc(w.shares, sizeof *w.fen);
    if (w.app == NULL || w.fen == NULL)
        return 1;
    test_services_fences_open(w.app);
    w.closed = strcmp(c->name, "closed") == 0;
    const clock_t before = clock();
    enum status st = c->run(&w);
    const long long own_ns = (long long)(clock() - before) * (1000000000 / CLOCKS_PER_SEC);
    buf_free(&w.grabs);
    free(w.fen);
    test_services_close(w.app);
    if (st != ST_OK)
        (void)fprintf(stderr, "bench_world %s: %s\n", c->name, status_name(st));
    else if (c->run != ids)
        (void)printf("{\"count\":%llu,\"own_ns\":%lld}\n", (unsigned long long)w.done, own_ns);
    return st == ST_OK ? 0 : 1;
}

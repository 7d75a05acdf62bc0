/* The simplest settlement, to compare with the settle worker: bench_settle_single GRABS settles that many grabs of the
 * streams, each in a transaction of its own, with the same library and single-row versions of the same statements. The
 * unique keys catch a repeat after a crash; settled entries are trimmed batch by batch. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "bench.h"
#include "io/redis_reply.h"
#include "live/event.h"
#include "live/keys.h"
#include "packet/store.h"
#include "support/test_services.h"

enum { READ_MAX = 1000 };
static const size_t ARENA_CHUNK_BYTES = (size_t)64 << 10, ARENA_BYTES_MAX = (size_t)16 << 20;

struct single {
    struct services *app;
    struct arena *arena;
    struct live_event event;
    uint64_t wanted, settled;
};

/* Adds the grab to the packet's row, which stays locked until the commit: grabs of one packet are serialized. */
static enum status packet_advance(struct single *s, struct db *db)
{
    const struct live_event *e = &s->event;
    struct packet p;
    enum status st = packet_find_locked(db, s->arena, e->packet_id, &p);
    if (st == ST_OK && p.grabbed_count != e->share_no)
        st = ST_CORRUPT;
    if (st != ST_OK)
        return st;
    const bool finishes = p.grabbed_count + 1 == p.count;
    return db_exec(db, NULL,
                   "UPDATE packet SET grabbed_count = grabbed_count + 1, grabbed_fen = grabbed_fen + ?,"
                   " finished_ms = IF(?, ?, finished_ms), closed_ms = IF(?, ?, closed_ms),"
                   " state = IF(?, 'closed', 'open') WHERE id = ?",
                   DB_PARAMS(DB_I64(e->amount_fen), DB_I64(finishes), DB_U64(e->id.ms), DB_I64(finishes),
                             DB_U64(e->id.ms), DB_I64(finishes), DB_U64(e->packet_id)));
}

static enum status settle_body(struct db *db, void *ctx)
{
    struct single *s = ctx;
    const struct live_event *e = &s->event;
    const struct clock_date date = clock_zone_date((int64_t)e->id.ms);
    enum status st = packet_advance(s, db);
    if (st == ST_OK)
        st = db_exec(db, NULL, "UPDATE account SET balance_fen = balance_fen - ? WHERE id = ?",
                     DB_PARAMS(DB_I64(e->amount_fen), DB_U64(e->packet_id)));
    if (st == ST_OK)
        st = db_exec(db, NULL, "UPDATE account SET balance_fen = balance_fen + ? WHERE id = ?",
                     DB_PARAMS(DB_I64(e->amount_fen), DB_U64(e->user_id)));
    if (st == ST_OK)
        st = db_exec(db, NULL,
                     "INSERT INTO grab (packet_id, share_no, user_id, nickname, amount_fen, grabbed_ms)"
                     " VALUES (?, ?, ?, ?, ?, ?)",
                     DB_PARAMS(DB_U64(e->packet_id), DB_U64(e->share_no), DB_U64(e->user_id), DB_TEXT(e->nickname),
                               DB_I64(e->amount_fen), DB_U64(e->id.ms)));
    if (st == ST_OK)
        st = db_exec(db, NULL,
                     "INSERT INTO user_month (user_id, year, month, received_count, received_fen)"
                     " VALUES (?, ?, ?, 1, ?) ON DUPLICATE KEY UPDATE received_count = received_count + 1,"
                     " received_fen = received_fen + VALUES(received_fen)",
                     DB_PARAMS(DB_U64(e->user_id), DB_I64(date.year), DB_I64(date.month), DB_I64(e->amount_fen)));
    return st;
}

/* One read of one stream. *more: there may be further events. */
static enum status page_settle(struct single *s, uint32_t partition, bool *more)
{
    char events[LIVE_KEY_MAX], last[LIVE_EVENT_ID_MAX], count[16];
    struct redis_call read, trim;
    size_t found = 0;
    uint64_t left = s->wanted - s->settled;
    (void)snprintf(count, sizeof count, "%llu", (unsigned long long)(left < READ_MAX ? left : READ_MAX));
    struct str key = live_events_key(events, partition);
    const struct str range[] = { STR("XRANGE"), key, STR("-"), STR("+"), STR("COUNT"), str_from(count) };
    enum status st = redis_do(s->app->stores.redis, &read, range, 6);
    for (const redisReply *entry; st == ST_OK && (entry = redis_reply_at(read.reply, found)) != NULL; found++) {
        arena_reset(s->arena);
        st = live_entry_first(entry, &s->event);
        if (st == ST_OK && s->event.type == LIVE_EVENT_GRAB)
            st = db_transaction(s->app->stores.db, settle_body, s);
        s->settled++;
    }
    redis_call_free(&read);
    *more = found > 0 && s->settled < s->wanted;
    if (st != ST_OK || found == 0)
        return st;
    struct live_event_id behind = { s->event.id.ms, s->event.id.seq + 1 };
    const struct str cut[] = { STR("XTRIM"), key, STR("MINID"), STR("="), live_event_id_text(last, behind) };
    st = redis_do(s->app->stores.redis, &trim, cut, 5);
    redis_call_free(&trim);
    return st;
}

int main(int argc, char **argv)
{
    struct single s = { 0 };
    enum status st = ST_OK;
    if (argc != 2 || !bench_number(argv[1], 1, UINT32_MAX, &s.wanted)) {
        (void)fputs("usage: bench_settle_single GRABS\n", stderr);
        return 2;
    }
    s.app = test_services_open();
    s.arena = arena_new(ARENA_CHUNK_BYTES, ARENA_BYTES_MAX);
    if (s.app == NULL || s.arena == NULL || !clock_zone_set(s.app->stores.config->timezone))
        return 1;
    int64_t started_ms = clock_monotonic_ms();
    const clock_t cpu = clock();
    for (uint32_t p = 0; st == ST_OK && p < s.app->stores.config->partitions && s.settled < s.wanted; p++)
        for (bool more = true; st == ST_OK && more;)
            st = page_settle(&s, p, &more);
    if (st == ST_OK && s.settled < s.wanted)
        st = ST_NOT_FOUND;
    if (st == ST_OK)
        (void)printf("{\"count\":%llu,\"wall_ns\":%lld,\"own_ns\":%lld}\n", (unsigned long long)s.settled,
                     (long long)(clock_monotonic_ms() - started_ms) * 1000000,
                     (long long)(clock() - cpu) * (1000000000 / CLOCKS_PER_SEC));
    arena_free(s.arena);
    test_services_close(s.app);
    return st == ST_OK ? 0 : bench_fail("bench_settle_single", st);
}

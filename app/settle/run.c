/* The settle worker as a process: passes, and the chores between them, until a signal. */
#include "settle/settle.h"

#include "base/clock.h"
#include "base/log.h"
#include "io/process.h"
#include "live/stores.h"
#include "settle/expire.h"
#include "settle/recover.h"

enum {
    CHORES_INTERVAL_MS = 1000, /* expiry and recovery */
    AWAY_WAIT_MS = 100         /* while Redis is not looked at, grabs are refused */
};

/* Expiry and recovery, once a second. A Redis without memory may refuse to take a packet back: expiry makes room. */
static enum status chores(struct settle *s, struct expire *expire, struct recover *recover)
{
    struct recover_done done = { 0 };
    uint64_t closed = 0;
    enum status recovered = recover_pass(recover, s, clock_now_ms(), &done);
    enum status expired = expire_pass(expire, s, clock_now_ms(), &closed, &done);
    if (closed + done.loaded + done.refunded > 0)
        log_info("packets looked after", "closed=%llu loaded=%llu refunded=%llu", (unsigned long long)closed,
                 (unsigned long long)done.loaded, (unsigned long long)done.refunded);
    return recovered != ST_OK ? recovered : expired;
}

/* Until the next pass, by how this one ended. */
static int64_t pause_ms(const struct settle *s, enum status st, uint64_t events)
{
    if (st != ST_OK)
        return AWAY_WAIT_MS;
    if (events > 0)
        return 0;
    return s->again ? 1 : s->stores->config->settle_interval_ms;
}

enum status settle_run(struct stores *stores, settle_extra *extra, void *ctx)
{
    struct settle *s;
    struct expire expire = { 0 };
    struct recover recover = { .whole = true };
    bool away = false;
    int64_t chores_due_ms = 0, extra_due_ms = 0;
    enum status st = settle_new(stores, &s);
    if (st != ST_OK)
        return st;
    process_signals_prepare(); /* let in only while we pause: a batch under way is never interrupted */
    log_info("settling", "partitions=%u", s->partition_count);
    while (!process_stop_asked()) {
        uint64_t events = 0;
        bool checked = false;
        st = recover_fence(&recover, s, &checked);
        if (st == ST_OK)
            st = settle_pass(s, &events);
        s->again = s->again || !checked;
        if (st == ST_OK && clock_monotonic_ms() >= chores_due_ms) {
            st = chores(s, &expire, &recover);
            bool more = st == ST_OK && (expire.packet_id != 0 || recover.whole);
            chores_due_ms = clock_monotonic_ms() + (more ? 0 : CHORES_INTERVAL_MS);
        }
        if (st == ST_OK && extra != NULL && clock_monotonic_ms() >= extra_due_ms) {
            extra(stores, ctx);
            extra_due_ms = clock_monotonic_ms() + CHORES_INTERVAL_MS;
        }
        if ((st != ST_OK) != away) {
            away = st != ST_OK;
            if (away)
                log_warn(st == ST_INVALID ? "waiting for other settings" : "a store is away, waiting", "status=%s",
                         status_name(st));
            else
                log_info("the stores are back", NULL);
        }
        (void)process_poll(NULL, 0, pause_ms(s, st, events));
        if (process_restart_due())
            process_restart(NULL, 0);
    }
    log_info("settling ends", NULL);
    settle_free(s);
    return ST_OK;
}

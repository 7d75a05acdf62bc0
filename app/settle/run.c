#include "settle/run.h"

#include "base/clock.h"
#include "base/log.h"
#include "io/metrics_processes.h"
#include "io/notify.h"
#include "io/process.h"
#include "redis/function_load.h"
#include "settle/away.h"
#include "settle/expire.h"
#include "settle/publish.h"
#include "settle/recover.h"
#include "settle/recover_stream.h"
#include "settle/settle.h"
#include "settle/site.h"
#include "settle/tell.h"

enum {
    /* between two runs of expiry and recovery, of extra, and of the check of functions */
    MAINTENANCE_INTERVAL_MS = 1000,
    /* The worker is idle after so many passes of maintenance in a row that found nothing to do, and no packet that the
     * sender's process may still load. */
    IDLE_PASSES = 4,
    RETRY_PAUSE_MS = 100 /* while a store is unreachable; short, because grabs are refused until the fence is open */
};

struct worker {
    struct settle *settle;
    struct expire expire;
    struct recover recover;
    struct tell tell;
    settle_extra *extra;
    void *extra_ctx;
    int64_t functions_due_ms, maintenance_due_ms, extra_due_ms; /* monotonic */
    bool maintenance_failed;                                    /* maintenance failed the last time it was due */
    bool functions_refused;                                     /* the same */
    bool extra_walked;                                          /* the first walk of extra is complete */
    uint32_t idle_passes;                                       /* passes of maintenance since the last work */
    uint32_t away_count;                                        /* partitions that were away in the last step */
    bool failed;                                                /* the last step failed, or maintenance did */
};

/* Runs recovery, checks the positions, writes pending returns and thanks to Redis, and runs expiry. Expiry runs also
 * when recovery has failed: it frees memory in a full Redis, which refuses to load packets. */
static enum status maintain(struct worker *w)
{
    struct recover_done done = { 0 };
    uint64_t closed = 0;
    enum status recovered = recover_pass(&w->recover, w->settle, clock_now_ms(), &done);
    metrics_process_beat();
    enum status looked = settle_positions_look(w->settle);
    enum status told = tell_pass(&w->tell, w->settle, clock_now_ms());
    metrics_process_beat();
    enum status expired = expire_pass(&w->expire, w->settle, clock_now_ms(), &closed, &done);
    if (closed + done.loaded + done.refunded > 0)
        log_info("recovery pass finished", "closed=%llu loaded=%llu refunded=%llu", (unsigned long long)closed,
                 (unsigned long long)done.loaded, (unsigned long long)done.refunded);
    bool worked = closed + recover_worked(&done) + done.left > 0 || w->expire.packet_id != 0 || w->recover.full_walk ||
                  tell_is_walking(&w->tell);
    w->idle_passes = worked ? 0 : w->idle_passes + 1;
    return recovered != ST_OK ? recovered : looked != ST_OK ? looked : told != ST_OK ? told : expired;
}

static enum status maintain_when_due(struct worker *w)
{
    if (clock_monotonic_ms() < w->maintenance_due_ms)
        return ST_OK;
    enum status st = maintain(w);
    w->maintenance_failed = st != ST_OK;
    bool more = st == ST_OK && (w->expire.packet_id != 0 || w->recover.full_walk || w->recover.funding_more);
    w->maintenance_due_ms = clock_monotonic_ms() + (more ? 0 : MAINTENANCE_INTERVAL_MS);
    return st;
}

/* Checks the functions when it is time, and at once after a failed step: missing functions may be the reason. */
static void functions_when_due(struct worker *w)
{
    if (clock_monotonic_ms() < w->functions_due_ms)
        return;
    enum status st = status_idempotent(redis_functions_load(w->settle->stores->redis, w->settle->stores->functions));
    bool refused = st != ST_OK && st != ST_UNAVAILABLE;
    if (refused && !w->functions_refused && st == ST_CONFLICT)
        log_warn("redis takes no functions while it refuses writes: no grabs until then", NULL);
    else if (refused && !w->functions_refused)
        log_error("redis takes no functions, so no grabs", "status=%s", status_name(st));
    w->functions_refused = refused;
    w->functions_due_ms = clock_monotonic_ms() + (st == ST_OK ? MAINTENANCE_INTERVAL_MS : RETRY_PAUSE_MS);
}

static void extra_when_due(struct worker *w)
{
    if (w->extra == NULL || clock_monotonic_ms() < w->extra_due_ms)
        return;
    w->extra_walked = w->extra(w->settle->stores, w->extra_ctx);
    w->extra_due_ms = clock_monotonic_ms() + MAINTENANCE_INTERVAL_MS;
}

/* One step: loads functions that Redis lacks, compares the stores, opens the fences if necessary, settles a pass,
 * repairs gaps, then runs what is due. *events: number of settled events. */
static enum status worker_step(struct worker *w, uint64_t *events)
{
    bool open = false;
    *events = 0;
    metrics_process_beat();
    functions_when_due(w);
    enum status st = settle_site_confirm(w->settle);
    if (st == ST_OK)
        st = recover_fences(&w->recover, w->settle, &open);
    if (st == ST_OK)
        st = settle_pass(w->settle, events);
    if (st == ST_OK)
        st = recover_gaps(w->settle);
    w->settle->pass_due = w->settle->pass_due || (!open && settle_away_count(w->settle) == 0);
    if (st == ST_OK)
        st = maintain_when_due(w);
    if (st == ST_OK)
        extra_when_due(w);
    else
        w->functions_due_ms = 0;
    if (st != ST_OK || !open || *events > 0 || w->settle->pass_due)
        w->idle_passes = 0;
    return st;
}

static bool worker_is_idle(const struct worker *w)
{
    return w->idle_passes >= IDLE_PASSES && (w->extra == NULL || w->extra_walked);
}

/* Logs when stores go away or come back. A good step does not prove that MySQL is back, because it may not have used
 * MySQL; so while maintenance fails, nothing is logged. */
static void status_log(struct worker *w, enum status st)
{
    if ((st != ST_OK) == w->failed || (st == ST_OK && w->maintenance_failed))
        return;
    w->failed = st != ST_OK;
    if (!w->failed)
        log_info("stores reachable again", NULL);
    else
        log_warn(st == ST_INVALID                               ? "settings do not match the tables, retrying"
                 : !w->settle->site.agrees && st == ST_CONFLICT ? "the stores do not belong together, retrying"
                                                                : "store unreachable, retrying",
                 "status=%s", status_name(st));
}

static void away_log(struct worker *w)
{
    const uint32_t count = settle_away_count(w->settle);
    if (count == w->away_count)
        return;
    if (count > 0)
        log_warn("partitions wait for their redis server", "partitions=%u", count);
    else
        log_info("no partition waits for its redis server any more", NULL);
    w->away_count = count;
}

/* Pause before the next step, by the result of this one. */
static int64_t pause_ms(const struct settle *s, enum status st, uint64_t events)
{
    if (st != ST_OK)
        return RETRY_PAUSE_MS;
    if (events > 0)
        return 0;
    return s->pass_due ? 1 : s->stores->config->settle_interval_ms;
}

enum status settle_run(struct stores *stores, enum settle_end end, settle_extra *extra, void *ctx)
{
    struct worker w = { .recover = { .full_walk = true }, .extra = extra, .extra_ctx = ctx };
    enum status st = settle_new(stores, &w.settle);
    if (st != ST_OK)
        return st;
    process_signals_init(); /* signals are delivered only in process_poll, so they never interrupt a batch */
    metrics_process_begin(METRICS_SETTLE);
    log_info("settle worker started", "partitions=%u", w.settle->partition_count);
    /* The pools of a new program wait for functions and fences (deploy/commands/setup/units.sh). */
    functions_when_due(&w);
    (void)settle_site_confirm(w.settle);
    notify_ready();
    while (!process_stop_requested() && (end != SETTLE_UNTIL_IDLE || !worker_is_idle(&w))) {
        uint64_t events;
        notify_alive();
        st = worker_step(&w, &events);
        status_log(&w, st);
        away_log(&w);
        (void)process_poll(NULL, 0, pause_ms(w.settle, st, events));
        if (process_restart_due())
            process_restart(NULL, 0);
    }
    notify_stopping();
    settle_site_raise(w.settle);
    metrics_process_end();
    log_info("settle worker stopped", NULL);
    settle_free(w.settle);
    return ST_OK;
}

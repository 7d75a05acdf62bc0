/* The settle worker as a process: passes, and the chores between them, until a signal. */
#include "packet/settle.h"

#include <poll.h>
#include <signal.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "packet/expire.h"
#include "packet/recover.h"

enum {
    CHORES_INTERVAL_MS = 1000, /* expiry and recovery */
    AWAY_WAIT_MS = 500
};

/* Set by the signal; read between batches. A handler can't reach anything but a global. */
static volatile sig_atomic_t stop_asked;

static void stop_handler(int signal_no)
{
    (void)signal_no;
    stop_asked = 1;
}

/* Signals arrive only in pause_ms: a batch under way is never interrupted. */
static void signals_prepare(sigset_t *open_mask)
{
    struct sigaction stop = { .sa_handler = stop_handler }, ignore = { .sa_handler = SIG_IGN };
    sigset_t block;
    stop_asked = 0;
    sigemptyset(&stop.sa_mask);
    sigemptyset(&ignore.sa_mask);
    sigemptyset(&block);
    sigaddset(&block, SIGTERM);
    sigaddset(&block, SIGINT);
    sigprocmask(SIG_BLOCK, &block, open_mask);
    sigdelset(open_mask, SIGTERM);
    sigdelset(open_mask, SIGINT);
    sigaction(SIGTERM, &stop, NULL);
    sigaction(SIGINT, &stop, NULL);
    sigaction(SIGPIPE, &ignore, NULL);
}

static void pause_ms(int64_t ms, const sigset_t *open_mask)
{
    struct timespec wait = { .tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000 };
    (void)ppoll(NULL, 0, &wait, open_mask);
}

/* Expiry and recovery, once a second. */
static enum status chores(struct settle *s, struct expire *expire, struct recover *recover)
{
    struct recover_done done = { 0 };
    uint64_t closed = 0;
    enum status st = recover_pass(recover, s, clock_now_ms(), &done);
    if (st == ST_OK)
        st = expire_pass(expire, s, clock_now_ms(), &closed, &done);
    if (closed + done.loaded + done.refunded > 0)
        log_info("packets looked after", "closed=%llu loaded=%llu refunded=%llu", (unsigned long long)closed,
                 (unsigned long long)done.loaded, (unsigned long long)done.refunded);
    return st;
}

enum status settle_run(struct services *app, settle_extra *extra, void *ctx)
{
    struct settle *s;
    struct expire expire = { 0 };
    struct recover recover = { .whole = true };
    sigset_t open_mask;
    bool away = false;
    int64_t chores_due_ms = 0, extra_due_ms = 0;
    enum status st = settle_new(app, &s);
    if (st != ST_OK)
        return st;
    signals_prepare(&open_mask);
    log_info("settling", "partitions=%u", s->partition_count);
    while (!stop_asked) {
        uint64_t events = 0;
        st = settle_pass(s, &events);
        if (st == ST_OK && clock_monotonic_ms() >= chores_due_ms) {
            st = chores(s, &expire, &recover);
            bool more = st == ST_OK && (expire.packet_id != 0 || recover.whole);
            chores_due_ms = clock_monotonic_ms() + (more ? 0 : CHORES_INTERVAL_MS);
        }
        if (st == ST_OK && extra != NULL && clock_monotonic_ms() >= extra_due_ms) {
            extra(app, ctx);
            extra_due_ms = clock_monotonic_ms() + CHORES_INTERVAL_MS;
        }
        if ((st != ST_OK) != away) {
            away = st != ST_OK;
            if (away)
                log_warn("a store is away, waiting", "status=%s", status_name(st));
            else
                log_info("the stores are back", NULL);
        }
        pause_ms(st != ST_OK  ? AWAY_WAIT_MS
                 : events > 0 ? 0
                 : s->again   ? 1
                              : app->config->settle_interval_ms,
                 &open_mask);
    }
    log_info("settling ends", NULL);
    settle_free(s);
    return ST_OK;
}

#include "io/cpu_yield.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/select.h>
#include <time.h>

enum {
    LOOK_NS = 500 * 1000,
    PAUSE_NS = 10 * 1000, /* the kernel adds its slack, 50 us */
    /* Of CPU time: where the CPU is used up the clock runs much faster than we do, and whoever paused at each look
     * would get nothing done. */
    WORK_NS_MIN = LOOK_NS / 2
};

static timer_t timer;
static bool ticking;
static int64_t paused_at_ns; /* read and written by the handler, and before the timer runs */

static int64_t own_cpu_ns(void)
{
    struct timespec used = { 0 };
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
}

static void on_look(int signal_no)
{
    int kept = errno;
    (void)signal_no;
    if (own_cpu_ns() - paused_at_ns >= WORK_NS_MIN) {
        const struct timespec pause = { .tv_nsec = PAUSE_NS };
        (void)pselect(0, NULL, NULL, NULL, &pause, NULL); /* nanosleep is not on the list of what a handler may call */
        paused_at_ns = own_cpu_ns();
    }
    errno = kept;
}

void cpu_yield_begin(void)
{
    struct sigaction action = { .sa_handler = on_look, .sa_flags = SA_RESTART };
    struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN };
    const struct itimerspec every = { .it_interval.tv_nsec = LOOK_NS, .it_value.tv_nsec = LOOK_NS };
    sigemptyset(&action.sa_mask);
    sigaction(SIGRTMIN, &action, NULL);
    paused_at_ns = own_cpu_ns();
    ticking = timer_create(CLOCK_MONOTONIC, &event, &timer) == 0;
    if (ticking)
        (void)timer_settime(timer, 0, &every, NULL);
}

void cpu_yield_end(void)
{
    int kept = errno;
    if (ticking)
        (void)timer_delete(timer); /* a signal that is due is delivered before this comes back */
    ticking = false;
    errno = kept;
}

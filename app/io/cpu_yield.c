#include "io/cpu_yield.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/select.h>
#include <time.h>

enum {
    CHECK_NS = 500 * 1000,
    PAUSE_NS = 10 * 1000, /* the kernel adds its timer slack, 50 us */
    /* CPU time between two pauses. On a busy CPU the process gets little CPU time between two checks; with a pause at
     * each check it would make no progress. */
    WORK_NS_MIN = CHECK_NS / 2
};

static timer_t timer;
static bool timer_running;
static int64_t last_pause_cpu_ns; /* CPU time of the thread; used by the handler, and before the timer starts */

static int64_t thread_cpu_ns(void)
{
    struct timespec used = { 0 };
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
}

static void on_check(int signal_no)
{
    int saved_errno = errno;
    (void)signal_no;
    if (thread_cpu_ns() - last_pause_cpu_ns >= WORK_NS_MIN) {
        const struct timespec pause = { .tv_nsec = PAUSE_NS };
        (void)pselect(0, NULL, NULL, NULL, &pause, NULL); /* async-signal-safe, nanosleep is not */
        last_pause_cpu_ns = thread_cpu_ns();
    }
    errno = saved_errno;
}

void cpu_yield_begin(void)
{
    struct sigaction action = { .sa_handler = on_check, .sa_flags = SA_RESTART };
    struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN };
    const struct itimerspec interval = { .it_interval.tv_nsec = CHECK_NS, .it_value.tv_nsec = CHECK_NS };
    sigemptyset(&action.sa_mask);
    sigaction(SIGRTMIN, &action, NULL);
    last_pause_cpu_ns = thread_cpu_ns();
    timer_running = timer_create(CLOCK_MONOTONIC, &event, &timer) == 0;
    if (timer_running)
        (void)timer_settime(timer, 0, &interval, NULL);
}

void cpu_yield_end(void)
{
    int saved_errno = errno;
    if (timer_running)
        (void)timer_delete(timer); /* a pending signal is delivered before this returns */
    timer_running = false;
    errno = saved_errno;
}

/* io/cpu_yield: pauses are counted as voluntary context switches, as the work itself never waits. */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <time.h>

#include "io/cpu_yield.h"
#include "support/test.h"

enum { PAUSES = 10, OWN_ERRNO = 77 };
static const clock_t PATIENCE = (clock_t)10 * CLOCKS_PER_SEC, WORK = (clock_t)CLOCKS_PER_SEC / 50; /* of CPU time */

static volatile sig_atomic_t signal_count;

static void signal_count_add(int signal_no)
{
    (void)signal_no;
    signal_count++;
}

static long pause_count(void)
{
    struct rusage used;
    assert_int_equal(getrusage(RUSAGE_SELF, &used), 0);
    return used.ru_nvcsw;
}

/* Computes until it was paused so many times. False: it was not, within PATIENCE of CPU time. */
static bool work_until_paused(long times)
{
    const long before = pause_count();
    const clock_t end = clock() + PATIENCE;
    while (clock() < end)
        if (pause_count() - before >= times)
            return true;
    return false;
}

/* While set, the CPU clock of the thread does not advance, as in a process that gets no CPU time. */
static volatile sig_atomic_t cpu_clock_stopped;
int __real_clock_gettime(clockid_t id, struct timespec *out);
int __wrap_clock_gettime(clockid_t id, struct timespec *out);
int __wrap_clock_gettime(clockid_t id, struct timespec *out)
{
    if (cpu_clock_stopped && id == CLOCK_THREAD_CPUTIME_ID) {
        *out = (struct timespec){ 0 };
        return 0;
    }
    return __real_clock_gettime(id, out);
}

/* Counts the pauses, and lets each end with EINTR, as after another signal. */
static volatile sig_atomic_t paused;
int __real_pselect(int n, fd_set *in, fd_set *out, fd_set *err, const struct timespec *time, const sigset_t *mask);
int __wrap_pselect(int n, fd_set *in, fd_set *out, fd_set *err, const struct timespec *time, const sigset_t *mask);
int __wrap_pselect(int n, fd_set *in, fd_set *out, fd_set *err, const struct timespec *time, const sigset_t *mask)
{
    paused++;
    (void)__real_pselect(n, in, out, err, time, mask);
    errno = EINTR;
    return -1;
}

TEST(a_process_that_got_no_cpu_time_is_not_paused)
{
    cpu_clock_stopped = 1;
    cpu_yield_begin();
    paused = 0;
    for (const clock_t end = clock() + WORK; clock() < end;)
        ;
    cpu_yield_end();
    cpu_clock_stopped = 0;
    assert_int_equal(paused, 0);
}

TEST(busy_work_is_paused_repeatedly_and_errno_left_unchanged)
{
    for (int round = 0; round < 2; round++) {
        errno = OWN_ERRNO;
        cpu_yield_begin();
        bool was_paused = work_until_paused(PAUSES);
        int left = errno;
        cpu_yield_end();
        assert_true(was_paused);
        assert_true(paused > 0);
        assert_int_equal(left, OWN_ERRNO);
    }
}

TEST(no_signal_arrives_after_cpu_yield_end)
{
    cpu_yield_begin();
    bool was_paused = work_until_paused(1);
    cpu_yield_end();
    assert_true(was_paused);
    struct sigaction counted = { .sa_handler = signal_count_add }, before;
    signal_count = 0;
    sigaction(SIGRTMIN, &counted, &before);
    for (const clock_t end = clock() + WORK; clock() < end;)
        ;
    sigaction(SIGRTMIN, &before, NULL);
    assert_int_equal(signal_count, 0);
}

TESTS(NULL, NULL)

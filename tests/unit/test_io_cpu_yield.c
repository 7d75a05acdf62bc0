/* Work that lets others have its CPU in between. Voluntary context switches tell: the work itself never waits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <time.h>

#include "io/cpu_yield.h"

enum { PAUSES = 10, OWN_ERRNO = 77 };
static const clock_t PATIENCE = (clock_t)10 * CLOCKS_PER_SEC,
                     SOME_WORK = (clock_t)CLOCKS_PER_SEC / 50; /* of CPU time */

static volatile sig_atomic_t signals;

static void count(int signal_no)
{
    (void)signal_no;
    signals++;
}

static long pauses(void)
{
    struct rusage used;
    assert_int_equal(getrusage(RUSAGE_SELF, &used), 0);
    return used.ru_nvcsw;
}

/* Works until it has been paused so often; false: it was not. */
static bool work_until_paused(long times)
{
    const long before = pauses();
    const clock_t end = clock() + PATIENCE;
    while (clock() < end)
        if (pauses() - before >= times)
            return true;
    return false;
}

static void work_pauses_again_and_again(void **state)
{
    (void)state;
    for (int round = 0; round < 2; round++) {
        cpu_yield_begin();
        bool was_paused = work_until_paused(PAUSES);
        cpu_yield_end();
        assert_true(was_paused);
    }
}

/* The clock of a process whose CPU is used up stands still while that on the wall runs. */
static volatile sig_atomic_t cpu_stands;
int __real_clock_gettime(clockid_t id, struct timespec *out);
int __wrap_clock_gettime(clockid_t id, struct timespec *out);
int __wrap_clock_gettime(clockid_t id, struct timespec *out)
{
    if (cpu_stands && id == CLOCK_THREAD_CPUTIME_ID) {
        *out = (struct timespec){ 0 };
        return 0;
    }
    return __real_clock_gettime(id, out);
}

/* A pause that another signal ends says so in errno. */
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

static void who_got_no_cpu_does_not_pause(void **state)
{
    (void)state;
    cpu_stands = 1;
    cpu_yield_begin();
    paused = 0;
    for (const clock_t end = clock() + SOME_WORK; clock() < end;)
        ;
    cpu_yield_end();
    cpu_stands = 0;
    assert_int_equal(paused, 0);
}

static void errno_is_that_of_the_work(void **state)
{
    (void)state;
    errno = OWN_ERRNO;
    cpu_yield_begin();
    bool was_paused = work_until_paused(PAUSES);
    int left = errno;
    cpu_yield_end();
    assert_true(was_paused);
    assert_true(paused > 0);
    assert_int_equal(left, OWN_ERRNO);
}

static void no_signal_comes_afterwards(void **state)
{
    (void)state;
    cpu_yield_begin();
    bool was_paused = work_until_paused(1);
    cpu_yield_end();
    assert_true(was_paused);
    struct sigaction counted = { .sa_handler = count }, before;
    signals = 0;
    sigaction(SIGRTMIN, &counted, &before);
    for (const clock_t end = clock() + SOME_WORK; clock() < end;)
        ;
    sigaction(SIGRTMIN, &before, NULL);
    assert_int_equal(signals, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_pauses_again_and_again),
        cmocka_unit_test(who_got_no_cpu_does_not_pause),
        cmocka_unit_test(errno_is_that_of_the_work),
        cmocka_unit_test(no_signal_comes_afterwards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

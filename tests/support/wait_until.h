/* Waits for an effect of a server or another process. */
#ifndef HB_TESTS_SUPPORT_WAIT_UNTIL_H
#define HB_TESTS_SUPPORT_WAIT_UNTIL_H

#include <time.h>

#include "base/clock.h"
#include "support/test.h"

enum { WAIT_UNTIL_MS = 120000 * HB_TEST_PATIENCE };

static inline void wait_ms(long ms)
{
    const struct timespec pause = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };
    (void)nanosleep(&pause, NULL);
}

/* Evaluates the condition again and again until it is true; the test fails when it never is. */
#define WAIT_UNTIL(condition)                                                                                          \
    do {                                                                                                               \
        const int64_t limit_ms_ = clock_monotonic_ms() + WAIT_UNTIL_MS;                                                \
        while (!(condition)) {                                                                                         \
            if (clock_monotonic_ms() > limit_ms_)                                                                      \
                fail_msg("it never holds: %s", #condition);                                                            \
            wait_ms(20);                                                                                               \
        }                                                                                                              \
    } while (0)

#endif

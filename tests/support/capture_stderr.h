/* Captures the output of a call to stderr, where the log goes. */
#ifndef HB_TESTS_SUPPORT_CAPTURE_STDERR_H
#define HB_TESTS_SUPPORT_CAPTURE_STDERR_H

#include <unistd.h>

/* Runs the call with stderr on a pipe; what was written is in out, an array, as text. At most a pipe's buffer. */
#define CAPTURE(out, call)                                                                                             \
    do {                                                                                                               \
        int ends[2], kept = dup(STDERR_FILENO);                                                                        \
        assert_int_equal(pipe(ends), 0);                                                                               \
        assert_true(dup2(ends[1], STDERR_FILENO) >= 0);                                                                \
        call;                                                                                                          \
        assert_true(dup2(kept, STDERR_FILENO) >= 0);                                                                   \
        close(kept);                                                                                                   \
        close(ends[1]);                                                                                                \
        ssize_t got = read(ends[0], out, sizeof(out) - 1);                                                             \
        assert_true(got >= 0);                                                                                         \
        out[got] = '\0';                                                                                               \
        close(ends[0]);                                                                                                \
    } while (0)

#endif

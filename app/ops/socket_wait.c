#include "ops/socket_wait.h"

#include <errno.h>
#include <poll.h>

#include "base/clock.h"

bool socket_wait(int fd, short events, int64_t deadline_ms)
{
    for (;;) {
        struct pollfd socket = { .fd = fd, .events = events };
        int64_t left_ms = deadline_ms - clock_monotonic_ms();
        int count = left_ms <= 0 ? 0 : poll(&socket, 1, (int)left_ms);
        if (count > 0)
            return true;
        if (count < 0 && errno == EINTR)
            continue;
        if (count == 0)
            errno = ETIMEDOUT;
        return false;
    }
}

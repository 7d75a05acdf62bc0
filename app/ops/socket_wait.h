/* Waits for a socket up to a deadline, which several waits can share. */
#ifndef HB_OPS_SOCKET_WAIT_H
#define HB_OPS_SOCKET_WAIT_H

#include <stdbool.h>
#include <stdint.h>

/* Waits until the socket is ready for the events of poll(2). deadline_ms: of clock_monotonic_ms. False: errno says why
 * not (ETIMEDOUT: the deadline passed). */
bool socket_wait(int fd, short events, int64_t deadline_ms);

#endif

/* Options of a connection to a store on another machine. */
#ifndef HB_IO_TCP_H
#define HB_IO_TCP_H

#include <stdbool.h>
#include <stdint.h>

/* Sends small requests at once, and gives the connection up when the other machine is silent: after timeout_ms with
 * unanswered bytes, and when it answers none of the probes that follow 15 s without traffic. False: the kernel
 * refused. */
bool tcp_tune(int fd, int64_t timeout_ms);

/* Connects to the port of a host, a name or an IP address, with each of the host's addresses for up to timeout_ms.
 * Returns a blocking descriptor for the caller to close; -1, and *why (static storage) says why. */
int tcp_connect(const char *host, uint16_t port, int64_t timeout_ms, const char **why);

#endif

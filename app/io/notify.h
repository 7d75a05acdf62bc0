/* Messages to systemd: the protocol of sd_notify(3), datagrams to the socket that NOTIFY_SOCKET names. Without the
 * variable, as under ./dev, all of this does nothing. A message is sent once: a lost one costs a restart at most
 * (WatchdogSec), so nothing is repeated or logged. */
#ifndef HB_IO_NOTIFY_H
#define HB_IO_NOTIFY_H

#include <stdbool.h>
#include <stddef.h>

/* The process serves. Also after a restart in place. */
void notify_ready(void);
/* The process ends. */
void notify_stopping(void);
/* The process works. Call it often: a message is sent once a second at most, and only if WATCHDOG_USEC is set. */
void notify_alive(void);
/* Gives the supervisor the descriptors for the next process that it starts (process_init takes them); the caller may
 * close its own. False: there is no such supervisor, or it has not taken all of them. The unit sets FDSTORE beside
 * FileDescriptorStoreMax, as later versions of systemd do by themselves. */
bool notify_keep(const int *fds, size_t fds_len);
/* Makes the supervisor close the descriptors that it keeps, once this process has taken them. Otherwise a connection
 * would stay open when the process crashes, and the next process would begin to read in the middle of a request. */
void notify_forget(void);

#endif

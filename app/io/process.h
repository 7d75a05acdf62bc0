/* The life of a long-lived process: when its signals arrive, its restart in place, and whom it lets go first.
 *
 * Signals are let in only inside process_poll: SIGTERM, SIGINT and SIGUSR1 ask to stop, SIGHUP asks to start the
 * program anew. That happens by exec in the same process, so no supervisor notices, with the connections handed over:
 * nobody's request is lost, and program, configuration and templates are those of now. Before, a child runs the same
 * command with --check; while that fails the process goes on as it is. docs/how-to/restart.md tells the operator. */
#ifndef HB_IO_PROCESS_H
#define HB_IO_PROCESS_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROCESS_DESCRIPTORS_MAX 4096 /* handed over by one restart */
#define PROCESS_DESCRIPTOR_MAX  8192 /* their numbers are below; the kernel gives the lowest one that is free */

/* The environment variable of a restart: "COUNT:FD,FD,…", how many times this process has been started anew, and what
 * it was handed. ./dev looks for it. */
#define PROCESS_HANDOVER "HONGBAO_RESTART"

/* To be called by main before anything is opened. argv, to start the program again by the path and from the folder of
 * its first start: borrowed for ever. Takes PROCESS_HANDOVER out of the environment. */
void process_init(char **argv);

/* Blocks the signals, whatever else has installed handlers for them. To be called before the first process_poll. */
void process_signals_prepare(void);

/* poll with the signals let in; as poll does, it answers -1 when one has come. */
int process_poll(struct pollfd *fds, size_t fds_len, int64_t timeout_ms);

bool process_stop_asked(void);

/* Lets others have the CPU first, by so much (1–19); never takes back what the supervisor gave away already. Refused,
 * it is only logged. Where the kernel groups processes by session (autogroup) or by service (cgroup), this counts only
 * inside the group, and whoever makes the group has to weigh it: docs/reference/config.md. */
void process_be_nice(int niceness);

/* To be called now and then: begins the check when a restart is asked for, looks whether it has ended. True: it went
 * well, and process_restart is to be called once nothing is half-done. A stop goes before a restart. */
bool process_restart_due(void);

/* Starts the program anew with these sockets and descriptors 0, 1, 2 open, all others closed. Comes back only when that
 * can't be done, and then all is as before. fds: at most PROCESS_DESCRIPTORS_MAX; one above the numbers allowed is
 * closed by the restart. */
void process_restart(const int *fds, size_t fds_len);

/* What the program before handed over: connected stream sockets, now closed on exec and the caller's. Whatever else the
 * variable names is left alone. Their number, 0 after an ordinary start or a second call; at most max, the rest is
 * closed. */
size_t process_handover_take(int *fds, size_t max);

#endif

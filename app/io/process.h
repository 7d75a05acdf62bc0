/* Signals, restart and scheduling priority of a long-running process.
 *
 * Signals are delivered only inside process_poll: SIGTERM, SIGINT and SIGUSR1 request a stop, SIGHUP a restart. A
 * restart is an exec in the same process, so the process id stays, and open connections are passed on: no request is
 * lost, and the current program file, configuration and templates are used. First a child runs the same command with
 * --check; if that fails, there is no restart. docs/how-to/restart.md is for the operator.
 *
 * Order of calls: process_init in main; process_handover_take for the connections of the program before the restart;
 * process_signals_init; then in a loop process_poll, process_stop_requested, and process_restart once
 * process_restart_due is true. */
#ifndef HB_IO_PROCESS_H
#define HB_IO_PROCESS_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROCESS_DESCRIPTORS_MAX 4096 /* descriptors passed on by one restart, at most */
#define PROCESS_DESCRIPTOR_MAX  8192 /* descriptor numbers are lower: the kernel assigns the lowest free one */

/* The environment variable of a restart: "COUNT:FD,FD,…": how many times this process has been restarted, and the
 * descriptors passed on. */
#define PROCESS_HANDOVER "HONGBAO_RESTART"

/* The name of a process that was restarted is "hongbao COUNT" (/proc/PID/comm, which everybody may read), and once it
 * has refused a restart "hongbao COUNT REFUSALS": deploy/systemd/reload.sh waits until a number changes. */
#define PROCESS_NAME "hongbao"

/* Call from main before anything is opened. argv is borrowed for the life of the process: a restart executes it, in the
 * same working directory. Takes what a restart has passed on (PROCESS_HANDOVER), or what systemd passes
 * (sd_listen_fds(3)): its listening socket becomes descriptor 0. Removes these variables from the environment. */
void process_init(char **argv);

/* Blocks the signals and installs our handlers, replacing others. Call before the first process_poll. */
void process_signals_init(void);

/* poll(2) with the signals unblocked. Returns as poll; -1 (EINTR) after a signal. */
int process_poll(struct pollfd *fds, size_t fds_len, int64_t timeout_ms);

/* True once SIGTERM, SIGINT or SIGUSR1 has arrived. */
bool process_stop_requested(void);

/* Raises the nice value of the process to niceness (1–19); never lowers it. A failure is logged. Where the kernel
 * groups processes by session (autogroup) or service (cgroup), the nice value counts only within the group, and the
 * supervisor has to set the weight of the group: docs/reference/config.md. */
void process_be_nice(int niceness);

/* Call regularly. Starts the check after a restart was requested, later polls whether it has ended; never blocks. True
 * once: the check succeeded, call process_restart as soon as no work is half-done. Always false after a stop
 * request. */
bool process_restart_due(void);

/* Executes the program anew with the sockets fds and descriptors 0, 1, 2 open, all others closed. Returns only when
 * exec failed (logged), and then all is as before. fds: at most PROCESS_DESCRIPTORS_MAX (asserted); a descriptor
 * numbered PROCESS_DESCRIPTOR_MAX or higher is closed by the restart. */
void process_restart(const int *fds, size_t fds_len);

/* Fills fds with the connections that a restart passed on, or that a process has left with systemd (io/notify.h).
 * Returns their number: 0 after an ordinary start and from the second call on. At most max; further ones are closed.
 * The caller owns them; each has the close-on-exec flag. Entries of the variable that are not inherited stream sockets
 * are ignored (their number is logged). */
size_t process_handover_take(int *fds, size_t max);

#endif

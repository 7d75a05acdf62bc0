/* The system calls and rights of a process. After sandbox_init no other process of the same user can read or trace this
 * one, it leaves no core dump (both would show keys and sessions), and exec gives no privileges. After sandbox_enter
 * the kernel refuses every system call that the role does not need (seccomp), and a server has no capabilities, also
 * when root has started it.
 *
 * A refused call fails with EPERM, is logged and counted: a call that was forgotten in the table costs one request, not
 * the pool. A call that only an intruder makes (KILL in the table of sandbox.c) ends the process; the kernel logs it,
 * and the supervisor starts another process. A filter can't be removed, and it survives the exec of a restart in place
 * (io/process.h). So the table also has the calls that the start of the program needs, and a program with another table
 * refuses such a restart. */
#ifndef HB_IO_SANDBOX_H
#define HB_IO_SANDBOX_H

#include <stdbool.h>

#include "base/status.h"

enum sandbox_role {
    SANDBOX_HOT,
    SANDBOX_PAGE,
    SANDBOX_AUTH,
    SANDBOX_CARD,
    SANDBOX_SETTLE,
    SANDBOX_MONEY,
    SANDBOX_SSO,                    /* connects to an issuer, on any machine */
    SANDBOX_COMMAND,                /* a command of the operator: may write files, has no restart */
    SANDBOX_ROLES,                  /* sandbox_enter takes the roles above */
    SANDBOX_PICTURE = SANDBOX_ROLES /* decodes a picture: reads, writes and allocates; for sandbox_narrow */
};

/* Call first in main. False: the kernel refused, errno has the reason. */
bool sandbox_init(void);

/* Call once, after log_init and metrics_open, before requests are read. by_tcp: the process may connect to stores on
 * other machines (config_stores_by_tcp), and look up their names; otherwise it has Unix sockets only.
 * ST_OK: the role's filter is in force · ST_CONFLICT: this process already has the filter of a program with another
 * table · ST_UNAVAILABLE: the kernel refused the filter. Errors are logged. */
enum status sandbox_enter(enum sandbox_role role, bool by_tcp);

/* Adds the filter of a role to the one in force, if any: only calls that both allow are left. A call that this filter
 * refuses ends the process by SIGSYS, because no handler is installed. ST_UNAVAILABLE: the kernel refused; logged. */
enum status sandbox_narrow(enum sandbox_role role);

#endif

/* `hongbao doctor`: looks at everything that an installed service needs, in both stores, in files, nginx and processes,
 * and tells all that is wrong, each with what mends it. It changes nothing. docs/reference/doctor.md lists what it
 * finds. */
#ifndef HB_DOCTOR_DOCTOR_H
#define HB_DOCTOR_DOCTOR_H

#include <stdbool.h>

#include "config/config.h"

/* `doctor [--json] [--nginx FILE] [--free MIB] [--skip NAME]…`: config is read without a role and without the secret.
 * `doctor --names` prints what --skip takes. Exit 0: nothing is wrong; 1: something is; 2: usage, or memory was
 * lacking. */
int doctor_command(const struct config *config, int argc, char **argv);

/* What makes a store speak: MariaDB does so first. */
#define DOCTOR_ASKS_REDIS "PING\r\n"
#define DOCTOR_ASKS_MYSQL ""
/* Whether a server answers the question on one of the addresses, the value of the setting `redis` or `mysql`. *why: why
 * not. */
bool doctor_addresses_answer(const char *addresses, const char *question, const char **why);

#endif

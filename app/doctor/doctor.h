/* `hongbao doctor`: checks everything that an installed service needs, in both stores, files, nginx and processes, and
 * prints each fault with the command that mends it. It changes nothing. docs/reference/doctor.md lists its findings. */
#ifndef HB_DOCTOR_DOCTOR_H
#define HB_DOCTOR_DOCTOR_H

#include <stdbool.h>

#include "config/config.h"

/* `doctor [--json] [--nginx FILE] [--free MIB] [--skip NAME]…`: config was read without a role and without the secret.
 * `doctor --names` prints the names that --skip accepts. Exit 0: nothing is wrong; 1: something is; 2: usage, or out of
 * memory. */
int doctor_command(const struct config *config, int argc, char **argv);

/* The question that makes Redis speak: MariaDB speaks first. */
#define DOCTOR_ASKS_REDIS "PING\r\n"
#define DOCTOR_ASKS_MYSQL ""
/* Whether a server answers the question on one of the addresses, the value of the setting `redis` or `mysql`. *why: the
 * reason if not. */
bool doctor_addresses_answer(const char *addresses, const char *question, const char **why);

#endif

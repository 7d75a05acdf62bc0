/* `hongbao doctor`: looks at everything that an installed service needs, in both stores, in files, nginx and processes,
 * and tells all that is wrong, each with what mends it. It changes nothing. docs/reference/doctor.md lists what it
 * finds. */
#ifndef HB_OPS_DOCTOR_H
#define HB_OPS_DOCTOR_H

#include "base/config.h"

/* `doctor [--json] [--nginx FILE] [--free MIB] [--skip NAME]…`: config is read without a role and without the secret.
 * `doctor --names` prints what --skip takes. Exit 0: nothing is wrong; 1: something is; 2: usage, or memory was
 * lacking. */
int doctor_command(const struct config *config, int argc, char **argv);

#endif

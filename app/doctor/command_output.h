/* Runs a command of the system and reads what it prints, for `hongbao doctor`. */
#ifndef HB_DOCTOR_COMMAND_OUTPUT_H
#define HB_DOCTOR_COMMAND_OUTPUT_H

#include <stdbool.h>

#include "base/buf.h"

/* Runs argv (the last is NULL), found by PATH, without input and with its error messages discarded, and appends its
 * output to out. False: it can't be run, it failed, it prints more than out takes, or it does not end within limit_ms,
 * and is killed then. */
bool command_output(const char *const *argv, int limit_ms, struct buf *out);

#endif

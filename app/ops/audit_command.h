/* `hongbao audit`: runs the audit (ops/audit.h) and prints what it found. */
#ifndef HB_OPS_AUDIT_COMMAND_H
#define HB_OPS_AUDIT_COMMAND_H

#include "base/config.h"

/* `audit [--json] [--packet ID]`; ID as in links, or decimal. 0: clean, 1: violations, 2: a check could not run. */
int audit_command(const struct config *config, int argc, char **argv);

#endif

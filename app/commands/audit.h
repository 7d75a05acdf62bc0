/* `hongbao audit`: runs the audit (audit/audit.h) and prints what it found. */
#ifndef HB_COMMANDS_AUDIT_H
#define HB_COMMANDS_AUDIT_H

#include "config/config.h"

/* `audit [--json] [--packet ID]`; ID as in links, or decimal. 0: clean, 1: violations, 2: a check could not run. */
int audit_command(const struct config *config, int argc, char **argv);

#endif

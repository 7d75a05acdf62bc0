/* `hongbao service`: tokens of programs that move money by HTTP (docs/how-to/money-http.md). */
#ifndef HB_COMMANDS_SERVICE_H
#define HB_COMMANDS_SERVICE_H

#include "config/config.h"

/* `service add|list|revoke …`. Returns 0; 1: refused, or a store failed; 2: bad arguments. */
int service_command(const struct config *config, int argc, char **argv);

#endif

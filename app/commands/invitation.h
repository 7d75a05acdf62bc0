/* `hongbao invitation`: lets people register where not everybody may (docs/how-to/door.md). */
#ifndef HB_COMMANDS_INVITATION_H
#define HB_COMMANDS_INVITATION_H

#include "config/config.h"

/* `invitation create|list|revoke …`. Returns 0; 1: refused, or a store or a file failed; 2: bad arguments. */
int invitation_command(const struct config *config, int argc, char **argv);

#endif

/* `hongbao keys`: the keys of a role that serves, derived from the secret, for its file ROLE.keys (base/keys.h). */
#ifndef HB_COMMANDS_KEYS_H
#define HB_COMMANDS_KEYS_H

#include "config/config.h"

/* `keys ROLE`: prints the file of the role. Returns 0; 1: it can't be written; 2: bad arguments. */
int role_keys_command(const struct config *config, int argc, char **argv);

#endif

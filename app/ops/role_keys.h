/* `hongbao keys`: the keys of a role that serves, derived from the secret, for its file ROLE.keys (base/keys.h). */
#ifndef HB_OPS_ROLE_KEYS_H
#define HB_OPS_ROLE_KEYS_H

#include <stdbool.h>
#include <stdio.h>

#include "base/config.h"

/* Writes the file of the role: a line `name = key` for each of its keys that keys has. False: it is no role that gets
 * keys, or out refused a line. */
bool role_keys_print(const struct keys *keys, struct str role, FILE *out);

/* `keys ROLE`: prints that file. Returns 0; 1: it can't be written; 2: bad arguments. */
int role_keys_command(const struct config *config, int argc, char **argv);

#endif

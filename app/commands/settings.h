/* `hongbao settings`: the reference of all settings, made from their table (config/config.h). `hongbao setting`: their
 * values, for scripts. */
#ifndef HB_COMMANDS_SETTINGS_H
#define HB_COMMANDS_SETTINGS_H

#include <stdbool.h>
#include <stdio.h>

#include "config/config.h"

/* The table of docs/reference/config.md. False: out refused a part. */
bool settings_markdown(FILE *out);
/* The manual page hongbao.conf(5). False: as above. */
bool settings_man(FILE *out);

/* `settings --markdown | --man`: prints one of these. Returns 0; 1: it can't be written; 2: bad arguments. */
int settings_command(const struct config *config, int argc, char **argv);

/* `setting NAME | --setup | --names`: prints the value that processes use; `NAME = VALUE` of each setting of which a
 * change needs `hongbao setup`; or the names that have a value to print. Passwords and the secret are refused. Returns
 * 0; 1: it can't be written; 2: bad arguments. */
int setting_command(const struct config *config, int argc, char **argv);

#endif

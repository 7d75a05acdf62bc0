/* `hongbao settings`: the reference of all settings, made from their table (base/config.h). */
#ifndef HB_OPS_SETTINGS_H
#define HB_OPS_SETTINGS_H

#include <stdbool.h>
#include <stdio.h>

#include "base/config.h"

/* The table of docs/reference/config.md. False: out refused a part. */
bool settings_markdown(FILE *out);
/* The manual page hongbao.conf(5). False: as above. */
bool settings_man(FILE *out);

/* `settings --markdown | --man`: prints one of these. Returns 0; 1: it can't be written; 2: bad arguments. */
int settings_command(const struct config *config, int argc, char **argv);

#endif

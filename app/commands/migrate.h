/* `hongbao migrate`: brings the tables of the site up to date, if they belong to its Redis. */
#ifndef HB_COMMANDS_MIGRATE_H
#define HB_COMMANDS_MIGRATE_H

#include "config/config.h"

/* `migrate [--check | --restoring]`: applies the migrations that are missing, unless tables and Redis do not belong
 * together, and writes the settings of the data that are not fixed yet (live/site_settings.h). --check: only returns
 * whether a migration is missing, 0 or 1. --restoring: a restore makes them belong together, so they are not compared,
 * and keep the settings that they have. */
int migrate_command(const struct config *config, int argc, char **argv);

#endif

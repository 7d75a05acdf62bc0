/* For tests of migrate/migrate: a migrator that is killed. */
#ifndef HB_TEST_MIGRATE_FIXTURE_H
#define HB_TEST_MIGRATE_FIXTURE_H

#include <stdbool.h>

#include "config/config.h"

/* Runs the migrations of sql_dir in a process that dies when it passes a crash point for the n-th time. False: the
 * process passed it less often, and has applied all migrations. Fails the test when the process ends in another way. */
bool migrator_dies(const struct config *config, const char *sql_dir, const char *point, unsigned n);

#endif

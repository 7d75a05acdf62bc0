/* For tests of migrate/migrate: a migrator that is killed. */
#ifndef HB_TEST_MIGRATE_FIXTURE_H
#define HB_TEST_MIGRATE_FIXTURE_H

#include <stdbool.h>

#include "config/config.h"

/* Runs the migrations of sql_dir in a process that dies when it passes a crash point for the n-th time. False: it does
 * not pass it that often, and has applied all of them. Fails the test on any other end of the process. */
bool migrator_dies(const struct config *config, const char *sql_dir, const char *point, unsigned n);

#endif

/* The stores of a command that works with both. */
#ifndef HB_COMMANDS_STORES_H
#define HB_COMMANDS_STORES_H

#include <stdbool.h>

#include "config/config.h"
#include "live/stores.h"

/* Opens the stores of the command of this name. False: they can't be opened, or do not belong together (live/site.h);
 * it has said so on stderr, and *stores is empty. Close them with stores_close. */
bool command_stores_open(struct stores *stores, const struct config *config, const char *name);

/* For a command that has failed with ST_UNAVAILABLE: says on stderr which store does not answer, where, why, and what
 * to do. It connects to both again. When both answer now, it says so, and that the log lines above have the reason. */
void command_stores_tell(const struct config *config, const char *name);

#endif

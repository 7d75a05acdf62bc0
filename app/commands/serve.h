/* The commands `serve` and `settle`. Each returns the exit status of the process; argv[0] is the
 * command's name. */
#ifndef HB_COMMANDS_SERVE_H
#define HB_COMMANDS_SERVE_H

#include "config/config.h"

/* `serve --pool hot|page|auth|sso|card|money [--check]`: answers FastCGI requests on descriptor 0 until SIGTERM.
 * --check: only returns whether it could start, 0 or 1. 2: bad argument. */
int serve_command(const struct config *config, int argc, char **argv);
/* The role of `serve --pool NAME`: each pool has its own. NULL: there is no such pool, and serve_command says so. */
const char *serve_role(int argc, char **argv);
/* `settle [--check]`: runs the settle worker until SIGTERM. --check as for serve; 2 also when the tables were made for
 * another number of partitions. */
int settle_command(const struct config *config, int argc, char **argv);

#endif

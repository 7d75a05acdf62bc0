/* The commands that run for ever, and the one that only looks whether they could. */
#ifndef HB_OPS_SERVE_H
#define HB_OPS_SERVE_H

#include "base/config.h"

/* `serve --pool hot|page|auth [--check]`: answers FastCGI requests on descriptor 0 until SIGTERM; --check only says
 * whether it would start, by 0 or 1. */
int serve_command(const struct config *config, int argc, char **argv);
/* `settle [--check]`: the settle worker until SIGTERM; --check as above, and 2 when the tables were made for another
 * number of partitions. */
int settle_command(const struct config *config, int argc, char **argv);
/* `migrate [--check]`: brings the tables up to date; --check only says whether they are: 0, or 1. */
int migrate_command(const struct config *config, int argc, char **argv);
/* `check`: configuration (read by the caller), scripts and templates; connects to nothing. 0 or 1. */
int check_command(const struct config *config, int argc, char **argv);

#endif

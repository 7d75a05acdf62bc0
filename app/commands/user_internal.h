/* The actions of `hongbao user` that have arguments of their own. They connect as the role auth (user_role). argv[0] is
 * the action. Each prints what it has done, or why not, and returns 0; 1: it failed; 2: bad arguments, or a wrong
 * file. */
#ifndef HB_COMMANDS_USER_INTERNAL_H
#define HB_COMMANDS_USER_INTERNAL_H

#include <stdbool.h>

#include "base/status.h"
#include "config/config.h"
#include "live/stores.h"

/* `import FILE.csv [--links OUT.csv [--days N]] [--check]`: user/import.h. OUT.csv is a new file, which only its owner
 * can read: username, nickname, link, expires. */
int user_import_command(const struct config *config, int argc, char **argv);
/* `export [--csv]`: all users in the order of their ids, deleted ones too. */
int user_export_command(const struct config *config, int argc, char **argv);
/* `login-link NAME [--days N]`: prints a link (user/login_link.h). NAME as for the other actions. */
int user_login_link_command(const struct config *config, int argc, char **argv);

/* As command_stores_open, with timeouts of an operator, who waits rather than not knowing what was done. patient: the
 * configuration of the stores, the caller's, as long as they are open. */
bool user_stores_open(struct stores *stores, struct config *patient, const struct config *config);
/* Reads the value of --days into milliseconds. False: it is none. */
bool user_days_read(const char *value, int64_t *out_ms);
/* Prints why a command has failed, and returns its exit status: 0 for ST_OK. why: NULL: the status says it. */
int user_failed(const struct config *config, enum status st, const char *why);

#endif

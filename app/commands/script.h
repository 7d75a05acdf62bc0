/* Commands that are scripts, because their work is to call other programs: command_dir has NAME.sh for each. */
#ifndef HB_COMMANDS_SCRIPT_H
#define HB_COMMANDS_SCRIPT_H

#include "config/config.h"

/* Executes the script of the command in place of this process, with the arguments behind its name (argv[0]). The
 * settings are on descriptor 3, as lines name=value, so that no password is in an argument or in the environment;
 * HONGBAO is the path of this program. Returns 1, with a message, only when the script can't be executed. */
int command_script(const struct config *config, int argc, char **argv);

#endif

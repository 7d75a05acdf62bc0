/* The help of each command, from one table: the text of `hongbao COMMAND --help`, the manual page and the reference.
 * The completion of the shell reads the first. */
#ifndef HB_COMMANDS_HELP_H
#define HB_COMMANDS_HELP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct command_help {
    const char *name, *usage, *summary;
};

/* Usage, summary, and a line for each word of the usage. False: out can't be written. */
bool command_help_print(const struct command_help *help, FILE *out);

/* The manual page hongbao(1) of all commands. The same result. */
bool command_help_man(const struct command_help *commands, size_t count, FILE *out);

/* The sections of docs/reference/commands.md. The same result. */
bool command_help_markdown(const struct command_help *commands, size_t count, FILE *out);

#endif

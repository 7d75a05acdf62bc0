/* Text of a manual page. */
#ifndef HB_COMMANDS_MAN_TEXT_H
#define HB_COMMANDS_MAN_TEXT_H

#include <stdbool.h>
#include <stdio.h>

/* Writes text so that troff shows it as it is: backslashes and hyphens are no requests. A line must not begin with a
 * dot or a quote. False: out can't be written. */
bool man_text(FILE *out, const char *text);

#endif

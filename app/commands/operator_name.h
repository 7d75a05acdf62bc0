/* Who runs a command: the author of what it does. */
#ifndef HB_COMMANDS_OPERATOR_NAME_H
#define HB_COMMANDS_OPERATOR_NAME_H

enum {
    OPERATOR_NAME_CODE_POINTS_MAX = 64, /* width of the columns */
    OPERATOR_NAME_MAX = 4 * OPERATOR_NAME_CODE_POINTS_MAX + 1
};

/* The person who called sudo, else the login name, else "uid N". out: NUL-terminated, the caller's. */
void operator_name_write(char out[OPERATOR_NAME_MAX]);

#endif

/* Runs the scripts of this folder that start private servers: galera, mariadb_pair. */
#ifndef HB_TESTS_SUPPORT_SCRIPT_RUN_H
#define HB_TESTS_SUPPORT_SCRIPT_RUN_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

/* Runs a script and returns its exit status; -1: it was killed. format: its arguments, for the shell. */
__attribute__((format(printf, 2, 3))) static inline int script_run(const char *name, const char *format, ...)
{
    char arguments[512], command[1024];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(arguments, sizeof arguments, format, args);
    va_end(args);
    (void)snprintf(command, sizeof command, "'%s/tests/support/%s' %s", HB_SOURCE_DIR, name, arguments);
    int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#endif

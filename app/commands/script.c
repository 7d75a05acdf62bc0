#include "commands/script.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "config/settings.h"

enum { SETTINGS_FD = 3, PATH_BYTES_MAX = 4096 };

/* Makes descriptor 3 a file in memory with the settings. */
static bool settings_pass(const struct config *config)
{
    int fd = memfd_create("settings", 0);
    if (fd < 0 || (fd != SETTINGS_FD && (dup2(fd, SETTINGS_FD) < 0 || close(fd) != 0)))
        return false;
    FILE *out = fdopen(SETTINGS_FD, "w"); /* stays open */
    return out != NULL && config_print(config, out) && fflush(out) == 0 && lseek(SETTINGS_FD, 0, SEEK_SET) == 0;
}

static bool program_pass(void)
{
    char path[PATH_BYTES_MAX];
    ssize_t len = readlink("/proc/self/exe", path, sizeof path - 1);
    if (len < 0)
        return false;
    path[len] = '\0';
    return setenv("HONGBAO", path, 1) == 0;
}

static void script_path(char path[PATH_BYTES_MAX], const struct config *config, const char *name)
{
    (void)snprintf(path, PATH_BYTES_MAX, "%s/%s.sh", config->command_dir, name);
}

int command_script(const struct config *config, int argc, char **argv)
{
    char path[PATH_BYTES_MAX];
    (void)argc;
    script_path(path, config, argv[0]);
    argv[0] = path;
    if (settings_pass(config) && program_pass())
        (void)execv(path, argv);
    (void)fprintf(stderr, "hongbao: can't execute %s: %s\n", path, strerror(errno));
    return 1;
}

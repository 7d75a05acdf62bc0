#include "commands/keys.h"

int role_keys_command(const struct config *config, int argc, char **argv)
{
    unsigned set;
    if (argc != 2 || !keys_of_role(str_from(argv[1]), &set)) {
        (void)fputs("usage: hongbao keys ROLE; hongbao keys --help explains it\n", stderr);
        return 2;
    }
    return keys_print(&config->keys, str_from(argv[1]), stdout) && fflush(stdout) == 0 ? 0 : 1;
}

#include "ops/role_keys.h"

bool role_keys_print(const struct keys *keys, struct str role, FILE *out)
{
    unsigned set;
    bool written = keys_of_role(role, &set) && fputs("# Made by hongbao keys; secret.\n", out) >= 0;
    for (size_t i = 0; written && i < KEY_PURPOSES; i++) {
        char hex[KEY_HEX_MAX];
        if ((set & 1U << i) == 0 || !keys->has[i])
            continue;
        key_hex(&keys->of[i], hex);
        written = fprintf(out, "%s = %s\n", key_word((enum key_purpose)i), hex) > 0;
        sodium_memzero(hex, sizeof hex);
    }
    return written;
}

int role_keys_command(const struct config *config, int argc, char **argv)
{
    unsigned set;
    if (argc != 2 || !keys_of_role(str_from(argv[1]), &set)) {
        (void)fputs("usage: hongbao keys ROLE; hongbao keys --help explains it\n", stderr);
        return 2;
    }
    return role_keys_print(&config->keys, str_from(argv[1]), stdout) && fflush(stdout) == 0 ? 0 : 1;
}

#include "commands/operator_name.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/utf8.h"

enum { ARENA_BYTES = 4096 };

void operator_name_write(char out[OPERATOR_NAME_MAX])
{
    struct arena *a = arena_new(ARENA_BYTES, ARENA_BYTES);
    struct str name = STR("");
    const char *sudo = getuid() == 0 ? getenv("SUDO_USER") : NULL;
    const struct passwd *user = sudo == NULL || sudo[0] == '\0' ? getpwuid(getuid()) : NULL;
    const struct str found = str_or_empty(str_from(user != NULL ? user->pw_name : sudo));
    if (a == NULL || !utf8_valid(found) || utf8_clean(a, found, &name) != ST_OK ||
        utf8_codepoints(name) > OPERATOR_NAME_CODE_POINTS_MAX)
        name = STR("");
    if (name.len > 0)
        (void)snprintf(out, OPERATOR_NAME_MAX, "%.*s", STR_ARG(name));
    else
        (void)snprintf(out, OPERATOR_NAME_MAX, "uid %u", (unsigned)getuid());
    arena_free(a);
}

/* What the site sends to Redis as a script: `script_text LUA_DIR NAME` prints it, its includes resolved. */
#include <stdio.h>

#include "io/redis.h"
#include "io/redis_script.h"

enum { ERROR_MAX = 1024 };

int main(int argc, char **argv)
{
    char error[ERROR_MAX] = "";
    struct redis_scripts *scripts = NULL;
    if (argc != 3) {
        (void)fputs("usage: script_text LUA_DIR NAME\n", stderr);
        return 2;
    }
    enum status st = redis_scripts_load(argv[1], &scripts, error, sizeof error);
    const struct redis_script *script = st == ST_OK ? redis_script_find(scripts, argv[2]) : NULL;
    if (script == NULL)
        (void)fprintf(stderr, "script_text: no script %s %s\n", argv[2], error);
    else
        (void)printf("%.*s", STR_ARG(redis_script_text(script)));
    redis_scripts_free(scripts);
    return script == NULL ? 1 : 0;
}

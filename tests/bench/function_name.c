/* What a function is called in Redis: `function_name LUA_DIR NAME` prints it. */
#include <stdio.h>

#include "io/redis.h"
#include "io/redis_function.h"

enum { ERROR_MAX = 1024 };

int main(int argc, char **argv)
{
    char error[ERROR_MAX] = "";
    struct redis_functions *functions = NULL;
    if (argc != 3) {
        (void)fputs("usage: function_name LUA_DIR NAME\n", stderr);
        return 2;
    }
    enum status st = redis_functions_read(argv[1], &functions, error, sizeof error);
    const struct redis_function *function = st == ST_OK ? redis_function_find(functions, argv[2]) : NULL;
    if (function == NULL)
        (void)fprintf(stderr, "function_name: no function %s %s\n", argv[2], error);
    else
        (void)printf("%.*s", STR_ARG(redis_function_name(function)));
    redis_functions_free(functions);
    return function == NULL ? 1 : 0;
}

/* Redis functions from files of Lua, for redis_queue_function (redis/redis.h).
 *
 * Each function has its own library, and both have the same name: a word for what it does, and a hash of its text. So a
 * program always calls its own version of a function, and the functions of two programs can be in one server: during an
 * upgrade, and after a downgrade. */
#ifndef HB_REDIS_FUNCTION_H
#define HB_REDIS_FUNCTION_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/str.h"

#define REDIS_FUNCTIONS_MAX     32
#define REDIS_FUNCTION_NAME_MAX 80 /* with the ending 0 */

struct redis_function;

/* Functions are files NAME-K.lua of a folder, K = number of keys. The first line is `#!lua`, with flags=FLAG,… if Redis
 * has to know some; the others are the body, in which KEYS and ARGV are the keys and the arguments. A line
 * `-- @include "NAME"` means include/NAME.lua, whose locals the body sees. It stands before the function, once: it is
 * run when the library is loaded and not in each call. Reads every function of dir. made: an include that the program
 * makes, without a file; NULL: none.
 * ST_INVALID, and the reason in error (error_size bytes): unreadable file, missing include, cycle, bad name ·
 * ST_NO_MEMORY. *out: free with redis_functions_free. */
struct redis_functions;
struct redis_include {
    struct str name, text;
};
enum status redis_functions_read(const char *dir, const struct redis_include *made, struct redis_functions **out,
                                 char *error, size_t error_size);
void redis_functions_free(struct redis_functions *s);
size_t redis_functions_count(const struct redis_functions *s);
/* at: below the count. */
const struct redis_function *redis_functions_at(const struct redis_functions *s, size_t at);
/* Finds a function by the name of its file without the key count, like "grab". NULL: not found. Valid as long as s. */
const struct redis_function *redis_function_find(const struct redis_functions *s, const char *name);
uint32_t redis_function_key_count(const struct redis_function *f);
/* The name in Redis, for FCALL, and of its library. */
struct str redis_function_name(const struct redis_function *f);
/* The library that FUNCTION LOAD sends. */
struct str redis_function_library(const struct redis_function *f);

#endif

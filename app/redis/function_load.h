/* Loads functions into the servers of Redis.
 *
 * Only the settle worker may load. An intruder in a pool can call the program's functions, on the keys of that pool,
 * and can run no other code. An intruder in the worker can replace a function, and the new code runs with the rights of
 * the pool that calls it (docs/SECURITY.md). So the worker compares the texts of the functions, not only their names.
 *
 * Redis keeps functions as it keeps keys, in its files and on its replicas, and FLUSHALL leaves them. So a server lacks
 * functions when it is new or empty, after FUNCTION FLUSH, and when a new program is installed. Functions of other
 * programs stay: they are small, and their programs may still run, or run again. */
#ifndef HB_REDIS_FUNCTION_LOAD_H
#define HB_REDIS_FUNCTION_LOAD_H

#include <stddef.h>

#include "redis/function.h"
#include "redis/redis.h"

/* Loads into each primary the functions that it lacks, and those that have another text there, which the security log
 * names. A server that is out of memory takes none (ST_CONFLICT). ST_OK: every primary has every function ·
 * ST_UNAVAILABLE, ST_CONFLICT: a server can't be reached, or refuses · ST_UNKNOWN · ST_CORRUPT: a reply of another
 * form, or a function that Redis does not take (logged). */
enum status redis_functions_load(struct redis *r, const struct redis_functions *set);

/* Functions of a set that a primary lacks, and those whose name has another text there: in a library of this name or of
 * another. Valid as long as the set. */
struct redis_functions_state {
    const struct redis_function *missing[REDIS_FUNCTIONS_MAX], *others[REDIS_FUNCTIONS_MAX];
    size_t missing_count, other_count;
};
/* Compares one primary, from 0 to redis_primaries - 1. ST_OK, else as redis_functions_load; *out is valid then, too. */
enum status redis_functions_compare(struct redis *r, const struct redis_functions *set, size_t primary,
                                    struct redis_functions_state *out);

#endif

/* Lua scripts from files, for redis_queue_script (io/redis.h). */
#ifndef HB_IO_REDIS_SCRIPT_H
#define HB_IO_REDIS_SCRIPT_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/str.h"

#define REDIS_SCRIPTS_MAX 32

struct redis_script;

/* Scripts are files NAME-K.lua of a folder, K = number of keys. A line `-- @include "NAME"` is replaced by
 * include/NAME.lua, only once per script. Reads every script of dir. ST_INVALID, and the reason in error (error_size
 * bytes): unreadable file, missing include, cycle, bad name · ST_NO_MEMORY. *out: free with redis_scripts_free. */
struct redis_scripts;
enum status redis_scripts_load(const char *dir, struct redis_scripts **out, char *error, size_t error_size);
void redis_scripts_free(struct redis_scripts *s);
/* Finds a script by its name without the key count, like "grab". NULL: not found. Valid as long as s. */
struct redis_script *redis_script_find(struct redis_scripts *s, const char *name);
uint32_t redis_script_key_count(const struct redis_script *s);
/* The text that SCRIPT LOAD sends, with includes resolved. */
struct str redis_script_text(const struct redis_script *s);
/* The script's hash for EVALSHA, 40 hex digits; all 0 until it is known. */
struct str redis_script_hash(const struct redis_script *s);
/* Stores the hash from the reply of SCRIPT LOAD (the client does so itself); ignored unless it has 40 bytes. */
void redis_script_hash_set(struct redis_script *s, struct str hash);

#endif

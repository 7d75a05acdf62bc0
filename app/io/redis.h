/* Redis: one connection per process, commands queued by many requests, sent in one write and answered in one read
 * (a round). Absolute deadlines; after any error the connection is dropped and what was in flight is unknown. */
#ifndef HB_IO_REDIS_H
#define HB_IO_REDIS_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/config.h"
#include "base/status.h"
#include "base/str.h"

struct redis;

#define REDIS_ARGS_MAX    4096 /* per command */
#define REDIS_QUEUE_MAX   4096 /* commands per round */
#define REDIS_SCRIPTS_MAX 32

/* One command's place to put its answer. Lives in the caller (a request's arena) until it is answered. */
struct redis_call {
    enum status status; /* ST_OK: reply is set · ST_UNAVAILABLE: never sent · ST_UNKNOWN: sent, no answer ·
                           ST_NO_MEMORY: not queued · ST_INVALID: Redis answered an error (see reply->str) ·
                           ST_CONFLICT: Redis is up and refused: OOM, READONLY, LOADING, BUSY, MISCONF, NOPERM … */
    redisReply *reply;  /* owned by the call: redis_call_free */
};

/* Doesn't connect: the first round does, and every later round tries again, at most once per 100 ms. Within 100 ms of
 * a failed attempt or a passed deadline a round is answered at once (unavailable): while Redis stalls, nobody waits
 * for more than one deadline, however many have queued up.
 * config is borrowed. NULL without memory. */
struct redis *redis_new(const struct config *config);
void redis_free(struct redis *r);

/* Queues a command. args are copied. call->status is ST_UNKNOWN with reply NULL until the round has answered it. */
void redis_queue(struct redis *r, struct redis_call *call, const struct str *args, size_t count);
/* A script instead of a command: EVALSHA, keys, args. NOSCRIPT (also of a script whose name was not known yet) is
 * answered with one SCRIPT LOAD, which tells the name, and one repeat. */
struct redis_script;
enum redis_target {
    REDIS_ANY,   /* sent to whatever server is there */
    REDIS_FENCED /* sent only to a server whose fence is open (redis_fence_set); else ST_UNAVAILABLE, not sent */
};
void redis_queue_script(struct redis *r, struct redis_call *call, struct redis_script *script, enum redis_target target,
                        const struct str *keys, size_t key_count, const struct str *args, size_t arg_count);
/* True when something is queued. */
bool redis_queued(const struct redis *r);
/* Sends all that is queued and waits until every call is answered or the deadline (config redis_timeout_ms from
 * now) has passed. Never blocks longer. */
void redis_round(struct redis *r);
/* Queue + round for code that may block (page pool, settle, commands). Returns call->status. */
enum status redis_do(struct redis *r, struct redis_call *call, const struct str *args, size_t count);
/* The same for a script, whatever server is there. */
enum status redis_do_script(struct redis *r, struct redis_call *call, struct redis_script *script,
                            const struct str *keys, size_t key_count, const struct str *args, size_t arg_count);
/* Puts a fence before the server: it is open when the string at key is the server's own run_id, a blank and number
 * (decimal). The key is read along with the first round over a connection, and with each round until the fence is open;
 * it then stays open for the life of the connection, which is never longer than that of the server's process. Without a
 * key the fence is shut. key is borrowed. */
void redis_fence_set(struct redis *r, struct str key, int64_t number);
bool redis_fence_is_open(const struct redis *r);
/* The text at the key that opens the fence before the server at the other end; empty while there is no connection. */
struct str redis_fence_text(const struct redis *r);
/* The number of the connection, counted from 1; 0 while there is none. */
uint64_t redis_connection(const struct redis *r);
void redis_call_free(struct redis_call *call); /* frees the reply; fine on an unused or freed call */

/* Scripts: lua/NAME-K.lua, K = number of keys; a line `-- @include "NAME"` is replaced by lua/include/NAME.lua, once.
 * Reads every script of dir; ST_INVALID with a message on a missing include, a cycle or a bad name. */
struct redis_scripts;
enum status redis_scripts_load(const char *dir, struct redis_scripts **out, char *error, size_t error_size);
void redis_scripts_free(struct redis_scripts *s);
/* By name without the key count: "grab". NULL when there is none. */
struct redis_script *redis_script_find(struct redis_scripts *s, const char *name);
uint32_t redis_script_key_count(const struct redis_script *s);
/* The text that is sent, includes resolved. */
struct str redis_script_text(const struct redis_script *s);
/* What Redis calls it: 40 hex digits, all of them 0 before the first SCRIPT LOAD has answered and was learnt from. */
struct str redis_script_hash(const struct redis_script *s);
void redis_script_learn(struct redis_script *s, struct str hash);

/* Reading replies without trust: each checks type and bounds. */
bool redis_reply_is_nil(const redisReply *reply);
struct str redis_reply_str(const redisReply *reply);                     /* STR_NONE unless a string or status */
bool redis_reply_i64(const redisReply *reply, int64_t *out);             /* integer, or a decimal string */
const redisReply *redis_reply_at(const redisReply *reply, size_t index); /* NULL unless an array that long */

#endif

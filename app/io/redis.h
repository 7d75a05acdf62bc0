/* Redis client: one connection per process. Requests queue commands; a round sends them all in one write and reads all
 * replies, within one deadline. After an error the connection is dropped; a command that was sent without a reply is
 * unknown: it may have been executed. Use: redis_new, redis_queue for each command, redis_round, then read each
 * redis_call and free it; or redis_do for a single command. */
#ifndef HB_IO_REDIS_H
#define HB_IO_REDIS_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/config.h"
#include "base/status.h"
#include "base/str.h"

struct redis;

#define REDIS_ARGS_MAX  4096 /* per command */
#define REDIS_QUEUE_MAX 4096 /* commands per round */

/* The result of one command. Owned by the caller; must stay valid until the round is over. */
struct redis_call {
    enum status status; /* ST_OK: reply is set · ST_UNAVAILABLE: not sent completely, so not executed ·
                           ST_UNKNOWN: sent, no reply · ST_NO_MEMORY: not queued · ST_INVALID: error reply, see
                           reply->str · ST_CONFLICT: error reply of a server that refused the command before executing
                           it: OOM, READONLY, LOADING, BUSY, MISCONF, NOPERM … */
    redisReply *reply;  /* free with redis_call_free */
};

/* Does not connect. A round connects when there is no connection, at most once per 100 ms. For 100 ms after a failed
 * connect or a missed deadline, rounds fail at once with ST_UNAVAILABLE: while Redis stalls, requests that arrive
 * meanwhile do not each wait for a deadline. config is borrowed. NULL when out of memory. */
struct redis *redis_new(const struct config *config);
void redis_free(struct redis *r);

/* Queues a command; args are copied. Until the round call->status is ST_UNKNOWN and reply NULL; ST_NO_MEMORY: the queue
 * is full, the command will not be sent. */
void redis_queue(struct redis *r, struct redis_call *call, const struct str *args, size_t count);
/* Queues a script call (EVALSHA), as redis_queue. When the server replies NOSCRIPT, the round sends SCRIPT LOAD, stores
 * the hash from its reply and repeats the call once. A script's first call always takes this path: its hash is not
 * known before. */
struct redis_script;
enum redis_target {
    REDIS_ANY,   /* sent to any server */
    REDIS_FENCED /* sent only while the fence is open (redis_fence_set); else ST_UNAVAILABLE, not sent */
};
void redis_queue_script(struct redis *r, struct redis_call *call, struct redis_script *script, enum redis_target target,
                        const struct str *keys, size_t key_count, const struct str *args, size_t arg_count);
/* True when a command is queued. */
bool redis_queued(const struct redis *r);
/* Sends the queued commands and waits until every call has a reply or the deadline has passed: redis_timeout_ms
 * (config) from now. Sets the status and reply of every call; the queue is empty afterwards. */
void redis_round(struct redis *r);
/* redis_queue and redis_round, for code that may block (page pool, settle worker, commands). Also runs what was queued
 * before. Returns call->status. */
enum status redis_do(struct redis *r, struct redis_call *call, const struct str *args, size_t count);
/* PING, for its status: it connects if necessary and reads the fence key, as any round does. */
enum status redis_ping(struct redis *r);
/* redis_do for a script call, with REDIS_ANY. */
enum status redis_do_script(struct redis *r, struct redis_call *call, struct redis_script *script,
                            const struct str *keys, size_t key_count, const struct str *args, size_t arg_count);
/* Sets the key of the fence. The fence is open when the string at key is the server's run_id, a blank and number in
 * decimal. While it is shut, each round reads the key. Once open, it stays open until the connection is closed: a
 * connection ends with the server process, so the run_id can't change meanwhile. Without a key the fence is shut. key
 * is borrowed. */
void redis_fence_set(struct redis *r, struct str key, int64_t number);
bool redis_fence_is_open(const struct redis *r);
/* The text that the key must hold to open the fence for the connected server; empty without a connection. */
struct str redis_fence_text(const struct redis *r);
/* Number of the current connection, counted from 1; 0 without one. A changed number means: reconnected. */
uint64_t redis_connection(const struct redis *r);
void redis_call_free(struct redis_call *call); /* frees the reply; may be called twice */

#endif

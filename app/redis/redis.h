/* Redis client: one connection per process, in a cluster one to each primary (redis/cluster.h). Requests queue
 * commands; a round sends them all in one write and reads all replies, within one deadline. After an error the
 * connection is dropped; a command that was sent without a reply is unknown: it may have been executed. Use:
 * redis_new, redis_queue for each command, redis_round, then read each redis_call and free it; or redis_do for a
 * single command. */
#ifndef HB_REDIS_REDIS_H
#define HB_REDIS_REDIS_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/str.h"
#include "config/config.h"

struct redis;

#define REDIS_ARGS_MAX  4096 /* per command */
#define REDIS_QUEUE_MAX 4096 /* commands per round */

/* The result of one command. Owned by the caller; must stay valid until the round is over. */
struct redis_call {
    enum status status;  /* ST_OK: reply is set · ST_UNAVAILABLE: not sent completely, so not executed, or refused by a
                            server that does not serve these keys, or not yet: READONLY, LOADING, CLUSTERDOWN … ·
                            ST_UNKNOWN: sent, no reply, or not confirmed by the replicas · ST_NO_MEMORY: not queued ·
                            ST_INVALID: error reply, see reply->str · ST_CONFLICT: error reply of a server that refused
                            the command before executing it: OOM, BUSY, MISCONF, NOPERM … */
    redisReply *reply;   /* free with redis_call_free */
    uint64_t connection; /* number of the connection over which the reply came, counted from 1 over all servers; 0: no
                            reply. Another number means another connection, so perhaps another server */
    bool confirmed;      /* the replicas have all that the server had when it replied */
};

/* Does not connect. A round connects when there is no connection, at most once per 100 ms: to the first address of the
 * setting redis that answers. With several addresses it skips replicas and servers that are loading, and uses a primary
 * without enough replicas (redis_replicas, config) only when there is no other. It leaves a primary whose replicas do
 * not confirm for a second, and tries it after the others for 10 s. For 100 ms after a failed connect or a missed
 * deadline, rounds fail at once with ST_UNAVAILABLE, so that while Redis stalls not every request waits for a deadline.
 * For a server of a cluster it is 500 ms, and only its own commands fail. config is borrowed. NULL when out of
 * memory. */
struct redis *redis_new(const struct config *config);
void redis_free(struct redis *r);

/* Queues a command; args are copied. Until the round call->status is ST_UNKNOWN and reply NULL; ST_NO_MEMORY: the queue
 * is full, the command will not be sent. */
void redis_queue(struct redis *r, struct redis_call *call, const struct str *args, size_t count);
/* The same for a read that leads to a final decision: ST_UNKNOWN unless the replicas (redis_replicas, config) have all
 * that the server had when it replied. Calls with a fence are confirmed in the same way. */
void redis_queue_confirmed(struct redis *r, struct redis_call *call, const struct str *args, size_t count);
/* Whether replicas have to confirm (redis_replicas, config), as known since the first connection. */
bool redis_confirms(const struct redis *r);
/* Queues the call of a function (FCALL), as redis_queue. ST_UNAVAILABLE: the server lacks the function
 * (redis/function_load.h), so nothing was executed. fence: the number of a fence: the call is sent only while this
 * fence is open (redis/fence.h), else it is ST_UNAVAILABLE. REDIS_ANY: no fence. REDIS_CONFIRMED: no fence, but the
 * replicas have to confirm the call, as with redis_queue_confirmed. */
enum { REDIS_ANY = -1, REDIS_CONFIRMED = -2 };
struct redis_function;
void redis_queue_function(struct redis *r, struct redis_call *call, const struct redis_function *function, int fence,
                          const struct str *keys, size_t key_count, const struct str *args, size_t arg_count);
/* How many connections were made so far, to any server. */
uint64_t redis_connections(const struct redis *r);
/* True when a command is queued. */
bool redis_queued(const struct redis *r);
/* Sends the queued commands and waits until every call has a reply or the deadline has passed: redis_timeout_ms
 * (config) from now. Sets the status and reply of every call; the queue is empty afterwards. */
void redis_round(struct redis *r);
/* redis_queue and redis_round, for code that may block (page pool, settle worker, commands). Also runs what was queued
 * before. Returns call->status. */
enum status redis_do(struct redis *r, struct redis_call *call, const struct str *args, size_t count);
/* PING, for its status. It connects if necessary, and reads the fences that are not known to be open. */
enum status redis_ping(struct redis *r);
/* redis_do for the call of a function, with REDIS_ANY or REDIS_CONFIRMED. */
enum status redis_do_function(struct redis *r, struct redis_call *call, const struct redis_function *function,
                              int fence, const struct str *keys, size_t key_count, const struct str *args,
                              size_t arg_count);
void redis_call_free(struct redis_call *call); /* frees the reply; may be called twice */

#endif

/* The parts of the Redis client:
 *
 *   redis.c             the queue of commands, rounds, the fence
 *   redis_crowd.c       calls of one script that become one command
 *   redis_wire.c        commands → bytes, bytes → replies, within a deadline
 *   redis_connection.c  connecting, the handshake, noticing a dead connection
 *   redis_reload.c      after NOSCRIPT: load the script, repeat the call
 *   redis_script.c      reading scripts from files
 *   redis_reply.c       reading replies */
#ifndef HB_IO_REDIS_INTERNAL_H
#define HB_IO_REDIS_INTERNAL_H

#include "base/buf.h"
#include "io/redis.h"

enum {
    REDIS_QUEUE_BYTES_MAX = 64 << 20, /* per round */
    REDIS_ARG_HEAD_MAX = 32,          /* bytes besides each argument: "$LEN\r\n" and "\r\n" */
    REDIS_RETRY_PAUSE_MS = 100,       /* before the next attempt to connect; rounds meanwhile fail at once */
    REDIS_RUN_ID_MAX = 41,
    REDIS_FENCE_MAX = REDIS_RUN_ID_MAX + 21
};

/* A queued command: its bytes in the output buffer and the call that takes its reply. */
struct pending {
    struct redis_call *call;
    struct redis_script *script; /* NULL: not a script call */
    enum redis_target target;
    size_t start, end;  /* offsets in the buffer */
    size_t hash_offset; /* of a script call: offset of its hash from start */
};

struct redis {
    const struct config *config;
    redisContext *context; /* NULL: not connected */
    int64_t retry_at_ms;   /* monotonic: do not connect before */
    int64_t last_used_ms;  /* monotonic: end of the last successful round */
    bool unreachable_logged;
    uint64_t connection;           /* number of connections so far */
    char run_id[REDIS_RUN_ID_MAX]; /* of the connected server; empty: not connected */
    struct str fence_key;          /* borrowed; empty: the fence is shut */
    int64_t fence_number;
    char fence_text[REDIS_FENCE_MAX]; /* the value at the key that opens the fence */
    struct redis_call fence_reply;    /* the value read from the key */
    bool fence_open;                  /* the value was fence_text, read over this connection */
    bool fence_refusal_logged;        /* for this connection */
    struct buf out;
    struct pending *pending;
    size_t count, cap;
    struct redis_crowd *crowds; /* of the next round; those beyond crowd_count keep their buffers */
    size_t crowd_count, crowd_cap;
};

/* ---- redis.c ---- */

/* Adds a command of args arguments to the queue and writes its head. The caller appends the arguments, at most bytes
 * with the head, and sets p->end. NULL: no memory, or a limit was reached; call->status is ST_NO_MEMORY then. */
struct pending *redis_pending_add(struct redis *r, struct redis_call *call, size_t bytes, size_t args);

/* ---- redis_crowd.c ---- */

/* Adds the crowds to the queue, at its end. */
void redis_crowds_queue(struct redis *r);
/* Gives each caller its part of the reply, or the status of the whole command; no crowd is left. */
void redis_crowds_answer(struct redis *r);
void redis_crowds_free(struct redis *r);

/* ---- redis_wire.c ---- */

/* Appends a command in the Redis protocol: the head, then each argument. */
void redis_write_head(struct buf *out, size_t args);
size_t redis_write_arg(struct buf *out, struct str arg); /* returns the offset of arg in out */
/* Appends a whole command, for commands of the client itself that do not go through the queue. Fills *p. */
void redis_command_append(struct buf *out, struct pending *p, struct redis_call *call, const struct str *args,
                          size_t count);
/* Polls fd for events. *got: the events that occurred. False: the deadline has passed, or poll failed. */
bool redis_wait(int fd, short events, int64_t deadline_ms, short *got);
/* Sends bytes, the commands of list in order, and reads their replies. Sets every call's status, and its reply if one
 * arrived. False: failed, and the connection was dropped. */
bool redis_transfer(struct redis *r, struct str bytes, const struct pending *list, size_t count, int64_t deadline_ms);

/* ---- redis_connection.c ---- */

/* Keeps the connection, or opens a new one when there is none or it is dead. False: not connected. */
bool redis_connection_ensure(struct redis *r, int64_t deadline_ms);
void redis_close(struct redis *r);
/* Logs the reason and closes the connection. Does not touch the calls in flight. */
void redis_drop(struct redis *r, const char *why);
/* Sets fence_text from run_id and fence_number. */
void redis_fence_write(struct redis *r);

/* ---- redis_reload.c ---- */

/* Loads the scripts of the calls that failed with NOSCRIPT and repeats these calls, once. If the server loses the
 * scripts again in between, the calls keep their error (ST_CONFLICT). */
void redis_scripts_reload(struct redis *r, int64_t deadline_ms);

#endif

/* What the parts of the Redis client share; nobody else includes it.
 *
 *   redis.c             a queue of commands, and rounds that send it and answer it
 *   redis_wire.c        commands → bytes, bytes → replies, within a deadline
 *   redis_connection.c  one connection: who is there, is it still there
 *   redis_reload.c      commands that Redis has no script for: load it, repeat them
 *   redis_script.c      scripts from files
 *   redis_reply.c       reading replies */
#ifndef HB_IO_REDIS_INTERNAL_H
#define HB_IO_REDIS_INTERNAL_H

#include "base/buf.h"
#include "io/redis.h"

enum {
    REDIS_QUEUE_BYTES_MAX = 64 << 20, /* of one round */
    REDIS_RETRY_PAUSE_MS = 100,       /* before the next attempt to connect; who queued up meanwhile doesn't wait */
    REDIS_RUN_ID_MAX = 41,
    REDIS_FENCE_MAX = REDIS_RUN_ID_MAX + 21
};

/* A queued command: where its bytes lie and who waits for the answer. */
struct pending {
    struct redis_call *call;
    struct redis_script *script; /* NULL: a plain command */
    enum redis_target target;
    size_t start, end;
    size_t hash_at; /* of a script: where its hash begins, behind start */
};

struct redis {
    const struct config *config;
    redisContext *context; /* NULL: not connected */
    int64_t retry_at_ms;   /* monotonic: no attempt to connect before */
    int64_t used_ms;       /* monotonic: end of the last good round */
    bool down_logged;
    uint64_t connection;           /* counts them */
    char run_id[REDIS_RUN_ID_MAX]; /* of the server at the other end */
    struct str fence_key;          /* borrowed; empty: the fence is shut */
    int64_t fence_number;
    char fence_text[REDIS_FENCE_MAX]; /* the text at the key that opens it */
    struct redis_call fence_reply;    /* what the key held */
    bool fence_open;                  /* it was fence_text, over this connection */
    struct buf out;
    struct pending *pending;
    size_t count, cap;
};

/* ---- redis_wire.c ---- */

/* A command's bytes: its head, then each of its args. */
void redis_write_head(struct buf *out, size_t args);
size_t redis_write_arg(struct buf *out, struct str arg); /* where its first byte is in out */
/* A command of our own, sent beside the queue. */
void redis_command_append(struct buf *out, struct pending *p, struct redis_call *call, const struct str *args,
                          size_t count);
/* Waits for events until the deadline. False: deadline or a broken poll. */
bool redis_wait(int fd, short events, int64_t deadline_ms, short *got);
/* Sends bytes, in which list's commands lie one after the other, and answers every call of the list, be it with its
 * reply or with what is known of its fate. False: the connection is gone. */
bool redis_transfer(struct redis *r, struct str bytes, const struct pending *list, size_t count, int64_t deadline_ms);

/* ---- redis_connection.c ---- */

/* True: there is a connection that can be trusted, an old one or a new one. */
bool redis_connected(struct redis *r, int64_t deadline_ms);
void redis_close(struct redis *r);
/* Closes and says why. What it had in flight is decided by the caller. */
void redis_drop(struct redis *r, const char *why);
/* Writes the text that opens the fence before the server at the other end. */
void redis_fence_write(struct redis *r);

/* ---- redis_reload.c ---- */

/* Repeats the commands of the round that failed for want of their script, after loading it. Once: when the scripts are
 * flushed again in between, the calls stay refused. */
void redis_scripts_reload(struct redis *r, int64_t deadline_ms);

#endif

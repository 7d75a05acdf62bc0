/* The parts of the Redis client:
 *
 *   redis.c             the queue of commands, rounds
 *   fence.c             which calls may be sent to which server
 *   cluster.c           which server has which key
 *   wait.c              waiting until replicas confirm
 *   slot.c              the slot of a key
 *   crowd.c             calls of one function that become one command
 *   wire.c              commands → bytes, bytes → replies, within a deadline
 *   connection.c        connecting to a node, the handshake, noticing a dead connection
 *   function.c          reading functions from files; function_load.c loads them into servers
 *   reply.c             reading replies */
#ifndef HB_REDIS_REDIS_INTERNAL_H
#define HB_REDIS_REDIS_INTERNAL_H

#include "base/buf.h"
#include "config/address.h"
#include "redis/fence.h"
#include "redis/redis.h"

enum {
    REDIS_QUEUE_BYTES_MAX = 64 << 20, /* per round */
    REDIS_ARG_HEAD_MAX = 32,          /* bytes besides each argument: "$LEN\r\n" and "\r\n" */
    REDIS_RETRY_PAUSE_MS = 100,       /* before the next attempt to connect; rounds meanwhile fail at once */
    REDIS_CLUSTER_PAUSE_MS = 500,     /* the same for a server of a cluster: the others are used meanwhile */
    REDIS_NODES_MAX = 32,
    REDIS_RUN_ID_MAX = 41,
    REDIS_MARKS_MAX = 4 /* commands that only write, before a WAIT */
};

/* A queued command: its bytes in the output buffer and the call that takes its reply. */
struct pending {
    struct redis_call *call;
    struct redis_node *node; /* the node that gets or got it; NULL: none */
    int fence;               /* REDIS_ANY: none */
    size_t primary;          /* the number of the primary that gets it, from 1; 0: the primary of its key */
    bool confirm;            /* the replicas must confirm it */
    size_t start, end;       /* offsets in the buffer */
};

/* A connection to one server. */
struct redis_node {
    struct address address;
    bool has_address;      /* it has a fixed address, as in a cluster; otherwise the configured addresses are tried */
    bool serves;           /* of a cluster: it is a primary with slots */
    bool is_cluster;       /* it said so */
    int64_t has_replicas;  /* number of its connected replicas, by INFO */
    size_t index;          /* without has_address: index of its address in the configured list */
    redisContext *context; /* NULL: not connected */
    int64_t retry_at_ms;   /* monotonic: do not connect before */
    int64_t last_used_ms;  /* monotonic: end of the last successful transfer */
    bool unreachable_logged;
    uint64_t connection;                            /* number of the connection (redis_call); 0: not connected */
    char run_id[REDIS_RUN_ID_MAX];                  /* of the connected server; empty: not connected */
    bool fence_refusal_logged;                      /* for this connection */
    uint64_t ensured_round;                         /* the last round that has checked the connection */
    bool waits_for_own;                             /* its WAIT counts from the last write of the connection */
    struct redis_call marks[REDIS_MARKS_MAX], wait; /* they follow the commands of a flight */
    bool waits;                                     /* marks and wait are queued */
    bool unconfirmed_logged;
    int64_t unconfirmed_since_ms; /* monotonic; 0: the last WAIT was confirmed, or there was none yet */
    struct buf out;               /* the commands of a flight to this node, when they are not the whole queue */
    struct pending *list;
    size_t count, cap;
};

struct redis {
    const struct config *config;
    struct redis_node nodes[REDIS_NODES_MAX];
    size_t node_count;
    int64_t replicas;                      /* how many replicas must confirm; from redis_replicas */
    int64_t replicas_ms;                   /* time that confirming may take in a round */
    struct address_list addresses;         /* by config, read at each attempt to connect */
    int64_t avoid_until_ms[ADDRESSES_MAX]; /* monotonic: the others are tried first */
    struct redis_cluster *cluster;         /* NULL: the servers are no cluster, or not known to be one */
    uint64_t connections;                  /* made so far, to any node */
    uint64_t rounds;                       /* begun so far */
    redis_fence_key *fence_key;
    uint32_t fence_count;                    /* 0: every fence is shut */
    int64_t fence_read_ms[REDIS_FENCES_MAX]; /* monotonic: when it was found open */
    int64_t round_ms;                        /* monotonic: begin of the last round */
    uint64_t fence_opened[REDIS_FENCES_MAX]; /* connection over which the fence was found open; 0: none */
    bool fences_wanted;                      /* the next round reads all fences that are not known to be open */
    struct buf out;
    struct pending *pending;
    size_t count, cap;
    struct redis_crowd *crowds; /* crowds of the next round; those beyond crowd_count only keep their buffers */
    size_t crowd_count, crowd_cap;
};

/* Commands on their way to one node. */
struct redis_flight {
    struct redis_node *node; /* connected */
    struct str bytes;        /* the commands of list, in order */
    const struct pending *list;
    size_t count;
    /* set by redis_transfer */
    size_t written, answered; /* bytes and commands */
    const char *failure;      /* why the connection was dropped; NULL: every command has a reply */
};

/* ---- redis.c ---- */

/* Adds a command of args arguments to the queue and writes its head. The caller appends the arguments and sets p->end;
 * head and arguments take at most `bytes`. NULL: no memory, or a limit was reached; call->status is ST_NO_MEMORY
 * then. */
struct pending *redis_pending_add(struct redis *r, struct redis_call *call, size_t bytes, size_t args);

/* Keeps or makes the connection of a node, once in a round. Returns the node; NULL: not connected. */
struct redis_node *redis_node_ensure(struct redis *r, struct redis_node *node, int64_t deadline_ms);
/* Appends a command to the node's next flight. bytes: the command, as it is in the queue. False: no memory. */
bool redis_node_add(struct redis_node *node, const struct pending *p, struct str bytes);
/* Lists the nodes that have commands. Returns their number. */
size_t redis_flights(struct redis *r, struct redis_flight flights[REDIS_NODES_MAX]);
/* Frees the buffers of what was sent, except small ones. */
void redis_node_reset(struct redis_node *node);

/* ---- redis/cluster.c ---- */

/* Finds out whether the servers are a cluster, and reads the cluster's map when it may be outdated. Call it once in a
 * round, before commands get nodes, because it closes nodes that serve no slots. False: it is not known which server
 * has which key. */
bool redis_map_ensure(struct redis *r, int64_t deadline_ms);
/* The node that serves the key, connected. STR_NONE: any node. NULL: it is unknown or unreachable. */
struct redis_node *redis_route(struct redis *r, struct str key, int64_t deadline_ms);
/* The same for a queued command. */
struct redis_node *redis_route_command(struct redis *r, const struct pending *p, int64_t deadline_ms);
/* The node of a key, without making a connection. NULL: unknown. */
const struct redis_node *redis_route_known(const struct redis *r, struct str key);
/* Makes the next round read the map again. Does nothing without a cluster. */
void redis_map_doubt(struct redis *r);
/* Handles commands that their server redirected. Commands whose slot was moved get their new node; true: there are such
 * commands, and they must be sent again. Commands whose slot is being moved are repeated at once. All other commands
 * have no node afterwards. */
bool redis_redirects_take(struct redis *r, int64_t deadline_ms);

/* ---- redis/wait.c ---- */

/* Sets r->replicas. Call it when the addresses are read, and when the servers are a cluster. */
void redis_replicas_read(struct redis *r);
/* Adds a WAIT for each node with a command that must be confirmed, and before it the write that the WAIT may need. */
void redis_waits_add(struct redis *r);
/* Reads the reply to the WAIT: without enough replicas the calls to be confirmed become ST_UNKNOWN. */
void redis_wait_read(struct redis *r, const struct redis_flight *f);

/* ---- redis/fence.c ---- */

/* Reads the fences that the queued calls name, if they are not known to be open, and takes the calls with a shut fence
 * off their node: they are ST_UNAVAILABLE. */
void redis_fences_check(struct redis *r, int64_t deadline_ms);

/* ---- redis/crowd.c ---- */

/* Adds the crowds to the queue, at its end. */
void redis_crowds_queue(struct redis *r);
/* Gives each caller its part of the reply, or the status of the whole command. Afterwards there is no crowd. */
void redis_crowds_answer(struct redis *r);
void redis_crowds_free(struct redis *r);

/* ---- redis/wire.c ---- */

/* Appends a command in the Redis protocol: the head, then each argument. */
void redis_write_head(struct buf *out, size_t args);
size_t redis_write_arg(struct buf *out, struct str arg); /* returns the offset of arg in out */
/* Appends a whole command, for commands of the client itself that do not go through the queue. Fills *p. */
void redis_command_append(struct buf *out, struct pending *p, struct redis_call *call, const struct str *args,
                          size_t count);
/* Polls fd for events. *got: the events that occurred. False: the deadline has passed, or poll failed. */
bool redis_wait(int fd, short events, int64_t deadline_ms, short *got);
/* Sends the commands of each flight to its node, all at once, and reads their replies. Sets every call's status, and
 * its reply if one arrived. After a failure it drops the connection of that flight. */
void redis_transfer(struct redis_flight *flights, size_t count, int64_t deadline_ms);
/* The same for one node. False: failed, and the connection was dropped. */
bool redis_transfer_one(struct redis_node *node, struct str bytes, const struct pending *list, size_t count,
                        int64_t deadline_ms);

/* ---- redis/connection.c ---- */

/* Keeps the node's connection, or opens a new one when there is none or it is dead. False: not connected. */
bool redis_connection_ensure(struct redis *r, struct redis_node *node, int64_t deadline_ms);
void redis_close(struct redis_node *node);
/* The pause after a failed connect or a missed deadline, before the next attempt to connect. */
int64_t redis_retry_pause_ms(const struct redis_node *node);
/* Leaves one of several addresses: for a while it is tried after the others. */
void redis_avoid(struct redis *r, struct redis_node *node, const char *why);
/* Logs the reason and closes the connection. Does not touch the calls in flight. */
void redis_drop(struct redis_node *node, const char *why);

#endif

/* Commands that have no key, and the servers of a Redis Cluster.
 *
 * Whether the servers are a cluster is known after the first connection: INFO says redis_mode:cluster, Valkey's INFO
 * server_mode:cluster. Then each command goes to the primary that serves the slot of its first key, over one connection
 * to each primary; the commands of a round travel at the same time. A command without a key (PING, TIME, INFO) goes to
 * any of them. A command whose slot has moved (MOVED) is repeated within the round. A command whose slot is being moved
 * (ASK) is repeated, too, unless it has a fence or must be confirmed: then it is ST_UNAVAILABLE, because the other
 * server was not compared yet. A command whose slot has no primary is ST_UNAVAILABLE, too. */
#ifndef HB_REDIS_CLUSTER_H
#define HB_REDIS_CLUSTER_H

#include "redis/redis.h"

/* True once a connection has shown that the servers are a cluster. */
bool redis_is_cluster(const struct redis *r);
/* True when both keys are on the same server, as far as is known now; false when a key has no server. */
bool redis_is_same_server(const struct redis *r, struct str a, struct str b);
/* The number of primaries that serve slots; 1 without a cluster. Connects if necessary. 0: none is reachable. */
size_t redis_primaries(struct redis *r);
/* The address of one of the primaries of a cluster; borrowed, valid until the next round. NULL: there is none, or no
 * cluster. r may be NULL. */
struct address;
const struct address *redis_primary_address(struct redis *r, size_t primary);
/* Queues a command for one primary, from 0 to redis_primaries - 1; as redis_queue. For commands that concern a server
 * and not a key: SCAN, INFO, CONFIG. ST_UNAVAILABLE also when there is no such primary any more. */
void redis_queue_at(struct redis *r, struct redis_call *call, size_t primary, const struct str *args, size_t count);
/* redis_queue_at and redis_round. */
enum status redis_do_at(struct redis *r, struct redis_call *call, size_t primary, const struct str *args, size_t count);

#endif

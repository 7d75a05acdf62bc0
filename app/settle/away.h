/* Partitions that are away: their Redis server does not answer, or its replicas do not confirm. When one server of a
 * Redis Cluster is lost, the worker goes on with the partitions of the others. Use: settle_away_begin at the begin of a
 * step, then settle_away_take for the status of each task of one partition, and skip what is away. Without a cluster no
 * partition is ever away: all are on one server, whose loss ends the step. */
#ifndef HB_SETTLE_AWAY_H
#define HB_SETTLE_AWAY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "settle/partition.h"

/* No partition is away. */
void settle_away_begin(struct settle *s);
/* st: the status of a task of the partition that used both stores. When it is ST_UNAVAILABLE and MySQL is not the
 * reason, all partitions of the same Redis server are away from now on. Returns ST_OK then, or ST_UNAVAILABLE if that
 * was the last server; otherwise st. */
enum status settle_away_take(struct settle *s, uint32_t partition, enum status st);
bool settle_is_away(const struct settle *s, uint32_t partition);
/* The same for the partition of a packet. */
enum status settle_packet_away_take(struct settle *s, uint64_t packet_id, enum status st);
bool settle_packet_is_away(const struct settle *s, uint64_t packet_id);
uint32_t settle_away_count(const struct settle *s);

#endif

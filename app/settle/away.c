#include "settle/away.h"

#include "live/keys.h"
#include "mysql/db.h"
#include "packet/packet.h"
#include "redis/cluster.h"

void settle_away_begin(struct settle *s)
{
    for (uint32_t i = 0; i < s->partition_count; i++)
        s->partitions[i].away = false;
}

uint32_t settle_away_count(const struct settle *s)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->partition_count; i++)
        count += s->partitions[i].away;
    return count;
}

bool settle_is_away(const struct settle *s, uint32_t partition)
{
    return s->partitions[partition].away;
}

enum status settle_away_take(struct settle *s, uint32_t partition, enum status st)
{
    char own[LIVE_KEY_MAX], other[LIVE_KEY_MAX];
    const struct redis *redis = s->stores->redis;
    if (status_idempotent(st) != ST_UNAVAILABLE || !redis_is_cluster(redis) || !db_is_connected(s->stores->db))
        return st;
    struct str key = live_events_key(own, partition);
    for (uint32_t i = 0; i < s->partition_count; i++)
        if (i == partition || redis_is_same_server(redis, key, live_events_key(other, i)))
            s->partitions[i].away = true;
    return settle_away_count(s) < s->partition_count ? ST_OK : ST_UNAVAILABLE;
}

enum status settle_packet_away_take(struct settle *s, uint64_t packet_id, enum status st)
{
    return settle_away_take(s, packet_partition(packet_id, s->stores->config->partitions), st);
}

bool settle_packet_is_away(const struct settle *s, uint64_t packet_id)
{
    return settle_is_away(s, packet_partition(packet_id, s->stores->config->partitions));
}

#include "settle/durable.h"

#include "live/stores.h"
#include "mysql/db_durable.h"

enum status settle_durable(struct settle *s, uint64_t connection)
{
    enum status st = status_retry(db_durable(s->stores->db, connection));
    for (uint32_t i = 0; st == ST_OK && i < s->partition_count; i++)
        if (s->partitions[i].read_on == connection)
            s->partitions[i].unflushed = false;
    return st;
}

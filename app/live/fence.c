#include "live/fence.h"

#include "live/keys.h"
#include "live/live_internal.h"

_Static_assert(LIVE_KEY_MAX <= REDIS_FENCE_KEY_MAX, "room for the key of a fence");

void live_fences_set(struct redis *redis, const struct config *config)
{
    redis_fences_set(redis, live_fence_key, (uint32_t)config->partitions);
}

enum status live_fence_open(const struct live *live, uint32_t partition, struct str text)
{
    char key[LIVE_KEY_MAX];
    enum live_code code;
    return live_key_set(live, live->fence, "fence", live_fence_key(key, partition), text, &code);
}

enum status live_older_fence_open(const struct live *live, struct str text)
{
    enum live_code code;
    return live_key_set(live, live->fence, "fence", LIVE_OLDER_FENCE_KEY, text, &code);
}

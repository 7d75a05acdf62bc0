#include "live/fence.h"

#include "live/live_internal.h"

void live_fence_set(struct redis *redis, const struct config *config)
{
    redis_fence_set(redis, LIVE_FENCE_KEY, config->partitions);
}

enum status live_fence_open(const struct live *live, struct str text)
{
    enum live_code code;
    return live_key_set(live, live->fence, "fence", LIVE_FENCE_KEY, text, &code);
}

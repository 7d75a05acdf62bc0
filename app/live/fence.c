#include "live/fence.h"

#include "live/live_internal.h"

void live_vouched_by(struct redis *redis, const struct config *config)
{
    redis_vouched_by(redis, LIVE_CHECKED_KEY, config->partitions);
}

enum status live_vouch(const struct live *live, struct str voucher)
{
    enum live_code code;
    return live_key_set(live, live->vouch, "vouch", LIVE_CHECKED_KEY, voucher, &code);
}

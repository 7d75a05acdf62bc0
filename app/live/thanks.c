#include "live/thanks.h"

#include "live/keys.h"
#include "live/live_internal.h"

enum status live_thanks(const struct live *live, const struct thanks *t, uint32_t packet_count, enum live_code *code)
{
    struct live_keys keys;
    struct redis_call call;
    char share_text[STR_U64_MAX], count_text[STR_U64_MAX];
    live_keys(&keys, t->packet_id, live->partitions);
    const struct str args[] = { str_u64(share_text, t->share_no), t->text, str_u64(count_text, packet_count) };
    (void)redis_do_function(live->redis, &call, live->thanks, REDIS_CONFIRMED, &keys.key[LIVE_KEY_PACKET], 1, args, 3);
    enum status st = live_code_read(&call, "thanks", code);
    redis_call_free(&call);
    return st;
}

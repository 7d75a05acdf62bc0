#include "live/erase.h"

#include "live/keys.h"
#include "live/live_internal.h"

enum status live_erase(const struct live *live, const struct packet *p, uint64_t user_id, enum live_code *code)
{
    struct live_keys keys;
    struct redis_call call;
    char user_text[STR_U64_MAX];
    live_keys(&keys, p->id, live->partitions);
    const struct str own[] = { keys.key[LIVE_KEY_PACKET], keys.key[LIVE_KEY_GRABS], keys.key[LIVE_KEY_ORDER] };
    const struct str args[] = { str_u64(user_text, user_id), str_or_empty(p->receiver_names) };
    (void)redis_do_function(live->redis, &call, live->erase, REDIS_CONFIRMED, own, 3, args, 2);
    enum status st = live_code_read(&call, "erase", code);
    redis_call_free(&call);
    return st;
}

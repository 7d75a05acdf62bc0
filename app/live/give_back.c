#include "live/give_back.h"

#include "live/keys.h"
#include "live/live_internal.h"
#include "packet/packet.h"

enum status live_give_back(const struct live *live, const struct packet *p, const struct share_return *r,
                           enum live_code *code)
{
    struct live_keys keys;
    struct redis_call call;
    char share_text[STR_U64_MAX], position_text[STR_U64_MAX], fen_text[STR_U64_MAX], best_text[STR_U64_MAX];
    const struct str none = STR("");
    live_keys(&keys, p->id, live->partitions);
    const struct str function_keys[] = { keys.key[LIVE_KEY_PACKET], keys.key[LIVE_KEY_SHARES] };
    const struct str args[] = { str_u64(share_text, r->share_no),
                                r->position == PACKET_NO_SHARE ? none : str_u64(position_text, r->position),
                                str_u64(fen_text, (uint64_t)r->amount_fen),
                                p->best_share_no == PACKET_NO_SHARE ? none : str_u64(best_text, p->best_share_no) };
    redis_queue_function(live->redis, &call, live->give_back, (int)packet_partition(p->id, live->partitions),
                         function_keys, 2, args, 4);
    redis_round(live->redis);
    enum status st = live_code_read(&call, "return", code);
    redis_call_free(&call);
    return st;
}

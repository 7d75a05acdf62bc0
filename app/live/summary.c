#include "live/summary.h"

#include "live/view.h"

enum status live_summary_read(const struct live *live, struct arena *a, uint64_t packet_id, uint64_t user_id,
                              int64_t now_ms, struct live_summary *out)
{
    struct redis_call call;
    struct packet_view view;
    live_view_queue(live, &call, packet_id, user_id, PACKET_NO_SHARE, 0);
    redis_round(live->redis);
    enum status st = live_view_read(&call, a, packet_id, &view);
    redis_call_free(&call); /* the texts of the view are not needed */
    *out = (struct live_summary){ .now_ms = now_ms };
    if (st == ST_OK)
        *out = (struct live_summary){ .whole = !view.busy,
                                      .open = !view.busy && view.packet.state == PACKET_OPEN,
                                      .has_mine = view.has_mine,
                                      .now_ms = view.now_ms };
    return st == ST_NOT_FOUND ? ST_OK : status_idempotent(st);
}

#include "settle/end.h"

#include "base/crash.h"
#include "live/close.h"
#include "live/view.h"
#include "packet/store.h"

/* Closes an ended packet in Redis. A packet that is missing or shut there gets no grab; the settle worker rebuilds it
 * with its new expiry and closes it. *finished: Redis has given out every share. */
static enum status live_end(struct stores *stores, const struct packet *p, bool *finished)
{
    struct live_close reply;
    live_close_all(&stores->live, &(struct live_closing){ .packet_id = p->id, .ended_ms = p->ended_ms }, 1, &reply);
    enum status st = status_idempotent(reply.status);
    *finished = st == ST_OK && reply.code == LIVE_FINISHED;
    return st;
}

/* Redis's clock, which also decides expiry: ours may be ahead and take an open packet for expired. Ours, when Redis
 * does not have the packet. */
static enum status live_now(struct stores *stores, struct arena *a, uint64_t packet_id, int64_t *now_ms)
{
    struct redis_call call;
    struct packet_view view;
    live_view_queue(&stores->live, &call, packet_id, 0, PACKET_NO_SHARE, 0);
    redis_round(stores->redis);
    enum status st = live_view_read(&call, a, packet_id, &view);
    if (st == ST_OK)
        *now_ms = view.now_ms;
    redis_call_free(&call);
    return st == ST_NOT_FOUND ? ST_OK : status_idempotent(st);
}

enum status end_packet(struct stores *stores, struct arena *a, uint64_t packet_id, uint64_t user_id, int64_t now_ms,
                       enum packet_state *state)
{
    struct packet p;
    bool finished = false;
    enum status st = packet_find(stores->db, a, packet_id, &p);
    if (st == ST_OK && p.sender_id != user_id)
        return ST_INVALID;
    if (st == ST_OK)
        st = live_now(stores, a, packet_id, &now_ms);
    if (st == ST_OK)
        st = packet_end(stores->db, packet_id, now_ms);
    if (st == ST_OK)
        st = packet_find(stores->db, a, packet_id, &p);
    crash_point("end-after-commit");
    bool ended = st == ST_OK && p.ended_ms != 0;
    if (ended && p.state != PACKET_CLOSED)
        st = live_end(stores, &p, &finished);
    crash_point("end-after-close");
    /* Over by a clock that may be wrong, and nothing has closed it yet: that is not known. */
    if (st == ST_OK && !ended && p.state != PACKET_CLOSED && packet_state_shown(&p, now_ms) == PACKET_EXPIRED)
        return ST_UNAVAILABLE;
    if (st == ST_OK) /* ended: by another process, perhaps, whose clock is ahead */
        *state = finished ? PACKET_FINISHED : packet_state_shown(&p, ended ? p.expires_ms : now_ms);
    return st;
}

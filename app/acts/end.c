#include "acts/end.h"

#include "base/crash.h"
#include "live/close.h"
#include "live/summary.h"
#include "mysql/db_durable.h"
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

enum status end_packet(struct stores *stores, struct arena *a, uint64_t packet_id, uint64_t user_id, int64_t now_ms,
                       struct end_packet *out)
{
    struct packet p;
    struct live_summary live = { 0 };
    bool finished = false, ended_here = false;
    enum status st = packet_find(stores->db, a, packet_id, &p);
    *out = (struct end_packet){ END_DONE, PACKET_EXPIRED };
    if (st == ST_OK && p.sender_id != user_id) {
        out->result = END_NOT_SENDER;
        return ST_OK;
    }
    if (st == ST_OK) /* our clock may be ahead: the packet may still be open */
        st = live_summary_read(&stores->live, a, packet_id, 0, now_ms, &live);
    if (st == ST_OK)
        st = packet_end(stores->db, packet_id, live.now_ms, &ended_here);
    if (st != ST_OK)
        return st;
    crash_point("end-after-commit");
    st = packet_find(stores->db, a, packet_id, &p);
    if (st == ST_OK && !ended_here) /* another call may have ended it, or the worker closed it */
        st = db_durable(stores->db, db_connections(stores->db));
    bool ended = st == ST_OK && p.ended_ms != 0;
    if (ended && p.state != PACKET_CLOSED)
        st = live_end(stores, &p, &finished);
    crash_point("end-after-close");
    if (st == ST_UNAVAILABLE || st == ST_CONFLICT || st == ST_NO_MEMORY)
        return ST_UNKNOWN; /* perhaps recorded above */
    /* Our clock, which may be wrong, says expired, and the packet is not closed yet: a grab may still succeed. */
    if (st == ST_OK && !ended && p.state != PACKET_CLOSED && packet_state_shown(&p, live.now_ms) == PACKET_EXPIRED)
        return ST_UNAVAILABLE;
    if (st == ST_OK) /* another process may have ended it, with a clock ahead of ours */
        out->state = finished ? PACKET_FINISHED : packet_state_shown(&p, ended ? p.expires_ms : live.now_ms);
    return st;
}

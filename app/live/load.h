/* Puts a packet into Redis, new or rebuilt. */
#ifndef HB_LIVE_LOAD_H
#define HB_LIVE_LOAD_H

#include "live/event.h"
#include "live/live.h"
#include "packet/packet.h"

enum live_state { LIVE_STATE_OPEN, LIVE_STATE_CLOSED, LIVE_STATE_BUSY };

/* A grab that is already settled, for rebuilding. */
struct live_settled {
    uint64_t user_id;
    struct str nickname;
    int64_t amount_fen;
    struct live_event_id event; /* seq is not kept in MySQL: ms-0 will do */
};

/* Puts a packet into Redis. shares_fen: share_count amounts. settled: the first settled_count grabs in share order, to
 * rebuild it; NULL: it is new. state: LIVE_STATE_OPEN, or LIVE_STATE_CLOSED to show a closed packet again.
 * *code: LIVE_LOADED · LIVE_EXISTS: was there, untouched · LIVE_BAD: amounts and shares disagree (nothing written).
 * A rebuild replaces a packet that is busy or has a tombstone; a new one leaves both alone. Grabs of a
 * large packet go in several calls; until the last one its state is busy, and a rebuild that died halfway is simply
 * repeated. ST_OK, or as live_grab_read: a new packet is unavailable, and not sent, while the fence is shut. */
enum status live_load(const struct live *live, const struct packet *p, const int64_t *shares_fen,
                      const struct live_settled *settled, uint32_t settled_count, enum live_state state,
                      enum live_code *code);

#endif

/* Writes a packet into Redis: a new one, or a rebuild from MySQL. */
#ifndef HB_LIVE_LOAD_H
#define HB_LIVE_LOAD_H

#include "live/event.h"
#include "live/live.h"
#include "packet/packet.h"

enum live_state { LIVE_STATE_OPEN, LIVE_STATE_CLOSED, LIVE_STATE_BUSY };

/* A settled grab, for a rebuild. */
struct live_settled {
    uint64_t user_id;
    struct str nickname;
    struct face face;
    int64_t amount_fen;
    struct live_event_id event; /* time of the grab; MySQL does not store seq, use 0 */
};

/* For this time after the send, by Redis's clock, the sender's process may load a new packet. The settle worker may
 * rebuild a packet in state funding that Redis lacks afterwards, or when Redis has a tombstone of it, which keeps out
 * the sender's process. So a late load, by a process that was stopped for a while, can't bring back the first state of
 * a packet that the worker has loaded. Redis keeps a closed packet for this time, too (settle/publish.c). */
enum { LIVE_LOAD_WITHIN_MS = 5000 };

/* Writes a packet. shares_fen: packet_share_total(p) amounts: the draw, then the shares that were given back.
 * settled NULL: a new packet; else a rebuild with the first settled_count grabs in share order.
 * state: LIVE_STATE_OPEN, or LIVE_STATE_CLOSED to show a closed packet again.
 * A rebuild replaces a packet that is busy or has a tombstone; a new packet replaces neither. A rebuild with many grabs
 * takes several calls; the packet is busy until the last one, and an interrupted rebuild can be repeated.
 * ST_OK: see *code: LIVE_LOADED · LIVE_EXISTS: not changed · LIVE_EXPIRED: too late for a new packet, nothing
 * written · LIVE_NOT_YET: too early for a rebuild, its sender may still load it · LIVE_BAD: shares and amounts
 * contradict each other, nothing written. Else as live_grab_read; a new packet is not sent while the fence is shut
 * (ST_UNAVAILABLE). */
enum status live_load(const struct live *live, const struct packet *p, const int64_t *shares_fen,
                      const struct live_settled *settled, uint32_t settled_count, enum live_state state,
                      enum live_code *code);

#endif

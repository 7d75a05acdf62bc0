/* Writes shares that were given back to Redis. */
#ifndef HB_LIVE_GIVE_BACK_H
#define HB_LIVE_GIVE_BACK_H

#include "live/live.h"
#include "packet/returns.h"

/* Runs return-2.lua for one return of the packet p, whose row has its best share. May be repeated. Returns with a
 * position have to come in its order.
 * ST_OK: see code: LIVE_LOADED (applied now or before) · LIVE_NOT_YET: Redis lacks the return before it · LIVE_BUSY: a
 * rebuild will include it · LIVE_MISSING. Else as live_grab_read; while the fence is shut it is not sent
 * (ST_UNAVAILABLE). */
enum status live_give_back(const struct live *live, const struct packet *p, const struct share_return *r,
                           enum live_code *code);

#endif

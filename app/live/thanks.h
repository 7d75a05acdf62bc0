/* Writes the thanks of receivers to Redis. */
#ifndef HB_LIVE_THANKS_H
#define HB_LIVE_THANKS_H

#include "live/live.h"
#include "packet/thanks.h"

/* Shows the thanks on the packet's page; may be repeated. packet_count: the packet's thanks_count by the tables. ST_OK:
 * see *code: LIVE_LOADED · LIVE_BUSY, LIVE_MISSING: not written. Else as live_grab_read. */
enum status live_thanks(const struct live *live, const struct thanks *t, uint32_t packet_count, enum live_code *code);

#endif

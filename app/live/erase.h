/* Removes the name of a deleted user from a packet in Redis. */
#ifndef HB_LIVE_ERASE_H
#define HB_LIVE_ERASE_H

#include "live/live.h"
#include "packet/packet.h"

/* Removes the user's name as the sender, a receiver and a grabber of p. Erase the name in the tables first, and read p
 * from them; receiver_names must be set when it has receivers. *code: LIVE_LOADED: removed · LIVE_MISSING: not in Redis
 * · LIVE_FINISHED: not removed yet, the packet is about to be closed. May be repeated. ST_OK, or the status of the
 * call. */
enum status live_erase(const struct live *live, const struct packet *p, uint64_t user_id, enum live_code *code);

#endif

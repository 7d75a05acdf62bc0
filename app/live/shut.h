/* Keeps people out of packets, or shows less of them: while a packet is rebuilt, for good, behind a dead letter. */
#ifndef HB_LIVE_SHUT_H
#define HB_LIVE_SHUT_H

#include "live/live.h"

/* Closes the doors of packets before they are rebuilt: grabs are answered busy. One that is not there can only be
 * loaded by a rebuild from now on. ST_OK, or the first error, as live_grab_read. */
enum status live_busy(const struct live *live, const uint64_t *packet_ids, size_t count);

/* Deletes the own keys of a packet (its events stay in the stream). Fine when there are none. ST_OK, or as
 * live_grab_read. */
enum status live_remove(const struct live *live, uint64_t packet_id);
/* The same for packets that must not come back: a tombstone stays for a day, so that a load
 * by the sender that is still on its way does nothing. ST_OK, or the first error. */
enum status live_tombstone(const struct live *live, uint64_t packet_id);
enum status live_tombstone_all(const struct live *live, const uint64_t *packet_ids, size_t count);

/* From which share on the grabs of a packet wait behind a dead letter; PACKET_NO_SHARE: none does. */
struct live_hold {
    uint64_t packet_id;
    uint32_t from_share;
};
/* Says so in at most LIVE_BATCH_MAX packets, in one round; fine when Redis does not know one. ST_OK, or the first
 * error, as live_grab_read. */
enum status live_hold_all(const struct live *live, const struct live_hold *holds, size_t count);

#endif

/* Shuts packets for a rebuild, deletes them, and marks grabs that are held behind a dead letter. */
#ifndef HB_LIVE_SHUT_H
#define HB_LIVE_SHUT_H

#include "live/live.h"

/* Shuts packets before a rebuild: the state becomes busy, and a grab that would get a share is answered LIVE_BUSY. A
 * packet that is not in Redis gets a tombstone, so that only a rebuild can load it. A key whose value is no packet is
 * logged and left: nobody can grab there. count ≤ LIVE_BATCH_MAX (asserted). ST_OK, or the first error, as
 * live_grab_read. */
enum status live_shut(const struct live *live, const uint64_t *packet_ids, size_t count);

/* Deletes the keys of packets; their events stay in the stream. count ≤ LIVE_BATCH_MAX (asserted). ST_OK even if there
 * are none; else the first error, as live_grab_read. */
enum status live_remove(const struct live *live, uint64_t packet_id);
enum status live_remove_all(const struct live *live, const uint64_t *packet_ids, size_t count);
/* Deletes packets that must not come back: a tombstone remains for a day, which makes a delayed load of a new packet do
 * nothing. count ≤ LIVE_BATCH_MAX (asserted). ST_OK, or the first error. */
enum status live_tombstone(const struct live *live, uint64_t packet_id);
enum status live_tombstone_all(const struct live *live, const uint64_t *packet_ids, size_t count);

/* The grabs of a packet that are held behind a dead letter: from this share on. PACKET_NO_SHARE: none. */
struct live_hold {
    uint64_t packet_id;
    uint32_t from_share;
};
/* Writes `held` of each packet, in one round; packets that are not in Redis are skipped, and so are damaged keys
 * (logged). count ≤ LIVE_BATCH_MAX (asserted). ST_OK, or the first error of the server, as live_grab_read. */
enum status live_hold_all(const struct live *live, const struct live_hold *holds, size_t count);

#endif

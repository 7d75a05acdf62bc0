/* The names of the keys of a packet and of a partition. live/live.h lists their contents. */
#ifndef HB_LIVE_KEYS_H
#define HB_LIVE_KEYS_H

#include <stdint.h>

#include "base/str.h"
#include "live/event.h"

#define LIVE_KEY_MAX 48 /* bytes of the longest key, with NUL */

/* The keys of one packet and its partition. key points into text: do not copy the struct. */
enum live_key {
    LIVE_KEY_PACKET,
    LIVE_KEY_SHARES,
    LIVE_KEY_GRABS,
    LIVE_KEY_ORDER,
    LIVE_KEY_EVENTS,
    LIVE_KEY_SETTLED,
    LIVE_KEY_COUNT
};
struct live_keys {
    struct str key[LIVE_KEY_COUNT];
    char text[LIVE_KEY_COUNT][LIVE_KEY_MAX];
};
void live_keys(struct live_keys *out, uint64_t packet_id, int64_t partitions);
/* The keys of a partition. out: LIVE_KEY_MAX bytes, owned by the caller; NUL-terminated. Returns a view of out. */
struct str live_events_key(char *out, uint32_t partition);
struct str live_settled_key(char *out, uint32_t partition);
struct str live_fence_key(char *out, uint32_t partition);
struct str live_site_key(char *out, uint32_t partition);  /* live/site.h */
struct str live_probe_key(char *out, uint32_t partition); /* a hash that only site/write_probe.h writes */

#endif

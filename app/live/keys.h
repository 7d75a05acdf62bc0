/* The names of a packet's keys, and of a partition's. live/live.h tells what they hold. */
#ifndef HB_LIVE_KEYS_H
#define HB_LIVE_KEYS_H

#include <stdint.h>

#include "base/str.h"

#define LIVE_KEY_MAX 48 /* bytes of the longest key with its NUL */

/* The keys of one packet. key points into text: don't copy the struct. */
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
/* The keys of a partition. out: LIVE_KEY_MAX bytes, caller's, NUL-terminated. */
struct str live_events_key(char *out, uint32_t partition);
struct str live_settled_key(char *out, uint32_t partition);

#endif

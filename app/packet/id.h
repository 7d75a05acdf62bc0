/* Packet ids: 64 bits, of which the top one is 0: 41 bits of milliseconds since 2024-01-01 UTC, 10 bits of instance
 * number, 12 bits of sequence with a random start in every millisecond. No id is made twice by one instance, whatever
 * the clock does: the generator's own time only moves forward. Pure: time and chance are arguments. */
#ifndef HB_PACKET_ID_H
#define HB_PACKET_ID_H

#include <stdint.h>

#include "base/status.h"

#define ID_EPOCH_MS INT64_C(1704067200000) /* 2024-01-01T00:00:00Z */
enum {
    ID_INSTANCE_BITS = 10,
    ID_SEQUENCE_BITS = 12,
    ID_INSTANCES = 1 << ID_INSTANCE_BITS,
    ID_SEQUENCES = 1 << ID_SEQUENCE_BITS,
    ID_AHEAD_MS_MAX = 5000 /* how far the generator may run ahead of a clock that stepped back */
};

struct id_gen {
    int64_t ms;        /* of the newest id; the generator never goes below it */
    uint32_t next;     /* next sequence of this ms, modulo ID_SEQUENCES */
    uint32_t used;     /* ids made in this ms */
    uint16_t instance; /* 0 … ID_INSTANCES-1 */
};

/* A generator whose ids are all of floor_ms or later (what an earlier holder of the instance may have used up). */
void id_gen_init(struct id_gen *g, uint16_t instance, int64_t floor_ms);

/* The next id. random: 12 bits of it are used, once in a ms. until_ms: no id may carry this ms or a later one.
 * A clock that went back, or 4096 ids in a ms, make the generator run ahead of now_ms by at most ID_AHEAD_MS_MAX.
 * ST_UNAVAILABLE: too far ahead, at or past until_ms, or out of the 41 bits; g and *out are untouched. */
enum status id_next(struct id_gen *g, int64_t now_ms, uint64_t random, int64_t until_ms, uint64_t *out);

#endif

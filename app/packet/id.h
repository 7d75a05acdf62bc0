/* Packet ids: 63 bits. From the top: 41 bits of milliseconds since 2024-01-01 UTC, 10 bits of instance number, 12 bits
 * of sequence number that starts at random in each millisecond. An instance never makes an id twice, even if the clock
 * goes back: the time in the generator never decreases. Pure: time and randomness are arguments. packet/id_lease.h
 * supplies the instance number. */
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
    ID_AHEAD_MS_MAX = 5000 /* how far the generator may be ahead of the clock */
};

struct id_gen {
    int64_t ms;        /* of the newest id; never decreases */
    uint32_t next;     /* next sequence number in this ms, modulo ID_SEQUENCES */
    uint32_t used;     /* ids made in this ms */
    uint16_t instance; /* 0 … ID_INSTANCES-1 */
};

/* Initialises a generator whose ids all have floor_ms or a later time: an earlier holder of the instance number may
 * have used the times before. */
void id_gen_init(struct id_gen *g, uint16_t instance, int64_t floor_ms);

/* Makes the next id. random: 12 bits of it are used, at the first id of a ms. until_ms: ids have an earlier time. After
 * the clock went back, or after 4096 ids in a ms, the generator runs ahead of now_ms, by at most ID_AHEAD_MS_MAX.
 * ST_UNAVAILABLE: too far ahead, until_ms is reached, or the time does not fit 41 bits; g and *out are unchanged. */
enum status id_next(struct id_gen *g, int64_t now_ms, uint64_t random, int64_t until_ms, uint64_t *out);

/* The time of an id: now_ms of id_next, or a later time, at most ID_AHEAD_MS_MAX later. */
int64_t id_ms(uint64_t id);

#endif

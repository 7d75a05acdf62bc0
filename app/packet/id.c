#include "packet/id.h"

#include <assert.h>
#include <stdbool.h>

#define ID_MS_LIMIT (ID_EPOCH_MS + (INT64_C(1) << 41))

void id_gen_init(struct id_gen *g, uint16_t instance, int64_t floor_ms)
{
    assert(instance < ID_INSTANCES);
    /* The ms before floor_ms with all sequence numbers used: the first id starts a new ms, floor_ms or later. */
    *g = (struct id_gen){ .ms = floor_ms - 1, .used = ID_SEQUENCES, .instance = instance };
}

enum status id_next(struct id_gen *g, int64_t now_ms, uint64_t random, int64_t until_ms, uint64_t *out)
{
    bool new_ms = now_ms > g->ms || g->used == ID_SEQUENCES;
    int64_t ms = now_ms > g->ms ? now_ms : g->ms + (new_ms ? 1 : 0);
    if (ms - now_ms > ID_AHEAD_MS_MAX || ms >= until_ms || ms < ID_EPOCH_MS || ms >= ID_MS_LIMIT)
        return ST_UNAVAILABLE;
    if (new_ms) {
        g->ms = ms;
        g->used = 0;
        g->next = (uint32_t)(random % ID_SEQUENCES);
    }
    uint64_t epoch_ms = (uint64_t)(ms - ID_EPOCH_MS);
    *out = epoch_ms << (ID_INSTANCE_BITS + ID_SEQUENCE_BITS) | (uint64_t)g->instance << ID_SEQUENCE_BITS | g->next;
    g->next = (g->next + 1) % ID_SEQUENCES;
    g->used++;
    return ST_OK;
}

int64_t id_ms(uint64_t id)
{
    return ID_EPOCH_MS + (int64_t)(id >> (ID_INSTANCE_BITS + ID_SEQUENCE_BITS));
}

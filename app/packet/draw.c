#include "packet/draw.h"

#include <assert.h>
#include <string.h>

#include "base/random.h"

static_assert(HASH_BYTES == DRAW_BLOCK_BYTES, "a block is one SHA-256");

static const char DRAW_PURPOSE[] = "hongbao-draw-v1";
enum { DRAW_PURPOSE_BYTES = sizeof DRAW_PURPOSE - 1, COUNTER_BYTES = 8, WORD_BYTES = 4 };

void draw_init(struct draw *d, const uint8_t seed[SEED_BYTES])
{
    *d = (struct draw){ .used = DRAW_BLOCK_BYTES };
    memcpy(d->seed, seed, SEED_BYTES);
}

static void draw_next_block(struct draw *d)
{
    uint8_t message[DRAW_PURPOSE_BYTES + SEED_BYTES + COUNTER_BYTES];

    memcpy(message, DRAW_PURPOSE, DRAW_PURPOSE_BYTES);
    memcpy(message + DRAW_PURPOSE_BYTES, d->seed, SEED_BYTES);
    for (unsigned i = 0; i < COUNTER_BYTES; i++)
        message[DRAW_PURPOSE_BYTES + SEED_BYTES + i] = (uint8_t)(d->next_block >> (8 * (COUNTER_BYTES - 1 - i)));
    hash_sha256(message, sizeof message, d->block);
    d->next_block++;
    d->used = 0;
}

uint32_t draw_u32(struct draw *d)
{
    if (d->used == DRAW_BLOCK_BYTES)
        draw_next_block(d);
    assert(d->used <= DRAW_BLOCK_BYTES - WORD_BYTES);
    const uint8_t *p = d->block + d->used;
    d->used += WORD_BYTES;
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

uint32_t draw_below(struct draw *d, uint32_t bound)
{
    const uint64_t words = (uint64_t)1 << 32;
    uint32_t word;

    assert(bound >= 1);
    const uint64_t accept_below = words - words % bound;
    do {
        word = draw_u32(d); /* each word is rejected with a probability below one half */
    } while (word >= accept_below);
    return word % bound;
}

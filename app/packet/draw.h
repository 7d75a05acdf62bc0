/* A deterministic stream from a 32-byte seed that anyone can recompute with nothing but SHA-256 (a browser's
 * SubtleCrypto included). packet/split.h cuts a packet's money into shares with it. Pure. */
#ifndef HB_PACKET_DRAW_H
#define HB_PACKET_DRAW_H

#include <stdint.h>

#define SEED_BYTES 32

enum { DRAW_BLOCK_BYTES = 32 };

/* Stream block i = SHA-256("hongbao-draw-v1" ‖ seed ‖ i as 8 bytes big-endian), i = 0, 1, …;
 * read as a row of 32-bit big-endian words. */
struct draw {
    uint8_t seed[SEED_BYTES];
    uint8_t block[DRAW_BLOCK_BYTES];
    uint64_t next_block;
    uint32_t used; /* bytes of block consumed */
};
/* At the start of the seed's stream, and its next word. */
void draw_init(struct draw *d, const uint8_t seed[SEED_BYTES]);
uint32_t draw_u32(struct draw *d);
/* Uniform in 0 … bound-1 without bias: takes words until one is below the largest multiple of bound in 2^32.
 * bound ≥ 1. */
uint32_t draw_below(struct draw *d, uint32_t bound);

#endif

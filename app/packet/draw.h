/* A deterministic stream of random numbers from a 32-byte seed. Everyone can recompute it with SHA-256 alone, also in a
 * browser (SubtleCrypto). packet/split.h uses it to split a packet into shares. Pure functions. */
#ifndef HB_PACKET_DRAW_H
#define HB_PACKET_DRAW_H

#include <stdint.h>

#define SEED_BYTES 32

enum { DRAW_BLOCK_BYTES = 32 };

/* Stream block i = SHA-256("hongbao-draw-v1" ‖ seed ‖ i as 8 bytes big-endian), i = 0, 1, …;
 * read as 32-bit big-endian words. */
struct draw {
    uint8_t seed[SEED_BYTES];
    uint8_t block[DRAW_BLOCK_BYTES];
    uint64_t next_block;
    uint32_t used; /* bytes of block consumed */
};
/* Starts the stream of the seed. */
void draw_init(struct draw *d, const uint8_t seed[SEED_BYTES]);
/* The next word. */
uint32_t draw_u32(struct draw *d);
/* A uniform number in 0 … bound-1, without modulo bias: takes words until one is below the largest multiple of bound
 * that is at most 2^32, and returns it modulo bound. bound ≥ 1. */
uint32_t draw_below(struct draw *d, uint32_t bound);

#endif

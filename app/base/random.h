/* Randomness. random_bytes is the system's; struct draw is a deterministic stream from a 32-byte seed that anyone
 * can recompute with nothing but SHA-256 (a browser's SubtleCrypto included). */
#ifndef HB_BASE_RANDOM_H
#define HB_BASE_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEED_BYTES 32
#define HASH_BYTES 32

enum { DRAW_BLOCK_BYTES = 32 };

/* Must be called once at start (libsodium); false when the system has no randomness. */
bool random_init(void);
void random_bytes(void *out, size_t len);
uint64_t random_u64(void);

/* SHA-256. out: HASH_BYTES, caller's. */
void hash_sha256(const void *bytes, size_t len, uint8_t *out);

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

/* The system's randomness, and SHA-256. */
#ifndef HB_BASE_RANDOM_H
#define HB_BASE_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HASH_BYTES 32

/* Must be called once at start (libsodium); false when the system has no randomness. */
bool random_init(void);
void random_bytes(void *out, size_t len);
uint64_t random_u64(void);

/* SHA-256. out: HASH_BYTES, caller's. */
void hash_sha256(const void *bytes, size_t len, uint8_t *out);

#endif

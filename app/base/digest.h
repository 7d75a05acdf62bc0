/* A hash over several values in a row (BLAKE2b, 128 bits): two digests are equal when all their values are. */
#ifndef HB_BASE_DIGEST_H
#define HB_BASE_DIGEST_H

#include <sodium.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum { DIGEST_BYTES = crypto_generichash_BYTES_MIN };

struct digest {
    crypto_generichash_state state;
};

void digest_begin(struct digest *d);
/* Adds a value of a fixed size. */
void digest_bytes(struct digest *d, const void *bytes, size_t len);
/* Adds a text. Its length is hashed as well, so that "ab" and "c" differ from "a" and "bc". */
void digest_text(struct digest *d, struct str text);
void digest_end(struct digest *d, uint8_t out[DIGEST_BYTES]);

#endif

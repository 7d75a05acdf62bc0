/* A hash of several things, one after the other: equal exactly when all of them are (BLAKE2b, 128 bits). */
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
/* Something whose size is always the same. */
void digest_bytes(struct digest *d, const void *bytes, size_t len);
/* Its length goes in as well, so that what ends here does not begin there. */
void digest_text(struct digest *d, struct str text);
void digest_end(struct digest *d, uint8_t out[DIGEST_BYTES]);

#endif

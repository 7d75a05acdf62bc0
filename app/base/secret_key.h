/* The key of everything that is made with the service's secret. A MAC hashes its purpose, too, so that no MAC of one
 * purpose is one of another. */
#ifndef HB_BASE_SECRET_KEY_H
#define HB_BASE_SECRET_KEY_H

#include <sodium.h>

#include "base/str.h"

enum { SECRET_KEY_BYTES = crypto_generichash_KEYBYTES };

/* BLAKE2b of the secret, 256 bits. The caller wipes it (sodium_memzero). */
void secret_key_derive(struct str secret, unsigned char out[SECRET_KEY_BYTES]);

#endif

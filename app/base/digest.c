#include "base/digest.h"

void digest_begin(struct digest *d)
{
    crypto_generichash_init(&d->state, NULL, 0, DIGEST_BYTES);
}

void digest_bytes(struct digest *d, const void *bytes, size_t len)
{
    crypto_generichash_update(&d->state, bytes, len);
}

void digest_text(struct digest *d, struct str text)
{
    const uint64_t len = text.len;
    digest_bytes(d, &len, sizeof len);
    digest_bytes(d, text.ptr, text.len);
}

void digest_end(struct digest *d, uint8_t out[DIGEST_BYTES])
{
    crypto_generichash_final(&d->state, out, DIGEST_BYTES);
}

#include "base/secret_key.h"

void secret_key_derive(struct str secret, unsigned char out[SECRET_KEY_BYTES])
{
    crypto_generichash(out, SECRET_KEY_BYTES, (const unsigned char *)secret.ptr, secret.len, NULL, 0);
}

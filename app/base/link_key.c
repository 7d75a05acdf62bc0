#include "base/link_key.h"

#include <sodium.h>
#include <string.h>

#include "base/secret_key.h"

enum { KEY_BYTES = crypto_generichash_BYTES_MIN, KEY_CHARS = 2 * KEY_BYTES };

/* out: KEY_CHARS + 1 bytes. */
static void key_write(struct str secret, const char *purpose, uint64_t id, char *out)
{
    unsigned char inner[SECRET_KEY_BYTES], key[KEY_BYTES], wire[sizeof id];
    crypto_generichash_state state;
    for (size_t i = 0; i < sizeof wire; i++)
        wire[i] = (unsigned char)(id >> (8 * i));
    secret_key_derive(secret, inner);
    crypto_generichash_init(&state, inner, sizeof inner, sizeof key);
    crypto_generichash_update(&state, wire, sizeof wire);
    crypto_generichash_update(&state, (const unsigned char *)purpose, strlen(purpose));
    crypto_generichash_final(&state, key, sizeof key);
    (void)sodium_bin2hex(out, KEY_CHARS + 1, key, sizeof key);
    sodium_memzero(inner, sizeof inner);
}

struct str link_key(struct arena *a, struct str secret, const char *purpose, uint64_t id)
{
    char text[KEY_CHARS + 1];
    key_write(secret, purpose, id, text);
    return arena_str(a, (struct str){ text, KEY_CHARS });
}

bool link_key_is(struct str text, struct str secret, const char *purpose, uint64_t id)
{
    char right[KEY_CHARS + 1];
    key_write(secret, purpose, id, right);
    return text.len == KEY_CHARS && sodium_memcmp(text.ptr, right, KEY_CHARS) == 0;
}

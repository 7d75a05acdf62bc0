#include "base/link_key.h"

#include <sodium.h>
#include <string.h>

enum { LINK_BYTES = crypto_generichash_BYTES_MIN, LINK_CHARS = 2 * LINK_BYTES };

/* out: LINK_CHARS + 1 bytes. */
static void key_write(const struct key *key, const char *purpose, uint64_t id, char *out)
{
    unsigned char link[LINK_BYTES], wire[sizeof id];
    crypto_generichash_state state;
    for (size_t i = 0; i < sizeof wire; i++)
        wire[i] = (unsigned char)(id >> (8 * i));
    crypto_generichash_init(&state, key->bytes, sizeof key->bytes, sizeof link);
    crypto_generichash_update(&state, wire, sizeof wire);
    crypto_generichash_update(&state, (const unsigned char *)purpose, strlen(purpose));
    crypto_generichash_final(&state, link, sizeof link);
    (void)sodium_bin2hex(out, LINK_CHARS + 1, link, sizeof link);
}

struct str link_key(struct arena *a, const struct key *key, const char *purpose, uint64_t id)
{
    char text[LINK_CHARS + 1];
    key_write(key, purpose, id, text);
    return arena_str(a, (struct str){ text, LINK_CHARS });
}

bool link_key_is(struct str text, const struct key *key, const char *purpose, uint64_t id)
{
    char right[LINK_CHARS + 1];
    key_write(key, purpose, id, right);
    return text.len == LINK_CHARS && sodium_memcmp(text.ptr, right, LINK_CHARS) == 0;
}

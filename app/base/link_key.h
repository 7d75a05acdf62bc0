/* Keys that the site gives out and later recognizes: in links, which show more with a key than without; in the cookie
 * of a known device; and, in part, in recovery codes. A key belongs to one purpose and one number. It can't be guessed,
 * and it is not stored: it is computed with the key of its purpose (base/keys.h). Pure. */
#ifndef HB_BASE_LINK_KEY_H
#define HB_BASE_LINK_KEY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/keys.h"
#include "base/str.h"

/* The key of the number id for purpose ("hongbao screen v1"): 32 hex digits of a keyed BLAKE2b-128. In the arena;
 * STR_NONE without memory. */
struct str link_key(struct arena *a, const struct key *key, const char *purpose, uint64_t id);
/* True when text is that key; compared in constant time. */
bool link_key_is(struct str text, const struct key *key, const char *purpose, uint64_t id);

#endif

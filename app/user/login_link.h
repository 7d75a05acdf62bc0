/* The code of a login link, which lets one user log in once, without a password. No function here accesses a store.
 *
 * Code   32 characters of Crockford's base32 (base/base32.h), in small letters: 120 random bits, and a check of 40 bits
 *        made with a key of the site. A guess fails the check before anything is looked up.
 * Stored a keyed hash of the random bits (user/login_link_store.h). */
#ifndef HB_USER_LOGIN_LINK_H
#define HB_USER_LOGIN_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/keys.h"
#include "base/str.h"

#define LOGIN_LINK_PATH "/login/link"

enum { LOGIN_LINK_CODE_LEN = 32, LOGIN_LINK_HASH_BYTES = 32, LOGIN_LINK_DAYS_MAX = 7 };

struct login_link {
    char code[LOGIN_LINK_CODE_LEN + 1]; /* NUL-terminated */
    uint8_t hash[LOGIN_LINK_HASH_BYTES];
};

/* Makes a link. key: KEY_LOGIN_LINKS. */
void login_link_new(const struct key *key, struct login_link *out);
/* Reads a code, in any case. False: the site has made no such code. */
bool login_link_read(const struct key *key, struct str typed, struct login_link *out);
/* The address to open: base_url, LOGIN_LINK_PATH and the code in the query, which no log has. In the arena; STR_NONE
 * without memory. */
struct str login_link_url(struct arena *a, const char *base_url, const struct login_link *link);

#endif

/* What a page shows once: new recovery codes, a new access token. The POST that makes it answers 303, so a reload or
 * Back repeats no POST; what was made travels in a cookie, and the page that is read next shows it and clears the
 * cookie. Nothing of it is stored on the site, and no log or history has it.
 *
 * Cookie `once` (`__Secure-once` on https), for SHOWN_ONCE_S, sent only to that page: base64url of the end of its time
 * (ms, 8 bytes, big-endian), a nonce of 24 bytes and the text, sealed by XChaCha20-Poly1305 with KEY_SHOWN. The time,
 * the kind and the session are authenticated: another user, another session, another page and a later day see nothing.
 *
 * SHOWN_REGISTERED has no text. It says that the user of this session has just typed the password to register, or a
 * recovery code in place of a new password. So a passkey may be added without anything more. */
#ifndef HB_ACCOUNT_SHOWN_ONCE_H
#define HB_ACCOUNT_SHOWN_ONCE_H

#include "base/keys.h"
#include "web/exchange.h"

enum shown_kind { SHOWN_CODES, SHOWN_TOKEN, SHOWN_REGISTERED, SHOWN_KINDS };

enum { SHOWN_ONCE_S = 600, SHOWN_BYTES_MAX = 512 };

/* ---- pure ---- */

/* Seals the text, at most SHOWN_BYTES_MAX. In the arena; STR_NONE without memory. */
struct str shown_seal(struct arena *a, const struct key *key, enum shown_kind kind, struct str session_key,
                      int64_t now_ms, struct str text);
/* Opens what a browser has sent. The text is in the arena. STR_NONE: it is malformed, or not of this key, kind and
 * session, or its time is over; or there is no memory. */
struct str shown_open(struct arena *a, const struct key *key, enum shown_kind kind, struct str session_key,
                      int64_t now_ms, struct str sealed);

/* ---- cookies ---- */

/* Adds the cookie for the session of the visitor. Without memory the answer is incomplete. */
void shown_once_give(struct exchange *x, enum shown_kind kind, struct str text);
/* The text of the request's cookie; a page that shows it calls shown_once_clear. STR_NONE: there is none. */
struct str shown_once_read(struct exchange *x, enum shown_kind kind);
/* Adds the header that deletes the cookie. */
void shown_once_clear(struct exchange *x, enum shown_kind kind);

#endif

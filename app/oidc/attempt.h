/* A login that is on its way: what the site must know again when the browser comes back from the issuer. It is kept by
 * the browser, in a sealed cookie; the site stores nothing, so a flood of begun logins costs no memory. */
#ifndef HB_OIDC_ATTEMPT_H
#define HB_OIDC_ATTEMPT_H

#include "base/arena.h"
#include "oidc/fault.h"
#include "oidc/settings.h"

enum {
    OIDC_ATTEMPT_S = 600,    /* from the redirect to the callback */
    OIDC_CARRIED_MAX = 1024, /* bytes */
    OIDC_COOKIE_MAX = 1700,  /* characters of the cookie at most */
    OIDC_RANDOM_CHARS = 43   /* of 32 random bytes in base64url */
};

struct oidc_attempt {
    struct str state;    /* binds the callback to this browser (RFC 6749 10.12) */
    struct str nonce;    /* binds the ID token to this attempt (Core 3.1.2.1) */
    struct str verifier; /* binds the code to this client (PKCE, RFC 7636 4.1) */
    bool fresh;          /* a fresh login was asked for */
    int64_t started_ms;
    struct str carried; /* of the caller */
};

/* Makes an attempt with new random texts, in the arena. carried: at most OIDC_CARRIED_MAX bytes, borrowed.
 * OIDC_NO_MEMORY. */
enum oidc_fault oidc_attempt_new(struct arena *a, int64_t now_ms, struct str carried, bool fresh,
                                 struct oidc_attempt *out);
/* The text of its cookie: base64url of a nonce and the attempt, sealed by XChaCha20-Poly1305 with the settings' key.
 * Issuer and client are authenticated, so that an attempt at another one is not taken for this (mix-up). STR_NONE
 * without memory. */
struct str oidc_attempt_seal(struct arena *a, const struct oidc_settings *settings, const struct oidc_attempt *attempt);
/* Opens the cookie of a callback with this state. The texts are in the arena. OIDC_STATE: there is no cookie, it is
 * malformed or of another key, issuer, client or state · OIDC_LATE: its time is over, or not yet there; out is complete
 * · OIDC_NO_MEMORY. */
enum oidc_fault oidc_attempt_open(struct arena *a, const struct oidc_settings *settings, int64_t now_ms,
                                  struct str cookie, struct str state, struct oidc_attempt *out);

#endif

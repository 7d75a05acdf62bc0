/* Passkeys (WebAuthn Level 3), the parts without I/O: which site they are for, challenges, and the checks of what a
 * browser sends. libfido2 reads keys and verifies signatures. docs/reference/passkeys.md says what is checked and
 * stored.
 *
 * A ceremony, the registration of a passkey or a login with one, begins with a challenge from this service: 24 random
 * bytes, the time at which it expires, and a MAC that binds both to the ceremony and to the session that the request
 * presented. The browser gets the challenge in the answer and in a cookie, and has to send back both, the first signed
 * by the authenticator. So the service stores nothing for a challenge that is never used. A used challenge is noted in
 * Redis until it expires (user/passkey_ceremony.h).
 *
 * The service requests no attestation: it accepts the authenticator data of a registration as the browser sends it.
 * Only the browser and its user can change these data, and the user may register any key. */
#ifndef HB_USER_PASSKEY_H
#define HB_USER_PASSKEY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/keys.h"
#include "base/random.h"
#include "base/str.h"

enum {
    PASSKEY_CHALLENGE_LEN = 64, /* 48 bytes in base64url */
    PASSKEY_CHALLENGE_S = 300,  /* a challenge is valid this long */
    PASSKEY_HANDLE_BYTES = 32,
    /* The limits of what a browser sends, in bytes. A credential id has at most 1,023 (WebAuthn, 4). */
    PASSKEY_CREDENTIAL_MAX = 1023,
    PASSKEY_PUBLIC_KEY_MAX = 512,
    PASSKEY_DATA_MAX = 2048,     /* authenticator data */
    PASSKEY_CLIENT_MAX = 2048,   /* client data, JSON */
    PASSKEY_SIGNATURE_MAX = 512, /* RSA with 2,048 bits: 256 */
};

/* COSE algorithms (IANA), in the order in which they are proposed to the browser. */
enum { PASSKEY_ALGORITHMS = 3 };
extern const int passkey_algorithms[PASSKEY_ALGORITHMS]; /* ES256, EdDSA, RS256 */

/* The relying party: passkeys belong to a domain, and a browser uses them only there. */
struct passkey_site {
    struct str id;     /* the domain: "hongbao.example" */
    struct str origin; /* as browsers write it: "https://hongbao.example" */
};
/* The site of base_url. For a loopback address it is localhost at the same port, because a passkey needs a domain. The
 * texts are in the arena. False: no browser allows passkeys there (another address, or http and not localhost), or no
 * memory. */
bool passkey_site_read(struct arena *a, struct str base_url, struct passkey_site *out);

/* PASSKEY_CONFIRM: in place of the password once more; browsers answer it as a login. PASSKEY_NEW_USER: the
 * registration of a user together with the passkey. */
enum passkey_ceremony { PASSKEY_REGISTER, PASSKEY_LOGIN, PASSKEY_CONFIRM, PASSKEY_NEW_USER };

/* Makes a challenge: PASSKEY_CHALLENGE_LEN characters in the arena; STR_NONE without memory. session: the key of the
 * session that the request presents, or empty. */
struct str passkey_challenge_new(struct arena *a, const struct key *key, enum passkey_ceremony ceremony,
                                 struct str session, int64_t now_ms);
/* The time until which a challenge of this service is valid, for this ceremony and session. 0: it is forged, for
 * another ceremony or session, or has expired. */
int64_t passkey_challenge_until_ms(const struct key *key, enum passkey_ceremony ceremony, struct str session,
                                   struct str challenge, int64_t now_ms);

/* The user handle, which an authenticator stores beside a passkey: a keyed hash of the user's id, so it says nothing
 * about the user. */
void passkey_handle_write(const struct key *key, uint64_t user_id, uint8_t out[PASSKEY_HANDLE_BYTES]);
/* The handle of a user who has no id yet: a keyed hash of the challenge. Such a user keeps it for this passkey. */
void passkey_handle_new(const struct key *key, struct str challenge, uint8_t out[PASSKEY_HANDLE_BYTES]);

/* The first fault of a browser's answer. */
enum passkey_fault {
    PASSKEY_OK,
    PASSKEY_MALFORMED,  /* not what a browser sends */
    PASSKEY_CHALLENGE,  /* the answer to another challenge */
    PASSKEY_ORIGIN,     /* from a page of another site, or a page inside another site's */
    PASSKEY_DOMAIN,     /* for another domain */
    PASSKEY_UNVERIFIED, /* the authenticator has not verified its user (finger, face, PIN) */
    PASSKEY_ALGORITHM,  /* a key of another kind, or no key */
    PASSKEY_SIGNATURE,  /* not signed by the passkey */
    PASSKEY_NO_MEMORY,
    PASSKEY_FAULTS
};
/* The word for logs: "ok", "malformed" … Static storage; never NULL. */
const char *passkey_fault_name(enum passkey_fault fault);

/* The answer of a browser, decoded. */
struct passkey_answer {
    struct str client_data; /* JSON: type, challenge, origin */
    struct str data;        /* authenticator data: hash of the domain, flags, counter, and at a registration the key */
    struct str signature;   /* of a login: signs data and the hash of client_data */
};

/* The key of a passkey. The bytes are in the arena. */
struct passkey_key {
    int algorithm;            /* one of passkey_algorithms */
    struct str credential_id; /* 1 to PASSKEY_CREDENTIAL_MAX bytes, which the authenticator chose */
    struct str public_key;    /* as libfido2 has it: 64, 32 or 259 bytes */
    uint32_t sign_count;
};
/* Checks the answer to the challenge of a registration; on PASSKEY_OK *out is the new passkey. */
enum passkey_fault passkey_register_check(struct arena *a, const struct passkey_site *site, struct str challenge,
                                          const struct passkey_answer *answer, struct passkey_key *out);

/* Checks the answer to the challenge of a login against the passkey's key. On PASSKEY_OK *sign_count is the new value
 * of its counter, which the caller compares: passkey_count_grows. */
enum passkey_fault passkey_login_check(const struct passkey_site *site, struct str challenge,
                                       const struct passkey_answer *answer, const struct passkey_key *key,
                                       uint32_t *sign_count);
/* True when the counter of a passkey may follow the stored one: it grows, or the authenticator has none and both are 0.
 * A counter that goes back shows a copied passkey. */
bool passkey_count_grows(uint32_t stored, uint32_t received);

#endif

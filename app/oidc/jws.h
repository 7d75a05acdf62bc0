/* Reads signed tokens: JWS in the compact serialization (RFC 7515 3.1, 7.1). The signature is checked by jwks.h. */
#ifndef HB_OIDC_JWS_H
#define HB_OIDC_JWS_H

#include "base/arena.h"
#include "oidc/fault.h"

/* The only algorithms (RFC 7518 3.1, RFC 8037 3.1): each has a key that only the issuer has. "none" and HS256, with
 * which a client could make tokens itself, are not among them. */
enum oidc_algorithm { OIDC_RS256, OIDC_PS256, OIDC_ES256, OIDC_EDDSA, OIDC_ALGORITHMS };

enum { OIDC_TOKEN_MAX = 32768 /* bytes of a token */, OIDC_KID_MAX = 255 };

struct oidc_jws {
    enum oidc_algorithm algorithm;
    struct str kid;       /* STR_NONE: none */
    struct str typ;       /* STR_NONE: none */
    struct str payload;   /* decoded */
    struct str input;     /* what is signed */
    struct str signature; /* decoded */
};

/* The name of an algorithm in a header or a document. Static storage. */
const char *oidc_algorithm_name(enum oidc_algorithm algorithm);
/* False: the name is of no algorithm of ours. */
bool oidc_algorithm_read(struct str name, enum oidc_algorithm *out);

/* Reads a token; nothing of it is to be believed before oidc_jwks_verify. The parts are in the arena, or slices of
 * text. OIDC_TOKEN: not three parts of base64url, no JSON object as the header, nested or encrypted · OIDC_ALGORITHM ·
 * OIDC_CRITICAL · OIDC_SIZE · OIDC_NO_MEMORY. */
enum oidc_fault oidc_jws_read(struct arena *a, struct str text, struct oidc_jws *out);

/* Decodes base64url without padding (RFC 7515 2), in its only spelling. Not empty. *malformed: it is none; STR_NONE
 * without *malformed: no memory. */
struct str oidc_base64url(struct arena *a, struct str text, bool *malformed);

#endif

/* The public keys of an issuer (JWK Set, RFC 7517), and the check of a signature with them, by OpenSSL's EVP. */
#ifndef HB_OIDC_JWKS_H
#define HB_OIDC_JWKS_H

#include "oidc/jws.h"

enum { OIDC_KEYS_MAX = 64, OIDC_RSA_BITS_MIN = 2048, OIDC_RSA_BITS_MAX = 8192 };

struct oidc_jwks;

/* Reads a set: RSA keys, points of P-256, Ed25519. Keys for other purposes or of other kinds, weak and malformed keys,
 * and keys that contain their private half are left out (RFC 7517 5: unknown ones are ignored). OIDC_KEYS: no set, more
 * than OIDC_KEYS_MAX keys, or no useful one · OIDC_NO_MEMORY. Free *out with oidc_jwks_free. */
enum oidc_fault oidc_jwks_read(struct str json, struct oidc_jwks **out);
void oidc_jwks_free(struct oidc_jwks *keys); /* NULL is fine */

/* Checks the signature with the key that the token names by kid, or, without one, with the only key that fits the
 * algorithm (Core 10.1). The kind of the key decides which algorithms it may be used for, and so does its own alg
 * (RFC 8725 3.1). OIDC_KEY: there is no such key; another set may have it · OIDC_SIGNATURE. */
enum oidc_fault oidc_jwks_verify(const struct oidc_jwks *keys, const struct oidc_jws *jws);

#endif

/* The discovery document of an issuer (OpenID Connect Discovery 1.0, section 3 and 4; RFC 8414). Pure, except that a
 * log line shows the operator which value is refused. */
#ifndef HB_OIDC_DISCOVERY_H
#define HB_OIDC_DISCOVERY_H

#include "oidc/jws.h"
#include "oidc/settings.h"

enum oidc_client_auth { OIDC_SECRET_BASIC, OIDC_SECRET_POST, OIDC_NO_SECRET };

struct oidc_document {
    struct str authorization_endpoint, token_endpoint, jwks_uri;
    struct str userinfo_endpoint;     /* STR_NONE: there is none */
    bool names_itself;                /* the callback always has iss (RFC 9207) */
    enum oidc_client_auth auth;       /* how the client proves itself at the token endpoint */
    bool algorithms[OIDC_ALGORITHMS]; /* with which the issuer signs */
};

/* Where the document is: at a fixed place below the issuer (Discovery 4). In the arena; STR_NONE without memory. */
struct str oidc_discovery_url(struct arena *a, struct str issuer);

/* Reads it; the texts are in the arena. OIDC_DISCOVERY: it is malformed, of another issuer (4.3: both must be the same
 * byte by byte), or offers no way that we know · OIDC_ENDPOINT · OIDC_NO_MEMORY. */
enum oidc_fault oidc_discovery_read(struct arena *a, struct str json, const struct oidc_settings *settings,
                                    struct oidc_document *out);

#endif
